"""Reading in slices: each is a moment in the thread of the model, and between two of them others have their turn."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any, TypeVar

from amn.answers import Answer, SentenceTrace
from amn.changes import AnswerChange, Follower
from amn.data.vocabulary import UNKNOWN_ANSWER
from amn.memory import KEPT_TRACES, LiveMemory, groups_of
from amn.server.batching import Inference
from amn.server.work import ASK_PACE, EXPLAIN_PACE, SLICE_SECONDS, Pace, ReadingWork, for_a_moment

T = TypeVar("T")

GRACE_SECONDS = 0.003  # after a deadline, for questions that still wait; their reply takes a while too
_SLICE_SENTENCES = 128  # that a slice begins with at most: to take them apart takes time as well


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

    def late(self, by: float = 0.0) -> bool:
        """Whether the deadline is over, by so many seconds or more."""
        return self.ends is not None and time.monotonic() >= self.ends + by


class Slices:
    """Tells memories and asks them, a moment at a time.

    Args:
        inference: the thread of the model.
    """

    def __init__(self, inference: Inference) -> None:
        self._inference = inference
        self._asking, self._explaining = Pace(ASK_PACE), Pace(EXPLAIN_PACE)

    async def look(self, work: ReadingWork, ends: float | None = None) -> None:
        """Looks at all of a story."""
        while not work.complete:
            await self._inference.run(partial(_look_slice, work), ends, further=True)

    async def tell(
        self, memory: LiveMemory, first: int, work: ReadingWork, ends: float | None = None, traced: bool = True
    ) -> AsyncIterator[list[SentenceTrace]]:
        """Tells a memory sentences of which the first has that number; gives what those of each slice did.

        What it was told already is not told again: whoever is cancelled here may leave a slice that still runs.
        """
        while not work.complete or len(memory.sentences) < first + len(work):
            yield await self._inference.run(partial(_tell_slice, memory, first, work, traced, ends), ends, further=True)

    async def ask(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Answered:
        """The answers of a memory that should have been told so many sentences."""
        read, answers = len(memory.sentences), list[Answer]()
        while len(answers) < len(memory.questions):
            step = partial(self._ask_slice, memory, asked, len(answers))
            answers += await self._inference.run(step, asked.ends, further=True)
        if read < sentences:
            answers = [replace(answer, stopped_for_deadline=True) for answer in answers]
        if asked.explain:
            answers = [await self._explained(memory, asked, i, answer) for i, answer in enumerate(answers)]
        return Answered(answers, read, max(read, sentences))

    def _ask_slice(self, memory: LiveMemory, asked: AskSettings, first: int) -> list[Answer]:
        """The answers to the questions from a number on, as many as are found in a moment.

        The first of all is asked in any case. Where a deadline is over, others are not, and their answers are unknown.
        """
        if len(groups_of(memory.trained, len(memory.questions))) == 1:
            return self._timed(asked, len(memory.questions), memory.ask)
        answers: list[Answer] = []
        for number, question in for_a_moment(enumerate(memory.questions[first:], first)):
            if number and asked.late(GRACE_SECONDS):
                return answers + [_not_asked(waiting) for waiting in memory.questions[number:]]
            answers.append(self._timed(asked, len(memory.questions) - number, partial(memory.ask, question)))
        return answers

    def _timed(self, asked: AskSettings, waiting: int, ask: Callable[..., T]) -> T:
        """Asks, and leaves the time that the questions take which wait."""
        left = None
        if asked.ends is not None:
            left = max(0.0, asked.ends - time.monotonic() - self._asking.seconds(waiting - 1))
        return self._asking.timed(1, partial(ask, deadline=left, banks=asked.banks))

    async def _explained(self, memory: LiveMemory, asked: AskSettings, number: int, answer: Answer) -> Answer:
        """An answer with its explanation, which takes longest of all: while there is time."""
        if not self.can_explain(asked, len(memory.sentences)):
            return answer
        steps, shown = memory.explaining(number, answer), min(len(memory.sentences), KEPT_TRACES)
        begin = partial(self._explaining.timed, shown, partial(next, steps))
        answer = await self._inference.run(begin, asked.ends, further=True)
        while asked.ends is None or time.monotonic() + SLICE_SECONDS < asked.ends:
            better = await self._inference.run(partial(_explain_slice, steps), asked.ends, further=True)
            if better is None:
                break
            answer = better
        return answer

    def can_explain(self, asked: AskSettings, sentences: int) -> bool:
        """Whether there is time left to explain an answer, and to send what that gives, which takes as long again."""
        needed = 2 * self._explaining.seconds(min(sentences, KEPT_TRACES)) + SLICE_SECONDS
        return asked.ends is None or time.monotonic() + needed < asked.ends

    async def before(self, asked: AskSettings, questions: int, reading: Coroutine[Any, Any, object]) -> None:
        """Reads, and leaves it where it is when there is just time left to ask, in turns with others."""
        reserve = self._asking.seconds(questions) + SLICE_SECONDS
        reserve *= 2 if self._inference.shared else 1
        left = None if asked.ends is None else asked.ends - reserve - time.monotonic()
        if left is not None and left <= 0:
            reading.close()
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(reading, left)

    async def follow(self, follower: Follower, sentences: Sequence[str]) -> AsyncIterator[list[AnswerChange]]:
        """Tells a follower sentences; gives what each changed."""
        last = follower.position + len(sentences)
        while follower.position < last:
            left = sentences[follower.position - last :]
            for changes in await self._inference.run(partial(_follow_slice, follower, left), further=True):
                yield changes

    async def history(self, memory: LiveMemory, sentences: Sequence[str]) -> AsyncIterator[list[Answer]]:
        """Tells a new memory sentences; gives the answers after each."""
        steps, told = _answering(memory, sentences), 0
        while told < len(sentences):
            for answers in await self._inference.run(partial(_history_slice, steps), further=True):
                told += 1
                yield answers


def _not_asked(question: str) -> Answer:
    """What is said of a question for which no time was left."""
    return Answer(
        question=question, answer=UNKNOWN_ANSWER, score=0.0, known=False, banks_read=0, stopped_for_deadline=True
    )


def _look_slice(work: ReadingWork) -> None:
    for _ in for_a_moment(repeat(None)):
        work.look()
        if work.complete:
            return


def _tell_slice(
    memory: LiveMemory, first: int, work: ReadingWork, traced: bool, ends: float | None
) -> list[SentenceTrace]:
    start = len(memory.sentences) - first
    if start >= len(work) and not work.complete:
        work.look()
    steps = memory.telling(work.sentences[start : start + _SLICE_SENTENCES], traced=traced)
    return [trace for trace in for_a_moment(steps, ends) if trace is not None]


def _explain_slice(steps: Iterator[Answer]) -> Answer | None:
    """The last of the ever better answers of a moment; None where there are no more."""
    return next(iter(deque(for_a_moment(steps), maxlen=1)), None)


def _follow_slice(follower: Follower, sentences: Sequence[str]) -> list[list[AnswerChange]]:
    return [follower.tell(sentence) for sentence in for_a_moment(sentences)]


def _answering(memory: LiveMemory, sentences: Sequence[str]) -> Iterator[list[Answer] | None]:
    """The answers after each sentence, and None in between: each step takes a moment."""
    shared = len(groups_of(memory.trained, len(memory.questions))) == 1
    for sentence in sentences:
        for _ in memory.telling([sentence], traced=False):
            yield None
        answers = memory.ask() if shared else []
        for question in memory.questions[len(answers) :]:
            answers.append(memory.ask(question))
            yield None
        yield answers


def _history_slice(steps: Iterator[list[Answer] | None]) -> list[list[Answer]]:
    return [answers for answers in for_a_moment(steps) if answers is not None]
