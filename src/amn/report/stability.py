"""How many runs of a model fail."""

from collections.abc import Mapping

from amn.evaluation.metrics import PASS_PERCENT
from amn.report.rivals import RIVALS
from amn.report.runs import Summaries, Summary, TaskName
from amn.report.tables import STRICT_PERCENT, ColumnGroup, Table, Value, make_table, title_of

FEWEST_SEEDS = 10  # of a task; fewer do not tell how often runs fail


def stability_table(found: Summaries) -> Table:
    """The share of runs that end over 1 %, for every model with many seeds."""
    many = {
        model: {task: summary for task, summary in tasks.items() if len(summary.finished) >= FEWEST_SEEDS}
        for model, tasks in found.items()
        if not model.startswith(RIVALS)  # the seeds of these are in the table of rivals
    }
    rows = {model: _row(tasks) for model, tasks in many.items() if tasks}
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


def _row(tasks: Mapping[TaskName, Summary]) -> list[Value]:
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
