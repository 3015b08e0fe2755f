"""Many runs: tasks x models x seeds, grouped into fleets, resumable at any moment."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from math import inf
from pathlib import Path
from typing import Any, Literal

from amn.config import RunSpec, TrainConfig, split_settings
from amn.data.boards import tasks_of
from amn.errors import ConfigError
from amn.inference.device import choose_device
from amn.models import model_class
from amn.store.atomic import writing
from amn.store.run_directory import RunDirectory
from amn.training.checkpoint import forget_finished, known_states, open_folder, state_for, state_of_some
from amn.training.loop import CHECKPOINT_SECONDS, Diverged, OnEpoch, Run, Trainer, make_runs
from amn.training.prepare import EVERYTHING, JOINT, MIXED
from amn.training.stopping import StopRequest
from amn.training.warm_start import settings_of

LEDGER = "ledger.jsonl"
QUICK_TASKS = frozenset({1, 6, 9, 10, 12, 15, 20})  # learned in a few epochs, as measured on generated stories
QUICK_EPOCHS = 8
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
    if not numbers:
        raise ConfigError(f"expected numbers and ranges such as 1-3,7, found {text!r}, which holds none")
    return list(dict.fromkeys(numbers))


def parse_tasks(text: str) -> list[int | str]:
    """Task numbers and ranges, and names of extended sets."""
    from amn.data.tasks import PRESETS  # late: released files need no generator

    tasks: list[int | str] = []
    for part in text.split(","):
        name = part.strip()
        named = [name] if name in (JOINT, MIXED, EVERYTHING, *PRESETS) else tasks_of(name)
        tasks += named or parse_numbers(name)
    wrong = [task for task in tasks if isinstance(task, int) and not 1 <= task <= 20]
    if wrong:
        raise ConfigError(f"tasks are 1 to 20, {', '.join(PRESETS)}, mixed, joint, all and boards; found {wrong[0]}")
    return list(dict.fromkeys(tasks))


def parse_task(text: str) -> int | str:
    """A single task, as `parse_tasks` takes it."""
    tasks = parse_tasks(text)
    if len(tasks) != 1:
        raise ConfigError(f"expected one task, found {text!r}; amn sweep trains several")
    return tasks[0]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What to train."""

    tasks: Sequence[int | str]  # of the runs
    models: Sequence[str] = ("amn",)  # their architectures
    seeds: Sequence[int] = (0,)  # of each task and model
    data: str | None = None  # folder or file of stories; None to generate them
    # Of models and training alike, by name; they come before the recipe of a model, and before the settings of the
    # model to start from.
    settings: dict[str, Any] = field(default_factory=dict)
    label: str = ""  # part of the runs' names

    def specs(self) -> list[RunSpec]:
        """Every run, by model, then by task, then by seed."""
        return [spec for model in self.models for spec in self._of(model)]

    def _of(self, model: str) -> list[RunSpec]:
        kind = model_class(model)
        of_model, of_training = split_settings(self.settings, {f.name for f in fields(kind.Config)})
        recipe = TrainConfig(**{**kind.recipe, **of_training})
        if recipe.start is not None:
            of_model = {**settings_of(recipe.start), **of_model}
        return [
            RunSpec(
                task=task,
                architecture=model,
                seed=seed,
                data=self.data,
                settings=of_model,
                train=recipe,
                label=self.label,
            )
            for task in self.tasks
            for seed in self.seeds
        ]


def quick(spec: RunSpec) -> RunSpec:
    """The run with few epochs, where its task needs few and its model has no recipe."""
    has_recipe = "epochs" in model_class(spec.architecture).recipe
    if spec.task not in QUICK_TASKS or has_recipe:
        return spec
    return replace(spec, train=replace(spec.train, epochs=QUICK_EPOCHS))


@dataclass(frozen=True)
class SweepEvent:
    """Something that happened to the runs of a fleet."""

    event: Literal["started", "resumed", "checkpoint", "paused", "finished"]
    runs: tuple[str, ...]
    epoch: int


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a sweep is carried out."""

    engine: Literal["fleet", "process", "ray"] = "fleet"  # like models together here, or the runs among workers
    device: str = "auto"  # cpu, cuda, or auto
    workers: int | None = None  # processes that prepare data (fleet) or train; None for a good number
    threads: int = 1  # of torch in each process
    fleet_size: int | None = None  # runs that a worker of process or ray trains together; None for a good number
    stop_after: float | None = None  # save and stop after so many seconds
    checkpoint_every: float = CHECKPOINT_SECONDS  # seconds
    compiled: bool = False  # compile the step
    address: str | None = None  # of the Ray cluster; None for the one in RAY_ADDRESS, or else a local one

    def __post_init__(self) -> None:
        for name in ("workers", "threads", "fleet_size", "stop_after", "checkpoint_every"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigError(f"--{name.replace('_', '-')} must be above 0, not {value}")
        if self.address is not None and self.engine != "ray":
            raise ConfigError("--address is for --engine ray")


def note_event(out: Path, event: str, runs: Sequence[str], **facts: Any) -> None:
    """Adds a line to the ledger of a sweep."""
    path, line = out / LEDGER, {"event": event, "time": round(time.time(), 1), "runs": list(runs), **facts}
    with writing(path), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def unfinished(specs: Sequence[RunSpec], out: Path) -> list[RunSpec]:
    """The runs that have no result yet."""
    return [spec for spec in specs if not RunDirectory(out / spec.name).finished]


def group(runs: Sequence[Run]) -> list[list[Run]]:
    """Divides runs into fleets: one architecture, one shape, stories of like length."""
    fleets: dict[str, list[Run]] = {}
    for run in runs:
        spec, train = run.spec, run.spec.train
        length = sum(float(run.data.training.lengths.float().mean()) > limit for limit in _LENGTH_CLASSES)
        numbers = (train.batch_size, train.evaluate_every, train.together, train.precision, length)
        renewed = (spec.task, train.renew, train.mixed_seed) if train.renew else ()
        key = (spec.architecture, spec.settings, *numbers, *renewed)
        fleets.setdefault(json.dumps(key, sort_keys=True), []).append(run)
    return list(fleets.values())


def fleets_of(runs: Sequence[Run], out: Path) -> list[tuple[list[Run], Path]]:
    """Divides runs into fleets with their checkpoints: runs that were stopped together go on together."""
    left = {run.spec.name: run for run in runs}
    found = []
    for state in known_states(out, list(left)):
        members = [left.pop(name) for name in state.names if name in left]
        if members:
            found.append((members, state_of_some(out, state, _names(members))))
    return found + [(fleet, state_for(out, _names(fleet))) for fleet in group(list(left.values()))]


def _names(runs: Sequence[Run]) -> list[str]:
    return [run.spec.name for run in runs]


def train_steps(
    specs: Sequence[RunSpec], out: Path, options: Options, progress: OnEpoch, moved: Mapping[str, str] | None = None
) -> Iterator[SweepEvent]:
    """Trains every unfinished run, fleet by fleet, and yields what happens; training stops with the iteration.

    A worker of an engine saves all with every checkpoint, so that others may look or take a copy. Data may have moved:
    `moved` says where it lies on this machine, by its name in the runs.
    """
    device, in_fleets = choose_device(options.device, options.threads), options.engine == "fleet"
    stop, turn = StopRequest(options.stop_after), inf if in_fleets else options.checkpoint_every
    workers = (options.workers or 1) if in_fleets else 1
    remaining, diverged = unfinished(specs, out), list[str]()
    if not remaining:
        return
    for fleet, state in fleets_of(make_runs(remaining, out, resume=True, workers=workers, moved=moved), out):
        if stop.due:
            return
        every = options.checkpoint_every
        trainer = Trainer(
            fleet, state, device, progress, compiled=options.compiled, checkpoint_every=every, workers=workers
        )
        try:
            yield from _fit(trainer, tuple(_names(fleet)), stop, turn)
        except Diverged as error:
            diverged += error.names
    if diverged:
        raise Diverged(diverged)


def _fit(trainer: Trainer, names: tuple[str, ...], stop: StopRequest, turn: float) -> Iterator[SweepEvent]:
    """Trains one fleet to its end, or until the time is up; what it has is saved after every turn."""
    yield SweepEvent("started", names, 0)
    if trainer.resume():
        yield SweepEvent("resumed", names, trainer.epoch)
    while not trainer.fit(min(turn, stop.seconds_left)):
        if stop.due:
            yield SweepEvent("paused", names, trainer.epoch)
            return
        yield SweepEvent("checkpoint", names, trainer.epoch)
    yield SweepEvent("finished", names, trainer.epoch)


def train_fleets(specs: Sequence[RunSpec], out: Path, options: Options, progress: OnEpoch) -> None:
    """Trains every unfinished run on one device, fleet by fleet."""
    open_folder(out)
    for event in train_steps(specs, out, options, progress):
        note_event(out, **asdict(event))
    forget_finished(out, [spec.name for spec in specs])
