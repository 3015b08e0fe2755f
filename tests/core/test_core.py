"""The compiled core is the model: for one story, for many and for live memories it gives what torch gives."""

from collections.abc import Callable, Sequence
from ctypes import CDLL, addressof, byref, c_int32
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from amn.core import boundary
from amn.data.batches import Sizes, encode
from amn.data.examples import Example
from amn.errors import AMNError
from amn.inference import core as inference_core
from amn.inference.core import CoreMemory, core_of
from amn.inference.engine import CoreStories
from amn.inference.story_memory import Change, StoryMemory
from amn.inference.torch_batches import read_by_torch
from amn.inference.torch_memory import TorchMemory
from amn.inference.trained import TrainedModel
from amn.models.decoder import Decoder
from amn.models.layers import masked_softmax
from core_against_torch import BANKS, assert_as_torch, core_for, live
from random_stories import (
    VOCABULARY,
    assert_same_found,
    random_examples,
    random_model,
    story,
    with_unknown_words,
)

WIDTHS = [(16, 2), (32, 2), (64, 2), (20, 4), (36, 3), (8, 1)]  # hidden, heads: known widths, others, columns left over


def crowd(words: int) -> Example:
    """Sentences of so many different words, most of which nobody knows."""
    many = [f"name{i}" for i in range(words - 2)] + ["mary", "went"]
    return story(" ".join(many), "name3 name140 went", " ".join(reversed(many)), question="name7 name9")


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize(("hidden", "heads"), WIDTHS)
def test_stories_of_any_length_get_the_logits_banks_and_counts_of_torch(hidden: int, heads: int) -> None:
    trained = random_model(hidden, hidden=hidden, heads=heads, pointer=hidden == 20)
    assert_as_torch(trained, random_examples(6, seed=hidden, sentences=9))


@pytest.mark.usefixtures("core")
def test_some_memories_have_several_banks_and_some_are_read_in_part() -> None:
    found = [one for seed in range(3) for one in assert_as_torch(random_model(seed), random_examples(6, seed=seed))]
    assert len({one.banks for one in found}) > 2
    assert any(one.entities_read[0] < one.entities for one in found)


def odd_stories() -> list[Example]:
    """One word or none, unknown and repeated words, a sentence of no words, and several questions."""
    silent = Example(
        sentences=(("mary", "went"), (), ("john",)), questions=(("mary",), ("the", "john")), answers=("x", "y")
    )
    return [
        story("mary"),
        story("zoe xu yo xu", "xu", question="xu xu yo"),
        story("the the the"),
        story(question="mary"),
        silent,
    ]


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("settings", [{}, {"pointer": True}, {"pointer": True, "items": 4}], ids=str)
def test_unknown_repeated_and_missing_words(settings: dict[str, Any]) -> None:
    trained = random_model(1, **settings)
    assert_as_torch(trained, odd_stories())
    assert_as_torch(trained, with_unknown_words(6, seed=1, sentences=9))


@pytest.mark.usefixtures("core")
def test_sentences_may_be_long() -> None:
    for words in (150, 256):
        assert_as_torch(random_model(1, pointer=True), [crowd(words)])


@pytest.mark.usefixtures("core")
def test_of_unknown_words_that_share_a_vector_the_one_told_last_may_be_the_answer() -> None:
    sentences = [f"name{i} went to the garden" for i in range(70)]
    told = [story(*sentences, "name2 went", question="where is name3"), story(*sentences[:9])]
    found, _ = assert_as_torch(random_model(4, pointer=True), told)
    assert {"name2", "name64"} <= set(found.words) and not {"name67", "name3"} & set(found.words)


@pytest.mark.usefixtures("core")
def test_telling_in_one_call_or_many_is_the_same() -> None:
    trained = random_model(3, pointer=True)
    for example in with_unknown_words(4, seed=3, sentences=9):
        at_once, bit_by_bit = live(trained, example, one_by_one=False), live(trained, example)
        for name, value in at_once.arrays().items():
            np.testing.assert_array_equal(value, bit_by_bit.arrays()[name], name)


@pytest.mark.usefixtures("core")
def test_what_is_kept_of_sentences_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each sentence is told to several memories, with room to keep what it comes to and without."""
    told = random_examples(6, seed=5, sentences=9)
    told += [replace(example, questions=(("john",), ("where",)), answers=("x", "y")) for example in told]
    kept = random_model(5)
    first = CoreStories(core_for(kept), told).read(0)
    again = CoreStories(core_for(kept), told).read(0)
    monkeypatch.setattr(inference_core, "DESK_BYTES", 1)
    forgotten = CoreStories(core_for(random_model(5)), told).read(0)
    for one, two, three in zip(first, again, forgotten, strict=True):
        assert_same_found(two, one, 1e-6)
        assert_same_found(three, one, 1e-6)


@pytest.mark.usefixtures("core")
def test_a_story_of_nothing_after_a_long_one_changes_nothing() -> None:
    trained = random_model(0)
    live(trained, crowd(256))
    memory = CoreMemory(core_for(trained), [("mary",)])
    memory.ingest([])
    assert (memory.banks, memory.entities) == (1, 0)
    assert memory.tell(()) == Change()


def assert_same_change(ours: Change, theirs: Change) -> None:
    assert (ours.before, ours.after) == (theirs.before, theirs.after)
    assert (ours.banks, ours.created) == (theirs.banks, theirs.created)
    assert ours.strengths == pytest.approx(theirs.strengths, abs=1e-4)


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("seed", range(4))
def test_changes_banks_and_attention_are_those_of_torch(seed: int) -> None:
    trained = random_model(seed)
    promoted = 0
    for example in random_examples(4, seed=seed, sentences=9):
        ours, theirs = CoreMemory(core_for(trained), example.questions), TorchMemory(trained, example.questions)
        for sentence in example.sentences:
            change = ours.tell(sentence)
            assert_same_change(change, theirs.tell(sentence))
            promoted += len(change.before) > len(change.strengths)
        assert (ours.banks, ours.entities) == (theirs.banks, theirs.entities)
        for index in range(ours.banks):
            assert_same_bank(ours, theirs, index)
        for banks in BANKS:
            assert_same_attention(ours, theirs, banks, len(example.questions))
    assert promoted or seed  # of the first model, some new bank takes what its sentence did not touch


def assert_same_bank(ours: StoryMemory, theirs: StoryMemory, index: int) -> None:
    one, other = ({held.word: (held.strength, held.relevance) for held in m.bank(index)} for m in (ours, theirs))
    assert one.keys() == other.keys()
    for word, numbers in one.items():
        assert numbers == pytest.approx(other[word], abs=1e-3)


def assert_same_attention(ours: StoryMemory, theirs: StoryMemory, banks: int, questions: int) -> None:
    for question in range(questions):
        one, other = ours.attention(banks, question), theirs.attention(banks, question)
        for shares, right in zip(one, other, strict=True):
            assert shares == pytest.approx(right, abs=1e-4)
            assert 0 <= sum(shares.values()) < 1 + 1e-5
        assert bool(one[-1]) == bool(ours.bank(ours.banks - 1))


def opened(kind: Callable[..., Any], trained: TrainedModel, example: Example) -> StoryMemory:
    memory: StoryMemory = kind(core_for(trained) if kind is CoreMemory else trained, example.questions)
    return memory


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("pointer", [False, True])
@pytest.mark.parametrize("back", [CoreMemory, TorchMemory])
@pytest.mark.parametrize("kind", [CoreMemory, TorchMemory])
def test_a_memory_goes_on_in_either_implementation(kind: type, back: type, pointer: bool) -> None:
    trained = random_model(4, pointer=pointer)
    told_alone = story("mice", "mary went", "mouse", "the mice", question="mice")
    for example in [*with_unknown_words(3, seed=4, sentences=9), told_alone]:
        middle = len(example.sentences) // 2
        whole, first, second = (opened(one, trained, example) for one in (kind, kind, back))
        whole.ingest(example.sentences)
        first.ingest(example.sentences[:middle])
        second.resume(first.words, first.arrays())
        assert_same_found(second.read(0), first.read(0), 1e-4)
        second.ingest(example.sentences[middle:])
        assert_same_found(second.read(1), whole.read(1), 1e-4)
        assert list(second.words) == list(whole.words)


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("least", [1, 40])
@pytest.mark.parametrize(
    "told", [random_examples(6, seed=0, sentences=30), with_unknown_words(6, seed=1), [*odd_stories(), crowd(150)]]
)
def test_sentences_touch_what_the_word_graph_says(told: list[Example], least: int) -> None:
    found = encode(told, VOCABULARY, Sizes(members=least)).sentences
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boundary, "library", lambda: None)
        expected = encode(told, VOCABULARY, Sizes(members=least)).sentences
    for name in ("members", "context", "edges"):
        np.testing.assert_array_equal(found[name], expected[name], name)
    assert found["edges"].any()


@pytest.mark.usefixtures("core")
def test_no_stories_touch_nothing() -> None:
    assert encode([], VOCABULARY).sentences["members"].shape == (1, 1)


def ints(*values: int) -> Any:
    return (c_int32 * len(values))(*values)


def given(words: Any, begin: Any, vectors: Any, **other: int) -> boundary.CWords:
    """Rows of words, which keep their arrays alive."""
    sizes = {"met": len(vectors), "count": len(begin) - 1} | other
    made = boundary.CWords(vectors=addressof(vectors), begin=addressof(begin), words=addressof(words), **sizes)
    made.kept = (words, begin, vectors)
    return made


def test_numbers_that_cannot_be_are_refused(core: CDLL) -> None:
    trained = random_model(0)
    memory = live(trained, story("mary went"))
    begin, none = ints(0, 1), ints()
    wrong = [given(ints(slot), begin, none) for slot in (0, -1, 99, 2**31 - 1)]
    wrong += [given(ints(1), ints(1, 0), none), given(ints(1), ints(-1, 1), none), given(ints(1), begin, ints(99))]
    wrong += [given(ints(1), begin, ints(-1)), given(ints(1), begin, none, met=-1)]
    wrong += [given(ints(1), begin, none, count=-1)]
    for words in wrong:
        assert core.amn_tell(memory.handle, memory._core.desk, byref(words)) == boundary.BAD_INPUT
    asked_again = given(ints(1), begin, none)
    assert core.amn_ask(memory.handle, memory._core.desk, byref(asked_again)) == boundary.BAD_INPUT
    assert memory.entities == 2
    with pytest.raises(ValueError, match="invalid input"):
        memory.attention(1, 7)


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize(
    ("name", "value"),
    [("depth", 4), ("depth", -2), ("order", 0), ("order", 99), ("neighbours", 99), ("neighbour_counts", 17)]
    + [("neighbour_counts", -1), ("banks", 0), ("banks", 9), ("neighbours", -1), ("pairs", -1), ("pairs", 999)],
)
def test_tables_that_cannot_be_are_refused(name: str, value: int) -> None:
    trained, example = random_model(0, pointer=True, items=3), story("mary went to the garden", "john took milk")
    first = live(trained, example)
    arrays = first.arrays()
    arrays[name] = arrays[name].copy()
    arrays[name].reshape(-1)[-1] = value
    if name == "neighbours":
        arrays[name][:] = value
    with pytest.raises(ValueError, match="invalid input|all entities"):
        CoreMemory(core_for(trained), example.questions).resume(first.words, arrays)
    shorter = first.arrays()["order"][:-1]
    with pytest.raises(ValueError, match="expected all entities"):
        CoreMemory(core_for(trained), example.questions).resume(first.words, first.arrays() | {"order": shorter})
    with pytest.raises(TypeError, match="expected float32"):
        CoreMemory(core_for(trained), example.questions).resume(
            first.words, first.arrays() | {"states": arrays["depth"]}
        )


@pytest.mark.usefixtures("core")
def test_settings_and_weights_that_do_not_go_together_are_refused() -> None:
    sound = random_model(0)

    def of(config: dict[str, Any], **weights: np.ndarray) -> TrainedModel:
        named = {name.replace("__", "."): value for name, value in weights.items()}
        return TrainedModel(
            architecture="amn",
            config=sound.config | config,
            weights=sound.weights | named,
            vocabulary=sound.vocabulary,
        )

    wrong = [of({"heads": 3}), of({"max_banks": 65}), of({"max_banks": 0}), of({"pointer": True}), of({"hidden": 8})]
    wrong += [of({}, ask__weight=np.zeros((5, 5), np.float32)), of({}, move_state__bias=np.zeros(0, np.float32))]
    wrong += [
        of({}, decoder__answer__weight=np.zeros((9, 16), np.float32), decoder__answer__bias=np.zeros(9, np.float32))
    ]
    wrong += [of({}, strength__reset=np.zeros(0, np.float32)), of({"items": 3})]
    for trained in wrong:
        with pytest.raises(AMNError, match="amn: the compiled core does not support"):
            core_of(trained)
    less = of({})
    del less.weights["ask.weight"]
    with pytest.raises(AMNError, match="amn: the compiled core does not support"):
        core_of(less)


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_weights_that_are_no_numbers_end_in_answers(value: float) -> None:
    wild = random_model(0, pointer=True)
    for name, weight in wild.weights.items():
        weight.reshape(-1)[:: 3 if "." in name else 1] = value
    for example in [*random_examples(3, seed=1), *odd_stories()]:
        memory = live(wild, example)
        assert memory.read(0).logits.shape[0] == len(example.questions)
        assert 1 <= memory.banks <= 4


@pytest.mark.usefixtures("core")
def test_scores_beyond_what_an_exponential_holds_are_told_apart() -> None:
    """Softmax takes the greatest score from all: without that, all scores above 88 would be the same infinity."""
    sharp = random_model(1)
    for name in ("ask.weight", "tell.weight"):
        sharp.weights[name] *= 12
    model = sharp.model
    model.load_state_dict({name: _tensor(value) for name, value in sharp.weights.items()})
    told = random_examples(8, seed=1, sentences=3)
    assert largest_score(sharp, told) > 200
    for right, one in zip(read_by_torch(sharp, told, 0), CoreStories(core_for(sharp), told).read(0), strict=True):
        assert_same_found(one, right, 1e-2)


@pytest.mark.usefixtures("core")
def test_so_are_scores_with_which_questions_read(monkeypatch: pytest.MonkeyPatch) -> None:
    sharp = random_model(1)
    sharp.weights["decoder.match.weight"] *= 1000
    sharp.model.load_state_dict({name: _tensor(value) for name, value in sharp.weights.items()})
    told, attend, scores = random_examples(8, seed=1, sentences=3), Decoder.attend, list[float]()

    def seen(decoder: Decoder, content: Any, members: Any, questions: Any) -> Any:
        looked = decoder.match(questions) @ content.transpose(1, 2) / content.shape[-1] ** 0.5
        scores.append(float((looked * (members > 0).any(1, keepdim=True)).max()))
        return attend(decoder, content, members, questions)

    monkeypatch.setattr(Decoder, "attend", seen)
    for right, one in zip(read_by_torch(sharp, told, 1), CoreStories(core_for(sharp), told).read(1), strict=True):
        assert_same_found(one, right, 1e-2)
    assert max(scores) > 200


def _tensor(value: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(value.copy())


def largest_score(trained: TrainedModel, told: Sequence[Example]) -> float:
    """The greatest score with which a member of some sentence looks at another."""
    from unittest.mock import patch

    from amn.models import amn as module

    scores: list[float] = []
    whole = masked_softmax

    def seen(given_scores: Any, mask: Any) -> Any:
        scores.append(float(given_scores[mask].max()))
        return whole(given_scores, mask)

    with patch.object(module, "masked_softmax", seen):
        read_by_torch(trained, told, 1)
    return max(scores)


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("banks", [5, 6, 7])
def test_a_memory_that_is_nearly_empty_counts_as_no_emptier_than_a_tenth(banks: int) -> None:
    """One entity in so many banks is a load of less than 0.1, whose logarithm is bounded below."""
    trained = random_model(0, max_banks=8)
    weights = trained.weights
    weights["create.weight"][:] = 0
    weights["create.weight"][0, -1] = 1
    weights["create.bias"][:] = 2.5  # above -log 0.1, and below -log of the loads from 1/16 on
    trained.model.load_state_dict({name: _tensor(value) for name, value in weights.items()})
    told = [story(*["mary"] * banks, question="mary")]
    (found,) = CoreStories(core_for(trained), told).read(1)
    assert found.banks == banks + 1
    assert_as_torch(trained, told)
