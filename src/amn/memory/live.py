"""Live memories: told sentence by sentence, asked at any time, saved and restored."""

from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack, overload

from amn.answers import (
    Answer,
    AskOptions,
    Bank,
    SentenceTrace,
    check_limits,
    timed,
)
from amn.data.story import words
from amn.data.text import Text, read_questions
from amn.errors import CheckpointError
from amn.inference.engine import open_gate, order_of
from amn.inference.gate import GateState, Judge
from amn.inference.story_memory import Arrays, StoryMemory
from amn.inference.trained import TrainedModel
from amn.memory.changes import AnswerChange, follow
from amn.memory.group import QuestionGroup
from amn.memory.ingestion import Ingestion
from amn.memory.support import Support
from amn.store.atomic import write_atomically, writing
from amn.store.memory_file import OLD_JSON, from_version_1, packing, read_old, unpack
from amn.store.stepwise import Steps, run_to_end

CERTAIN = 0.9  # with time left, more banks are read while the score is below this
KEPT_TRACES = 1000  # of the latest sentences, which an explanation shows
MOST_TRACES = 10_000  # of all questions together
SHOWN_QUESTIONS = 3  # in the repr of a memory


class LiveMemory(Ingestion):
    """A memory for a set of questions, which decide what it considers relevant. It is not thread-safe.

    If the model was trained on several questions at once, they share one memory; otherwise each has its own.

    Args:
        trained: the model.
        questions: what the memory is built for.
        shared: whether the questions share one memory; None for what the model was trained on.
        gate: turns irrelevant sentences away, in place of the model's own gate.
    """

    def __init__(
        self, trained: TrainedModel, questions: Text, shared: bool | None = None, gate: Judge | None = None
    ) -> None:
        asked = read_questions(questions)
        self.trained, self._gate = trained, gate or open_gate(trained, [spoken for _, spoken in asked])
        self.questions = [text for text, _ in asked]
        self._rereads = trained.training.train.order != "told"  # in an order that depends on the question
        self.sentences, self._told = [], []
        self.seen = self.let_in = 0
        self.position = None
        groups = groups_of(trained, len(asked), shared)
        kept = min(KEPT_TRACES, max(1, MOST_TRACES // len(groups)))
        self._groups = [
            QuestionGroup(trained, [self.questions[i] for i in numbers], numbers, kept) for numbers in groups
        ]

    @property
    def latest(self) -> list[str]:
        """The texts of the sentences that an explanation shows."""
        return [trace.text for group in self._groups for trace in group.traces]

    @overload
    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer: ...

    @overload
    def ask(self, question: None = ..., **options: Unpack[AskOptions]) -> list[Answer]: ...

    def ask(
        self,
        question: str | None = None,
        *,
        deadline: float | None = None,
        explain: bool = False,
        banks: int | None = None,
    ) -> Answer | list[Answer]:
        """Answers from what the memory was told so far.

        Args:
            question: any question, for one answer. A question that the memory was built for is answered at once; for
                another one the sentences are read again. By default all questions of the memory are answered.
            deadline: seconds from now. The most relevant bank is always read, and more while the answer is uncertain
                and time remains; the most certain answer is returned.
            explain: whether to explain the answers; with a deadline, as far as time allows.
            banks: how many banks to read, the most relevant first; 0 for all. By default 1, or with a deadline as many
                as time allows.
        """
        started = perf_counter()
        check_limits(banks, deadline)
        if question is not None and (self._rereads or question.strip() not in self.questions):
            other, places = self._reread(question, explain)
            left = None if deadline is None else max(0.0, started + deadline - perf_counter())
            (answer,) = timed(other.ask(deadline=left, explain=explain, banks=banks), perf_counter() - started)
            return _renumbered(answer, places)
        if self._rereads:
            return [self.ask(own, deadline=deadline, explain=explain, banks=banks) for own in self.questions]
        asked = range(len(self.questions)) if question is None else [self.questions.index(question.strip())]
        if deadline is None:
            answers = self._read(1 if banks is None else banks, asked)
        else:
            answers = self._read_until(started + deadline, banks or None, asked)
        if explain:
            ends = inf if deadline is None else started + deadline
            answers = [_by(self.explaining(i, answer), ends) for i, answer in zip(asked, answers, strict=True)]
        answers = timed(answers, perf_counter() - started)
        return answers if question is None else answers[0]

    def asking(self) -> Steps[list[Answer]]:
        """The result of `ask`, in steps: one question at a time, unless they share a memory."""
        if len(self._groups) == 1:
            return self.ask()
        answers = []
        for question in self.questions:
            answers.append(self.ask(question))
            yield
        return answers

    def changes(self, since: int | None = None) -> AsyncIterator[AnswerChange]:
        """Yields an answer whenever it changes, with the sentence that changed it.

        Args:
            since: the number of sentences to start after; by default it starts now.
        """
        self.check_kept()
        return follow(self, LiveMemory(self.trained, self.questions), since)

    def _reread(self, question: str, traced: bool) -> "tuple[LiveMemory, Sequence[int]]":
        """A memory of the same sentences for another question, and the order in which it was told them."""
        self.check_kept()
        other = LiveMemory(self.trained, [question])
        other._rereads = False
        places = order_of(self.trained, self._told, words(question))
        other._take([(self.sentences[place], self._told[place]) for place in places], traced=traced)
        return other, places

    def _read(self, banks: int, asked: Sequence[int]) -> list[Answer]:
        wanted, found = set(asked), dict[int, Answer]()
        for group in self._groups:
            if not wanted.isdisjoint(group.numbers):
                found |= group.answers(banks)
        return [found[i] for i in asked]

    def _read_until(self, end: float, limit: int | None, asked: Sequence[int]) -> list[Answer]:
        """Reads one bank after another for the questions whose answers are uncertain, while there is time for one."""
        best = dict(zip(asked, self._read(1, asked), strict=True))
        most = {i: min(limit or answer.banks_created, answer.banks_created) for i, answer in best.items()}
        banks, slowest = 1, 0.0
        while pending := [i for i, answer in best.items() if answer.score < CERTAIN and most[i] > banks]:
            now = perf_counter()
            if now + slowest >= end:
                break
            banks += 1
            for i, answer in zip(pending, self._read(banks, pending), strict=True):
                wider = replace(best[i], banks_read=answer.banks_read, entities_read=answer.entities_read)
                best[i] = answer if answer.score >= best[i].score else wider
            slowest = max(slowest, perf_counter() - now)
        return [replace(answer, stopped_for_deadline=i in pending) for i, answer in best.items()]

    def snapshot(self, question: int = 0) -> list[Bank]:
        """The banks of the memory of a question, as they are now; none if the model has no banks."""
        return self._group_of(question).snapshot()

    def __repr__(self) -> str:
        banks = max(group.memory.banks for group in self._groups)
        asked = self.questions if len(self.questions) <= SHOWN_QUESTIONS else len(self.questions)
        return f"LiveMemory(questions={asked!r}, sentences={self.seen}, banks={banks})"

    def _repr_html_(self) -> str:
        from amn.notebook import memory_html

        answers = self.ask() if self.seen else []
        return memory_html(self.seen, [(one, self.snapshot(i)) for i, one in enumerate(answers)])

    def _group_of(self, question: int) -> QuestionGroup:
        return next(group for group in self._groups if question in group.numbers)

    def explaining(self, asked: int, answer: Answer) -> Iterator[Answer]:
        """Yields an answer with its explanation, then with more and more of the sentences that it rests on.

        Args:
            asked: the index of its question.
            answer: the answer from `ask`.
        """
        group = self._group_of(asked)
        explanation = group.explanation(answer, asked, seen=self.seen, let_in=self.let_in)
        found = replace(answer, explanation=explanation)
        yield found
        numbers, told = self._heard(group)
        for left_out in Support(group, asked, tuple(told), answer).steps():
            if left_out is not None:
                found = replace(found, sentences=(*found.sentences, numbers[left_out]))
            yield found

    def to_bytes(self, *, traces: int | None = None) -> bytes:
        """The memory as bytes, without the weights of the model; `from_bytes` is the inverse.

        Args:
            traces: how many of the traces to include, the latest ones, counted over all questions; by default all that
                are kept. Explanations show them, and they take most of the space.
        """
        return run_to_end(self.packing(traces=traces))

    def packing(self, *, traces: int | None = None) -> Steps[bytes]:
        """Steps that return `to_bytes` of the memory as it is now, even if it is told more in between."""
        each = None if traces is None else max(1, traces // len(self._groups))
        described = {
            "model": self.trained.fingerprint,
            "questions": self.questions,
            "shared": len(self._groups) < len(self.questions),
            "sentences": [*self.sentences],
            "seen": self.seen,
            "let_in": self.let_in,
            "position": self.position,
            "gate": self._gate and self._gate.state.to_json(),
            "words": [list(group.memory.words) for group in self._groups],
            "traces": [list(deque(group.traces, each)) for group in self._groups],
        }
        tensors: Arrays = {}
        for i, group in enumerate(self._groups):
            tensors |= {f"{i}.{name}": value for name, value in group.memory.arrays().items()}
        return packing(described, tensors)

    @classmethod
    def from_bytes(cls, data: bytes, trained: TrainedModel, source: str = "memory") -> "LiveMemory":
        """Restores a memory from `to_bytes`.

        Raises:
            CheckpointError: where the bytes are damaged, or belong to another model.
        """
        return cls._restored(*unpack(data, source), trained, source)

    def save(self, path: str | Path) -> None:
        """Writes the memory to a file, atomically."""
        with writing(Path(path)):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(Path(path), self.to_bytes())

    @classmethod
    def restore(cls, path: str | Path, trained: TrainedModel) -> "LiveMemory":
        """Restores a memory from `save`, or from the format of version 0.1.

        Raises:
            CheckpointError: where it cannot be read, or belongs to another model.
        """
        if (Path(path) / OLD_JSON).is_file():
            described, tensors = read_old(Path(path))
            return cls._restored(described, tensors, trained, str(path))
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise CheckpointError(f"{path}: not a saved memory ({error})") from error
        return cls.from_bytes(data, trained, str(path))

    @classmethod
    def _restored(cls, described: dict[str, Any], tensors: Arrays, trained: TrainedModel, source: str) -> "LiveMemory":
        if described.get("model") != trained.fingerprint:
            raise CheckpointError(f"{source}: this memory was saved by a model with other weights; load that one")
        try:
            memory = cls(trained, described["questions"], described["shared"])
            memory.sentences = list(described["sentences"])
            memory._told = [words(sentence) for sentence in memory.sentences]
            memory.seen = int(described.get("seen", len(memory.sentences)))
            memory.let_in = int(described.get("let_in", memory.seen))
            if memory._gate is not None and (judged := described.get("gate")):
                memory._gate.state = GateState.from_json(judged)
            if position := described.get("position"):
                memory.position = str(position[0]), int(position[1])
            for i, (group, traces) in enumerate(zip(memory._groups, described["traces"], strict=True)):
                group.traces.extend(SentenceTrace.from_dict(trace) for trace in traces)
                memory._resume(i, group.memory, described, tensors)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise CheckpointError(f"{source}: the memory cannot be restored ({error})") from error
        return memory

    def _resume(self, number: int, memory: StoryMemory, described: dict[str, Any], tensors: Arrays) -> None:
        own = {name.partition(".")[2]: value for name, value in tensors.items() if name.startswith(f"{number}.")}
        if not own:
            memory.ingest(self._told)
        elif "words" in described:
            memory.resume(described["words"][number], own)
        else:
            met, arrays = from_version_1(memory.words, self._told, own, described["banks"][number], self.trained)
            memory.resume(met, arrays)


def groups_of(trained: TrainedModel, questions: int, shared: bool | None = None) -> list[list[int]]:
    """The questions that share a memory: all of them if the model was trained so, else each has its own.

    A model that was never trained on several questions at once answers them badly from one memory.
    """
    if shared is None:
        shared = trained.training.train.together
    return [list(range(questions))] if shared else [[i] for i in range(questions)]


def _by(found: Iterator[Answer], ends: float) -> Answer:
    """The last of ever better answers before a time, but at least the first."""
    answer = next(found)
    while perf_counter() < ends and (better := next(found, None)) is not None:
        answer = better
    return answer


def _renumbered(answer: Answer, places: Sequence[int]) -> Answer:
    """An answer about sentences in reading order, with their numbers in the order of telling."""
    answer = replace(answer, sentences=tuple(sorted(places[number] for number in answer.sentences)))
    if answer.explanation is None:
        return answer
    traces = tuple(replace(trace, sentence=places[trace.sentence]) for trace in answer.explanation.sentences)
    return replace(answer, explanation=replace(answer.explanation, sentences=traces))
