"""The literal twin judges both implementations: torch in 64 bits, and the compiled core in 32."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from amn.core import boundary
from amn.data.examples import Example
from amn.data.vocabulary import Vocabulary
from amn.inference.core import core_of
from amn.inference.engine import CoreStories
from amn.inference.story_memory import Prediction
from amn.inference.torch_batches import read_by_torch
from amn.inference.torch_memory import TorchMemory
from amn.inference.trained import TrainedModel
from random_stories import VOCABULARY, in_double, random_examples, random_model, story, with_unknown_words
from reference_default import Read, Twin


def twin_of(trained: TrainedModel, example: Example) -> Twin:
    known = trained.vocabulary
    twin = Twin(trained.weights, trained.config, known.words, example.questions, known.answers)
    for sentence in example.sentences:
        twin.tell(sentence)
    return twin


def assert_as_the_twin(found: Prediction, expected: Read, tolerance: float) -> None:
    classes = len(expected.classes[0][0])
    assert (found.banks, found.entities) == (expected.banks, expected.entities)
    assert list(found.entities_read) == [expected.entities_read] * len(expected.classes)
    assert sorted(found.words) == sorted(expected.words[0][0])
    for i, tokens in enumerate(expected.tokens):
        ours = found.logits[i, : len(tokens)]
        np.testing.assert_allclose(ours[:, :classes], expected.classes[i], atol=tolerance, rtol=tolerance)
        np.testing.assert_allclose(
            ours[:, classes:],
            [[scores[word] for word in found.words] for scores in expected.words[i]],
            atol=tolerance,
            rtol=tolerance,
        )
        chosen = found.tokens[i, : len(tokens)].tolist()
        assert [token if token < classes else found.words[token - classes] for token in chosen] == tokens


def stories(seed: int) -> list[Example]:
    """Several questions, unknown and repeated words, and nothing told at all."""
    odd = [story(question="mary"), story("zoe xu yo xu", "xu the", "the the the", question="xu xu yo")]
    return [*random_examples(4, seed=seed, sentences=9), *with_unknown_words(3, seed=seed, sentences=7), *odd]


def judged(trained: TrainedModel, told: Sequence[Example], banks: int) -> list[tuple[Example, Read]]:
    return [(example, twin_of(trained, example).read(banks)) for example in told]


@pytest.mark.parametrize(
    "settings", [{}, {"norm_epsilon": 1.0}, {"pointer": True}, {"pointer": True, "items": 4}], ids=str
)
@pytest.mark.parametrize("seed", range(3))
def test_torch_and_the_core_are_the_equations(seed: int, settings: dict[str, Any]) -> None:
    trained = random_model(seed, **settings)
    exact, told = in_double(trained), stories(seed)
    core = core_of(trained)
    for banks in (1, 2, 0):
        expected = judged(trained, told, banks)
        for found, (_, right) in zip(read_by_torch(exact, told, banks), expected, strict=True):
            assert_as_the_twin(found, right, 1e-9)
        if core is None:
            continue
        for found, (_, right) in zip(CoreStories(core, told).read(banks), expected, strict=True):
            assert_as_the_twin(found, right, 1e-4)
    assert core is not None or boundary.library() is None


LISTS = Vocabulary(words=VOCABULARY.words, answers=("", ",", "garden", "milk", "n"))


def test_a_list_holds_nothing_twice_but_what_no_story_tells() -> None:
    """Models that like commas: `milk` as a class and as a word is one thing, and a path may go north twice."""
    items: list[list[str]] = []
    for seed in range(6):
        trained = random_model(seed, vocabulary=LISTS, pointer=True, items=8)
        trained.weights["decoder.answer.bias"][:] = np.array([-3, 2, 1, 1, 1], np.float32)
        trained = replace(trained)  # as if it had just been loaded
        told = stories(seed)
        expected = judged(trained, told, 1)
        for found, (_, right) in zip(read_by_torch(in_double(trained), told, 1), expected, strict=True):
            assert_as_the_twin(found, right, 1e-9)
        core = core_of(trained)
        if core is not None:
            for found, (_, right) in zip(CoreStories(core, told).read(1), expected, strict=True):
                assert_as_the_twin(found, right, 1e-4)
        for _, right in expected:
            for tokens in right.tokens:
                said = [token if isinstance(token, str) else LISTS.answers[token] for token in tokens]
                items.append([word for at, word in enumerate(said) if at == 0 or said[at - 1] == ","])
    words = [[word for word in begun if word not in ("n", ",", "")] for begun in items]
    assert all(len(set(begun)) == len(begun) for begun in words) and max(map(len, items)) > 2


def test_a_name_holds_words_that_the_story_tells_side_by_side() -> None:
    """Models that like no commas: their answers go on with what followed, or end; or go a step of a path."""
    joined = 0
    for seed in range(6):
        trained = random_model(seed, vocabulary=LISTS, pointer=True, items=4)
        trained.weights["decoder.answer.bias"][:] = np.array([-3, -9, 0, 0, -1], np.float32)
        trained = replace(trained)  # as if it had just been loaded
        core, told = core_of(trained), stories(seed)
        for example, by_torch in zip(told, read_by_torch(in_double(trained), told, 1), strict=True):
            live = TorchMemory(trained, example.questions)
            live.ingest(example.sentences)
            pairs = {pair for words in example.sentences for pair in zip(words, words[1:], strict=False)}
            known = {word for words in example.sentences for word in words}
            for found in (by_torch, live.read(1), *(CoreStories(core, [example]).read(1) if core else [])):
                for tokens in found.tokens.tolist():
                    said = [[*LISTS.answers, *found.words][token] for token in tokens]
                    for pair in zip(said, said[1:], strict=False):
                        assert pair in pairs or not set(pair) <= known
                        joined += pair in pairs
    assert joined > 20


def test_the_random_models_make_several_banks_and_read_them_in_part() -> None:
    found = [twin_of(random_model(seed), example).read(1) for seed in range(3) for example in stories(seed)]
    assert {1, 2, 3} <= {one.banks for one in found}
    assert any(one.entities_read < one.entities for one in found)


@pytest.mark.parametrize("seed", range(2))
def test_banks_strengths_and_attention_are_those_of_the_equations(seed: int) -> None:
    exact = in_double(random_model(seed))
    for example in stories(seed)[:6]:
        twin, memory = twin_of(exact, example), TorchMemory(exact, example.questions)
        memory.ingest(example.sentences)
        for bank in range(twin.banks):
            held = {word: entity for word, entity in twin.entities.items() if entity.depth >= bank}
            theirs = {one.word: (one.strength, one.relevance) for one in memory.bank(bank)}
            assert theirs.keys() == held.keys()
            for word, entity in held.items():
                assert theirs[word] == pytest.approx((entity.strength, entity.relevance), abs=1e-9)
        right = twin.read(2).attention[0]
        for ours, shares in zip(memory.attention(2, 0), right, strict=True):
            assert ours == pytest.approx(shares, abs=1e-9)


def test_more_unknown_words_than_vectors() -> None:
    trained = random_model(2, pointer=True)
    sentences = [f"name{i} went to the garden" for i in range(70)]
    told = story(*sentences, "name2 went", question="where is name3")
    right = twin_of(trained, told).read(1)
    assert_as_the_twin(read_by_torch(in_double(trained), [told], 1)[0], right, 1e-9)
    shared = {"name3": "name64", "name0": "name65", "name1": "name66", "name67": "name2"}  # the question comes first
    shared |= {"name4": "name68", "name5": "name69"}
    assert right.words[0][0].keys() == {"went", "to", "the", "garden", *(f"name{i}" for i in range(70))} - shared.keys()
