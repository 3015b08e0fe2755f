"""How training shows where it is: on standard error a bar on a terminal or in a notebook, else lines; TensorBoard."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amn.errors import MissingExtraError

if TYPE_CHECKING:
    from rich.progress import Progress


class Lines:
    """A plain line an epoch."""

    def __init__(self) -> None:
        self._started, self._first = time.monotonic(), 0

    def epoch(self, entry: dict[str, Any]) -> None:
        """Shows an epoch of a run."""
        done = entry["epoch"] + 1
        left = _duration(entry["seconds"] / done * (entry["epochs"] - done))
        print(f"{entry['run']} {summary(entry)}  {left} left", file=sys.stderr, flush=True)

    def step(self, done: int, total: int) -> None:
        """Says nothing: a line a step would be too much."""

    def _left(self, done: int, total: int) -> str:
        """The time left by the steps since the start, for a run that goes on has others too."""
        self._first = self._first or done
        pace = (time.monotonic() - self._started) / (done - self._first + 1)
        return f"{_duration(pace * (total - done))} left"


class Bar(Lines):
    """A bar that grows with every step, and the lines of the epochs above it."""

    def __init__(self, progress: "Progress") -> None:
        super().__init__()
        self._progress, self._task = progress, progress.add_task("", total=None)

    def epoch(self, entry: dict[str, Any]) -> None:
        """Shows an epoch of a run."""
        self._progress.print(summary(entry), highlight=False, markup=False)

    def step(self, done: int, total: int) -> None:
        """Moves the bar."""
        said = f"{done}/{total} {self._left(done, total)}"
        self._progress.update(self._task, completed=done, total=total, description=said)


class OneLine(Lines):
    """A bar in one line that is overwritten: in a notebook, a line an epoch would fill the page."""

    WIDTH = 30

    def __init__(self) -> None:
        super().__init__()
        self._bar, self._last, self._drawn = "", "", -1

    def epoch(self, entry: dict[str, Any]) -> None:
        """Says beside the bar how the epoch ended."""
        error = f"  error {entry['error_percent']:.2f} %" if "error_percent" in entry else ""
        self._last = f"epoch {entry['epoch'] + 1}/{entry['epochs']}{error}"
        self._draw()

    def step(self, done: int, total: int) -> None:
        """Redraws the bar once another hundredth is done."""
        if (hundredth := 100 * done // max(total, 1)) == self._drawn:
            return
        self._drawn = hundredth
        full = "█" * (self.WIDTH * done // max(total, 1))
        self._bar = f"{full:░<{self.WIDTH}} {hundredth:3} %  {self._left(done, total)}"
        self._draw()

    def _draw(self) -> None:
        print(f"\r{f'{self._bar}  {self._last}':90}", end="", file=sys.stderr, flush=True)


def tensorboard(folder: Path, told: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """A callback that writes the epochs of a run to a folder as scalars, and then calls another."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError("tensorboard", "--log-to tensorboard") from error
    opened = cache(SummaryWriter)  # when there is something to write: it makes the folder

    def note(entry: dict[str, Any]) -> None:
        figures = {f"loss/{name}": value for name, value in entry["loss"].items()}
        scores = ("error_percent", "entities", "entities_read", "ratio", "banks")
        figures |= {f"validation/{name}": entry[name] for name in scores if name in entry}
        writer = opened(folder)
        for name, value in figures.items():
            writer.add_scalar(name, value, entry["epoch"])
        writer.flush()
        told(entry)

    return note


@contextmanager
def training_display() -> Iterator[Lines]:
    """A bar where standard error is a notebook, or a terminal and rich is there, else lines."""
    if type(sys.stderr).__module__.startswith("ipykernel."):
        yield OneLine()
        print(file=sys.stderr)
        return
    with terminal_bar("training", "{task.description}") as progress:
        yield Lines() if progress is None else Bar(progress)


@contextmanager
def terminal_bar(before: str, after: str) -> Iterator["Progress | None"]:
    """A bar between two texts, which may name fields of its `task`; None without rich or a terminal."""
    if not (sys.stderr.isatty() and find_spec("rich")):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress

    with Progress(before, BarColumn(), after, console=Console(stderr=True), transient=True) as progress:
        yield progress


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
