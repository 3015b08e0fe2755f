"""Our rivals beside what was published of them."""

from collections.abc import Collection, Mapping
from statistics import mean

from amn.report import paper_tables as paper
from amn.report.runs import Summaries, Summary, span
from amn.report.tables import NOT_GIVEN, ColumnGroup, Table, Value, make_table, marked, title_of

RIVALS = ("entnet", "memn2n", "dmn-plus", "ggtnn", "encdec")
NEAR = 2.0  # points above what was published that are still as good


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
            rows |= _rows(title_of(model), tasks, paper.ERRORS.get(rival, {}))
    columns = {"mean": 2, "seeds": None, "short on": None} | {str(task): 1 for task in paper.TASKS}
    note = (
        "Error in percent: published is Table 1 of the AMN paper (best of ten runs, on test questions); ours are the "
        "validation errors of the best seed and of all seeds, with means over the tasks that we have. Short on: tasks "
        f"where our best seed is more than {NEAR:g} points above; *: some runs are not finished, and count so far."
    )
    part = ColumnGroup("", columns, rows, NOT_GIVEN)
    return make_table("rivals", "Rivals beside what was published", note, [part], {name: name for name in rows})


def _rows(title: str, tasks: Mapping[int, Summary], published: Mapping[int, float]) -> dict[str, list[Value]]:
    best = {task: min(summary.figures("error_percent")) for task, summary in tasks.items()}
    means = {task: mean(summary.figures("error_percent")) for task, summary in tasks.items()}
    seeds = span(len(summary.judged) for summary in tasks.values())
    rows: dict[str, list[Value]] = {
        f"{title}, best": [mean(best.values()), seeds, "", *_cells({t: marked(s, min) for t, s in tasks.items()})],
        f"{title}, mean": [mean(means.values()), seeds, "", *_cells({t: marked(s) for t, s in tasks.items()})],
    }
    printed = {task: published[task] for task in tasks if task in published}
    if not printed:
        return rows
    above = {task: best[task] - error for task, error in printed.items()}
    short = ", ".join(str(task) for task, points in above.items() if points > NEAR) or "none"
    first: dict[str, list[Value]] = {f"{title}, published": [mean(printed.values()), "", "", *_cells(published)]}
    difference = {task: f"{points:+.1f}" for task, points in above.items()}
    return first | rows | {f"{title}, best - published": [mean(above.values()), "", short, *_cells(difference)]}


def _cells(by_task: Mapping[int, Value]) -> list[Value]:
    return [by_task.get(task) for task in paper.TASKS]
