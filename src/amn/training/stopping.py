"""Stopping between two steps: on Ctrl-C, on SIGTERM, or because the time is up."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from types import FrameType
from typing import Any

_DEFAULTS: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class StopRequest:
    """Whether to stop after the step that is running; after so many seconds in any case."""

    def __init__(self, seconds: float | None = None) -> None:
        self.signalled = False
        self._deadline = inf if seconds is None else time.monotonic() + seconds

    @property
    def due(self) -> bool:
        """Whether it is time to stop."""
        return self.signalled or time.monotonic() > self._deadline

    @property
    def seconds_left(self) -> float:
        """How much time is left; infinite where there is no limit."""
        return max(1e-3, self._deadline - time.monotonic())

    def receive(self, number: int, _frame: FrameType | None) -> None:
        """Notes a signal; a second Ctrl-C stops at once."""
        if self.signalled and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signalled = True


@contextmanager
def stop_requests(seconds: float | None = None) -> Iterator[StopRequest]:
    """Handles the signals that ask to stop, where no other handler is set."""
    request = StopRequest(seconds)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    ours = [number for number, default in _DEFAULTS.items() if signal.getsignal(number) == default]
    for number in ours:
        signal.signal(number, request.receive)
    try:
        yield request
    finally:
        for number in ours:
            signal.signal(number, _DEFAULTS[number])
