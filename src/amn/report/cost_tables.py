"""What reading and answering cost, in operations and in time: the paper's complexity table, measured."""

from statistics import mean

from amn.evaluation.cost import COUNTED_STORIES, TIMED_STORIES, Cost
from amn.report import paper_tables as paper
from amn.report.analysis import GROWTH_TASK, Analysis
from amn.report.runs import Summaries
from amn.report.tables import NOT_GIVEN, TASK_ROWS, ColumnGroup, Table, Value, column_groups, make_table, title_of

_OPERATIONS = (
    "Operations are the multiplications and additions of matrix products, in thousands, counted on "
    f"{COUNTED_STORIES} validation stories one by one, and the same on any machine."
)
_READING = (
    "AMN reads a story for its question, so the question's words count as reading; the others read the story first. "
    "DMN+, MemN2N and EncDec work in one pass: what does not depend on the question counts as reading, the rest as "
    "answering."
)


def cost_tables(found: Summaries, analysis: Analysis, machine: str) -> list[Table]:
    """Table 3, and what it is made of; `machine` says where the times were taken."""
    tables = [complexity_table(found, analysis, machine)]
    if analysis.costs:
        tables.append(costs_table(analysis, machine))
    return [*tables, growth_table(analysis)] if analysis.growth else tables


def complexity_table(found: Summaries, analysis: Analysis, machine: str) -> Table:
    """Table 3: what an answer costs in the paper, and what it costs here."""
    rows: dict[str, list[Value]] = {}
    for model in dict.fromkeys((*paper.COMPLEXITY, *found)):
        done = [s.row() for task, s in found.get(model, {}).items() if s.finished and isinstance(task, int)]
        if (done or model in paper.COMPLEXITY) and model not in paper.CONTROLS:
            read = mean(row["entities_read"] for row in done) if done else None
            costs = [cost for task, cost in analysis.costs.get(model, {}).items() if isinstance(task, int)]
            figures = [mean(column) for column in zip(*map(_figures, costs), strict=True)] or [None] * 6
            rows[model] = [paper.COMPLEXITY.get(model, NOT_GIVEN), len(done), read, *figures]
    groups: dict[str, dict[str, int | None]] = {
        "paper": {"complexity of decode": None},
        "ours": {"tasks": 0, "read": 2, "V": 1, "read / V": 3},
        "thousand operations": {"a sentence": 1, "an answer": 1},
        "milliseconds": {"a sentence": 4, "an answer": 4},
    }
    note = (
        "V: entities of a story (its distinct words); k: new nodes a sentence; S: sentences; alpha: the share of "
        "entities that is read. Ours: means over the tasks trained, best seed of each, so compare models that have "
        f"the same tasks. Read: entities, memory slots (EntNet) or sentences (DMN+, MemN2N) that an answer reads. "
        f"{_OPERATIONS} {_READING} Times: {TIMED_STORIES} stories together{_on(machine)}."
    )
    names = {model: title_of(model) for model in rows}
    return make_table("table3", "Table 3: what an answer costs", note, column_groups(groups, rows), names)


def _figures(cost: Cost) -> tuple[float, ...]:
    operations = (cost.ingest / cost.sentences / 1e3, cost.decode / 1e3)
    times = (cost.ingest_seconds / cost.sentences * 1e3, cost.decode_seconds * 1e3)
    return cost.entities, cost.read / max(1, cost.entities), *operations, *times


def costs_table(analysis: Analysis, machine: str) -> Table:
    """Operations and times, task by task."""
    columns = {"read": 1, "reading": 0, "an answer": 1, "reading, ms": 3, "an answer, ms": 4}
    note = (
        "Of each task's best seed. Read: entities, slots or sentences that an answer reads. Reading: of a whole story. "
        f"{_OPERATIONS} Times: {TIMED_STORIES} stories together{_on(machine)}; each model has the width of its recipe."
    )
    parts = [
        ColumnGroup(title_of(model), columns, {task: _costs(cost) for task, cost in costs.items()})
        for model, costs in analysis.costs.items()
    ]
    measured = {task: name for task, name in TASK_ROWS.items() if any(task in one for one in analysis.costs.values())}
    return make_table("costs", "Operations and times, task by task", note, parts, measured)


def _costs(cost: Cost) -> list[Value]:
    operations = (cost.read, cost.ingest / 1e3, cost.decode / 1e3)
    return [*operations, cost.ingest_seconds * 1e3, cost.decode_seconds * 1e3]


def growth_table(analysis: Analysis) -> Table:
    """How the cost of an answer grows with the story."""
    lengths = next(iter(analysis.growth.values()))
    columns = {str(round(work.entities)): 1 for work in lengths.values()}
    groups = {"thousand operations for an answer, V =": columns, "read for an answer, V =": columns}
    rows = {
        model: [*(work.decode / 1e3 for work in grown.values()), *(work.read for work in grown.values())]
        for model, grown in analysis.growth.items()
    }
    note = (
        f"The best seed of task {GROWTH_TASK} on generated stories of {', '.join(map(str, lengths))} sentences with "
        "names in proportion, most of which no model was trained on: what the bounds of Table 3 come to. EntNet has as "
        "many slots as it was given, whatever the story holds."
    )
    names = {model: title_of(model) for model in rows}
    return make_table("growth", "What an answer costs as stories grow", note, column_groups(groups, rows), names)


def _on(machine: str) -> str:
    return f", on {machine}" if machine else ""
