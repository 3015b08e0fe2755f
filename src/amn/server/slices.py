"""Reading in slices: each is a moment in the thread of the model, and between two of them others have their turn.

All that a request needs of the model is one task of many steps where that can be: whoever hands over from one thread to
another waits for a processor, and on a busy machine that is what takes longest.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any, TypeVar

from amn.answers import Answer, SentenceTrace, timed
from amn.data.vocabulary import UNKNOWN_ANSWER
from amn.memory.changes import AnswerChange, Follower
from amn.memory.live import KEPT_TRACES, LiveMemory, groups_of
from amn.server.batching import SLICE_SECONDS, Inference, Steps
from amn.server.limits import Limits
from amn.server.work import (
    ASK_PACE,
    EXPLAIN_PACE,
    NO_SENTENCE,
    FieldError,
    Pace,
    ReadingWork,
    checking_explanation,
)

T = TypeVar("T")

GRACE_SECONDS = 0.003  # after a deadline, for questions that still wait; their reply takes a while too
_SLICE_SENTENCES = 64  # that are taken apart at once, which takes time as well


@dataclass(frozen=True, slots=True)
class Answered:
    """Answers, and how much they are from."""

    answers: list[Answer]  # one for each question
    read: int  # how many sentences were read
    sentences: int  # how many there are


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings:
    """How a memory is asked."""

    deadline: float | None = None  # seconds for all of it, from when the request came
    explain: bool = False  # say why
    banks: int | None = None  # how many banks to read
    started: float  # when the request came, by the monotonic clock

    @property
    def ends(self) -> float | None:
        """When the deadline is, by the monotonic clock."""
        return None if self.deadline is None else self.started + self.deadline

    def late(self, by: float = 0.0) -> bool:
        """Whether the deadline is over, by so many seconds or more."""
        return self.ends is not None and time.monotonic() >= self.ends + by


class Slices:
    """Tells memories and asks them, a moment at a time."""

    def __init__(self, inference: Inference, limits: Limits) -> None:
        self._inference, self._limits = inference, limits
        self._asking, self._explaining = Pace(ASK_PACE), Pace(EXPLAIN_PACE)

    async def tell(
        self,
        memory: LiveMemory,
        first: int,
        work: ReadingWork,
        ends: float | None = None,
        take: Callable[[SentenceTrace], T | None] = lambda _: None,
    ) -> AsyncIterator[list[T]]:
        """Tells a memory sentences of which the first has that number, a slice at a time.

        What it was told already is not told again: whoever is cancelled here may leave a slice that still runs. What
        each did goes through `take` in the thread of the model; what is None then is left out.
        """
        while not work.complete or len(memory.sentences) < first + len(work):
            telling = partial(self._tell_slice, memory, first, work, ends, take)
            yield await self._inference.run(telling, ends, further=True)

    def _tell_slice(
        self,
        memory: LiveMemory,
        first: int,
        work: ReadingWork,
        ends: float | None,
        take: Callable[[SentenceTrace], T | None],
    ) -> list[T]:
        over, taken = self._inference.moment(inf if ends is None else ends), list[T]()
        for trace in _telling(memory, first, work, traced=True):
            if trace is not None and (made := take(trace)) is not None:
                taken.append(made)
            if over() or (ends is not None and time.monotonic() >= ends):
                break
        return taken

    async def answer(self, opening: Callable[[], LiveMemory], told: ReadingWork, asked: AskSettings) -> Answered:
        """The answers about a story, which a new memory is told; by a deadline, from what was read of it."""
        return await self._inference.run_steps(self._answering(opening, told, asked), asked.ends, further=True)

    async def ask(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Answered:
        """The answers of a memory that should have been told so many sentences."""
        return await self._inference.run_steps(self._explainable(memory, asked, sentences), asked.ends, further=True)

    def _answering(self, opening: Callable[[], LiveMemory], told: ReadingWork, asked: AskSettings) -> Steps[Answered]:
        memory = opening()
        yield
        if asked.explain and asked.ends is None:  # refuse it before it is read
            yield from checking_explanation(self._limits, told.sentences, memory.questions, None)
        yield from self._reading(memory, told, asked)
        if told.complete and not told:
            raise FieldError("story", NO_SENTENCE)
        ask = self._explainable if asked.ends is not None else self._asked
        reading = yield from ask(memory, asked, told.expected)
        return replace(reading, answers=timed(reading.answers, time.monotonic() - asked.started))

    def _reading(self, memory: LiveMemory, told: ReadingWork, asked: AskSettings) -> Steps[None]:
        """Tells a new memory a story, and leaves it where there is just time left to ask: after a sentence at least."""
        for _ in _telling(memory, 0, told, traced=asked.explain):
            yield
            if asked.late() or (memory.sentences and asked.late(-self._reserve(len(memory.questions)))):
                return

    def _reserve(self, questions: int) -> float:
        """How long it takes to ask, in turns with others."""
        return self._in_turns(self._asking.seconds(questions) + SLICE_SECONDS)

    def _in_turns(self, seconds: float) -> float:
        """How long something takes while others have their turns."""
        return seconds * (2 if self._inference.shared else 1)

    def _explainable(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Steps[Answered]:
        """The answers, without explanations where there is no time left for one."""
        if asked.explain and not self._can_explain(asked, len(memory.sentences)):
            asked = replace(asked, explain=False)
        if asked.explain:
            yield from checking_explanation(self._limits, memory.sentences, memory.questions, asked.ends)
        return (yield from self._asked(memory, asked, sentences))

    def _asked(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Steps[Answered]:
        read = len(memory.sentences)
        answers = yield from self._answers(memory, asked)
        if read < sentences:
            answers = [replace(answer, stopped_for_deadline=True) for answer in answers]
        if asked.explain:
            for number, answer in enumerate(answers):
                answers[number] = yield from self._explained(memory, asked, number, answer)
        return Answered(answers, read, max(read, sentences))

    def _answers(self, memory: LiveMemory, asked: AskSettings) -> Steps[list[Answer]]:
        """The answer to each question. Where a deadline is over, those that were not asked yet are unknown.

        The first of all is asked in any case, if there is anything that it can be answered from.
        """
        if len(groups_of(memory.trained, len(memory.questions))) == 1:
            return self._timed(asked, len(memory.questions), memory.ask)
        answers: list[Answer] = []
        for number, question in enumerate(memory.questions):
            if asked.late(GRACE_SECONDS if memory.sentences else 0.0) and (number or not memory.sentences):
                return answers + [_not_asked(waiting) for waiting in memory.questions[number:]]
            answers.append(self._timed(asked, len(memory.questions) - number, partial(memory.ask, question)))
            yield
        return answers

    def _timed(self, asked: AskSettings, waiting: int, ask: Callable[..., T]) -> T:
        """Asks, and leaves the time that the questions take which wait."""
        left = None
        if asked.ends is not None:
            left = max(0.0, asked.ends - time.monotonic() - self._asking.seconds(waiting - 1))
        return self._asking.timed(1, partial(ask, deadline=left, banks=asked.banks))

    def _explained(self, memory: LiveMemory, asked: AskSettings, number: int, answer: Answer) -> Steps[Answer]:
        """An answer with its explanation, which takes longest of all: while there is time."""
        if not self._can_explain(asked, len(memory.sentences)):
            return answer
        steps, shown = memory.explaining(number, answer), min(len(memory.sentences), KEPT_TRACES)
        answer = self._explaining.timed(shown, partial(next, steps))
        yield
        while not asked.late(-self._in_turns(SLICE_SECONDS)) and (better := next(steps, None)) is not None:
            answer = better
            yield
        return answer

    def _can_explain(self, asked: AskSettings, sentences: int) -> bool:
        """Whether there is time left to explain an answer, and to send what that gives, which takes as long again."""
        seconds = 2 * self._explaining.seconds(min(sentences, KEPT_TRACES)) + SLICE_SECONDS
        return not asked.late(-self._in_turns(seconds))

    async def before(self, asked: AskSettings, questions: int, reading: Coroutine[Any, Any, object]) -> None:
        """Reads, and leaves it where it is when there is just time left to ask."""
        left = None if asked.ends is None else asked.ends - self._reserve(questions) - time.monotonic()
        if left is not None and left <= 0:
            reading.close()
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(reading, left)


def _telling(memory: LiveMemory, first: int, work: ReadingWork, traced: bool) -> Iterator[SentenceTrace | None]:
    """Tells a memory sentences of which the first has that number, but for those that it was told, and looks at more.

    Each step takes a fraction of a moment; what a sentence did is given after its last one, and None in between.
    """
    while not work.complete or len(memory.sentences) < first + len(work):
        start = len(memory.sentences) - first
        if start >= len(work):
            work.look()
        if part := work.sentences[start : start + _SLICE_SENTENCES]:
            yield from memory.telling(part, traced=traced)
        else:
            yield None


def _not_asked(question: str) -> Answer:
    """What is said of a question for which no time was left."""
    return Answer(
        question=question, answer=UNKNOWN_ANSWER, score=0.0, known=False, banks_read=0, stopped_for_deadline=True
    )


def following(follower: Follower, sentences: Sequence[str]) -> Steps[list[list[AnswerChange]]]:
    """Tells a follower sentences; gives what each changed."""
    found = []
    for sentence in sentences:
        found.append((yield from follower.telling(sentence)))
    return found


def answers_over_time(memory: LiveMemory, sentences: Sequence[str]) -> Steps[list[list[Answer]]]:
    """Tells a new memory sentences; gives the answers after each."""
    history = []
    for sentence in sentences:
        for _ in memory.telling([sentence], traced=False):
            yield
        history.append((yield from memory.asking()))
    return history
