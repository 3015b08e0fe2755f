"""A live memory gives what the batched model gives, costs what it touches, and comes back from disk unchanged."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from amn.compact import CompactMemory
from amn.fast.step import read_sentence
from amn.fast.weights import Weights
from amn.inference.reading import found_in, read_batch

from amn.answers import Answer
from amn.data.examples import Example
from amn.data.graph import CONTEXT
from amn.errors import AMNError, CheckpointError
from amn.inference.trained import TrainedModel
from amn.memory import CERTAIN, LiveMemory
from amn.models import build_model
from amn.models.amn import AMN
from amn.models.encoder import ANONYMOUS
from random_stories import VOCABULARY, assert_same_found, random_examples, shaken, with_unknown_words

STORY = "Mary went to the garden. John took the milk. Mary went to the office."
SETTINGS = {"hidden": 16, "heads": 2, "max_banks": 4}


def trained(seed: int = 0, architecture: str = "amn", **settings: object) -> TrainedModel:
    given = {**SETTINGS, **settings} if architecture == "amn" else dict(settings)
    model = build_model(architecture, VOCABULARY, given, seed).eval()
    shaken(model, seed)
    return TrainedModel.of(architecture=architecture, model=model, vocabulary=VOCABULARY)


def memory_with_banks(questions: list[str]) -> LiveMemory:
    """A memory whose model has made several banks and is sure of nothing."""
    for seed in range(50):
        memory = LiveMemory(trained(seed), questions)
        memory.tell(STORY)
        if len(memory.snapshot()) >= 3 and memory.ask()[0].score < CERTAIN:
            return memory
    raise AssertionError("no seed makes banks")


def assert_same(model: TrainedModel, memory: CompactMemory, example: Example, banks: int) -> None:
    assert_same_found(memory.read(banks), found_in(read_batch(model, [example], banks), VOCABULARY, 0, example), 1e-9)


@pytest.mark.parametrize("pointer", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_after_each_sentence_the_logits_are_those_of_the_batched_model(seed: int, pointer: bool) -> None:
    model = trained(seed, pointer=pointer)
    model.model.double()
    assert isinstance(model.model, AMN)
    for example in [*random_examples(2, seed=seed, sentences=7), *with_unknown_words(1, seed=seed, sentences=7)]:
        memory = CompactMemory(model.model, VOCABULARY, example.questions)
        for told in range(len(example.sentences) + 1):
            memory.tell(example.sentences[told - 1 : told] if told else ())
            for banks in (1, 2, 0) if told % 3 == 0 else (1,):
                assert_same(model, memory, replace(example, sentences=example.sentences[:told]), banks)


def test_single_precision_agrees_too() -> None:
    model = trained(3)
    assert isinstance(model.model, AMN)
    for example in random_examples(2, seed=3, sentences=9):
        memory = CompactMemory(model.model, VOCABULARY, example.questions)
        memory.tell(example.sentences)
        assert_same_found(memory.read(1), found_in(read_batch(model, [example], 1), VOCABULARY, 0, example), 1e-4)


def test_one_telling_or_many_give_the_same_memory() -> None:
    at_once, bit_by_bit = (LiveMemory(trained(1), "Where is Mary?") for _ in range(2))
    traces = at_once.tell(STORY)
    assert [trace for part in STORY.split(". ") for trace in map(_rounded, bit_by_bit.tell(part))] == [
        replace(trace, text=trace.text.rstrip(".") if trace.sentence < 2 else trace.text)
        for trace in map(_rounded, traces)
    ]
    assert at_once.ask()[0].score == pytest.approx(bit_by_bit.ask()[0].score, abs=1e-6)


def _rounded(trace: object) -> object:
    return replace(trace, strengths={word: round(s, 4) for word, s in trace.strengths.items()})  # type: ignore[attr-defined,type-var]


def test_traces_add_up_to_the_banks() -> None:
    memory = memory_with_banks(["Where is Mary?"])
    depth: dict[str, int] = {}
    banks = 1
    for trace in memory.tell("The milk went to John. John went to the garden."):
        assert trace.banks == banks + trace.created or trace.sentence == 3
        banks = trace.banks
    for trace in memory.ask(explain=True)[0].explanation.sentences:  # type: ignore[union-attr]
        for move in trace.moves:
            assert depth.get(move.word) == move.before and trace.depth[move.word] == move.after
        depth |= trace.depth
    general = memory.snapshot()[0]
    assert {entity.word for entity in general.entities} == set(depth)
    assert len(memory.snapshot()) == banks


def test_an_explanation_says_what_was_read_and_where_it_looked() -> None:
    memory = memory_with_banks(["Where is Mary?"])
    answer = memory.ask(explain=True, banks=2)[0]
    explained = answer.explanation
    assert explained is not None
    assert explained.read == (answer.banks_created - 1, answer.banks_created - 2)
    assert len(explained.banks) == answer.banks_created
    for bank in explained.banks:
        total = sum(entity.attention for entity in bank.entities)
        assert (0 <= total <= 1.001) if bank.index in explained.read else total == 0
        assert all(0 <= entity.strength <= 1 for entity in bank.entities)
    edges = {(edge.before, edge.after): edge.sentence for edge in explained.graph}
    assert edges["mary", "went"] == 2 and edges["john", "took"] == 1
    assert json.loads(json.dumps(answer.to_dict()))["explanation"]["sentences"][0]["moves"][0]["from"] is None


def test_a_huge_deadline_reads_on_while_uncertain_and_none_stops_at_once() -> None:
    memory = memory_with_banks(["Where is Mary?"])
    patient, hurried = memory.ask(deadline=60)[0], memory.ask(deadline=0)[0]
    assert not patient.stopped_for_deadline
    assert patient.score >= CERTAIN or patient.banks_read == patient.banks_created
    assert hurried.banks_read == 1 and hurried.stopped_for_deadline
    assert hurried.answer == memory.ask()[0].answer
    assert memory.ask(deadline=60, banks=2)[0].banks_read <= 2


def test_more_banks_are_read_only_where_they_are_asked_for() -> None:
    memory = memory_with_banks(["Where is Mary?", "Where is John?"])
    few, every = memory.ask()[0], memory.ask(banks=0)[0]
    assert (few.banks_read, every.banks_read) == (1, every.banks_created)
    assert few.entities_read < every.entities_read
    assert every.entities_read == sum(bank.size for bank in memory.snapshot())
    assert memory.ask(banks=99)[0].score == pytest.approx(every.score)


def test_questions_share_a_memory_only_where_training_did_so() -> None:
    questions = ["Where is Mary?", "Where is John?"]
    apart = LiveMemory(trained(2), questions)
    apart.tell(STORY)
    alone = [apart.ask_other(question) for question in questions]
    assert list(map(_essence, apart.ask())) == list(map(_essence, alone))
    together = replace(trained(2), record={"run": {"train": {"together": True}}})
    shared = LiveMemory(together, questions)
    shared.tell(STORY)
    assert shared.snapshot(0) == shared.snapshot(1) != apart.snapshot(1)
    assert list(map(_essence, shared.ask(banks=2)))[1].score != pytest.approx(apart.ask(banks=2)[1].score, abs=1e-4)


def test_another_question_gets_what_a_memory_of_its_own_gives() -> None:
    memory = LiveMemory(trained(2), "Where is Mary?")
    memory.tell(STORY)
    own = LiveMemory(trained(2), "Where is the milk?")
    own.tell(STORY)
    assert _essence(memory.ask_other("Where is the milk?")) == _essence(own.ask()[0])


def _essence(answer: Answer) -> Answer:
    return replace(answer, milliseconds=0.0)


@pytest.mark.parametrize(("architecture", "shared"), [("amn", True), ("amn", False), ("amn-paper", True)])
@pytest.mark.parametrize("pointer", [False, True])
def test_a_memory_comes_back_from_disk_and_goes_on(
    architecture: str, shared: bool, pointer: bool, tmp_path: Path
) -> None:
    model = trained(4, architecture, **({"pointer": True} if pointer and architecture == "amn" else {}))
    memory = LiveMemory(model, ["Where is Mary?", "Where is John?"], shared)
    memory.tell(STORY)
    memory.save(tmp_path / "saved")
    back = LiveMemory.restore(tmp_path / "saved", model)
    for one in (memory, back):
        one.tell("John went to the garden. The new milk went. Zaphod went to Xanadu.")
    assert list(map(_essence, memory.ask(explain=True))) == list(map(_essence, back.ask(explain=True)))
    assert memory.snapshot() == back.snapshot()


def test_a_saved_memory_is_refused_by_another_model_or_when_damaged(tmp_path: Path) -> None:
    memory = LiveMemory(trained(0), "Where is Mary?")
    memory.save(tmp_path)
    with pytest.raises(CheckpointError, match="other weights"):
        LiveMemory.restore(tmp_path, trained(1))
    (tmp_path / "memory.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="not the one"):
        LiveMemory.restore(tmp_path, trained(0))
    (tmp_path / "memory.json").write_text("{")
    with pytest.raises(CheckpointError, match="not a saved memory"):
        LiveMemory.restore(tmp_path, trained(0))


def test_a_sentence_touches_its_own_rows_however_much_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[int] = []

    def counting(weights: Weights, states: np.ndarray, *others: np.ndarray) -> np.ndarray:
        touched.append(len(states))
        return read_sentence(weights, states, *others)

    monkeypatch.setattr("amn.compact.read_sentence", counting)
    memory = LiveMemory(trained(0, max_banks=1), "Where is Mary?")
    memory.tell([" ".join(f"word{i}" for i in range(start, start + 50)) for start in range(0, 500, 50)])
    assert memory.ask()[0].entities == 500
    touched.clear()
    memory.tell(["mary went to the garden"] * 3)
    assert max(touched) <= len(("mary", "went", "to", "the", "garden")) + CONTEXT


def test_an_answer_is_chosen_among_as_many_words_however_much_is_stored() -> None:
    model = trained(0, pointer=True)
    assert isinstance(model.model, AMN)
    memory = CompactMemory(model.model, VOCABULARY, [("where", "is", "mary")])
    memory.hear([tuple(f"word{i}" for i in range(start, start + 50)) for start in range(0, 500, 50)])
    memory.hear([("mary", "went")])
    found = memory.read(1)
    assert found.entities == 502
    assert sorted(found.words) == sorted([*(f"word{i}" for i in range(500 - ANONYMOUS, 500)), "mary", "went"])


def test_explanations_go_back_so_far_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amn.memory.KEPT_TRACES", 3)
    memory = LiveMemory(trained(0), "Where is Mary?")
    memory.tell(["Mary went."] * 5)
    explained = memory.ask(explain=True)[0].explanation
    assert explained is not None
    assert [explained.sentences[0].sentence, len(explained.sentences)] == [2, 3]


def test_an_empty_memory_answers() -> None:
    for architecture in ("amn", "amn-paper"):
        answer = LiveMemory(trained(0, architecture), "Where is Mary?").ask(explain=True)[0]
        assert answer.answer in VOCABULARY.answers and answer.entities == 0


@pytest.mark.parametrize(
    ("banks", "deadline", "named"), [(-1, None, "banks"), (1, -1.0, "deadline"), (1, float("nan"), "deadline")]
)
def test_impossible_limits_are_named(banks: int, deadline: float | None, named: str) -> None:
    with pytest.raises(AMNError, match=f"^{named}:"):
        LiveMemory(trained(0), "Where is Mary?").ask(banks=banks, deadline=deadline)
