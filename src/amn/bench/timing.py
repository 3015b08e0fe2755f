"""What all benchmarks share: timing, and a description of the machine. Compare ratios of times within one run."""

import gc
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from statistics import median, quantiles
from time import perf_counter
from typing import Any, TypeVar

import torch

from amn.core import boundary
from amn.inference.device import processor

REPEATS, WARM_UP = 9, 2
_DIGITS = 4  # significant ones
_Name = TypeVar("_Name", str, int)


@dataclass(frozen=True, slots=True)
class Timing:
    """How long something took."""

    seconds: float  # the median of its repeats
    spread: float  # how far apart the quarters of its repeats lie, as a share of the median

    @classmethod
    def of(cls, times: list[float]) -> "Timing":
        """The timing of some repeats."""
        middle = median(times)
        low, _, high = quantiles(times, n=4) if len(times) > 1 else (middle,) * 3
        return cls(middle, (high - low) / middle if middle else 0.0)


def measure(
    runs: Mapping[_Name, Callable[[], object]], *, repeats: int = REPEATS, device: torch.device | str = "cpu"
) -> dict[_Name, Timing]:
    """Times each run, in turns, so that whatever else the machine does meets all of them alike."""
    for run in runs.values():
        for _ in range(WARM_UP):
            run()
    times: dict[_Name, list[float]] = {name: [] for name in runs}
    gc.collect()
    for _ in range(repeats):
        for name, run in runs.items():
            times[name].append(seconds_of(run, device))
    return {name: Timing.of(taken) for name, taken in times.items()}


def seconds_of(run: Callable[[], object], device: torch.device | str = "cpu") -> float:
    """The seconds of one run, with all that it started on a GPU."""
    wait(device)
    started = perf_counter()
    run()
    wait(device)
    return perf_counter() - started


def wait(device: torch.device | str) -> None:
    """Waits for what a GPU still does."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def report(bench: str, rows: list[dict[str, Any]], device: torch.device | str = "cpu") -> dict[str, Any]:
    """The one document of a benchmark."""
    return {"bench": bench, "machine": machine(device), "rows": [_rounded(row) for row in rows]}


def machine(device: torch.device | str = "cpu") -> str:
    """What it ran on, and with which versions."""
    named = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "onnxruntime") if find_spec(name))
    facts = [processor(), f"{os.cpu_count()} processors", f"{torch.get_num_threads()} torch threads"]
    if torch.device(device).type == "cuda":
        facts.insert(0, torch.cuda.get_device_name(device))
    facts.append("with the compiled core" if boundary.library() else "without a compiled core")
    return ", ".join([*facts, f"python {platform.python_version()}", named])


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {name: float(f"{v:.{_DIGITS}g}") if isinstance(v, float) else v for name, v in row.items()}
