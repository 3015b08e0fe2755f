"""What many runs together show: ladders of ablations, scaling, rivals beside their papers, and how often runs fail."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean

from amn.evaluation.metrics import PASS_PERCENT
from amn.report import paper_tables as paper
from amn.report.runs import RunRecord, Summaries, Summary, TaskName, run_order, span
from amn.report.tables import (
    NOT_GIVEN,
    STRICT_PERCENT,
    Column,
    ColumnGroup,
    Table,
    Value,
    make_table,
    marked,
    shown,
    title_of,
)

WITHOUT = {
    "amn": "default",
    "amn-without-question": "entities do not start from the question",
    "amn-without-joining": "edges between neighbouring words only",
    "amn-without-attention": "sums over powers of A, no attention",
    "amn-without-norm": "no RMS norm",
    "amn-without-neighbours": "no recent neighbours",
    "amn-without-members": "a sentence changes all entities",
    "amn-without-gradient": "moves by strength, without gradient",
    "amn-without-budget": "no budget on entities read",
    "amn-without-delay": "budget from the first step",
    "amn-without-load": "creation prior counts sentences",
    "amn-without-last-bank": "training reads all banks",
}
AS_WRITTEN = "amn-paper"
WITH = {
    AS_WRITTEN: "the equations as written",
    "amn-paper-with-question": "+ entities start from the question",
    "amn-paper-with-joining": "+ edges join all words of a sentence",
    "amn-paper-with-attention": "+ attention instead of sums over powers of A",
    "amn-paper-with-budget": "+ training reads the last bank, strengths are paid for",
    "amn-without-gradient": "the default model with the paper's moves, by strength",
    "amn": "the default model: moves by a learned relevance",
}
FILLED = {"amn": "default", "amn-filled-bank": "reads the deepest bank that holds anything"}
AXES = {"train_questions": "training questions", "hidden": "hidden units"}  # what is varied, by the name of the setting
_FEWEST_PLACES = 3  # values of it that make a curve
_FREE = {"epochs", "evaluate_every", "patience"}  # may differ along a curve: few questions take more passes
RIVALS = ("entnet", "memn2n", "dmn-plus", "dmn-plus-one-gru", "ggtnn", "encdec")
_PUBLISHED_AS = {"dmn-plus-one-gru": "dmn-plus"}  # variants of a rival, which have no column of their own
NEAR = 2.0  # points above what was published that are still as good
FEWEST_SEEDS = 10  # of a task; fewer do not show how often runs fail


@dataclass(frozen=True)
class Rung:
    """One model of a ladder."""

    title: str
    tasks: Mapping[TaskName, Summary]  # those of which it has a validated run

    def finished(self, task: TaskName) -> bool:
        """Whether it has runs of a task, all of them finished."""
        return task in self.tasks and not self.tasks[task].unfinished

    def figure(self, name: str, tasks: Iterable[TaskName], of_seeds: Callable[[list[float]], float] = mean) -> float:
        """A figure of the seeds of each task, and the mean of it over tasks."""
        return mean(of_seeds(self.tasks[task].figures(name)) for task in tasks)


@dataclass(frozen=True)
class Ladder:
    """Models that differ by one change each, or from a first one."""

    key: str
    title: str
    rungs: tuple[Rung, ...]

    @property
    def tasks(self) -> list[TaskName]:
        """The tasks of the first model that another has, too, so that they can be compared."""
        first, *others = self.rungs
        compared = [task for task in first.tasks if any(task in rung.tasks for rung in others)]
        return sorted(compared, key=lambda task: (isinstance(task, str), task))

    @property
    def shared(self) -> list[TaskName]:
        """The tasks that all models have finished, over which means are taken."""
        return [task for task in self.tasks if all(rung.finished(task) for rung in self.rungs)]

    def table(self) -> Table:
        """A line for each model."""
        names = ("mean error %", "best seeds, error %", "tasks over 5 %", "ratio") if self.shared else ()
        columns = [Column(f"{len(self.shared)} tasks", name) for name in names]
        columns += [Column("", "seeds"), *(Column("mean error % of a task", str(task)) for task in self.tasks)]
        runs = (run for rung in self.rungs for summary in self._shown(rung) for run in summary.judged)
        epochs = span(run.spec.train.epochs for run in runs)
        means = (
            f"Means are over the {len(self.shared)} tasks that all have finished; ratio: entities read over entities; "
        )
        note = (
            "Validation error of each run's best epoch, mean over seeds, answers from the last bank; all have the same "
            f"training ({epochs} epochs). {means if self.shared else ''}*: some of these runs are not finished, and "
            "the figure is how far they got."
        )
        return Table(self.key, self.title, note, tuple(columns), tuple(map(self._row, self.rungs)))

    def _row(self, rung: Rung) -> tuple[str, tuple[str, ...]]:
        shared, error = self.shared, partial(rung.figure, "error_percent")
        seeds = span(len(summary.judged) for summary in self._shown(rung))
        cells = tuple(marked(rung.tasks[task]) if task in rung.tasks else NOT_GIVEN for task in self.tasks)
        if not shared:
            return rung.title, (seeds, *cells)
        failed = sum(error([task]) > PASS_PERCENT for task in shared)
        sums = shown(error(shared)), shown(error(shared, min)), str(failed), shown(rung.figure("ratio", shared), 3)
        return rung.title, (*sums, seeds, *cells)

    def _shown(self, rung: Rung) -> list[Summary]:
        return [rung.tasks[task] for task in self.tasks if task in rung.tasks]


def ladders(found: Summaries) -> list[Ladder]:
    """The ladders of which the first model and another were trained on the same task."""
    made = (
        _ladder("ladder-without", "Without one deviation each", WITHOUT, found),
        _ladder("ladder-with", "From the paper, one change after another", WITH, found),
        _ladder("filled-bank", "Without empty banks", FILLED, found),
    )
    return [ladder for ladder in made if ladder.tasks]


def _ladder(key: str, title: str, titles: Mapping[str, str], found: Summaries) -> Ladder:
    first, *others = (_rung(title, found.get(model, {})) for model, title in titles.items())
    comparable = [rung for rung in others if rung.tasks.keys() & first.tasks.keys()]
    return Ladder(key, title, (first, *comparable))


def _rung(title: str, tasks: Mapping[TaskName, Summary]) -> Rung:
    return Rung(title, {task: summary for task, summary in tasks.items() if summary.judged})


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
        rows = {key: [_spread_cell(curve.get(place)) for place in places] for key, curve in self.curves.items()}
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
        if len(curve) >= _FEWEST_PLACES
    }


def _spread_cell(summary: Summary | None) -> str:
    if summary is None:
        return NOT_GIVEN
    errors = summary.figures("error_percent")
    return f"{marked(summary)} ({min(errors):.1f}-{max(errors):.1f})"


def rivals_table(found: Summaries, apart: Collection[str] = ()) -> Table:
    """The errors of every rival under those of its paper.

    Args:
        found: all models.
        apart: models to leave out, since they were trained for another question.
    """
    rows: dict[str, list[Value]] = {}
    for model in (model for model in found if model not in apart):
        tasks = {task: one for task, one in found[model].items() if isinstance(task, int) and one.judged}
        rival = next((one.judged[0].spec.architecture for one in tasks.values()), "")
        if rival in RIVALS:
            rows |= _rival_rows(title_of(model), tasks, paper.ERRORS.get(_PUBLISHED_AS.get(rival, rival), {}))
    columns = {"mean": 2, "seeds": None, "short on": None} | {str(task): 1 for task in paper.TASKS}
    note = (
        "Error in percent: published is Table 1 of the AMN paper (best of ten runs, on test questions); ours are the "
        "validation errors of the best seed and of all seeds, with means over the tasks that we have. Short on: tasks "
        f"where our best seed is more than {NEAR:g} points above; *: some runs are not finished, and count so far."
    )
    part = ColumnGroup("", columns, rows, NOT_GIVEN)
    return make_table("rivals", "Rivals beside what was published", note, [part], {name: name for name in rows})


def _rival_rows(title: str, tasks: Mapping[int, Summary], published: Mapping[int, float]) -> dict[str, list[Value]]:
    best = {task: min(summary.figures("error_percent")) for task, summary in tasks.items()}
    means = {task: mean(summary.figures("error_percent")) for task, summary in tasks.items()}
    seeds = span(len(summary.judged) for summary in tasks.values())
    rows: dict[str, list[Value]] = {
        f"{title}, best": [mean(best.values()), seeds, "", *_by_task({t: marked(s, min) for t, s in tasks.items()})],
        f"{title}, mean": [mean(means.values()), seeds, "", *_by_task({t: marked(s) for t, s in tasks.items()})],
    }
    printed = {task: published[task] for task in tasks if task in published}
    if not printed:
        return rows
    above = {task: best[task] - error for task, error in printed.items()}
    short = ", ".join(str(task) for task, points in above.items() if points > NEAR) or "none"
    first: dict[str, list[Value]] = {f"{title}, published": [mean(printed.values()), "", "", *_by_task(published)]}
    difference = {task: f"{points:+.1f}" for task, points in above.items()}
    return first | rows | {f"{title}, best - published": [mean(above.values()), "", short, *_by_task(difference)]}


def regime_table(found: Summaries) -> Table:
    """Profile `paper` trained as the paper trained it, labelled so, under what the paper reports."""
    rows: dict[str, list[Value]] = {}
    for model in found:
        tasks = {task: one for task, one in found[model].items() if isinstance(task, int) and one.judged}
        spec = next((one.judged[0].spec for one in tasks.values()), None)
        if spec is not None and spec.architecture == AS_WRITTEN and spec.label:
            title, errors = title_of(model), _rival_rows(title_of(model), tasks, paper.ERRORS["amn"])
            printed = {task: paper.BANKS[task] for task in tasks if task in paper.BANKS}
            read = {task: mean(one.figures("ratio")) for task, one in tasks.items()}
            made = {task: mean(one.figures("banks")) for task, one in tasks.items()}
            rows |= errors | {
                f"{title}, ratio published": _figures({task: banks.ratio for task, banks in printed.items()}, 2),
                f"{title}, ratio": _figures(read, 2),
                f"{title}, banks published": _figures({task: banks.created for task, banks in printed.items()}, 0),
                f"{title}, banks": _figures(made, 1),
            }
    columns = {"mean": 2, "seeds": None, "short on": None} | {str(task): 1 for task in paper.TASKS}
    note = (
        "Error in percent, as in the table of rivals; ratio: entities read over entities, and banks: those created, "
        "both means over our seeds, answers read from the last bank."
    )
    part = ColumnGroup("", columns, rows, NOT_GIVEN)
    return make_table("regime", "The equations as written, trained for longer", note, [part], {k: k for k in rows})


def _figures(by_task: Mapping[int, float], digits: int) -> list[Value]:
    """A row of figures: their mean, and one for each task."""
    found = {task: shown(value, digits) for task, value in by_task.items()}
    return [mean(by_task.values()) if by_task else None, "", "", *_by_task(found)]


def _by_task(by_task: Mapping[int, Value]) -> list[Value]:
    return [by_task.get(task) for task in paper.TASKS]


def stability_table(found: Summaries) -> Table:
    """The share of runs that end over 1 %, for every model with many seeds."""
    many = {
        model: {task: summary for task, summary in tasks.items() if len(summary.finished) >= FEWEST_SEEDS}
        for model, tasks in found.items()
        if not model.startswith((*RIVALS, AS_WRITTEN))  # the seeds of these are in tables of their own
    }
    rows = {model: _stability_row(tasks) for model, tasks in many.items() if tasks}
    columns = {"tasks": 0, "runs": 0, "unfinished": 0, "over 1 %": 0, "share, %": 1, "over 5 %": 0, "which": None}
    said = (
        f"Of {row[1]} runs of {title_of(model)} {row[3]} end over 1 % ({row[4]:.1f} %)." for model, row in rows.items()
    )
    note = " ".join(said) + (
        f" Tasks with at least {FEWEST_SEEDS} finished seeds, validation error of each run's best epoch; which: tasks "
        "and, in brackets, their seeds that end over 1 %."
    )
    names = {model: title_of(model) for model in rows}
    return make_table("stability", "How many runs fail", note, [ColumnGroup("", columns, rows)], names)


def _stability_row(tasks: Mapping[TaskName, Summary]) -> list[Value]:
    runs = [run for summary in tasks.values() for run in summary.finished]
    unfinished = sum(len(summary.unfinished) for summary in tasks.values())
    errors = [run.figure("error_percent") for run in runs]
    failed: dict[TaskName, list[str]] = {}
    for run in runs:
        if run.figure("error_percent") > STRICT_PERCENT:
            failed.setdefault(run.spec.task, []).append(str(run.spec.seed))
    over = sum(map(len, failed.values()))
    which = ", ".join(f"{task} ({', '.join(seeds)})" for task, seeds in failed.items()) or "none"
    lost = sum(error > PASS_PERCENT for error in errors)
    return [len(tasks), len(runs), unfinished, over, 100 * over / len(runs), lost, which]
