"""The paper's tables with ours beside, as plain text cells that a page, a file or a README can show."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from amn.evaluation.metrics import PASS_PERCENT
from amn.report import paper_tables as paper
from amn.report.analysis import RENAMED, Analysis
from amn.report.runs import Summaries, Summary, TaskName

MISSING, NOT_GIVEN = "missing", "–"
STRICT_PERCENT = 1.0  # the other threshold that papers count failed tasks by
ALL_TASKS: tuple[TaskName, ...] = tuple(paper.TASK_NAMES)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        group: what it stands under.
        name: its own heading.
        words: whether it holds words, and not numbers.
    """

    group: str
    name: str
    words: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text.

    Args:
        key: a short name.
        title: what it shows.
        note: how it was made.
        columns: its columns, after the one that names the rows.
        rows: the name of each row and its cells.
        foot: rows that sum up.
    """

    key: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    foot: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Neighbouring columns of one group, with how many there are."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return found


def title_of(model: str) -> str:
    """What a model is called in tables: the paper's name where it has one, and its label."""
    if model in paper.TITLES:
        return paper.TITLES[model]
    known = [name for name in paper.TITLES if model.startswith(f"{name}-")]
    return f"{paper.TITLES[max(known, key=len)]}, {model[len(max(known, key=len)) + 1 :]}" if known else model


def task_name(task: TaskName) -> str:
    """The number and the name of a task."""
    return f"{task} {paper.TASK_NAMES[task]}" if isinstance(task, int) else paper.TASK_NAMES.get(task, task)


def shown(value: float | int | None, digits: int = 2, lacking: str = MISSING) -> str:
    """A number as text."""
    return lacking if value is None else f"{value:.{digits}f}"


Cells = Callable[[TaskName], list[float | int | str | None]]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Some columns of a table: their headings, their values for a task, and how each is shown and summed up."""

    group: str
    names: tuple[str, ...]
    cells: Cells
    digits: tuple[int, ...]
    lacking: str = MISSING

    def texts(self, task: TaskName) -> list[str]:
        pairs = zip(self.cells(task), self.digits, strict=True)
        return [value if isinstance(value, str) else shown(value, digits, self.lacking) for value, digits in pairs]

    def means(self, tasks: Sequence[TaskName]) -> list[str]:
        columns = zip(*(self.cells(task) for task in tasks), strict=True)
        return [
            _mean(column, self.lacking) if digits else "" for column, digits in zip(columns, self.digits, strict=True)
        ]

    def over(self, tasks: Sequence[TaskName], percent: float) -> list[str]:
        columns = zip(*(self.cells(task) for task in tasks), strict=True)
        return [
            _over(column, percent, self.lacking) if name in _ERRORS else ""
            for name, column in zip(self.names, columns, strict=True)
        ]


_ERRORS = ("paper", "best", "mean", "error %")


def _over(column: Iterable[float | int | str | None], percent: float, lacking: str) -> str:
    known = [value for value in column if isinstance(value, float)]
    return str(sum(value > percent for value in known)) if known else lacking


def _mean(column: Iterable[float | int | str | None], lacking: str) -> str:
    known = [value for value in column if isinstance(value, int | float)]
    return f"{mean(known):.2f}" if known else lacking


def _table(
    key: str, title: str, note: str, tasks: Sequence[TaskName], parts: Sequence[_Columns], *, errors: bool
) -> Table:
    columns = tuple(Column(part.group, name) for part in parts for name in part.names)
    rows = tuple((task_name(task), tuple(cell for part in parts for cell in part.texts(task))) for task in tasks)
    foot = [("mean of those given", tuple(cell for part in parts for cell in part.means(tasks)))]
    if errors:
        for percent in (PASS_PERCENT, STRICT_PERCENT):
            over = tuple(cell for part in parts for cell in part.over(tasks, percent))
            foot.append((f"tasks over {percent:g} %", over))
    return Table(key, title, note, columns, rows, tuple(foot))


def _seeds(tasks: Mapping[TaskName, Summary], *names: str) -> Cells:
    def cells(task: TaskName) -> list[float | int | str | None]:
        row = tasks[task].row() if task in tasks else {}
        return [row.get(name) for name in names]

    return cells


def errors_table(found: Summaries, analysis: Analysis, model: str = "amn") -> Table:
    """Table 1: errors of all models, the paper's and ours."""
    parts = [_paper_errors("amn")]
    if model in found:
        names = ("best", "mean", "std", "seeds", "failed")
        cells = _seeds(found[model], "best_error", "mean_error", "std_error", "seeds", "failed_seeds")
        parts.append(_Columns(f"{title_of(model)}, ours", names, cells, (1, 2, 2, 0, 0)))
    parts.append(_controls(found, analysis))
    for name in [*paper.ERRORS, *(name for name in found if name not in paper.ERRORS)]:
        if name != model and name not in paper.CONTROLS:
            parts += [_paper_errors(name)] if name in paper.ERRORS and name != "amn" else []
            parts += [_best_and_mean(found, name)] if name in found and _has_tasks(found[name]) else []
    note = (
        "Error in percent. The paper: best of 10 runs. Ours: each seed's epoch is chosen on validation questions, and "
        "this is its error on them; best is the seed with the least error, std the sample standard deviation over "
        "seeds, failed the seeds over 5 %. The last lines count, among the tasks given, those whose error is over 5 % "
        "and over 1 %. The paper prints 0, 0, 5, 6 and 20 failed tasks for AMN, EntNet, DMN+, MemN2N and EncDec."
    )
    return _table("table1", "Table 1: errors on bAbI", note, paper.TASKS, parts, errors=True)


def _paper_errors(name: str) -> _Columns:
    def cells(task: TaskName) -> list[float | int | str | None]:
        return [paper.ERRORS[name].get(task) if isinstance(task, int) else None]

    return _Columns(paper.TITLES[name], ("paper",), cells, (1,), NOT_GIVEN)


def _best_and_mean(found: Summaries, name: str) -> _Columns:
    cells = _seeds(found[name], "best_error", "mean_error", "seeds")
    return _Columns(f"{title_of(name)}, ours", ("best", "mean", "seeds"), cells, (1, 2, 0))


def _has_tasks(tasks: Mapping[TaskName, Summary]) -> bool:
    return any(isinstance(task, int) for task in tasks)


def _controls(found: Summaries, analysis: Analysis) -> _Columns:
    def cells(task: TaskName) -> list[float | int | str | None]:
        blind = [found[name][task].row().get("best_error") if task in found.get(name, {}) else None for name in shut]
        return [analysis.majority.get(task), *blind]

    shut = [name for name in paper.CONTROLS if name in found]
    names = ("majority answer", *(title_of(name) for name in shut))
    return _Columns("controls", names, cells, (1,) * len(names))


def banks_table(analysis: Analysis, model: str) -> Table:
    """Table 2: banks created and required, and the share of entities that is read."""
    scores = analysis.scores.get(model, {})

    def printed(task: TaskName) -> list[float | int | str | None]:
        row = paper.BANKS.get(task)
        return [None] * 3 if row is None else [row.created, row.required, row.ratio]

    def ours(task: TaskName) -> list[float | int | str | None]:
        row = scores.get(task)
        return [None] * 8 if row is None else _bank_cells(row)

    names = (
        "created",
        "over stories",
        "required",
        "ratio",
        "entities read",
        "entities",
        "error %",
        "all banks, error %",
    )
    parts = [
        _Columns("paper", ("created", "required", "ratio"), printed, (0, 0, 2), NOT_GIVEN),
        _Columns(f"{title_of(model)}, ours", names, ours, (2, 0, 0, 3, 2, 1, 1, 1)),
    ]
    note = (
        "Of each task's best seed. Created: mean and, over stories, standard deviation and range. Required: the fewest "
        "banks with an error under 5 %. Ratio: entities in the banks required, copies counted each time, over all "
        f"entities. {_source_note(scores)}"
    )
    title = f"Table 2: memory banks, {title_of(model)}"
    return _table(f"table2-{model}", title, note, ALL_TASKS, parts, errors=False)


def _bank_cells(row: Mapping[str, Any]) -> list[float | int | str | None]:
    spread = row["details"]["created_banks"]
    over = f"± {spread['std']:.2f}, {spread['min']}–{spread['max']}"
    last = row["by_banks"][-1]
    figures = [row[name] for name in ("required_banks", "ratio", "entities_read", "entities", "error_percent")]
    return [row["created_banks"], over, *figures, last["error_percent"]]


def _source_note(scores: Mapping[Any, Mapping[str, Any]]) -> str:
    generated = [str(task) for task, row in scores.items() if row["stories"] == "generated" and isinstance(task, int)]
    questions = max((row["questions"] for row in scores.values()), default=0)
    made = f" Stories of tasks {', '.join(generated)} were generated: their files are not at hand." if generated else ""
    return (
        f"Measured on up to {questions} validation questions.{made}" if scores else "No best model could be evaluated."
    )


def clock_table(analysis: Analysis, model: str = "amn") -> Table:
    """The wall-clock table: answering from all banks and from those required."""
    scores = analysis.scores.get(model, {})
    rows = []
    for task in [task for task in ALL_TASKS if task in paper.SECONDS or task in scores]:
        printed, row = paper.SECONDS.get(task) if isinstance(task, int) else None, scores.get(task)
        given = [printed.all_banks, printed.required_banks] if printed else [None, None]
        taken = [row["seconds"][name] for name in _CLOCKS] if row else [None] * 3
        texts = [shown(value, 2, NOT_GIVEN) for value in (*given, _times(*given))]
        texts += [
            shown(value, digits) for value, digits in zip((*taken, _times(*taken[:2])), (4, 4, 3, 2), strict=True)
        ]
        rows.append((task_name(task), tuple(texts)))
    columns = [Column("paper, 1 000 examples", name) for name in ("all banks, s", "required banks, s", "times faster")]
    columns += [
        Column("ours, all questions", name)
        for name in ("all banks, s", "required banks, s", "reading the stories, s", "times faster")
    ]
    note = (
        "Seconds to answer a task's questions in batches, on one thread of the machine that made this report; reading "
        "the stories comes before either. Times of other machines do not compare, the ratio does."
    )
    return Table("clock", "Wall-clock time of answers", note, tuple(columns), tuple(rows))


_CLOCKS = ("decode_all_banks", "decode", "ingest")


def _times(whole: float | None, part: float | None) -> float | None:
    return whole / part if whole is not None and part else None


def models_table(found: Summaries) -> Table:
    """Every model in one line: how many tasks and seeds, and what they come to."""
    names = (
        "tasks",
        "seeds",
        "unfinished",
        "mean of best",
        "mean of all seeds",
        "tasks over 5 %",
        "tasks over 1 %",
        "seeds over 5 %",
        "ratio",
    )
    rows = []
    for model, tasks in found.items():
        done = [summary for summary in tasks.values() if summary.finished]
        best = [summary.best for summary in done]
        errors = [run.figure("error_percent") for run in best]
        cells = (
            str(len(done)),
            str(sum(len(summary.finished) for summary in done)),
            str(sum(summary.unfinished for summary in tasks.values())),
            shown(mean(errors) if errors else None),
            shown(mean(mean(summary.errors) for summary in done) if done else None),
            str(sum(error > PASS_PERCENT for error in errors)),
            str(sum(error > STRICT_PERCENT for error in errors)),
            str(sum(summary.failed for summary in done)),
            shown(mean(run.figure("ratio") for run in best) if best else None, 3),
        )
        rows.append((title_of(model), cells))
    note = "Validation errors in percent, of the best seed of each task where tasks are counted."
    note += " An unfinished run counts nowhere else."
    return Table("models", "All models", note, tuple(Column("", name) for name in names), tuple(rows))


def seeds_table(model: str, tasks: Mapping[TaskName, Summary]) -> Table:
    """Every task of one model."""
    names = ("best", "mean", "std", "worst", "seeds", "failed", "unfinished", "banks", "entities read", "ratio")
    keys = (
        *("best_error", "mean_error", "std_error", "worst_error", "seeds", "failed_seeds", "unfinished"),
        *("created_banks", "entities_read", "ratio"),
    )
    digits = (1, 2, 2, 1, 0, 0, 0, 2, 2, 3)
    cells = _seeds(tasks, *keys)
    rows = tuple((task_name(task), tuple(_Columns("", names, cells, digits).texts(task))) for task in tasks)
    note = "Banks, entities read and ratio are those of the best seed."
    return Table(f"seeds-{model}", f"Every task: {title_of(model)}", note, tuple(Column("", n) for n in names), rows)


def joint_table(model: str, scores: Mapping[int, Mapping[str, Any]]) -> Table:
    """One model for all twenty tasks."""

    def cells(task: TaskName) -> list[float | int | str | None]:
        row = scores.get(task, {}) if isinstance(task, int) else {}
        renamed = row.get("renamed_error_percent", NOT_GIVEN)
        return [row.get("error_percent"), row.get("ratio"), row.get("created_banks"), renamed]

    names = ("error %", "ratio", "banks created", "renamed, error %")
    note = (
        "The best joint seed on each task. Renamed: people, places and things have names that training never saw; "
        f"tasks {', '.join(map(str, RENAMED))}. {_source_note(scores)}"
    )
    part = _Columns(f"{title_of(model)}, one model", names, cells, (1, 3, 2, 1))
    title = f"One model for all tasks: {title_of(model)}"
    return _table(f"joint-{model}", title, note, paper.TASKS, [part], errors=True)


def readme_table(found: Summaries, analysis: Analysis, model: str = "amn") -> str:
    """The table of the README, in Markdown."""
    head = "| task | paper, error | ours, best | ours, mean ± std (seeds) | paper, ratio | ours, ratio |"
    lines = [head, "|---|---|---|---|---|---|"]
    for task in ALL_TASKS:
        row = found[model][task].row() if task in found.get(model, {}) else {}
        score = analysis.scores.get(model, {}).get(task, row)
        banks = paper.BANKS.get(task)
        printed = paper.ERRORS["amn"].get(task) if isinstance(task, int) else None
        cells = (
            shown(printed, 1, ""),
            shown(row.get("best_error"), 1, ""),
            _spread(row),
            shown(banks.ratio if banks else None, 2, ""),
            shown(score.get("ratio"), 3, ""),
        )
        lines.append(f"| {task_name(task)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _spread(row: Mapping[str, Any]) -> str:
    if "mean_error" not in row:
        return ""
    std = "" if row["std_error"] is None else f" ± {row['std_error']:.2f}"
    return f"{row['mean_error']:.2f}{std} ({row['seeds']})"
