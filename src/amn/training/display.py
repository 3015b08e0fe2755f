"""How training shows where it is: a bar on a terminal, a line an epoch elsewhere; always on standard error."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress


class Lines:
    """A plain line an epoch."""

    def epoch(self, entry: dict[str, Any]) -> None:
        """Says how an epoch of a run ended."""
        done = entry["epoch"] + 1
        left = _duration(entry["seconds"] / done * (entry["epochs"] - done))
        print(f"{entry['run']} {summary(entry)}  {left} left", file=sys.stderr, flush=True)

    def step(self, done: int, total: int) -> None:
        """Says nothing: a line a step would be too much."""


class Bar(Lines):
    """A bar that grows with every step, and the lines of the epochs above it."""

    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task = progress.add_task("training", total=None)
        self._started, self._first = time.monotonic(), 0

    def epoch(self, entry: dict[str, Any]) -> None:
        """Says how an epoch of a run ended."""
        self._progress.print(summary(entry), highlight=False, markup=False)

    def step(self, done: int, total: int) -> None:
        """Moves the bar; the time left is told by the steps since the start, for a run that goes on has others too."""
        self._first = self._first or done
        pace = (time.monotonic() - self._started) / (done - self._first + 1)
        self._progress.update(
            self._task, completed=done, total=total, description=f"{_duration(pace * (total - done))} left"
        )


@contextmanager
def training_display() -> Iterator[Lines]:
    """A bar where standard error is a terminal and rich is there, else lines."""
    if not (sys.stderr.isatty() and find_spec("rich")):
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress)


def summary(entry: dict[str, Any]) -> str:
    """An epoch in a line; a star marks the best so far."""
    parts = [f"epoch {entry['epoch'] + 1}/{entry['epochs']}"]
    parts += [f"{name} {value:.3f}" for name, value in entry["loss"].items()]
    if "ratio" in entry:
        parts += [f"error {entry['error_percent']:.2f} %", f"ratio {entry['ratio']:.3f}", f"banks {entry['banks']:.1f}"]
    return "  ".join([*parts, "*" if entry.get("best") else " "])


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
