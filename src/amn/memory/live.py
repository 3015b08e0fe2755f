"""Live memories: told sentence by sentence, asked at any time, saved and restored."""

from collections import deque
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, overload

import numpy as np

from amn.answers import Answer, Bank, Edge, Entity, Explanation, SentenceTrace, answers_of, check_limits, timed
from amn.data.story import words, words_of
from amn.data.text import Text, read_questions
from amn.errors import CheckpointError
from amn.inference.engine import open_gate
from amn.inference.found import Arrays, StoryMemory
from amn.inference.gate import Judge, Judged
from amn.inference.order import order_of
from amn.inference.trained import TrainedModel
from amn.memory.changes import AnswerChange, follow
from amn.memory.hearing import Hearing
from amn.memory.support import Support
from amn.store.atomic import write_atomically, writing
from amn.store.memory_file import OLD_JSON, from_version_1, packing, read_old, unpack
from amn.store.stepwise import Steps, run_to_end

CERTAIN = 0.9  # with time left, further banks are read while the score is below this
KEPT_TRACES = 1000  # how many of the latest sentences an explanation goes back
MOST_TRACES = 10_000  # of the memories of many questions together
SHOWN_ENTITIES = 200  # how many entities of a bank are listed, the most relevant first
SHOWN_QUESTIONS = 3  # of a memory, where it is printed


class LiveMemory(Hearing):
    """A memory for a set of questions, which guide what it keeps near. It is not safe to use from several threads.

    Where the model was trained on several questions at once, they share one memory; else each has its own inside.

    Args:
        trained: the model.
        questions: what the memory is built for.
        shared: whether the questions share one memory; None to do as in training.
        gate: what turns sentences away, in place of the model's own gate.
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
        self._groups = groups_of(trained, len(asked), shared)
        kept = min(KEPT_TRACES, max(1, MOST_TRACES // len(self._groups)))
        self._traces = [deque(maxlen=kept) for _ in self._groups]
        self._open = []

    @property
    def latest(self) -> list[str]:
        """The sentences let in last, as they were written, as far back as an explanation goes."""
        return [trace.text for kept in self._traces for trace in kept]

    @overload
    def ask(
        self, question: str, *, deadline: float | None = ..., explain: bool = ..., banks: int | None = ...
    ) -> Answer: ...

    @overload
    def ask(
        self, question: None = ..., *, deadline: float | None = ..., explain: bool = ..., banks: int | None = ...
    ) -> list[Answer]: ...

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
            question: any question, for one answer. One of the memory's own is answered at once; for another the
                sentences are read again, but not encoded again. Without it, all questions of the memory are answered.
            deadline: seconds from now. The most relevant bank is always read, further ones while an answer is uncertain
                and time remains; the most certain of these readings is the answer.
            explain: say why; with a deadline the sentences that an answer rests on are looked for while time remains.
            banks: how many banks to read, the most relevant first; 0 for all. By default 1, or with a deadline as many
                as it allows.
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
        """What `ask` gives, in steps: the questions one at a time, where each has a memory of its own."""
        if len(self._groups) == 1:
            return self.ask()
        answers = []
        for question in self.questions:
            answers.append(self.ask(question))
            yield
        return answers

    def changes(self, since: int | None = None) -> AsyncIterator[AnswerChange]:
        """An answer whenever it changes, with the sentence that changed it, while others tell the memory more.

        Args:
            since: after how many sentences to begin; by default with what is told from now on.
        """
        self.check_kept()
        return follow(self, LiveMemory(self.trained, self.questions), since)

    def _reread(self, question: str, traced: bool) -> "tuple[LiveMemory, Sequence[int]]":
        """A memory of the same sentences for another question, and which of them it heard when.

        Traces of them take most of the time.
        """
        self.check_kept()
        other = LiveMemory(self.trained, [question])
        other._rereads = False
        places = order_of(self.trained, self._told, words(question))
        other._take([(self.sentences[place], self._told[place]) for place in places], traced=traced)
        return other, places

    def _read(self, banks: int, asked: Sequence[int]) -> list[Answer]:
        wanted = set(asked)
        found: dict[int, Answer] = {}
        for number, group in enumerate(self._groups, 1):
            if wanted.intersection(group):
                texts, memory = [self.questions[i] for i in group], self._opened(number)[number - 1]
                answers = answers_of(memory.read(banks), self.trained, texts, banks)
                found.update(zip(group, answers, strict=True))
        return [found[i] for i in asked]

    def _read_until(self, end: float, limit: int | None, asked: Sequence[int]) -> list[Answer]:
        """Reads bank after bank for the questions whose answers are uncertain, while another reading fits the time."""
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
        """The banks as they are now, in the memory of a question; a model without banks has none."""
        memory = self._memories[self._group_of(question)]
        return [_bank(memory, index, {}) for index in range(memory.banks)]

    def __repr__(self) -> str:
        banks = max(memory.banks for memory in self._memories)
        asked = self.questions if len(self.questions) <= SHOWN_QUESTIONS else len(self.questions)
        return f"LiveMemory(questions={asked!r}, sentences={self.seen}, banks={banks})"

    def _repr_html_(self) -> str:
        from amn.notebook import memory_html

        answers = self.ask() if self.seen else []
        return memory_html(self.seen, [(one, self.snapshot(i)) for i, one in enumerate(answers)])

    def _group_of(self, question: int) -> int:
        return next(number for number, group in enumerate(self._groups) if question in group)

    def explaining(self, asked: int, answer: Answer) -> Iterator[Answer]:
        """An answer with its explanation, then with ever more of the sentences that it rests on: each takes a moment.

        Args:
            asked: the number of its question, from 0.
            answer: what `ask` gave.
        """
        number = self._group_of(asked)
        group, found = self._groups[number], replace(answer, explanation=self._explain(asked, number, answer))
        yield found
        numbers, told = self._heard(number)
        texts = [self.questions[i] for i in group]
        for place in Support(self.trained, texts, group.index(asked), tuple(told), answer).steps():
            if place is not None:
                found = replace(found, sentences=(*found.sentences, numbers[place]))
            yield found

    def _explain(self, asked: int, number: int, answer: Answer) -> Explanation:
        memory = self._memories[number]
        attention = memory.attention(answer.banks_read, self._groups[number].index(asked))
        return Explanation(
            banks=tuple(_bank(memory, index, shares) for index, shares in enumerate(attention)),
            sentences=tuple(self._traces[number]),
            graph=_graph(self._traces[number]),
            seen=self.seen,
            let_in=self.let_in,
            read=tuple(range(answer.banks_created - 1, answer.banks_created - answer.banks_read - 1, -1)),
        )

    def to_bytes(self, *, traces: int | None = None) -> bytes:
        """The memory in one piece, without the weights of the model; `from_bytes` reads it.

        Args:
            traces: of how many sentences, counted for each question, it says what they did. An explanation shows that,
                and it takes most of the room; by default of all that are kept, else of the latest.
        """
        return run_to_end(self.packing(traces=traces))

    def packing(self, *, traces: int | None = None) -> Steps[bytes]:
        """Steps that return `to_bytes` of the memory as it is now, whatever it is told in between."""
        each = None if traces is None else max(1, traces // len(self._groups))
        described = {
            "model": fingerprint(self.trained),
            "questions": self.questions,
            "shared": len(self._groups) < len(self.questions),
            "sentences": [*self.sentences],
            "seen": self.seen,
            "let_in": self.let_in,
            "position": self.position,
            "gate": self._gate and self._gate.state.to_json(),
            "words": [list(memory.words) for memory in self._memories],
            "traces": [list(deque(kept, each)) for kept in self._traces],
        }
        named = (
            (f"{i}.{name}", value) for i, memory in enumerate(self._memories) for name, value in memory.arrays().items()
        )
        return packing(described, dict(named))

    @classmethod
    def from_bytes(cls, data: bytes, trained: TrainedModel, source: str = "memory") -> "LiveMemory":
        """Reads what `to_bytes` gave.

        Raises:
            CheckpointError: where the bytes are damaged, or are the memory of another model.
        """
        return cls._restored(*unpack(data, source), trained, source)

    def save(self, path: str | Path) -> None:
        """Writes the memory to a file, which is then the old one or the new one, however the writing ends."""
        with writing(Path(path)):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(Path(path), self.to_bytes())

    @classmethod
    def restore(cls, path: str | Path, trained: TrainedModel) -> "LiveMemory":
        """Reads what `save` wrote, also what version 0.1 wrote.

        Raises:
            CheckpointError: where it cannot be read, or is the memory of another model.
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
        if described.get("model") != fingerprint(trained):
            raise CheckpointError(f"{source}: this memory was saved by a model with other weights; load that one")
        try:
            memory = cls(trained, described["questions"], described["shared"])
            memory.sentences = list(described["sentences"])
            memory._told = [words(sentence) for sentence in memory.sentences]
            memory.seen = int(described.get("seen", len(memory.sentences)))
            memory.let_in = int(described.get("let_in", memory.seen))
            if memory._gate is not None and (judged := described.get("gate")):
                memory._gate.state = Judged.from_json(judged)
            if position := described.get("position"):
                memory.position = str(position[0]), int(position[1])
            for kept, traces in zip(memory._traces, described["traces"], strict=True):
                kept.extend(SentenceTrace.from_dict(trace) for trace in traces)
            for i, one in enumerate(memory._memories):
                memory._resume(i, one, described, tensors)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise CheckpointError(f"{source}: not a memory that can be put back ({error})") from error
        return memory

    def _resume(self, number: int, memory: StoryMemory, described: dict[str, Any], tensors: Arrays) -> None:
        own = {name.partition(".")[2]: value for name, value in tensors.items() if name.startswith(f"{number}.")}
        if not own:
            memory.hear(self._told)
        elif "words" in described:
            memory.resume(described["words"][number], own)
        else:
            met, arrays = from_version_1(memory.words, self._told, own, described["banks"][number], self.trained)
            memory.resume(met, arrays)


def groups_of(trained: TrainedModel, questions: int, shared: bool | None = None) -> list[list[int]]:
    """Which questions one memory is built for: all of them where training did so, else each has a memory of its own.

    A model that never met several questions at once answers them badly from one memory.
    """
    if shared is None:
        shared = trained.training.train.together
    return [list(range(questions))] if shared else [[i] for i in range(questions)]


def fingerprint(trained: TrainedModel) -> str:
    """A name for the weights of a model: the same weights have the same one."""
    found = trained.__dict__.get("fingerprint")
    if found is None:
        digest = sha256()
        for name, value in sorted(trained.weights.items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        found = trained.__dict__["fingerprint"] = digest.hexdigest()
    return str(found)


def _by(found: Iterator[Answer], ends: float) -> Answer:
    """The last of ever better answers that is there by a time; the first in any case."""
    answer = next(found)
    while perf_counter() < ends and (better := next(found, None)) is not None:
        answer = better
    return answer


def _renumbered(answer: Answer, places: Sequence[int]) -> Answer:
    """The answer with the numbers of sentences as they were told, by those that they had as they were read."""
    answer = replace(answer, sentences=tuple(sorted(places[number] for number in answer.sentences)))
    if answer.explanation is None:
        return answer
    traces = tuple(replace(trace, sentence=places[trace.sentence]) for trace in answer.explanation.sentences)
    return replace(answer, explanation=replace(answer.explanation, sentences=traces))


def _graph(traces: Collection[SentenceTrace]) -> tuple[Edge, ...]:
    """The word graph of some sentences."""
    latest: dict[tuple[str, str], int] = {}
    for trace, spoken in zip(traces, words_of([trace.text for trace in traces]), strict=True):
        latest |= dict.fromkeys(zip(spoken, spoken[1:], strict=False), trace.sentence)
    return tuple(Edge(before, after, number) for (before, after), number in latest.items())


def _bank(memory: StoryMemory, index: int, attention: dict[str, float]) -> Bank:
    """A bank with its most relevant entities first."""
    held = memory.bank(index)
    shown = sorted(held, key=lambda one: -one.relevance)[:SHOWN_ENTITIES]
    entities = (
        Entity(word=e.word, strength=e.strength, relevance=e.relevance, attention=attention.get(e.word, 0.0))
        for e in shown
    )
    return Bank(index=index, size=len(held), entities=tuple(entities))
