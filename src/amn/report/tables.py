"""The paper's tables with ours beside, as plain text cells that a page, a file or a README can show."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import chain, groupby
from statistics import mean
from typing import Any

from amn.evaluation.metrics import PASS_PERCENT
from amn.report import paper_tables as paper
from amn.report.analysis import RENAMED, Analysis
from amn.report.runs import Summaries, Summary, TaskName

MISSING, NOT_GIVEN = "missing", "–"
STRICT_PERCENT = 1.0  # the other threshold that papers count failed tasks by
Value = float | int | str | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    group: str  # what it stands under
    name: str  # its own heading
    words: bool = False  # whether it holds words, and not numbers


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text."""

    key: str  # a short name
    title: str  # what it shows
    note: str  # how it was made
    columns: tuple[Column, ...]  # its columns, after the one that names the rows
    rows: tuple[tuple[str, tuple[str, ...]], ...]  # the name of each row and its cells
    foot: tuple[tuple[str, tuple[str, ...]], ...] = ()  # rows that sum up

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Neighbouring columns of one group, with how many there are."""
        return [(group, len(list(same))) for group, same in groupby(column.group for column in self.columns)]

    def markdown(self) -> str:
        """For a Markdown page, with the note below."""
        rows = [("", [column.name for column in self.columns]), *self.rows, *self.foot]
        head, *lines = (f"| {' | '.join((name, *cells))} |" for name, cells in rows)
        return "\n".join(
            (head, "|---" * (len(self.columns) + 1) + "|", *lines, *(("", self.note) if self.note else ()))
        )


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """Neighbouring columns of a table that stand under one heading."""

    group: str
    columns: Mapping[str, int | None]  # by name, the digits of their numbers; None for words
    rows: Mapping[Any, Sequence[Value]]  # their values, by the key of a row
    lacking: str = MISSING  # what stands where there is no value

    def _values(self, key: Any) -> Sequence[Value]:
        return self.rows.get(key) or [None] * len(self.columns)

    def texts(self, key: Any) -> list[str]:
        """The cells of a row."""
        pairs = zip(self._values(key), self.columns.values(), strict=True)
        return [value if isinstance(value, str) else shown(value, digits or 0, self.lacking) for value, digits in pairs]

    def _foot(self, keys: Iterable[Any], names: Iterable[str], sum_up: Callable[[list[float]], str]) -> list[str]:
        """The named columns summed up over some rows; nothing under the others."""
        columns = dict(zip(self.columns, zip(*map(self._values, keys), strict=True), strict=True))
        known = {name: [v for v in values if isinstance(v, int | float)] for name, values in columns.items()}
        return [(sum_up(known[name]) if known[name] else self.lacking) if name in names else "" for name in columns]

    def means(self, keys: Iterable[Any]) -> list[str]:
        """The mean of each column of fractions."""
        fractions = [name for name, digits in self.columns.items() if digits]
        return self._foot(keys, fractions, lambda values: f"{mean(values):.2f}")

    def over(self, keys: Iterable[Any], percent: float) -> list[str]:
        """How many errors are over a limit."""
        return self._foot(keys, _ERRORS, lambda values: str(sum(value > percent for value in values)))


_ERRORS = ("paper", "best", "mean", "error %")


def column_groups(
    groups: Mapping[str, Mapping[str, int | None]], rows: Mapping[Any, Sequence[Value]]
) -> list[ColumnGroup]:
    """Rows that go through all columns of some groups, as a part for each group."""
    parts, start = [], 0
    for group, columns in groups.items():
        parts.append(ColumnGroup(group, columns, {key: row[start : start + len(columns)] for key, row in rows.items()}))
        start += len(columns)
    return parts


def make_table(
    key: str,
    title: str,
    note: str,
    parts: Sequence[ColumnGroup],
    names: Mapping[Any, str],
    *,
    foot: Sequence[float] | None = None,
) -> Table:
    """A table of several parts.

    Args:
        key: its short name.
        title: what it shows.
        note: how it was made.
        parts: its columns.
        names: of its rows, by their keys.
        foot: below the rows come the means, and for each of these limits how many errors are over it; None for nothing.
    """
    columns = [Column(part.group, name, digits is None) for part in parts for name, digits in part.columns.items()]
    rows = [(name, _joined(part.texts(key) for part in parts)) for key, name in names.items()]
    last = [] if foot is None else [("mean of those given", _joined(part.means(names) for part in parts))]
    last += [(f"tasks over {limit:g} %", _joined(part.over(names, limit) for part in parts)) for limit in foot or ()]
    return Table(key, title, note, tuple(columns), tuple(rows), tuple(last))


def _joined(cells: Iterable[list[str]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(cells))


def title_of(model: str) -> str:
    """What a model is called in tables: the paper's name where it has one, and its label."""
    if model in paper.TITLES:
        return paper.TITLES[model]
    known = max((name for name in paper.TITLES if model.startswith(f"{name}-")), key=len, default=None)
    return model if known is None else f"{paper.TITLES[known]}, {model[len(known) + 1 :]}"


def task_name(task: TaskName) -> str:
    """The number and the name of a task."""
    return f"{task} {paper.TASK_NAMES[task]}" if isinstance(task, int) else paper.TASK_NAMES.get(task, task)


TASK_ROWS = {task: task_name(task) for task in paper.TASK_NAMES}
NUMBERED_ROWS = {task: TASK_ROWS[task] for task in paper.TASKS}


def shown(value: float | int | None, digits: int = 2, lacking: str = MISSING) -> str:
    """A number as text."""
    return lacking if value is None else f"{value:.{digits}f}"


def marked(summary: Summary, of_seeds: Callable[[list[float]], float] = mean) -> str:
    """The error of a task's seeds as text, with a star where some of them are not finished."""
    return (
        f"{of_seeds(summary.figures('error_percent')):.1f}{'*' if any(r.reached for r in summary.unfinished) else ''}"
    )


def errors_table(found: Summaries, analysis: Analysis, model: str = "amn") -> Table:
    """Table 1: errors of all models, the paper's and ours."""
    parts = [_paper_errors("amn")]
    if model in found:
        columns = {"best": 1, "mean": 2, "std": 2, "seeds": 0, "failed": 0}
        rows = _seeds(found[model], "best_error", "mean_error", "std_error", "seeds", "failed_seeds")
        parts.append(ColumnGroup(f"{title_of(model)}, ours", columns, rows))
    parts.append(_controls(found, analysis))
    others = dict.fromkeys((*paper.ERRORS, *found))
    for name in (other for other in others if other not in (model, *paper.CONTROLS)):
        parts += [_paper_errors(name)] if name in paper.ERRORS and name != "amn" else []
        if any(isinstance(task, int) for task in found.get(name, ())):
            rows = _seeds(found[name], "best_error", "mean_error", "seeds")
            parts.append(ColumnGroup(f"{title_of(name)}, ours", {"best": 1, "mean": 2, "seeds": 0}, rows))
    note = (
        "Error in percent. The paper: best of 10 runs. Ours: each seed's epoch is chosen on validation questions, and "
        "this is its error on them; best is the seed with the least error, std the sample standard deviation over "
        "seeds, failed the seeds over 5 %. The last lines count, among the tasks given, those whose error is over 5 % "
        "and over 1 %. The paper prints 0, 0, 5, 6 and 20 failed tasks for AMN, EntNet, DMN+, MemN2N and EncDec."
    )
    limits = (PASS_PERCENT, STRICT_PERCENT)
    return make_table("table1", "Table 1: errors on bAbI", note, parts, NUMBERED_ROWS, foot=limits)


def _paper_errors(name: str) -> ColumnGroup:
    return ColumnGroup(
        paper.TITLES[name], {"paper": 1}, {t: [error] for t, error in paper.ERRORS[name].items()}, NOT_GIVEN
    )


def _seeds(tasks: Mapping[TaskName, Summary], *names: str) -> dict[TaskName, list[Value]]:
    return {task: [summary.row().get(name) for name in names] for task, summary in tasks.items()}


def _controls(found: Summaries, analysis: Analysis) -> ColumnGroup:
    shut = {name: _seeds(found[name], "best_error") for name in paper.CONTROLS if name in found}
    columns = ("majority answer", *map(title_of, shut))
    rows = {
        task: [analysis.majority.get(task), *(errors.get(task, [None])[0] for errors in shut.values())]
        for task in paper.TASKS
    }
    return ColumnGroup("controls", dict.fromkeys(columns, 1), rows)


def banks_table(analysis: Analysis, model: str) -> Table:
    """Table 2: banks created and required, and the share of entities that is read."""
    scores = analysis.scores.get(model, {})
    printed = {task: astuple(row) for task, row in paper.BANKS.items()}
    ours = {"created": 2, "over stories": 0, "required": 0, "ratio": 3, "entities read": 2, "entities": 1}
    ours |= {"error %": 1, "all banks, error %": 1}
    parts = [
        ColumnGroup("paper", {"created": 0, "required": 0, "ratio": 2}, printed, NOT_GIVEN),
        ColumnGroup(f"{title_of(model)}, ours", ours, {task: _bank_cells(row) for task, row in scores.items()}),
    ]
    note = (
        "Of each task's best seed. Created: mean and, over stories, standard deviation and range. Required: the fewest "
        "banks with an error under 5 %. Ratio: entities in the banks required, copies counted each time, over all "
        f"entities. {_source_note(scores)}"
    )
    return make_table(f"table2-{model}", f"Table 2: memory banks, {title_of(model)}", note, parts, TASK_ROWS, foot=())


def _bank_cells(row: Mapping[str, Any]) -> list[Value]:
    spread = row["details"]["created_banks"]
    over = f"± {spread['std']:.2f}, {spread['min']}–{spread['max']}"
    figures = [row[name] for name in ("required_banks", "ratio", "entities_read", "entities", "error_percent")]
    return [row["created_banks"], over, *figures, row["by_banks"][-1]["error_percent"]]


def _source_note(scores: Mapping[Any, Mapping[str, Any]]) -> str:
    if not scores:
        return "No best model could be evaluated."
    generated = [str(task) for task, row in scores.items() if row["stories"] == "generated" and isinstance(task, int)]
    made = f" Stories of tasks {', '.join(generated)} were generated: their files are not at hand." if generated else ""
    return f"Measured on up to {max(row['questions'] for row in scores.values())} validation questions.{made}"


def clock_table(analysis: Analysis, model: str = "amn") -> Table:
    """The wall-clock table: answering from all banks and from those required."""
    seconds = {task: row["seconds"] for task, row in analysis.scores.get(model, {}).items()}
    taken = {task: [one[name] for name in ("decode_all_banks", "decode", "ingest")] for task, one in seconds.items()}
    columns = {"all banks, s": 4, "required banks, s": 4, "reading the stories, s": 3, "times faster": 2}
    printed = {task: [*row, _times(*row)] for task, row in paper.SECONDS.items()}
    theirs = {"all banks, s": 2, "required banks, s": 2, "times faster": 2}
    parts = [
        ColumnGroup("paper, 1 000 examples", theirs, printed, NOT_GIVEN),
        ColumnGroup("ours, all questions", columns, {task: [*row, _times(*row[:2])] for task, row in taken.items()}),
    ]
    note = (
        "Seconds to answer a task's questions in batches, on one thread of the machine that made this report; reading "
        "the stories comes before either. Times of other machines do not compare, the ratio does."
    )
    names = {task: name for task, name in TASK_ROWS.items() if task in printed or task in taken}
    return make_table("clock", "Wall-clock time of answers", note, parts, names)


def _times(whole: float, part: float) -> float | None:
    return whole / part if part else None


def models_table(found: Summaries) -> Table:
    """Every model in one line: how many tasks and seeds, and their mean errors."""
    columns = {"tasks": 0, "seeds": 0, "unfinished": 0, "mean of best": 2, "mean of all seeds": 2}
    columns |= {"tasks over 5 %": 0, "tasks over 1 %": 0, "seeds over 5 %": 0, "ratio": 3}
    rows: dict[str, list[Value]] = {}
    for model, tasks in found.items():
        done = [summary.row() for summary in tasks.values() if summary.finished]
        best = [row["best_error"] for row in done]
        means = [mean(row[name] for row in done) if done else None for name in ("best_error", "mean_error", "ratio")]
        seeds, failed = (sum(row[name] for row in done) for name in ("seeds", "failed_seeds"))
        over = [sum(error > limit for error in best) for limit in (PASS_PERCENT, STRICT_PERCENT)]
        unfinished = sum(len(summary.unfinished) for summary in tasks.values())
        rows[model] = [len(done), seeds, unfinished, *means[:2], *over, failed, means[2]]
    note = "Validation errors in percent, of the best seed of each task where tasks are counted."
    note += " An unfinished run counts nowhere else."
    return make_table("models", "All models", note, [ColumnGroup("", columns, rows)], {m: title_of(m) for m in found})


def seeds_table(model: str, tasks: Mapping[TaskName, Summary]) -> Table:
    """Every task of one model."""
    digits = {"best": 1, "mean": 2, "std": 2, "worst": 1, "seeds": 0, "failed": 0, "unfinished": 0, "banks": 2}
    digits |= {"entities read": 2, "ratio": 3}
    keys = (
        *("best_error", "mean_error", "std_error", "worst_error", "seeds", "failed_seeds", "unfinished"),
        *("created_banks", "entities_read", "ratio"),
    )
    note = "Banks, entities read and ratio are those of the best seed."
    part, names = ColumnGroup("", digits, _seeds(tasks, *keys)), {task: task_name(task) for task in tasks}
    return make_table(f"seeds-{model}", f"Every task: {title_of(model)}", note, [part], names)


def joint_table(model: str, scores: Mapping[int, Mapping[str, Any]]) -> Table:
    """One model for all twenty tasks."""
    columns = {"error %": 1, "ratio": 3, "banks created": 2, "renamed, error %": 1}
    keys = ("error_percent", "ratio", "created_banks")
    rows = {
        task: [*(row[key] for key in keys), row.get("renamed_error_percent", NOT_GIVEN)] for task, row in scores.items()
    }
    note = (
        "The best joint seed on each task. Renamed: people, places and things have names that training never saw; "
        f"tasks {', '.join(map(str, RENAMED))}. {_source_note(scores)}"
    )
    part, limits = ColumnGroup(f"{title_of(model)}, one model", columns, rows), (PASS_PERCENT, STRICT_PERCENT)
    title = f"One model for all tasks: {title_of(model)}"
    return make_table(f"joint-{model}", title, note, [part], NUMBERED_ROWS, foot=limits)


def readme_table(found: Summaries, analysis: Analysis, model: str = "amn") -> Table:
    """The table of the README."""
    rows: dict[TaskName, list[Value]] = {}
    for task in TASK_ROWS:
        row = found[model][task].row() if task in found.get(model, {}) else {}
        score = analysis.scores.get(model, {}).get(task, row)
        printed = paper.ERRORS["amn"].get(task) if isinstance(task, int) else None
        ratio = paper.BANKS[task].ratio if task in paper.BANKS else None
        rows[task] = [printed, row.get("best_error"), _spread(row), ratio, score.get("ratio")]
    columns = {
        "paper, error": 1,
        "ours, best": 1,
        "ours, mean ± std (seeds)": None,
        "paper, ratio": 2,
        "ours, ratio": 3,
    }
    return make_table("results", "", "", [ColumnGroup("", columns, rows, "")], TASK_ROWS)


def _spread(row: Mapping[str, Any]) -> str:
    if "mean_error" not in row:
        return ""
    std = "" if row["std_error"] is None else f" ± {row['std_error']:.2f}"
    return f"{row['mean_error']:.2f}{std} ({row['seeds']})"
