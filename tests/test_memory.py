"""A live memory answers, explains itself, keeps to deadlines, and comes back from disk unchanged or not at all."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors

from amn.answers import Answer, SentenceTrace
from amn.core import boundary
from amn.errors import AMNError, CheckpointError
from amn.inference.trained import TrainedModel
from amn.memory import CERTAIN, LiveMemory, fingerprint
from amn.models import build_model
from amn.store import atomic
from amn.store.memory_file import MAGIC, pack
from random_stories import VOCABULARY, random_model, shaken

STORY = "Mary went to the garden. John took the milk. Mary went to the office."
MORE = "John went to the garden. The new milk went. Zaphod went to Xanadu."
QUESTIONS = ["Where is Mary?", "Where is John?"]


@pytest.fixture(params=["core", "torch"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the compiled core, and where there is none."""
    if request.param == "torch":
        monkeypatch.setattr(boundary, "library", lambda: None)
    elif boundary.library() is None:
        pytest.skip("the core was not built")
    return str(request.param)


def trained(seed: int = 0, architecture: str = "amn", **settings: Any) -> TrainedModel:
    if architecture == "amn":
        return random_model(seed, **settings)
    model = build_model(architecture, VOCABULARY, settings, seed).eval()
    shaken(model, seed)
    return TrainedModel.of(architecture, model, VOCABULARY)


def told(
    model: TrainedModel, questions: str | list[str] = "Where is Mary?", *, shared: bool | None = None
) -> LiveMemory:
    memory = LiveMemory(model, questions, shared)
    memory.tell(STORY)
    return memory


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


def depths(memory: LiveMemory) -> dict[str, int]:
    """The deepest bank of each entity, from the banks."""
    return {entity.word: bank.index for bank in memory.snapshot() for entity in bank.entities}


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
    monkeypatch.setattr("amn.memory.perf_counter", scripted.clock)
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


def assert_alike(ours: Answer, theirs: Answer) -> None:
    """The same but for the last digits, for sums may be taken in another order."""
    plain: dict[str, Any] = {"score": 0.0, "milliseconds": 0.0, "top": (), "explanation": None}
    assert replace(ours, **plain) == replace(theirs, **plain)
    assert ours.score == pytest.approx(theirs.score, abs=1e-5)
    scores, others = ({one.answer: one.score for one in answer.top} for answer in (ours, theirs))
    assert scores == pytest.approx(others, abs=1e-5)
    assert ours.explanation is not None and theirs.explanation is not None
    assert (ours.explanation.graph, ours.explanation.read) == (theirs.explanation.graph, theirs.explanation.read)
    for one, other in zip(ours.explanation.sentences, theirs.explanation.sentences, strict=True):
        assert replace(one, strengths={}) == replace(other, strengths={})
        assert one.strengths == pytest.approx(other.strengths, abs=1e-5)


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


def old_save(directory: Path, memory: LiveMemory) -> None:
    """The two files that version 0.1 wrote: tables by slots, where each entity is, and no words or neighbours."""
    tensors, layouts = {}, []
    for i, one in enumerate(memory._memories):
        arrays = one.arrays()
        tensors[f"{i}.states"] = arrays["states"]
        tensors |= {f"{i}.{name}": arrays[name].astype(np.float64) for name in ("strengths", "relevance")}
        last = [entity.word for entity in memory.snapshot(i)[-1].entities]
        slots = [1 + list(one.words).index(word) for word in last]
        layouts.append({"banks": one.banks, "depth": arrays["depth"].tolist(), "last": slots})
    data = save_tensors(tensors)
    described = {
        "format_version": 2,
        "model": fingerprint(memory.trained),
        "tensors": sha256(data).hexdigest(),
        "questions": memory.questions,
        "shared": False,
        "sentences": memory.sentences,
        "banks": layouts,
        "traces": [[trace.to_dict() for trace in kept] for kept in memory._traces],
    }
    directory.mkdir(exist_ok=True)
    (directory / "memory.safetensors").write_bytes(data)
    (directory / "memory.json").write_text(json.dumps(described) + "\n")


@pytest.mark.parametrize("pointer", [False, True])
def test_what_version_0_1_saved_is_read(implementation: str, pointer: bool, tmp_path: Path) -> None:
    memory = LiveMemory(trained(4, pointer=pointer), QUESTIONS)
    memory.tell(STORY + MORE)
    old_save(tmp_path / "old", memory)
    back = LiveMemory.restore(tmp_path / "old", memory.trained)
    assert depths(back) == depths(memory)
    for one in (memory, back):
        one.tell("Mary took the milk. Trillian went to Xanadu.")
    for ours, theirs in zip(back.ask(banks=0, explain=True), memory.ask(banks=0, explain=True), strict=True):
        assert_alike(ours, theirs)


def test_old_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    memory = told(trained(0))
    old_save(tmp_path, memory)
    tensors, described = tmp_path / "memory.safetensors", tmp_path / "memory.json"
    text = described.read_text()
    described.write_text(text.replace('"format_version": 2', '"format_version": 9'))
    with pytest.raises(CheckpointError, match="found 9"):
        LiveMemory.restore(tmp_path, memory.trained)
    described.write_text(text)
    tensors.write_bytes(save_tensors({"0.states": np.zeros(3, np.float32)}))
    with pytest.raises(CheckpointError, match="not the one"):
        LiveMemory.restore(tmp_path, memory.trained)
    tensors.unlink()
    with pytest.raises(CheckpointError, match="not a saved memory"):
        LiveMemory.restore(tmp_path, memory.trained)
    described.write_text("{")
    with pytest.raises(CheckpointError, match="not a saved memory"):
        LiveMemory.restore(tmp_path, memory.trained)


def places(data: bytes) -> Iterator[int]:
    yield from range(0, 64)
    yield from range(64, len(data), 97)
    yield len(data) - 1


def test_damaged_bytes_are_refused_wherever_they_are() -> None:
    memory = told(trained(0))
    data = memory.to_bytes()
    for place in places(data):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(CheckpointError, match="^here: "):
            LiveMemory.from_bytes(bytes(damaged), memory.trained, "here")
    for length in [*range(0, 64), *range(64, len(data), 97)]:
        with pytest.raises(CheckpointError):
            LiveMemory.from_bytes(data[:length], memory.trained)
    with pytest.raises(CheckpointError, match="damaged"):
        LiveMemory.from_bytes(data + b"x", memory.trained)


@pytest.mark.parametrize(
    "described",
    [{}, {"questions": []}, {"sentences": 3}, {"traces": [[]] * 5}, {"words": [[]]}, {"shared": None}, {"words": 1}],
)
def test_whole_bytes_that_describe_no_memory_are_refused(described: dict[str, Any]) -> None:
    """A checksum says that bytes are those that were written, and not that they make sense."""
    memory = told(trained(0))
    sound = {"model": fingerprint(memory.trained), "questions": memory.questions, "shared": True}
    data = pack(sound | {"sentences": memory.sentences, "traces": [[]]} | described, {"0.depth": np.zeros(3, np.int32)})
    with pytest.raises(CheckpointError):
        LiveMemory.from_bytes(data, memory.trained)
    with pytest.raises(CheckpointError):
        LiveMemory.from_bytes(MAGIC + sha256(b"").digest(), memory.trained)


def test_a_memory_is_refused_by_another_model_and_where_there_is_none(tmp_path: Path) -> None:
    memory = told(trained(0))
    memory.save(tmp_path / "saved")
    with pytest.raises(CheckpointError, match="other weights"):
        LiveMemory.restore(tmp_path / "saved", trained(1))
    for missing in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(CheckpointError, match="not a saved memory"):
            LiveMemory.restore(missing, trained(0))


class Stopped(BaseException):
    """Stands for the end of the process at some point of the writing."""


@pytest.mark.parametrize("point", ["write_bytes", "half", "_flush", "replace", "after"])
@pytest.mark.parametrize("there", [False, True])
def test_a_save_that_is_cut_off_leaves_the_old_memory_or_the_new(
    point: str, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, memory = tmp_path / "saved", told(trained(0))
    if there:
        memory.save(path)
    memory.tell(MORE)
    with monkeypatch.context() as patch:
        cut_off(patch, point)
        with pytest.raises(Stopped):
            memory.save(path)
    if not there and point != "after":
        assert not path.exists()
        return
    sentences = len(LiveMemory.restore(path, memory.trained).sentences)
    assert sentences == (6 if point == "after" else 3)
    memory.save(path)  # and the next one succeeds
    assert len(LiveMemory.restore(path, memory.trained).sentences) == 6


def cut_off(patch: pytest.MonkeyPatch, point: str) -> None:
    """Ends the writing at a point: nothing after it happens, not even the tidying up."""
    replaced, written = os.replace, Path.write_bytes

    def stop(*_: object) -> None:
        raise Stopped

    def half(path: Path, data: bytes) -> None:
        written(path, data[: len(data) // 2])
        raise Stopped

    def after(source: Any, target: Any) -> None:
        replaced(source, target)
        raise Stopped

    patch.setattr(atomic, "_remove", lambda _: None)
    if point == "_flush":
        patch.setattr(atomic, "_flush", stop)
    elif point in ("replace", "after"):
        patch.setattr(os, "replace", stop if point == "replace" else after)
    else:
        patch.setattr(Path, "write_bytes", stop if point == "write_bytes" else half)


def test_what_the_system_refuses_is_an_error_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = told(trained(0))
    memory.save(tmp_path / "saved")
    memory.tell(MORE)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(CheckpointError, match="No space left"):
            memory.save(tmp_path / "saved")
    assert len(LiveMemory.restore(tmp_path / "saved", memory.trained).sentences) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    with pytest.raises(CheckpointError, match="could not be written"):
        memory.save(tmp_path / "saved" / "below")


def test_explanations_go_back_so_far_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amn.memory.KEPT_TRACES", 3)
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
