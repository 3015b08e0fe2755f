"""Reading in slices: each is a moment in the thread of the model, and between two of them others have their turn."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from amn.answers import Answer, SentenceTrace
from amn.changes import AnswerChange, Follower
from amn.memory import LiveMemory
from amn.server.batching import Inference
from amn.server.work import ASK_PACE, EXPLAIN_PACE, READ_PACE, SLICE_SECONDS, Pace, ReadingWork


@dataclass(frozen=True, slots=True)
class Answered:
    """Answers, and how much they are from.

    Args:
        answers: one for each question.
        read: how many sentences were read.
        sentences: how many there are.
    """

    answers: list[Answer]
    read: int
    sentences: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        answers = [answer.to_dict() for answer in self.answers]
        return {"answers": answers, "sentences_read": self.read, "sentences": self.sentences}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings:
    """How a memory is asked.

    Args:
        deadline: seconds for all of it, from when the request came.
        explain: say why.
        banks: how many banks to read.
        started: when the request came, by the monotonic clock.
    """

    deadline: float | None = None
    explain: bool = False
    banks: int | None = None
    started: float

    @property
    def ends(self) -> float | None:
        """When the deadline is, by the monotonic clock."""
        return None if self.deadline is None else self.started + self.deadline


class Slices:
    """Tells memories and asks them, a moment at a time.

    Args:
        inference: the thread of the model.
    """

    def __init__(self, inference: Inference) -> None:
        self._inference = inference
        self._reading, self._asking, self._explaining = Pace(READ_PACE), Pace(ASK_PACE), Pace(EXPLAIN_PACE)

    async def tell(
        self, memory: LiveMemory, first: int, work: ReadingWork, ends: float | None = None
    ) -> AsyncIterator[list[SentenceTrace]]:
        """Tells a memory sentences of which the first has that number; gives what those of each slice did.

        What it was told already is not told again: whoever is cancelled here may leave a slice that still runs.
        """
        while len(memory.sentences) < first + len(work):
            yield await self._inference.run(partial(self._tell_slice, memory, first, work), ends, further=True)

    def _tell_slice(self, memory: LiveMemory, first: int, work: ReadingWork) -> list[SentenceTrace]:
        start = len(memory.sentences) - first
        stop = start + self._reading.fitting(work.costs[start:])
        part = work.sentences[start:stop]
        return self._reading.timed(sum(work.costs[start:stop]), lambda: memory.tell(part)) if part else []

    async def ask(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Answered:
        """The answers of a memory that should have been told so many sentences."""
        found = await self._inference.run(partial(self._ask, memory, asked, sentences), asked.ends, further=True)
        if not asked.explain:
            return found
        return replace(found, answers=[await self._explained(memory, asked, answer) for answer in found.answers])

    def _ask(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Answered:
        read = len(memory.sentences)
        left = None if asked.ends is None else max(0.0, asked.ends - time.monotonic())
        answers = self._asking.timed(len(memory.questions), lambda: memory.ask(deadline=left, banks=asked.banks))
        if read < sentences:
            answers = [replace(answer, stopped_for_deadline=True) for answer in answers]
        return Answered(answers, read, max(read, sentences))

    async def _explained(self, memory: LiveMemory, asked: AskSettings, answer: Answer) -> Answer:
        """An answer with its explanation, which takes longest of all: one at a time, and only while there is time."""
        told = len(memory.sentences)
        if asked.ends is not None and time.monotonic() + self._explaining.seconds(told) > asked.ends:
            return answer
        explain = partial(memory.ask, answer.question, explain=True, banks=answer.banks_read)
        work = partial(self._explaining.timed, told, explain)
        found = await self._inference.run(work, asked.ends, further=True)
        return replace(answer, explanation=found.explanation, sentences=found.sentences)

    @asynccontextmanager
    async def before(self, asked: AskSettings, questions: int) -> AsyncIterator[None]:
        """What is done in it is left where it is when there is just time left to ask."""
        reserve = self._asking.seconds(questions) + SLICE_SECONDS
        left = None if asked.ends is None else asked.ends - reserve - time.monotonic()
        try:
            async with asyncio.timeout(left):
                yield
        except TimeoutError:
            return

    async def follow(self, follower: Follower, sentences: Sequence[str]) -> AsyncIterator[list[AnswerChange]]:
        """Tells a follower sentences; gives what each changed."""
        last = follower.position + len(sentences)
        while follower.position < last:
            left = sentences[follower.position - last :]
            for changes in await self._inference.run(partial(_follow_slice, follower, left), further=True):
                yield changes


def _follow_slice(follower: Follower, sentences: Sequence[str]) -> list[list[AnswerChange]]:
    ends = time.perf_counter() + SLICE_SECONDS
    found = []
    for sentence in sentences:
        found.append(follower.tell(sentence))
        if time.perf_counter() >= ends:
            break
    return found
