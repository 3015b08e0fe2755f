"""What reading and answering cost, in operations and in time: the paper's complexity table, measured."""

from collections.abc import Callable, Sequence
from statistics import mean

from amn.evaluation.cost import COUNTED_STORIES, TIMED_STORIES, Cost
from amn.report import paper_tables as paper
from amn.report.analysis import GROWTH_TASK, Analysis
from amn.report.runs import Summaries
from amn.report.tables import ALL_TASKS, MISSING, NOT_GIVEN, Column, Table, shown, task_name, title_of

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
        tables += [operations_table(analysis), times_table(analysis, machine)]
    return [*tables, growth_table(analysis)] if analysis.growth else tables


def complexity_table(found: Summaries, analysis: Analysis, machine: str) -> Table:
    """Table 3: what an answer costs in the paper, and what it costs here."""
    rows = []
    for model in dict.fromkeys((*paper.COMPLEXITY, *found)):
        done = [s.row() for task, s in found.get(model, {}).items() if s.finished and isinstance(task, int)]
        if (done or model in paper.COMPLEXITY) and model not in paper.CONTROLS:
            read = mean(row["entities_read"] for row in done) if done else None
            costs = [cost for task, cost in analysis.costs.get(model, {}).items() if isinstance(task, int)]
            bound = paper.COMPLEXITY.get(model, NOT_GIVEN)
            rows.append((title_of(model), (bound, str(len(done)), shown(read), *_cost_cells(costs))))
    columns = [Column("paper", "complexity of decode", words=True)]
    columns += [Column("ours", name) for name in ("tasks", "read", "V", "read / V")]
    columns += [Column("thousand operations", name) for name in ("a sentence", "an answer")]
    columns += [Column("milliseconds", name) for name in ("a sentence", "an answer")]
    note = (
        "V: entities of a story (its distinct words); k: new nodes a sentence; S: sentences; alpha: the share of "
        "entities that is read. Ours: means over the tasks trained, best seed of each, so compare models that have "
        f"the same tasks. Read: entities, memory slots (EntNet) or sentences (DMN+, MemN2N) that an answer reads. "
        f"{_OPERATIONS} {_READING} Times: {TIMED_STORIES} stories together{_on(machine)}."
    )
    return Table("table3", "Table 3: what an answer costs", note, tuple(columns), tuple(rows))


def _cost_cells(costs: Sequence[Cost]) -> tuple[str, ...]:
    if not costs:
        return (MISSING,) * 6
    work = [cost.work for cost in costs]
    return (
        shown(mean(one.entities for one in work), 1),
        shown(mean(one.read / max(1, one.entities) for one in work), 3),
        shown(mean(one.ingest / one.sentences for one in work) / 1e3, 1),
        shown(mean(one.decode for one in work) / 1e3, 1),
        shown(mean(cost.ingest_seconds / cost.work.sentences for cost in costs) * 1e3, 4),
        shown(mean(cost.decode_seconds for cost in costs) * 1e3, 4),
    )


def operations_table(analysis: Analysis) -> Table:
    """Operations, task by task."""

    def cells(cost: Cost) -> tuple[str, ...]:
        work = cost.work
        return shown(work.read, 1), shown(work.ingest / 1e3, 0), shown(work.decode / 1e3, 1)

    rows = _by_task(analysis, cells, 3)
    columns = tuple(
        Column(title_of(model), name) for model in analysis.costs for name in ("read", "reading", "an answer")
    )
    note = (
        "Of each task's best seed. Read: entities, slots or sentences that an answer reads. Reading: of a whole "
        f"story. {_OPERATIONS}"
    )
    return Table("operations", "Operations, task by task", note, columns, rows)


def times_table(analysis: Analysis, machine: str) -> Table:
    """Times, task by task."""

    def cells(cost: Cost) -> tuple[str, ...]:
        return shown(cost.ingest_seconds * 1e3, 3), shown(cost.decode_seconds * 1e3, 4)

    rows = _by_task(analysis, cells, 2)
    columns = tuple(Column(title_of(model), name) for model in analysis.costs for name in ("reading", "an answer"))
    note = (
        "Milliseconds for reading a story and for answering a question, of each task's best seed, "
        f"{TIMED_STORIES} stories together{_on(machine)}. Each model has the width of its own recipe."
    )
    return Table("times", "Times, task by task", note, columns, rows)


def growth_table(analysis: Analysis) -> Table:
    """How the cost of an answer grows with the story."""
    rows = []
    for model, grown in analysis.growth.items():
        cells = [shown(work.decode / 1e3, 1) for work in grown.values()] + [
            shown(work.read, 1) for work in grown.values()
        ]
        rows.append((title_of(model), tuple(cells)))
    lengths = next(iter(analysis.growth.values()))
    entities = [round(work.entities) for work in lengths.values()]
    columns = [Column("thousand operations for an answer, V =", str(count)) for count in entities]
    columns += [Column("read for an answer, V =", str(count)) for count in entities]
    note = (
        f"The best seed of task {GROWTH_TASK} on generated stories of {', '.join(map(str, lengths))} sentences with "
        "names in proportion, most of which no model was trained on: what the bounds of Table 3 come to. EntNet has as "
        "many slots as it was given, whatever the story holds."
    )
    return Table("growth", "What an answer costs as stories grow", note, tuple(columns), tuple(rows))


def _by_task(
    analysis: Analysis, cells: Callable[[Cost], tuple[str, ...]], width: int
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """A row for each task that was measured, with some cells for each model."""
    models = list(analysis.costs.values())
    measured = [task for task in ALL_TASKS if any(task in costs for costs in models)]
    return tuple(
        (task_name(task), tuple(cell for costs in models for cell in _or_missing(costs.get(task), cells, width)))
        for task in measured
    )


def _or_missing(cost: Cost | None, cells: Callable[[Cost], tuple[str, ...]], width: int) -> tuple[str, ...]:
    return cells(cost) if cost else (MISSING,) * width


def _on(machine: str) -> str:
    return f", on {machine}" if machine else ""
