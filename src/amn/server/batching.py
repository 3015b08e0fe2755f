"""One thread that runs the model. Questions that wait together are answered in one forward pass."""

import asyncio
import heapq
import threading
from collections import deque
from collections.abc import Callable
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

_TURNS = ("urgent", "task", "urgent", "batch")


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
    function: Callable[[], Any] = field(compare=False)
    future: "Future[Any]" = field(default_factory=Future, compare=False)

    def settle(self) -> None:
        """Runs it."""
        _settle([self.future], lambda: [self.function()])


class Inference:
    """The queue and the thread behind it: tasks with a deadline, other tasks, and batches take turns.

    So none of them starves another, and a deadline waits for one other thing at most. Long work comes as many short
    tasks, each of which goes to the end of the queue. There is no waiting for a batch to fill: a batch is what came in
    while the one before it ran.

    Args:
        limits: how many may wait, and how many are answered at once.
        observe: is told the size of each batch.
    """

    def __init__(self, limits: Limits, observe: Callable[[int], None] = lambda _: None) -> None:
        self._limits, self._observe = limits, observe
        self._asked: deque[_Asked] = deque()
        self._tasks: deque[_Task] = deque()
        self._urgent: list[_Task] = []  # a heap
        self._numbers = count()
        self._turns = cycle(_TURNS)
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="amn-inference", daemon=True)
        self._thread.start()

    def answer(self, qa: QA, request: Request, sentences: int) -> "asyncio.Future[list[Answer]]":
        """The answers to a request, which may be found together with those of others.

        Args:
            qa: the model.
            request: what is asked.
            sentences: how many sentences its story has, about.

        Raises:
            BusyError: where too many wait.
        """
        job = _Asked(qa, request, sentences)
        self._put(self._asked.append, job)
        return asyncio.wrap_future(job.future)

    def run(self, function: Callable[[], T], ends: float | None = None, further: bool = False) -> "asyncio.Future[T]":
        """What a function returns that runs in the thread of the model.

        Args:
            function: what to run; it should take a moment only.
            ends: the deadline that it serves, by the monotonic clock.
            further: whether it goes on with what was begun: that is not refused for others who wait.

        Raises:
            BusyError: where too many wait.
        """
        job = _Task(inf if ends is None else ends, next(self._numbers), function)
        self._put(self._tasks.append if ends is None else partial(heapq.heappush, self._urgent), job, further)
        return asyncio.wrap_future(job.future)

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
            for turn in islice(self._turns, len(_TURNS)):
                if turn == "urgent" and self._urgent:
                    return heapq.heappop(self._urgent).settle
                if turn == "task" and self._tasks:
                    return self._tasks.popleft().settle
                if turn == "batch" and self._asked:
                    return partial(self._answer, self._next_batch())
        return None

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
                _settle([job.future], partial(job.qa.answer_batch, [job.request]))
        else:
            _settle([job.future for job in batch], lambda: answers)


def _settle(futures: "list[Future[Any]]", results: Callable[[], list[Any]]) -> None:
    """Gives each future its result, or the error; a client may have gone in the meantime."""
    waiting = [future.set_running_or_notify_cancel() for future in futures]
    if not any(waiting):
        return
    try:
        found = results()
    except Exception as error:
        found = [error] * len(futures)
    for future, awaited, result in zip(futures, waiting, found, strict=True):
        if not awaited:
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
