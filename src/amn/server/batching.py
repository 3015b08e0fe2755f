"""One thread that runs the model. Questions that wait together are answered in one forward pass."""

import asyncio
import heapq
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle, islice
from math import inf
from typing import Any, TypeVar

from amn.answers import Answer
from amn.api import QA, Request
from amn.server.limits import Limits

T = TypeVar("T")

SLICE_SECONDS = 0.005  # what one request may take before others have their turn
Steps = Generator[None, None, T]  # each takes a fraction of a moment; what they return is the result

_LEAST_SECONDS = 0.001  # and what it has in any case, whoever waits
_TURNS = ("urgent", "task", "urgent", "batch")
_PRESSING_SECONDS = 0.02  # a deadline so near waits for nobody's turn,
_HURRIED = 8  # unless so many went before


class BusyError(Exception):
    """The queue is full."""


@dataclass(slots=True)
class _Asked:
    """A request that may be answered together with others."""

    qa: QA
    request: Request
    sentences: int
    future: "Future[list[Answer]]" = field(default_factory=Future)


@dataclass(slots=True, order=True)
class _Task:
    """Anything else that runs the model; the most urgent comes first."""

    ends: float
    number: int
    steps: Steps[Any] = field(compare=False)
    future: "Future[Any]" = field(default_factory=Future, compare=False)

    def go_on(self, enough: Callable[[], bool]) -> bool:
        """Goes on until it is enough; whether there is more to do, and somebody who waits for it."""
        if self.future.cancelled():
            self.future.set_running_or_notify_cancel()
            return False
        try:
            next(self.steps)
            while not enough():
                next(self.steps)
        except StopIteration as end:
            _settle([self.future], [end.value])
            return False
        except Exception as error:
            _settle([self.future], [error])
            return False
        return True


class Inference:
    """The queue and the thread behind it: tasks with a deadline, other tasks, and batches take turns.

    So none of them starves another; a deadline waits for one other thing at most, and one that is near for less. Long
    work comes in steps: after a moment, or where a nearer deadline waits, it goes to the end of its queue. There is no
    waiting for a batch to fill: a batch is what came in while the one before it ran. `observe` is told its size.
    """

    def __init__(self, limits: Limits, observe: Callable[[int], None] = lambda _: None) -> None:
        self._limits, self._observe = limits, observe
        self._asked: deque[_Asked] = deque()
        self._tasks: deque[_Task] = deque()
        self._urgent: list[_Task] = []  # a heap
        self._numbers = count()
        self._turns, self._hurried = cycle(_TURNS), 0
        self._by_right = False  # whether others have their turn although a deadline is near
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="amn-inference", daemon=True)
        self._thread.start()

    def answer(self, qa: QA, request: Request, sentences: int) -> "asyncio.Future[list[Answer]]":
        """The answers to a request about so many sentences, which may be found together with those of others.

        Raises:
            BusyError: where too many wait.
        """
        job = _Asked(qa, request, sentences)
        self._put(self._asked.append, job)
        return asyncio.wrap_future(job.future)

    def run(self, function: Callable[[], T], ends: float | None = None, further: bool = False) -> "asyncio.Future[T]":
        """What a function returns that runs in the thread of the model, and takes a moment only.

        It serves a deadline where it has one, by the monotonic clock. What goes `further` with something that was begun
        is not refused for others who wait.

        Raises:
            BusyError: where too many wait.
        """
        return self.run_steps(_in_one(function), ends, further)

    def run_steps(self, steps: Steps[T], ends: float | None = None, further: bool = False) -> "asyncio.Future[T]":
        """What steps return that run in the thread of the model, a moment at a time; else as `run`."""
        job = _Task(inf if ends is None else ends, next(self._numbers), steps)
        self._put(self._add_task, job, further)
        return asyncio.wrap_future(job.future)

    def _add_task(self, job: _Task) -> None:
        if job.ends < inf:
            heapq.heappush(self._urgent, job)
        else:
            self._tasks.append(job)

    def moment(self, ends: float = inf) -> Callable[[], bool]:
        """What says, in the thread of the model, when others have their turn: after a moment, or if one cannot wait."""
        started = time.monotonic()
        least = SLICE_SECONDS if self._by_right else _LEAST_SECONDS

        def over() -> bool:
            now = time.monotonic()
            return now - started >= SLICE_SECONDS or (now - started >= least and self._hurries(now, ends))

        return over

    def _hurries(self, now: float, ends: float = inf) -> bool:
        """Whether a deadline waits that is near, and nearer than another."""
        return bool(self._urgent) and self._urgent[0].ends < min(ends, now + _PRESSING_SECONDS)

    @property
    def shared(self) -> bool:
        """Whether others without a deadline wait for their turns."""
        return bool(self._tasks or self._asked)

    def check_room(self) -> None:
        """Refuses what would have to wait behind too many.

        Raises:
            BusyError: where too many wait.
        """
        if self._closed or len(self._asked) + len(self._tasks) + len(self._urgent) >= self._limits.waiting:
            raise BusyError

    def _put(self, add: Callable[[T], None], job: T, further: bool = False) -> None:
        with self._changed:
            if self._closed or not further:
                self.check_room()
            add(job)
            self._changed.notify()

    def close(self) -> None:
        """Finishes what was taken, takes no more, and ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job()

    def _next(self) -> Callable[[], None] | None:
        """What to do next; None where all is done and no more will come."""
        with self._changed:
            self._changed.wait_for(lambda: self._asked or self._tasks or self._urgent or self._closed)
            for turn in self._order():
                if turn == "urgent" and self._urgent:
                    return partial(self._go_on, heapq.heappop(self._urgent))
                if turn == "task" and self._tasks:
                    return partial(self._go_on, self._tasks.popleft())
                if turn == "batch" and self._asked:
                    return partial(self._answer, self._next_batch())
        return None

    def _order(self) -> Iterable[str]:
        """Whose turn it is: by turns, but for a deadline that is near, and not many of these in a row."""
        self._by_right = False
        if not self._hurries(time.monotonic()):
            return islice(self._turns, len(_TURNS))
        self._hurried = (self._hurried + 1) % (_HURRIED + 1)
        self._by_right = not self._hurried
        return ("task", "batch", "urgent") if self._by_right else ("urgent",)

    def _go_on(self, task: _Task) -> None:
        if task.go_on(self.moment(task.ends)):
            with self._changed:
                self._add_task(task)

    def _next_batch(self) -> list[_Asked]:
        """The requests that wait for one model, up to what fits in one pass."""
        batch = [self._asked.popleft()]
        longest = batch[0].sentences
        while self._asked and self._asked[0].qa is batch[0].qa and len(batch) < self._limits.batch:
            longest = max(longest, self._asked[0].sentences)
            if longest * (len(batch) + 1) > self._limits.batch_sentences:
                break
            batch.append(self._asked.popleft())
        return batch

    def _answer(self, batch: list[_Asked]) -> None:
        self._observe(len(batch))
        requests = [job.request for job in batch]
        try:
            answers = batch[0].qa.answer_batch(requests)
        except Exception:  # one bad request must not spoil the others: each is answered alone
            for job in batch:
                _settle([job.future], [_or_error(partial(job.qa.answer_batch, [job.request]))])
        else:
            _settle([job.future for job in batch], answers)


def _in_one(function: Callable[[], T]) -> Steps[T]:
    """A function as steps, of which there is none but the last."""
    return function()
    yield


def _or_error(function: Callable[[], list[T]]) -> T | Exception:
    """The one result of a function, or what it raises."""
    try:
        return function()[0]
    except Exception as error:
        return error


def _settle(futures: "list[Future[Any]]", results: list[Any]) -> None:
    """Gives each future its result, or the error; a client may have gone in the meantime."""
    for future, result in zip(futures, results, strict=True):
        if not future.set_running_or_notify_cancel():
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
