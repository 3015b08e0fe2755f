"""How errors follow the number of training questions and the width of a model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from amn.report.runs import RunRecord, TaskName, run_order
from amn.report.tables import Column, Table, title_of

AXES = {"train_questions": "training questions", "hidden": "hidden units"}  # what is varied, by the name of the setting
_FEWEST = 3  # values of it that make a curve
_FREE = {"epochs", "evaluate_every", "patience"}  # may differ along a curve: few questions take more passes


@dataclass(frozen=True)
class Scaling:
    """Errors along one axis."""

    axis: str  # the name of the setting
    # By task and architecture, the runs at each place on the axis.
    curves: Mapping[TaskName, Mapping[str, Mapping[int, Sequence[RunRecord]]]]

    @property
    def key(self) -> str:
        """A short name, also of its figure."""
        return f"scaling-{self.axis}"

    @property
    def title(self) -> str:
        """What it shows."""
        return f"Error against {AXES[self.axis]}"

    @property
    def runs(self) -> list[RunRecord]:
        """All runs on its curves."""
        curves = (curve for models in self.curves.values() for curve in models.values())
        return [run for curve in curves for runs in curve.values() for run in runs]

    def table(self) -> Table:
        """A line for each task and model, a column for each place on the axis."""
        curves = {(task, model): curve for task, models in self.curves.items() for model, curve in models.items()}
        places = sorted({place for curve in curves.values() for place in curve})
        rows = [
            (f"{title_of(model)}, task {task}", tuple(_cell(curve.get(place, ())) for place in places))
            for (task, model), curve in curves.items()
        ]
        note = (
            f"Validation error in percent for each number of {AXES[self.axis]}: the mean over seeds and, in brackets, "
            "the best and the worst seed. The other settings are the same along a line, but for epochs; *: some runs "
            "are not finished."
        )
        columns = tuple(Column(AXES[self.axis], str(place)) for place in places)
        return Table(self.key, self.title, note, columns, tuple(rows))


def scalings(runs: Sequence[RunRecord]) -> list[Scaling]:
    """The axes along which at least three values were tried on some task."""
    return [made for made in (Scaling(axis, _curves(runs, axis)) for axis in AXES) if made.curves]


def errors(runs: Sequence[RunRecord]) -> list[float]:
    """The errors of some runs."""
    return [run.figure("error_percent") for run in runs]


def _curves(runs: Sequence[RunRecord], axis: str) -> dict[TaskName, dict[str, dict[int, list[RunRecord]]]]:
    alike: dict[tuple[TaskName, str, str], dict[int, list[RunRecord]]] = {}
    for run in sorted((run for run in runs if run.reached), key=run_order):
        place = run.training_questions if axis == "train_questions" else run.settings.get(axis)
        fixed = {name: value for name, value in run.settings.items() if name not in _FREE | {axis}}
        key = run.spec.task, run.spec.architecture, json.dumps(fixed, sort_keys=True)
        if place is not None:
            alike.setdefault(key, {}).setdefault(place, []).append(run)
    found: dict[TaskName, dict[str, dict[int, list[RunRecord]]]] = {}
    for (task, model, _), curve in alike.items():
        if len(curve) >= _FEWEST:
            found.setdefault(task, {})[model] = dict(sorted(curve.items()))
    return found


def _cell(runs: Sequence[RunRecord]) -> str:
    if not runs:
        return ""
    found = errors(runs)
    star = "*" if any(run.validation is None for run in runs) else ""
    return f"{mean(found):.1f}{star} ({min(found):.1f}-{max(found):.1f})"
