"""The gate: the compiled core and torch let in the same sentences, and the literal twin judges both."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
import torch

from amn.api import QA
from amn.core import boundary
from amn.data.examples import Example, Words
from amn.inference.core import core_of
from amn.inference.engine import Engine, let_in, open_gate, read_examples, tell_stories
from amn.inference.gate import CoreJudge, TorchJudge
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.models.amn import AMN
from random_stories import assert_same_found, in_double, random_examples, random_model, story, with_unknown_words
from reference_default import Twin


def gated(
    seed: int = 0, width: int = 12, bars: Sequence[float] = (-0.4, 0.5, 0.4), needs: bool = False
) -> TrainedModel:
    """A random model with a random gate that lets in about half of what it hears."""
    trained = random_model(seed, gate=width, pointer=True, needs=needs)
    places = np.arange(len(trained.vocabulary.words))
    fixed = {"gate.bars": np.array(bars, np.float32), "gate.refers": (places % 7 == 5).astype(np.float32)}
    if needs:
        fixed |= {"gate.need.highest": np.full(1, 0.6, np.float32), "gate.need.verdict.bias": np.zeros(1, np.float32)}
        fixed["gate.need.names"] = np.isin(trained.vocabulary.words, ["mary", "garden", "milk"]).astype(np.float32)
    return replace(trained, weights={**trained.weights, **fixed})


def one_long(seed: int) -> Example:
    """A long text, some of whose words nobody knows, with two questions."""
    parts = [*random_examples(60, seed=seed), *with_unknown_words(60, seed=seed)]
    sentences = tuple(sentence for part in parts for sentence in part.sentences)
    return Example(sentences=sentences, questions=(("where", "is", "mary"), ("zoe",)), answers=(None, None))


def twin_says(trained: TrainedModel, example: Example) -> list[bool]:
    twin = Twin(trained.weights, trained.config, trained.vocabulary.words, example.questions)
    return [twin.lets_in(sentence) for sentence in example.sentences]


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("needs", [False, True])
@pytest.mark.parametrize("width", [12, 16, 48, 5])
def test_the_core_lets_in_what_the_twin_and_torch_let_in(width: int, needs: bool) -> None:
    trained, text = gated(width + 7, width, needs=needs), one_long(width)

    by_core = open_gate(trained, text.questions)
    by_torch = open_gate(trained, text.questions, "torch")

    assert isinstance(by_core, CoreJudge)
    assert isinstance(by_torch, TorchJudge)
    found = by_core.judge(text.sentences)
    np.testing.assert_array_equal(found, by_torch.judge(text.sentences))
    assert by_core.state.to_json() == by_torch.state.to_json()
    assert (found.sum(1) < by_core.state.facts).any() == needs
    assert found.any(0).tolist() == twin_says(trained, text)
    assert 0 < found.sum() < found.size


@pytest.mark.usefixtures("core")
def test_a_text_is_judged_alike_in_one_piece_and_in_many() -> None:
    trained, text = gated(needs=True), one_long(3)
    for engine in ("auto", "torch"):
        whole, parts = (open_gate(trained, text.questions, engine) for _ in range(2))
        assert whole is not None
        assert parts is not None
        expected = whole.judge(text.sentences)
        found = [parts.judge(text.sentences[i : i + 7]) for i in range(0, len(text.sentences), 7)]
        np.testing.assert_array_equal(np.concatenate(found, 1), expected)
        assert parts.state.to_json() == whole.state.to_json()


@pytest.mark.usefixtures("core")
def test_the_bar_rises_as_less_is_let_in_and_never_above_the_highest() -> None:
    sentence, question = ("mary", "went"), ("where", "is", "mary")
    logit = _logit(gated(), sentence, question)
    # The bar is above the logit once less than 1 / e of the text was let in: after 27 sentences without any.
    rising, low = (logit - 1, 1.0, logit + 9), (logit - 1, 1.0, logit - 0.5)
    for bars, before, passes in ((rising, 27, True), (rising, 28, False), (low, 28, True), (low, 10**9, True)):
        for engine in ("auto", "torch"):
            judge = open_gate(gated(bars=bars), [question], engine)
            assert judge is not None
            judge.state.seen = before
            assert judge.judge([sentence]).all() == passes


@pytest.mark.usefixtures("core")
def test_a_pronoun_passes_in_a_story_and_not_in_a_book() -> None:
    sentence, question = ("mary", "went"), ("where", "is", "mary")
    logit = _logit(gated(), sentence, question)
    trained = gated(bars=(logit - 1, 1.0, logit - 0.5))
    refers = np.zeros_like(trained.weights["gate.refers"])
    for pronouns, before, passes in (([], 10**9, True), (["went"], 27, True), (["went"], 28, False)):
        refers[[trained.numbers[word] for word in pronouns]] = 1
        own = replace(trained, weights={**trained.weights, "gate.refers": refers.copy()})
        for engine in ("auto", "torch"):
            judge = open_gate(own, [question], engine)
            assert judge is not None
            judge.state.seen = before
            assert judge.judge([sentence]).all() == passes


def _needing(needed: str, turned_away: str) -> TrainedModel:
    """A gate that takes everything for a fact, and needs sentences that share no name, the first, others, or both."""
    trained = gated(bars=(-1e3, 0.0, -1e3), needs=True)
    weights = {name: np.zeros_like(value) for name, value in trained.weights.items() if name.startswith("gate.need.")}
    shared = {"none": 0, "first": 1, "other": 2, "both": 3}
    weights["gate.need.shared.weight"][[shared[name] for name in needed.split()]] = 1.0
    weights["gate.need.shared.weight"][[shared[name] for name in turned_away.split()]] = -1.0
    weights["gate.need.verdict.weight"][:] = 1.0
    weights["gate.need.names"] = trained.weights["gate.need.names"]
    refers = (np.array(trained.vocabulary.words) == "took").astype(np.float32)
    return replace(trained, weights={**trained.weights, **weights, "gate.refers": refers})


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("engine", ["auto", "torch"])
def test_names_are_the_same_in_sentence_and_question_known_or_not(engine: Engine) -> None:
    question = ("where", "is", "zoe", "mary")
    told = [("zoe", "went"), ("xu", "went"), ("mary", "went"), ("mary", "zoe"), ("where",)]
    for needed, away, expected in (
        ("first both", "none other", [1, 0, 0, 1, 0]),
        ("other both", "none first", [0, 0, 1, 1, 0]),
        ("none", "first other both", [0, 1, 0, 0, 1]),
    ):
        judge = open_gate(_needing(needed, away), [question], engine)
        assert judge is not None
        assert judge.judge(told)[0].astype(int).tolist() == expected
        assert judge.state.facts.tolist() == [5]


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("engine", ["auto", "torch"])
def test_a_pronoun_goes_with_the_fact_before_it(engine: Engine) -> None:
    told = [("took",), ("mary", "went"), ("took", "milk"), ("john", "went"), ("took", "mary"), ("took",), ("mary",)]
    judge = open_gate(_needing("first", "none"), [("mary",)], engine)
    assert judge is not None
    found = [judge.judge([one])[0, 0] for one in told]
    assert found == [True, True, True, False, False, False, True]
    everything = open_gate(_needing("first", "none"), [("mary",)], engine, needs=False)
    assert everything is not None
    assert everything.judge(told).all()


def _logit(trained: TrainedModel, sentence: Words, question: Words) -> float:
    gate = cast(AMN, trained.model).gate
    assert gate is not None
    with torch.no_grad():
        numbers = [torch.tensor([[trained.numbers.get(word, 1) for word in row]]) for row in (sentence, question)]
        return gate(*numbers).item()


@pytest.mark.usefixtures("core")
def test_what_is_turned_away_leaves_no_trace() -> None:
    trained = gated()
    plain = replace(trained, config={**trained.config, "gate": 0}, weights=_without(trained))
    for example in [*random_examples(12, seed=1, sentences=20), story("mary went", "xu went", question="xu")]:
        inside = let_in(trained, example)
        assert set(inside.sentences) <= set(example.sentences)
        (found,), (expected,) = (read_examples(model, [one], 0) for model, one in ((trained, example), (plain, inside)))
        assert_same_found(found, expected, 1e-6)
        assert_same_found(tell_stories(trained, [example], "torch").read(0)[0], expected, 1e-4)


def _without(trained: TrainedModel) -> dict[str, np.ndarray]:
    return {name: value for name, value in trained.weights.items() if not name.startswith("gate.")}


@pytest.mark.usefixtures("core")
def test_a_live_memory_answers_as_one_that_is_given_the_whole_story() -> None:
    qa = QA(gated())
    texts = [" ".join(sentence) for sentence in one_long(5).sentences[:60]]
    memory = LiveMemory(qa.trained, ["where is mary"])
    for text in texts:
        memory.tell([text])
    (answer,), whole = memory.ask(), qa(texts, "where is mary")
    assert (answer.answer, answer.entities, answer.entities_read) == (whole.answer, whole.entities, whole.entities_read)
    assert memory.seen == 60
    assert 0 < memory.let_in < 60


def test_a_story_of_which_nothing_is_let_in_is_answered() -> None:
    trained = gated(bars=(1e6, 1.0, 1e6))
    assert let_in(trained, story("mary went")).sentences == ()
    assert read_examples(trained, [story("mary went")], 1)[0].entities == 0


def test_without_a_core_torch_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundary, "library", lambda: None)
    assert isinstance(open_gate(gated(), [("mary",)]), TorchJudge)


def test_a_model_without_a_gate_lets_in_everything() -> None:
    assert open_gate(random_model(0), [("mary",)]) is None
    example = story("mary went", "the garden")
    assert let_in(random_model(0), example) is example


@pytest.mark.usefixtures("core")
def test_models_of_64_bits_keep_their_gate() -> None:
    trained = in_double(gated())
    assert core_of(trained) is None
    assert isinstance(open_gate(trained, [("mary",)]), TorchJudge)
