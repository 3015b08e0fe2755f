"""Many runs: tasks x models x seeds, grouped into fleets, resumable at any moment."""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from amn.errors import ConfigError
from amn.training.config import RunSpec
from amn.training.loop import Progress, Run, Trainer, make_runs
from amn.training.prepare import JOINT
from amn.training.run_directory import RunDirectory

LEDGER = "ledger.jsonl"
_LENGTH_CLASSES = (3, 12)  # mean sentences of a story: short tasks are not padded to the length of long ones


def parse_numbers(text: str) -> list[int]:
    """Numbers and ranges: "1-3,7" is 1, 2, 3, 7."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        try:
            numbers += range(int(first), int(last or first) + 1)
        except ValueError:
            raise ConfigError(f"expected numbers and ranges such as 1-3,7, found {text!r}") from None
    return numbers


def parse_tasks(text: str) -> list[int | str]:
    """Task numbers and ranges, and names of extended sets."""
    tasks: list[int | str] = []
    for part in text.split(","):
        name = part.strip()
        tasks += [name] if name in (JOINT, "scaled", "multi") else parse_numbers(name)
    wrong = [task for task in tasks if isinstance(task, int) and not 1 <= task <= 20]
    if wrong:
        raise ConfigError(f"tasks are 1 to 20, scaled, multi and joint; found {wrong[0]}")
    return tasks


class Ledger:
    """What a sweep has done, a line an event."""

    def __init__(self, out: Path) -> None:
        self.path = out / LEDGER

    def note(self, event: str, runs: Sequence[str], **facts: Any) -> None:
        """Adds an event."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "time": round(time.time(), 1), "runs": list(runs), **facts}) + "\n")


def unfinished(specs: Sequence[RunSpec], out: Path) -> list[RunSpec]:
    """The runs that have no result yet."""
    return [spec for spec in specs if not RunDirectory(out / spec.name).finished]


def group(runs: Sequence[Run]) -> list[list[Run]]:
    """Divides runs into fleets: one architecture, one shape, stories of like length."""
    fleets: dict[str, list[Run]] = {}
    for run in runs:
        spec = run.spec
        mean = float(run.data.training.lengths.float().mean())
        length = sum(mean > limit for limit in _LENGTH_CLASSES)
        train = spec.train
        key = (spec.architecture, spec.settings, train.batch_size, train.evaluate_every, train.together, length)
        fleets.setdefault(json.dumps(key, sort_keys=True), []).append(run)
    return list(fleets.values())


def fleet_name(specs: Sequence[RunSpec]) -> str:
    """A name for the checkpoint of these runs together."""
    names = "\n".join(sorted(spec.name for spec in specs))
    return hashlib.sha256(names.encode()).hexdigest()[:16]


def train_fleets(
    specs: Sequence[RunSpec],
    out: Path,
    device: torch.device,
    progress: Progress,
    *,
    workers: int = 1,
    stop_after: float | None = None,
    compiled: bool = False,
) -> None:
    """Trains every unfinished run on one device, fleet by fleet."""
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out)
    remaining = unfinished(specs, out)
    if not remaining:
        return
    started = time.monotonic()
    for fleet in group(make_runs(remaining, out, resume=True, workers=workers)):
        names = [run.spec.name for run in fleet]
        left = None if stop_after is None else stop_after - (time.monotonic() - started)
        if left is not None and left <= 0:
            return
        ledger.note("started", names)
        trainer = Trainer(fleet, _checkpoint(out, fleet), device, progress, compiled=compiled)
        if trainer.resume():
            ledger.note("resumed", names, epoch=trainer.epoch)
        trainer.fit(left)
        ledger.note("finished" if all(run.directory.finished for run in fleet) else "paused", names)


def _checkpoint(out: Path, fleet: Sequence[Run]) -> Path:
    """The fleet's checkpoint: that of an earlier fleet which held all of these runs, or a new one."""
    folder = out / "fleets"
    folder.mkdir(exist_ok=True)
    wanted = {run.spec.name for run in fleet}
    for known in sorted(folder.glob("*.json")):
        if wanted <= set(json.loads(known.read_text())) and known.with_suffix(".safetensors").exists():
            return known.with_suffix(".safetensors")
    path = folder / fleet_name([run.spec for run in fleet])
    path.with_suffix(".json").write_text(json.dumps(sorted(wanted)))
    return path.with_suffix(".safetensors")
