"""Reading and asking in time slices: after each slice in the thread of the model, other requests have their turn.

What a request needs of the model is one task of many steps where possible: on a busy machine, handing work over from
one thread to another is what takes longest.
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
from amn.server.batching import SLICE_SECONDS, Inference
from amn.server.limits import Limits
from amn.server.story_parser import StoryParser, check_explanation
from amn.store.stepwise import Steps, encode

T = TypeVar("T")

GRACE_SECONDS = 0.003  # after a deadline, for questions that still wait; their reply takes a while too
_SLICE_SENTENCES = 64  # split into words at once, which takes time as well
_ASK_PACE, _EXPLAIN_PACE = 5e-4, 2e-5  # seconds for a question, and for a sentence of an explanation, until measured
_SHARE = 0.2  # of a new measurement in the pace, where it is better than expected


@dataclass(frozen=True, slots=True)
class Answered:
    """Answers, and how much of the story they are from."""

    answers: list[Answer]  # one for each question
    read: int  # how many sentences were read
    sentences: int  # how many there are


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings:
    """How a memory is asked; times are of the monotonic clock."""

    started: float  # when the request came
    ends: float | None = None  # its deadline
    explain: bool = False  # whether to explain the answers
    banks: int | None = None  # how many banks to read

    def late(self, by: float = 0.0) -> bool:
        """Whether the deadline passed at least so many seconds ago."""
        return self.ends is not None and time.monotonic() >= self.ends + by


class Pace:
    """How long a unit of cost takes, learned from measurements; it overestimates rather than underestimates."""

    def __init__(self, first: float) -> None:
        self._pace = first

    def timed(self, cost: float, function: Callable[[], T]) -> T:
        """Runs a function of known cost, and learns from its time."""
        started = time.perf_counter()
        result = function()
        measured = (time.perf_counter() - started) / max(cost, 1)
        self._pace = max(measured, self._pace + _SHARE * (measured - self._pace))
        return result

    def seconds(self, cost: float) -> float:
        """The expected time for a cost."""
        return cost * self._pace


class Slices:
    """Tells memories sentences and asks them, one time slice at a time."""

    def __init__(self, inference: Inference, limits: Limits) -> None:
        self._inference, self._limits = inference, limits
        self._asking, self._explaining = Pace(_ASK_PACE), Pace(_EXPLAIN_PACE)

    async def tell(
        self, memory: LiveMemory, first: int, story: StoryParser, ends: float | None = None, traced_from: float = inf
    ) -> AsyncIterator[list[bytes]]:
        """Tells a memory sentences, the first of which has number `first`, and yields after each slice.

        Sentences that the memory has already are skipped: a slice may still run after its request was cancelled.
        Yields the traces of the sentences from number `traced_from` on, as JSON encoded in the thread of the model.
        """
        while not story.complete or len(memory.sentences) < first + len(story):
            telling = partial(self._tell_slice, memory, first, story, ends, traced_from)
            yield await self._inference.run(telling, ends, admitted=True)

    def _tell_slice(
        self, memory: LiveMemory, first: int, story: StoryParser, ends: float | None, traced_from: float
    ) -> list[bytes]:
        over, traces = self._inference.slice_timer(inf if ends is None else ends), list[bytes]()
        for trace in _telling(memory, first, story, traced=True):
            if trace is not None and trace.sentence >= traced_from:
                traces.append(encode(trace))
            if over() or (ends is not None and time.monotonic() >= ends):
                break
        return traces

    async def answer(self, opening: Callable[[], LiveMemory], story: StoryParser, asked: AskSettings) -> Answered:
        """Answers about a story from a new memory; with a deadline, from what can be read of it in time."""
        return await self._inference.run_steps(self._read_and_ask(opening, story, asked), asked.ends, admitted=True)

    async def ask(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Answered:
        """Answers from a memory that should have so many sentences."""
        return await self._inference.run_steps(self._ask_in_time(memory, asked, sentences), asked.ends, admitted=True)

    def _read_and_ask(
        self, opening: Callable[[], LiveMemory], story: StoryParser, asked: AskSettings
    ) -> Steps[Answered]:
        memory = opening()
        yield
        if asked.explain and asked.ends is None:  # refuse it before it is read
            yield from check_explanation(self._limits, story.sentences, memory.questions, None)
        yield from self._read(memory, story, asked)
        story.check_not_empty()
        ask = self._ask_in_time if asked.ends is not None else self._ask
        reading = yield from ask(memory, asked, story.expected)
        return replace(reading, answers=timed(reading.answers, time.monotonic() - asked.started))

    def _read(self, memory: LiveMemory, story: StoryParser, asked: AskSettings) -> Steps[None]:
        """Tells a new memory a story, at least one sentence of it, and stops when there is just time left to ask."""
        for _ in _telling(memory, 0, story, traced=asked.explain):
            yield
            if asked.late() or (memory.sentences and asked.late(-self._reserve(len(memory.questions)))):
                return

    def _reserve(self, questions: int) -> float:
        """The time to keep for asking."""
        return self._shared_time(self._asking.seconds(questions) + SLICE_SECONDS)

    def _shared_time(self, seconds: float) -> float:
        """How long something takes while other requests have their turns too."""
        return seconds * (2 if self._inference.shared else 1)

    def _ask_in_time(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Steps[Answered]:
        """The answers, without explanations where there is no time left for one."""
        if asked.explain and not self._can_explain(asked, len(memory.sentences)):
            asked = replace(asked, explain=False)
        if asked.explain:
            yield from check_explanation(self._limits, memory.sentences, memory.questions, asked.ends)
        return (yield from self._ask(memory, asked, sentences))

    def _ask(self, memory: LiveMemory, asked: AskSettings, sentences: int) -> Steps[Answered]:
        read = len(memory.sentences)
        answers = yield from self._answers(memory, asked)
        if read < sentences:
            answers = [replace(answer, stopped_for_deadline=True) for answer in answers]
        if asked.explain:
            for number, answer in enumerate(answers):
                answers[number] = yield from self._explained(memory, asked, number, answer)
        return Answered(answers, read, max(read, sentences))

    def _answers(self, memory: LiveMemory, asked: AskSettings) -> Steps[list[Answer]]:
        """The answer to each question. After the deadline, the remaining questions are answered with unknown.

        The first question is asked in any case, if the memory has any sentence.
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
        """Asks a question, and leaves time for the others that wait."""
        left = None
        if asked.ends is not None:
            left = max(0.0, asked.ends - time.monotonic() - self._asking.seconds(waiting - 1))
        return self._asking.timed(1, partial(ask, deadline=left, banks=asked.banks))

    def _explained(self, memory: LiveMemory, asked: AskSettings, number: int, answer: Answer) -> Steps[Answer]:
        """An answer with as much of its explanation as there is time for."""
        if not self._can_explain(asked, len(memory.sentences)):
            return answer
        steps, shown = memory.explaining(number, answer), min(len(memory.sentences), KEPT_TRACES)
        answer = self._explaining.timed(shown, partial(next, steps))
        yield
        while not asked.late(-self._shared_time(SLICE_SECONDS)) and (better := next(steps, None)) is not None:
            answer = better
            yield
        return answer

    def _can_explain(self, asked: AskSettings, sentences: int) -> bool:
        """Whether there is time left to explain an answer and to send the explanation, which takes as long again."""
        seconds = 2 * self._explaining.seconds(min(sentences, KEPT_TRACES)) + SLICE_SECONDS
        return not asked.late(-self._shared_time(seconds))

    async def before(self, asked: AskSettings, questions: int, reading: Coroutine[Any, Any, object]) -> None:
        """Reads until there is just time left to ask."""
        left = None if asked.ends is None else asked.ends - self._reserve(questions) - time.monotonic()
        if left is not None and left <= 0:
            reading.close()
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(reading, left)


def _telling(memory: LiveMemory, first: int, story: StoryParser, traced: bool) -> Iterator[SentenceTrace | None]:
    """Parses a story and tells it to a memory, but for the sentences that the memory has already, in short steps.

    The first sentence has number `first`. Yields the trace of a sentence after its last step, and None in between.
    """
    while not story.complete or len(memory.sentences) < first + len(story):
        start = len(memory.sentences) - first
        if start >= len(story):
            story.parse_next()
        if part := story.sentences[start : start + _SLICE_SENTENCES]:
            yield from memory.telling(part, traced=traced)
        else:
            yield None


def _not_asked(question: str) -> Answer:
    """The answer to a question for which no time was left."""
    return Answer(
        question=question, answer=UNKNOWN_ANSWER, score=0.0, known=False, banks_read=0, stopped_for_deadline=True
    )


def following(follower: Follower, sentences: Sequence[str]) -> Steps[list[list[AnswerChange]]]:
    """Tells a follower sentences; returns the changes of answers after each."""
    found = []
    for sentence in sentences:
        found.append((yield from follower.telling(sentence)))
    return found


def answers_over_time(memory: LiveMemory, sentences: Sequence[str]) -> Steps[list[list[Answer]]]:
    """Tells a new memory sentences; returns the answers after each."""
    history = []
    for sentence in sentences:
        for _ in memory.telling([sentence], traced=False):
            yield
        history.append((yield from memory.asking()))
    return history
