"""A memory reads streams of any length: whatever their form, where they are cut, and however often they stop."""

import asyncio
import io
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from amn.data.examples import Words
from amn.data.story import words
from amn.errors import AMNError
from amn.inference.gate import GateState
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.memory.stored import StoredMemory
from amn.memory.stream import BLOCK_SENTENCES, Progress, Source
from live_memories import MORE, QUESTIONS, STORY, assert_alike, told, trained

FACTS = ["Mary went to the garden.", "John took the milk.", "Mary went to the office.", "John went to the garden."]


class Named:
    """A gate that lets in what names somebody whom the question names."""

    def __init__(self, questions: Sequence[str]) -> None:
        self._names = [{words(question)[-1]} for question in questions]
        self.state = GateState.start(len(questions))

    def judge(self, sentences: Sequence[Words]) -> np.ndarray:
        found = np.array([[bool(names.intersection(spoken)) for spoken in sentences] for names in self._names])
        self.state.seen += len(sentences)
        self.state.facts += found.sum(1)
        return found


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    return trained(3)


def gated(model: TrainedModel, questions: list[str] = QUESTIONS) -> LiveMemory:
    return LiveMemory(model, questions, gate=Named(questions))


def filler(count: int) -> Iterator[str]:
    """Lines that name nobody."""
    return (f"It was the {number} chapter of a long book.\n" for number in range(count))


def test_whatever_the_source_the_memory_is_the_same(model: TrainedModel, tmp_path: Path, implementation: str) -> None:
    path = tmp_path / "story.txt"
    path.write_text("\ufeff" + STORY + "\n" + MORE, encoding="utf-8")
    expected = told(model, QUESTIONS)
    expected.tell(MORE)
    text = STORY + "\n" + MORE
    files: list[Source] = [io.StringIO(text), io.BytesIO(text.encode())]
    sources: list[Source] = [path, str(path), *files, iter(text), list(expected.sentences)]
    for source in sources:
        memory = LiveMemory(model, QUESTIONS)
        read = memory.read(source)
        assert (read.sentences, read.let_in, read.finished) == (6, 6, True)
        assert read.tokens == sum(len(words(sentence)) for sentence in expected.sentences)
        assert memory.sentences == [] and (memory.seen, memory.let_in) == (6, 6)
        for ours, theirs in zip(memory.ask(explain=True), expected.ask(explain=True), strict=True):
            assert_alike(ours, theirs)


def test_what_a_gate_turns_away_leaves_nothing(model: TrainedModel, implementation: str) -> None:
    memory, alone = gated(model), LiveMemory(model, QUESTIONS[:1])
    read = memory.read([FACTS[0], *filler(50), FACTS[2], FACTS[1]])
    alone.tell([FACTS[0], FACTS[2]])
    assert (read.sentences, read.let_in) == (53, 3)
    ours, theirs = memory.ask(QUESTIONS[0], explain=True), alone.ask(explain=True)[0]
    assert ours.explanation is not None and theirs.explanation is not None
    assert (ours.answer, ours.score, ours.entities) == (theirs.answer, theirs.score, theirs.entities)
    assert memory.snapshot(0) == alone.snapshot(0)
    assert [(trace.sentence, trace.text) for trace in ours.explanation.sentences] == [(0, FACTS[0]), (51, FACTS[2])]
    assert (ours.explanation.seen, ours.explanation.let_in) == (53, 3)
    assert [{0: 0, 51: 1}[number] for number in ours.sentences] == list(theirs.sentences)


def test_telling_goes_through_the_gate_and_keeps_what_it_turns_away(model: TrainedModel) -> None:
    memory = gated(model, QUESTIONS[:1])
    traces = memory.tell([FACTS[0], "The book ended.", FACTS[2]])
    assert [bool(trace.depth) for trace in traces] == [True, False, True]
    assert traces[1].banks == traces[0].banks and traces[1].moves == ()
    assert memory.sentences == [FACTS[0], "The book ended.", FACTS[2]] and memory.let_in == 2
    assert memory.ask("Where is the book?").entities > 0


def test_sentences_that_were_not_kept_cannot_be_asked_about_otherwise(model: TrainedModel) -> None:
    memory = LiveMemory(model, QUESTIONS)
    memory.read(FACTS)
    with pytest.raises(AMNError, match="did not keep its 4 sentences.*Where is Mary.*keep=True"):
        memory.ask("Where is the milk?")
    kept = LiveMemory(model, QUESTIONS)
    kept.read(FACTS, keep=True)
    assert kept.ask("Where is the milk?").entities and kept.sentences == FACTS
    kept.read(MORE.split(". "))
    kept.tell("Mary went.")  # nothing is kept after a gap: numbers of sentences would no longer be their places
    assert kept.sentences == FACTS and kept.seen == 8
    with pytest.raises(AMNError, match="keep=True"):
        kept.ask("Where is the milk?")
    with pytest.raises(AMNError, match="did not keep"):
        asyncio.run(anext(kept.changes()))  # type: ignore[arg-type]


def test_a_model_without_banks_keeps_what_it_reads() -> None:
    memory = LiveMemory(trained(0, "amn-paper", hidden=16), QUESTIONS)
    memory.read(FACTS)
    assert memory.sentences == FACTS


def test_sentences_are_judged_once_whatever_the_number_of_questions(model: TrainedModel) -> None:
    questions = [f"Where is name{number}?" for number in range(300)]
    memory = gated(model, questions)
    memory.read(iter([*filler(5000), "Name7 went to the garden.\n", "Name299 took the milk."]))
    assert memory._gate is not None and memory._gate.state.seen == 5002 and memory.let_in == 2
    heard = [one.entities for one in memory.ask()]
    assert [number for number, entities in enumerate(heard) if entities] == [7, 299]


class Stop(Exception):
    pass


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt])
def test_a_stopped_reading_goes_on_where_it_stopped(
    model: TrainedModel, tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "long.txt"
    path.write_text("".join([*filler(BLOCK_SENTENCES + 10), FACTS[0], "\n", *filler(BLOCK_SENTENCES), FACTS[2]]))
    memory, whole = gated(model), gated(model)
    whole.read(path)

    def stop(progress: Progress) -> None:
        assert 0 < (progress.share or 0) <= 1 and not progress.finished
        raise error

    with pytest.raises(error) as raised:
        memory.read(path, progress=stop)
    if error is KeyboardInterrupt:
        assert f"stopped after {BLOCK_SENTENCES:,} sentences" in str(raised.value)
    assert memory.position == (str(path.resolve()), BLOCK_SENTENCES) and memory.ask()
    memory.save(tmp_path / "memory")
    restored = LiveMemory.restore(tmp_path / "memory", model)
    restored._gate = Named(QUESTIONS)
    assert memory._gate is not None and memory._gate.state.seen == BLOCK_SENTENCES
    read = restored.read(path)
    assert (read.skipped, read.sentences) == (BLOCK_SENTENCES, whole.seen - BLOCK_SENTENCES)
    assert (restored.seen, restored.let_in, restored.position) == (whole.seen, 2, (str(path.resolve()), whole.seen))
    assert restored.snapshot() == whole.snapshot()
    assert restored.read(path).sentences == 0
    with path.open("a") as file:
        file.write("\n" + FACTS[3])
    assert restored.read(path).let_in == 1
    path.write_text("Much less.")
    with pytest.raises(AMNError, match=f"{BLOCK_SENTENCES} sentences were read before, but it now has only 1"):
        memory.read(path)


def test_an_interrupt_waits_until_all_memories_have_heard_the_same(model: TrainedModel) -> None:
    memory = LiveMemory(model, QUESTIONS)
    first = memory._groups[0].memory
    tell = first.tell

    def interrupted(sentence: Words) -> object:
        signal.raise_signal(signal.SIGINT)
        return tell(sentence)

    first.tell = interrupted  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt, match="stopped after 4 sentences"):
        memory.read(FACTS)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    expected = LiveMemory(model, QUESTIONS)
    expected.tell(FACTS)
    assert [memory.snapshot(i) for i in (0, 1)] == [expected.snapshot(i) for i in (0, 1)]


def test_a_bad_source_is_named(model: TrainedModel, tmp_path: Path) -> None:
    memory = LiveMemory(model, QUESTIONS)
    with pytest.raises(AMNError, match="no file 'Mary went.'.*`tell` takes text"):
        memory.read("Mary went.")
    (tmp_path / "latin").write_bytes(b"x" * 70_000 + "Käthe".encode("latin-1"))
    with pytest.raises(AMNError, match="latin is not text in UTF-8 .* at byte 70001"):
        memory.read(tmp_path / "latin")


def test_traces_are_bounded_and_the_latest(model: TrainedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amn.memory.live.KEPT_TRACES", 3)
    memory, expected = (LiveMemory(model, QUESTIONS[0]) for _ in range(2))
    memory.read(FACTS * 2)
    expected.tell(FACTS * 2)
    assert list(memory._groups[0].traces) == list(expected._groups[0].traces)
    assert [trace.sentence for trace in memory._groups[0].traces] == [5, 6, 7]


def test_what_was_judged_but_not_told_is_judged_again(model: TrainedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amn.memory.stream.PART_TELLINGS", 4)
    memory = gated(model)

    def stop(_: Progress) -> None:
        raise Stop

    with pytest.raises(Stop):
        memory.read(FACTS * 4, progress=stop)
    assert memory._gate is not None
    assert (memory.seen, memory._gate.state.seen, memory._gate.state.facts.tolist()) == (4, 4, [2, 2])


def test_a_stored_memory_reads_what_its_store_then_keeps(model: TrainedModel, tmp_path: Path) -> None:
    path, url = tmp_path / "long.txt", f"sqlite:///{tmp_path}/memories.db"
    path.write_text("".join([*filler(BLOCK_SENTENCES + 10), FACTS[0], "\n", FACTS[2]]))
    memory = StoredMemory.open(model, QUESTIONS, url, "one")
    memory.tell([FACTS[1], next(filler(1)).strip()])  # the file begins with the second

    def stop(progress: Progress) -> None:
        assert progress.sentences == BLOCK_SENTENCES
        raise Stop

    with pytest.raises(Stop):
        memory.read(path, progress=stop)
    again = StoredMemory.open(model, QUESTIONS, url, "one")
    assert len(again.sentences) == BLOCK_SENTENCES + 2
    read = again.read(path)
    assert (read.skipped, read.sentences, read.finished) == (BLOCK_SENTENCES + 1, 11, True)
    whole = LiveMemory(model, QUESTIONS)
    whole.tell([FACTS[1]])
    whole.read(path, keep=True)
    assert again.sentences == whole.sentences and again.snapshot() == whole.snapshot()
    assert again.read(path).sentences == 0
    assert again.read([FACTS[3]]).let_in == 1 and again.sentences[-1] == FACTS[3]
