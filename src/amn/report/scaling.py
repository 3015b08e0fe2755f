"""How errors follow the number of training questions and the width of a model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amn.report.runs import RunRecord, Summary, TaskName, run_order
from amn.report.tables import NOT_GIVEN, ColumnGroup, Table, make_table, marked, title_of

AXES = {"train_questions": "training questions", "hidden": "hidden units"}  # what is varied, by the name of the setting
_FEWEST = 3  # values of it that make a curve
_FREE = {"epochs", "evaluate_every", "patience"}  # may differ along a curve: few questions take more passes


@dataclass(frozen=True)
class Scaling:
    """Errors along one axis."""

    axis: str  # the name of the setting
    curves: Mapping[tuple[TaskName, str], Mapping[int, Summary]]  # by task and architecture, at each place on the axis

    @property
    def key(self) -> str:
        """A short name, also of its figure."""
        return f"scaling-{self.axis}"

    @property
    def title(self) -> str:
        """What it shows."""
        return f"Error against {AXES[self.axis]}"

    def table(self) -> Table:
        """A line for each task and model, a column for each place on the axis."""
        places = sorted({place for curve in self.curves.values() for place in curve})
        rows = {key: [_cell(curve.get(place)) for place in places] for key, curve in self.curves.items()}
        note = (
            f"Validation error in percent for each number of {AXES[self.axis]}: the mean over seeds and, in brackets, "
            "the best and the worst seed. The other settings are the same along a line, but for epochs; *: some runs "
            "are not finished."
        )
        part = ColumnGroup(AXES[self.axis], dict.fromkeys(map(str, places)), rows)
        names = {(task, model): f"{title_of(model)}, task {task}" for task, model in rows}
        return make_table(self.key, self.title, note, [part], names)


def scalings(runs: Sequence[RunRecord]) -> list[Scaling]:
    """The axes along which at least three values were tried on some task."""
    return [made for made in (Scaling(axis, _curves(runs, axis)) for axis in AXES) if made.curves]


def _curves(runs: Sequence[RunRecord], axis: str) -> dict[tuple[TaskName, str], dict[int, Summary]]:
    alike: dict[tuple[TaskName, str, str], dict[int, list[RunRecord]]] = {}
    for run in runs:
        place = run.training_questions if axis == "train_questions" else run.settings.get(axis)
        fixed = {name: value for name, value in run.settings.items() if name not in _FREE | {axis}}
        key = run.spec.task, run.spec.architecture, json.dumps(fixed, sort_keys=True)
        if run.reached and place is not None:
            alike.setdefault(key, {}).setdefault(place, []).append(run)
    return {
        (task, model): {place: Summary.of(curve[place]) for place in sorted(curve)}
        for (task, model, _), curve in sorted(
            alike.items(), key=lambda item: run_order(next(iter(item[1].values()))[0])
        )
        if len(curve) >= _FEWEST
    }


def _cell(summary: Summary | None) -> str:
    if summary is None:
        return NOT_GIVEN
    errors = summary.figures("error_percent")
    return f"{marked(summary)} ({min(errors):.1f}-{max(errors):.1f})"
