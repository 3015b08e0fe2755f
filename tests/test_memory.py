"""A live memory answers, explains itself, keeps to deadlines, and comes back from disk unchanged or not at all."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amn.answers import Answer, SentenceTrace
from amn.core import boundary
from amn.errors import AMNError
from amn.inference.trained import TrainedModel
from amn.memory.changes import Follower
from amn.memory.live import CERTAIN, LiveMemory
from live_memories import MORE, QUESTIONS, STORY, assert_alike, depths, told, trained
from random_stories import VOCABULARY


@pytest.fixture(scope="module")
def with_banks() -> TrainedModel:
    """A model that makes several banks of the story and is sure of nothing."""
    for seed in range(50):
        memory = told(trained(seed), QUESTIONS)
        if len(memory.snapshot()) >= 3 and max(answer.score for answer in memory.ask()) < CERTAIN:
            return memory.trained
    raise AssertionError("no seed makes banks")


def essence(answer: Answer) -> Answer:
    return replace(answer, milliseconds=0.0)


def same_answers(ours: Sequence[Answer], theirs: Sequence[Answer]) -> bool:
    return list(map(essence, ours)) == list(map(essence, theirs))


def test_one_telling_or_many_give_the_same_memory(implementation: str) -> None:
    at_once, bit_by_bit = (LiveMemory(trained(1), "Where is Mary?") for _ in range(2))
    traces = at_once.tell(STORY)
    assert [trace.strengths for part in STORY.split(". ") for trace in bit_by_bit.tell(part)] == [
        pytest.approx(trace.strengths) for trace in traces
    ]
    assert at_once.ask()[0].score == pytest.approx(bit_by_bit.ask()[0].score, abs=1e-6)
    assert [trace.sentence for trace in traces] == [0, 1, 2]


def test_traces_add_up_to_the_banks_after_every_sentence(implementation: str) -> None:
    """Also where a new bank takes what its sentence did not touch."""
    promoted = 0
    for seed in range(6):
        memory, known = LiveMemory(trained(seed), "Where is Mary?"), dict[str, int]()
        banks = 1
        for sentence in [*STORY.split(". "), *MORE.split(". ")]:
            (trace,) = memory.tell(sentence)
            for move in trace.moves:
                assert known.get(move.word) == move.before and trace.depth[move.word] == move.after
            assert trace.banks == banks + trace.created
            banks, known = trace.banks, known | trace.depth
            assert known == depths(memory)
            promoted += bool({move.word for move in trace.moves} - trace.strengths.keys())
    assert promoted


def test_an_explanation_says_what_was_read_and_where_it_looked(with_banks: TrainedModel) -> None:
    answer = told(with_banks).ask(explain=True, banks=2)[0]
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


class Scripted:
    """Readings with known scores and costs, and a clock that only they move."""

    def __init__(self, scores: Sequence[float], seconds: Sequence[float]) -> None:
        self.now, self.scores, self.seconds, self.read = 100.0, scores, seconds, list[int]()

    def clock(self) -> float:
        return self.now

    def __call__(self, banks: int, asked: Sequence[int]) -> list[Answer]:
        self.read.append(banks)
        self.now += self.seconds[banks - 1]
        one = Answer(
            question="?",
            answer=f"from {banks}",
            score=self.scores[banks - 1],
            banks_read=banks,
            banks_created=len(self.scores),
            entities_read=10 * banks,
        )
        return [one] * len(asked)


def ask_scripted(scripted: Scripted, deadline: float, monkeypatch: pytest.MonkeyPatch, **limits: Any) -> Answer:
    memory = LiveMemory(trained(0), "Where is Mary?")
    monkeypatch.setattr(memory, "_read", scripted)
    monkeypatch.setattr("amn.memory.live.perf_counter", scripted.clock)
    return memory.ask(deadline=deadline, **limits)[0]


def test_a_deadline_keeps_the_most_certain_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = Scripted([0.3, 0.6, 0.2, 0.5], [1, 1, 1, 1])
    answer = ask_scripted(scripted, 60, monkeypatch)
    assert (answer.answer, answer.score) == ("from 2", 0.6)
    assert (answer.banks_read, answer.entities_read) == (4, 40)  # all of them were read for it
    assert not answer.stopped_for_deadline and scripted.read == [1, 2, 3, 4]


def test_a_deadline_counts_what_the_next_reading_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 3 seconds another reading would end after 5.5: the slowest so far took 2.5."""
    scripted = Scripted([0.1, 0.2, 0.3, 0.4], [0.5, 2.5, 0.1, 0.1])
    answer = ask_scripted(scripted, 5.0, monkeypatch)
    assert scripted.read == [1, 2] and answer.stopped_for_deadline
    assert answer.milliseconds == pytest.approx(3000)
    scripted = Scripted([0.1, 0.2, 0.3, 0.4], [0.5, 2.5, 0.1, 0.1])
    assert not ask_scripted(scripted, 9.0, monkeypatch).stopped_for_deadline
    assert scripted.read == [1, 2, 3, 4]


def test_reading_stops_where_an_answer_is_certain_or_no_more_may_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    certain = Scripted([0.1, CERTAIN, 0.99], [1, 1, 1])
    assert not ask_scripted(certain, 60, monkeypatch).stopped_for_deadline
    assert certain.read == [1, 2]
    limited = Scripted([0.1, 0.2, 0.3], [1, 1, 1])
    assert not ask_scripted(limited, 60, monkeypatch, banks=2).stopped_for_deadline
    assert limited.read == [1, 2]
    hurried = Scripted([0.1, 0.2, 0.3], [1, 1, 1])
    assert ask_scripted(hurried, 0, monkeypatch).stopped_for_deadline
    assert hurried.read == [1]


def test_a_huge_deadline_reads_on_while_uncertain(with_banks: TrainedModel) -> None:
    memory = told(with_banks)
    patient = memory.ask(deadline=60)[0]
    assert not patient.stopped_for_deadline
    assert patient.score >= CERTAIN or patient.banks_read == patient.banks_created
    assert patient.score == max(memory.ask(banks=k)[0].score for k in range(1, patient.banks_read + 1))


def test_more_banks_are_read_only_where_they_are_asked_for(with_banks: TrainedModel) -> None:
    memory = told(with_banks, QUESTIONS)
    few, every = memory.ask()[0], memory.ask(banks=0)[0]
    assert (few.banks_read, every.banks_read) == (1, every.banks_created)
    assert few.entities_read < every.entities_read
    assert every.entities_read == sum(bank.size for bank in memory.snapshot())
    assert memory.ask(banks=99)[0].score == pytest.approx(every.score)


def test_questions_share_a_memory_only_where_training_did_so() -> None:
    apart = told(trained(2), QUESTIONS)
    assert same_answers(apart.ask(), [told(trained(2), question).ask()[0] for question in QUESTIONS])
    together = replace(trained(2), record={"run": {"train": {"together": True}}})
    shared = told(together, QUESTIONS)
    assert shared.snapshot(0) == shared.snapshot(1) != apart.snapshot(1)
    assert shared.ask(banks=2)[1].score != pytest.approx(apart.ask(banks=2)[1].score, abs=1e-4)


def test_any_question_may_be_asked() -> None:
    memory = told(trained(2), QUESTIONS)
    assert essence(memory.ask("Where is John?")) == essence(memory.ask()[1])
    other = memory.ask(" Where is the milk? ", banks=2)
    assert essence(other) == essence(told(trained(2), "Where is the milk?").ask(banks=2)[0])
    assert memory.questions == QUESTIONS and len(memory.ask()) == 2
    with pytest.raises(AMNError, match="question"):
        memory.ask("?")


@pytest.mark.parametrize(("architecture", "shared"), [("amn", True), ("amn", False), ("entnet", True)])
@pytest.mark.parametrize("pointer", [False, True])
def test_a_memory_comes_back_from_disk_and_goes_on(
    implementation: str, architecture: str, shared: bool, pointer: bool, tmp_path: Path
) -> None:
    model = trained(4, architecture, **({"pointer": True} if pointer and architecture == "amn" else {}))
    memory = told(model, QUESTIONS, shared=shared)
    memory.save(tmp_path / "deep" / "saved")
    assert (tmp_path / "deep" / "saved").is_file()
    back = LiveMemory.restore(tmp_path / "deep" / "saved", model)
    for one in (memory, back):
        one.tell(MORE)
    for ours, theirs in zip(memory.ask(explain=True), back.ask(explain=True), strict=True):
        assert_alike(ours, theirs)
    assert depths(memory) == depths(back) and memory.sentences == back.sentences


def test_a_memory_goes_on_where_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    if boundary.library() is None:
        pytest.skip("the core was not built")
    memory = told(trained(4, pointer=True), QUESTIONS)
    data = memory.to_bytes()
    memory.tell(MORE)
    monkeypatch.setattr(boundary, "library", lambda: None)
    back = LiveMemory.from_bytes(data, trained(4, pointer=True))
    back.tell(MORE)
    for one, other in zip(memory.ask(banks=0), back.ask(banks=0), strict=True):
        assert (one.answer, one.entities_read) == (other.answer, other.entities_read)
        assert one.score == pytest.approx(other.score, abs=1e-4)


def test_explanations_go_back_so_far_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amn.memory.live.KEPT_TRACES", 3)
    memory = LiveMemory(trained(0), "Where is Mary?")
    memory.tell(["Mary went."] * 5)
    explained = memory.ask(explain=True)[0].explanation
    assert explained is not None
    assert [explained.sentences[0].sentence, len(explained.sentences)] == [2, 3]


@pytest.mark.parametrize("architecture", ["amn", "amn-paper"])
def test_an_empty_memory_answers(implementation: str, architecture: str) -> None:
    answer = LiveMemory(trained(0, architecture), "Where is Mary?").ask(explain=True)[0]
    assert answer.answer in VOCABULARY.answers and answer.entities == 0


@pytest.mark.parametrize(
    ("banks", "deadline", "named"), [(-1, None, "banks"), (1, -1.0, "deadline"), (1, float("nan"), "deadline")]
)
def test_impossible_limits_are_named(banks: int, deadline: float | None, named: str) -> None:
    with pytest.raises(AMNError, match=f"^{named}:"):
        LiveMemory(trained(0), "Where is Mary?").ask(banks=banks, deadline=deadline)


def test_a_trace_comes_back_from_its_dictionary() -> None:
    for trace in LiveMemory(trained(0), "Where is Mary?").tell(STORY):
        assert SentenceTrace.from_dict(json.loads(json.dumps(trace.to_dict()))) == trace


def test_a_list_in_another_order_is_no_change() -> None:
    told: list[str] = []
    recited = iter([["lamp,ball"], ["ball,lamp"], ["ball"]])  # what is answered after each sentence

    def asking() -> Iterator[None]:
        yield
        return [SimpleNamespace(answer=answer) for answer in next(recited)]  # type: ignore[return-value]

    def telling(sentences: list[str], traced: bool) -> Iterator[None]:
        assert not traced
        told.extend(sentences)
        yield

    memory: Any = SimpleNamespace(sentences=told, questions=["What is Zoe carrying?"], asking=asking, telling=telling)
    follower = Follower(memory)
    changes = [follower.tell(sentence) for sentence in ("Zoe took it.", "Zoe slept.", "Zoe dropped the lamp.")]
    assert [[(change.before, change.answer.answer) for change in some] for some in changes] == [
        [(None, "lamp,ball")],
        [],
        [("lamp,ball", "ball")],
    ]
