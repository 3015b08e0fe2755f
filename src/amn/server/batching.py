"""The thread that runs the model. Questions that wait at the same time are answered in one forward pass."""

import asyncio
import heapq
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle, islice
from math import inf
from typing import Any, TypeVar

from amn.answers import Answer
from amn.api import QA, Request
from amn.server.limits import Limits
from amn.store.stepwise import Steps

T = TypeVar("T")

SLICE_SECONDS = 0.005  # what one task may take before others have their turn
_LEAST_SECONDS = 0.001  # what it may take even if a more urgent task waits
_TURNS = ("urgent", "task", "urgent", "batch")
_PRESSING_SECONDS = 0.02  # a deadline this near is served out of turn,
_MOST_PRESSING = 8  # but not more often than this in a row


class BusyError(Exception):
    """The queue is full."""


@dataclass(slots=True)
class _BatchItem:
    """A request that may be answered together with others."""

    qa: QA
    request: Request
    sentences: int
    future: "Future[list[Answer]]" = field(default_factory=Future)


@dataclass(slots=True, order=True)
class _Task:
    """Any other work for the model; tasks are ordered by their deadlines."""

    ends: float
    number: int
    steps: Steps[Any] = field(compare=False)
    future: "Future[Any]" = field(default_factory=Future, compare=False)

    def run_slice(self, over: Callable[[], bool]) -> bool:
        """Runs steps until the slice is over; returns whether there are more steps and the task is still wanted."""
        if self.future.cancelled():
            self.future.set_running_or_notify_cancel()
            return False
        try:
            next(self.steps)
            while not over():
                next(self.steps)
        except StopIteration as end:
            _settle(self.future, end.value)
            return False
        except Exception as error:
            _settle(self.future, error)
            return False
        return True


class Inference:
    """The queue of the model and its thread: tasks with a deadline, other tasks, and batches take turns.

    So none of them starves another; a deadline waits for at most one other slice, and a near one for less. A long task
    runs in steps: after a time slice, or when a nearer deadline waits, it goes to the end of its queue. A batch is not
    waited for to fill: it holds what came in while the one before it ran.

    Args:
        limits: the limits of the queue and of batches.
        observe: is called with the size of each batch.
    """

    def __init__(self, limits: Limits, observe: Callable[[int], None] = lambda _: None) -> None:
        self._limits, self._observe = limits, observe
        self._items: deque[_BatchItem] = deque()
        self._tasks: deque[_Task] = deque()
        self._urgent: list[_Task] = []  # a heap
        self._numbers = count()
        self._turns, self._pressed = cycle(_TURNS), 0
        self._others_turn = False  # whether others have their turn although a deadline is near
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="amn-inference", daemon=True)
        self._thread.start()

    def answer(self, qa: QA, request: Request, sentences: int) -> "asyncio.Future[list[Answer]]":
        """The answers to a request about so many sentences, which may be answered together with others.

        Raises:
            BusyError: where the queue is full.
        """
        job = _BatchItem(qa, request, sentences)
        self._put(self._items.append, job)
        return asyncio.wrap_future(job.future)

    def run(self, function: Callable[[], T], ends: float | None = None, admitted: bool = False) -> "asyncio.Future[T]":
        """The result of a short function that runs in the thread of the model.

        Args:
            function: what to run.
            ends: the deadline that it serves, by the monotonic clock.
            admitted: whether it belongs to a request that was taken already, and so is not refused.

        Raises:
            BusyError: where the queue is full.
        """
        return self.run_steps(_single_step(function), ends, admitted)

    def run_steps(self, steps: Steps[T], ends: float | None = None, admitted: bool = False) -> "asyncio.Future[T]":
        """The result of steps that run in the thread of the model; otherwise like `run`."""
        job = _Task(inf if ends is None else ends, next(self._numbers), steps)
        self._put(self._add_task, job, admitted)
        return asyncio.wrap_future(job.future)

    def _add_task(self, job: _Task) -> None:
        if job.ends < inf:
            heapq.heappush(self._urgent, job)
        else:
            self._tasks.append(job)

    def slice_timer(self, ends: float = inf) -> Callable[[], bool]:
        """A function that tells whether the slice that starts now is over: after its time, or for a nearer deadline."""
        started = time.monotonic()
        least = SLICE_SECONDS if self._others_turn else _LEAST_SECONDS

        def over() -> bool:
            now = time.monotonic()
            return now - started >= SLICE_SECONDS or (now - started >= least and self._is_pressed(now, ends))

        return over

    def _is_pressed(self, now: float, ends: float = inf) -> bool:
        """Whether a task waits whose deadline is near, and before `ends`."""
        return bool(self._urgent) and self._urgent[0].ends < min(ends, now + _PRESSING_SECONDS)

    @property
    def shared(self) -> bool:
        """Whether work without a deadline waits for its turn."""
        return bool(self._tasks or self._items)

    def check_room(self) -> None:
        """Refuses a request for which the queue has no room.

        Raises:
            BusyError: where the queue is full.
        """
        if self._closed or len(self._items) + len(self._tasks) + len(self._urgent) >= self._limits.waiting:
            raise BusyError

    def _put(self, add: Callable[[T], None], job: T, admitted: bool = False) -> None:
        with self._changed:
            if self._closed or not admitted:
                self.check_room()
            add(job)
            self._changed.notify()

    def close(self) -> None:
        """Finishes what was taken, refuses anything more, and ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job()

    def _next(self) -> Callable[[], None] | None:
        """What to do next; None where the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._tasks or self._urgent or self._closed)
            for turn in self._order():
                if turn == "urgent" and self._urgent:
                    return partial(self._run_slice, heapq.heappop(self._urgent))
                if turn == "task" and self._tasks:
                    return partial(self._run_slice, self._tasks.popleft())
                if turn == "batch" and self._items:
                    return partial(self._answer, self._next_batch())
        return None

    def _order(self) -> Iterable[str]:
        """Whose turn it is: in rotation, except that near deadlines come first, though not too many in a row."""
        self._others_turn = False
        if not self._is_pressed(time.monotonic()):
            return islice(self._turns, len(_TURNS))
        self._pressed = (self._pressed + 1) % (_MOST_PRESSING + 1)
        self._others_turn = not self._pressed
        return ("task", "batch", "urgent") if self._others_turn else ("urgent",)

    def _run_slice(self, task: _Task) -> None:
        if task.run_slice(self.slice_timer(task.ends)):
            with self._changed:
                self._add_task(task)

    def _next_batch(self) -> list[_BatchItem]:
        """The requests that wait for the same model, up to what fits in one pass."""
        batch = [self._items.popleft()]
        longest = batch[0].sentences
        while self._items and self._items[0].qa is batch[0].qa and len(batch) < self._limits.batch:
            longest = max(longest, self._items[0].sentences)
            if longest * (len(batch) + 1) > self._limits.batch_sentences:
                break
            batch.append(self._items.popleft())
        self._observe(len(batch))
        return batch

    def _answer(self, batch: list[_BatchItem]) -> None:
        try:
            results: list[Any] = batch[0].qa.answer_batch([job.request for job in batch])
        except Exception as error:
            if len(batch) > 1:  # one bad request must not spoil the others: each is answered alone
                for job in batch:
                    self._answer([job])
                return
            results = [error]
        for job, result in zip(batch, results, strict=True):
            _settle(job.future, result)


def _single_step(function: Callable[[], T]) -> Steps[T]:
    """A function as a single step."""
    return function()
    yield


def _settle(future: "Future[Any]", result: Any) -> None:
    """Sets the result of a future, or its error; the client may have gone in the meantime."""
    if not future.set_running_or_notify_cancel():
        return
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
