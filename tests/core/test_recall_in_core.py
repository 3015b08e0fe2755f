"""Coreference, by the compiled core and by torch."""

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

import pytest

from amn.data.coreference import linked
from amn.inference.core import CoreMemory
from amn.inference.engine import CoreStories
from amn.inference.story_memory import StoryMemory
from core_against_torch import assert_as_torch, by_torch, core_for, live
from random_stories import assert_same_found, random_model, with_recall


@pytest.mark.usefixtures("core")
def test_what_sentences_bring_to_mind() -> None:
    vocabulary, told = with_recall(8, seed=2)
    trained = random_model(2, vocabulary=vocabulary, pointer=True, items=4)
    found = assert_as_torch(trained, told)
    plain = replace(trained, vocabulary=replace(vocabulary, names=frozenset()))
    without = CoreStories(core_for(plain), told).read(1)
    assert any(one.logits.tobytes() != other.logits.tobytes() for one, other in zip(found, without, strict=True))


@pytest.mark.usefixtures("core")
def test_names_that_share_a_word_with_one_that_is_asked_for() -> None:
    vocabulary, told = with_recall(8, seed=4)
    first, second, *others = sorted(vocabulary.names)
    named = [(first, second), *((first, other) for other in others)]
    told = [
        replace(
            example,
            sentences=tuple((*name, *sentence) for name, sentence in zip(cycle(named), example.sentences)),
            questions=tuple((*question, first, second) for question in example.questions),
        )
        for example in told
    ]
    assert any(
        " " in word for example in told for sentence in linked(example, vocabulary).sentences for word in sentence
    )
    assert_as_torch(random_model(4, vocabulary=vocabulary, pointer=True, items=4), told)


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("kind", [live, by_torch])
def test_what_was_told_comes_to_mind_in_a_memory_that_was_saved(kind: Callable[..., StoryMemory]) -> None:
    vocabulary, told = with_recall(6, seed=3)
    trained = random_model(3, vocabulary=vocabulary, pointer=True, items=4)
    for example in told:
        middle = len(example.sentences) // 2
        first = kind(trained, replace(example, sentences=example.sentences[:middle]))
        again = CoreMemory(core_for(trained), example.questions)
        again.resume(first.words, first.arrays())
        again.ingest(example.sentences[middle:])
        assert_same_found(again.read(1), live(trained, example).read(1), 1e-6 if kind is live else 1e-4)
