"""How each model was trained: its settings, its seeds and time, and the commands that train it again."""

import dataclasses
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from amn.config import RunSpec, TrainConfig
from amn.models import model_class
from amn.report.runs import RunRecord, TaskName, run_order
from amn.report.tables import NOT_GIVEN, ColumnGroup, Table, Value, make_table, task_name, title_of


def command_of(specs: Sequence[RunSpec]) -> str:
    """The line that trains some runs which differ in task and seed alone."""
    first = specs[0]
    tasks = list(dict.fromkeys(spec.task for spec in specs))
    seeds = sorted({spec.seed for spec in specs})
    if len(specs) == 1:
        words = ["amn", "train", "--task", str(tasks[0]), "--model", first.architecture, "--seed", str(seeds[0])]
    else:
        words = ["amn", "sweep", "--tasks", _ranges(tasks), "--models", first.architecture, "--seeds", _ranges(seeds)]
    words += ["--epochs", str(first.train.epochs)]
    for name, value in _chosen(first).items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    words += ["--data", first.data] if first.data else []
    words += ["--label", first.label] if first.label else []
    return shlex.join(words)


def _chosen(spec: RunSpec) -> dict[str, Any]:
    """The settings that are not the recipe's own."""
    usual = dataclasses.asdict(TrainConfig(**model_class(spec.architecture).recipe))
    own = {name: value for name, value in dataclasses.asdict(spec.train).items() if value != usual[name]}
    own.pop("epochs", None)
    return spec.settings | own


def _ranges(numbers: Iterable[TaskName]) -> str:
    """Numbers as `amn sweep` takes them: 1-3,7."""
    parts: list[list[Any]] = []
    for number in numbers:
        if parts and isinstance(number, int) and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def trained_together(runs: Iterable[RunRecord]) -> list[list[RunRecord]]:
    """Runs that one command trains: those that differ in task and seed alone, every task with the same seeds."""
    alike: dict[str, dict[TaskName, list[RunRecord]]] = {}
    for run in sorted(runs, key=run_order):
        spec = run.spec.to_json() | {"task": None, "seed": None}
        key = json.dumps([run.model, spec], sort_keys=True)
        alike.setdefault(key, {}).setdefault(run.spec.task, []).append(run)
    groups: dict[str, list[RunRecord]] = {}
    for key, tasks in alike.items():
        for of_task in tasks.values():
            seeds = [run.spec.seed for run in of_task]
            groups.setdefault(f"{key} {seeds}", []).extend(of_task)
    return list(groups.values())


def commands_table(runs: Sequence[RunRecord]) -> Table:
    """What was trained, how long it took, and the commands that train it again."""
    groups = trained_together(runs)
    rows: dict[int, list[Value]] = {}
    for number, group in enumerate(groups):
        specs = [run.spec for run in group]
        seconds = [run.seconds for run in group if run.seconds is not None]
        stories = sorted({str(run.record["training_data"]) for run in group if "training_data" in run.record})
        rows[number] = [
            _ranges(dict.fromkeys(spec.task for spec in specs)),
            _ranges(sorted({spec.seed for spec in specs})),
            len(group),
            mean(seconds) if seconds else None,
            sum(seconds) if seconds else None,
            ", ".join(stories) or None,
            command_of(specs),
        ]
    columns = {"tasks": 0, "seeds": 0, "runs": 0, "seconds a run": 1, "seconds, all": 0, "training stories": 0}
    parts = [ColumnGroup("", {**columns, "command": None}, rows)]
    note = (
        "Seconds: models of a fleet train together, and each counts its share of that time, on the machine that "
        "trained it. The stories of a task whose training file is not at hand are generated."
    )
    names = {number: title_of(group[0].model) for number, group in enumerate(groups)}
    return make_table("training", "How it was trained, and how to train it again", note, parts, names)


def settings_table(runs: Sequence[RunRecord]) -> Table:
    """The settings of every model, its own and those of its training."""
    models: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        models.setdefault(run.model, []).append(run.settings)
    of_training = {f.name for f in dataclasses.fields(TrainConfig)}
    names = dict.fromkeys(name for all_of in models.values() for one in all_of for name in one)
    rows = {name: [_value(all_of, name) for all_of in models.values()] for name in names}
    note = "Those of the training come first. Several: runs differ, and the commands say in what."
    part = ColumnGroup("", dict.fromkeys(map(title_of, models), 0), rows)
    ordered = sorted(names, key=lambda name: name not in of_training)
    return make_table("settings", "Settings", note, [part], dict(zip(ordered, ordered, strict=True)))


def _value(found: Sequence[Mapping[str, Any]], name: str) -> str:
    values = {json.dumps(one[name]) if name in one else NOT_GIVEN for one in found}
    return values.pop().strip('"') if len(values) == 1 else "several"


def runs_table(model: str, runs: Sequence[RunRecord]) -> Table:
    """Every run of a model."""
    columns = {"error %": 1, "read": 2, "best epoch": 0, "training questions": 0, "seconds": 1, "torch": 0}
    rows: dict[Path, list[Value]] = {}
    names: dict[Path, str] = {}
    for run in sorted((run for run in runs if run.model == model), key=run_order):
        figures = [(run.validation or {}).get(name) for name in ("error_percent", "entities_read", "epoch")]
        figures += [run.record.get("training_questions"), run.seconds, run.record.get("torch")]
        rows[run.directory.path] = figures
        names[run.directory.path] = f"{task_name(run.spec.task)}, seed {run.spec.seed}"
    note = "Epochs count from 0. Seconds are the run's share of its fleet's."
    return make_table(f"runs-{model}", f"Every run: {title_of(model)}", note, [ColumnGroup("", columns, rows)], names)


def run_records(runs: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Every run as data: all of its settings and those that were chosen, its figures, and its command."""
    return [
        run.settings
        | {"name": run.spec.name, "architecture": run.spec.architecture, "label": run.spec.label}
        | {"task": run.spec.task, "seed": run.spec.seed, "settings": _chosen(run.spec)}
        | {"finished": run.validation is not None, "training_questions": run.training_questions}
        | {"seconds": run.seconds, "command": command_of([run.spec]), **run.reached}
        for run in sorted(runs, key=run_order)
    ]
