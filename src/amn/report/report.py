"""A report from run directories: one page that needs nothing else, the same numbers as CSV and JSON, and figures."""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amn.bench.timing import machine
from amn.errors import AMNError, MissingExtraError
from amn.report import paper_tables as paper
from amn.report.analysis import Analysis, Analyst, Note
from amn.report.cost_tables import cost_tables
from amn.report.runs import (
    ALL_LABELS,
    FIGURES,
    Labels,
    RunRecord,
    Summaries,
    TaskName,
    find_runs,
    summaries,
    without_trials,
)
from amn.report.studies import ladders, regime_table, rivals_table, scalings, stability_table
from amn.report.tables import (
    MISSING,
    Table,
    banks_table,
    clock_table,
    errors_table,
    joint_table,
    models_table,
    readme_table,
    seeds_table,
)
from amn.report.training_tables import commands_table, run_records, runs_table, settings_table
from amn.store.atomic import write_atomically

if TYPE_CHECKING:
    from amn.report.figures import Picture

TITLE = "Adaptive Memory Networks: results"
MAIN_MODEL = "amn"
_FROM_SCORES = ("required_banks", "created_banks", "entities", "entities_read", "ratio")


@dataclass(frozen=True)
class Report:
    """Everything that a report says."""

    runs: Sequence[RunRecord]  # the runs it is made from
    found: Summaries  # what their seeds come to, by model and task
    analysis: Analysis  # what evaluating the best models gave
    left_out: tuple[str, ...] = ()  # the labels of trials, whose runs are not in it

    @classmethod
    def of(
        cls, folders: Sequence[Path], data: Path | None, questions: int, note: Note, labels: Labels = ALL_LABELS
    ) -> "Report":
        """Reads runs and evaluates their best models.

        Args:
            folders: run directories, folders of them, or CSV files of runs.
            data: a folder of released files in place of the one that the runs name.
            questions: how many to ask of each task; 0 to evaluate nothing.
            note: told of progress.
            labels: which labelled runs are shown beside those without a label.
        """
        runs, left_out = without_trials(find_runs(folders), labels)
        found = summaries(runs)
        return cls(runs, found, Analyst(data, questions, note).analyse(found), left_out)

    @property
    def finished(self) -> int:
        """How many runs have ended."""
        return sum(run.validation is not None for run in self.runs)

    def tables(self) -> list[Table]:
        """The paper's tables with ours beside, those of joint models, and how all was trained."""
        banked = list(dict.fromkeys((MAIN_MODEL, *self.analysis.scores)))
        return [
            errors_table(self.found, self.analysis, MAIN_MODEL),
            *(banks_table(self.analysis, model) for model in banked),
            *cost_tables(self.found, self.analysis, machine() if self.analysis.costs else ""),
            clock_table(self.analysis, MAIN_MODEL),
            *(joint_table(model, scores) for model, scores in self.analysis.joint.items()),
            *self.studies(),
            models_table(self.found),
            commands_table(self.runs),
        ]

    def studies(self) -> list[Table]:
        """What many runs together show: the ladders, the scaling, the rivals and how often runs fail."""
        scaled = scalings(self.runs)
        curves = (curve for one in scaled for curve in one.curves.values())
        apart = {run.model for curve in curves for at in curve.values() for run in at.judged if run.spec.label}
        tables = [*(ladder.table() for ladder in ladders(self.found)), *(one.table() for one in scaled)]
        tables += [regime_table(self.found), rivals_table(self.found, apart), stability_table(self.found)]
        return [table for table in tables if table.rows]

    def folded(self) -> list[Table]:
        """The settings, and every task and every run of every model."""
        pairs = ((seeds_table(model, tasks), runs_table(model, self.runs)) for model, tasks in self.found.items())
        return [settings_table(self.runs), *(table for pair in pairs for table in pair)]

    def pictures(self) -> "list[Picture]":
        """The figures that there is data for."""
        from amn.report import figures

        drawn = [*map(figures.ladder, ladders(self.found)), *map(figures.scaling, scalings(self.runs))]
        for model, scores in self.analysis.scores.items():
            rows = {task: summary.row() for task, summary in self.found[model].items()}
            drawn += [figures.overview(rows, scores, model), figures.heat_map(scores, model)]
        drawn += [figures.story(trace) for trace in self.analysis.stories.values()]
        logged = {run.model for run in self.runs if len(run.curve) > 1}  # runs from a CSV file have no log
        return drawn + [figures.curves(model, tasks) for model, tasks in self.found.items() if model in logged]

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model and task: our figures and the paper's. What is missing is None."""
        return [
            self._row(model, task)
            for model in dict.fromkeys((MAIN_MODEL, *self.found))
            for task in dict.fromkeys((*paper.TASK_NAMES, *self.found.get(model, {})))
        ]

    def _row(self, model: str, task: TaskName) -> dict[str, Any]:
        row: dict[str, Any] = dict.fromkeys(COLUMNS)
        row |= {"model": model, "task": task, "seeds": 0, "unfinished": 0}
        if task in self.found.get(model, {}):
            row |= self.found[model][task].row()
        score = self.analysis.scores.get(model, {}).get(task, {})
        row |= {name: score[name] for name in _FROM_SCORES if name in score}
        cost = self.analysis.costs.get(model, {}).get(task)
        row |= {f"cost_{name}": value for name, value in cost.figures().items()} if cost else {}
        row["majority_error"] = self.analysis.majority.get(task)
        row["paper_error"] = paper.ERRORS.get(model, {}).get(task) if isinstance(task, int) else None
        banks = paper.BANKS.get(task) if model == MAIN_MODEL else None
        if banks is not None:
            row |= {f"paper_{name}": value for name, value in asdict(banks).items()}
        return row

    def document(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "title": TITLE,
            "runs": len(self.runs),
            "finished": self.finished,
            "left_out": list(self.left_out),
            "rows": self.rows(),
            "scores": self.analysis.scores,
            "joint": self.analysis.joint,
            "growth": {m: [asdict(work) for work in grown.values()] for m, grown in self.analysis.growth.items()},
            "machine": machine() if self.analysis.costs else None,
            "records": run_records(self.runs),
            "stories": {model: asdict(trace) for model, trace in self.analysis.stories.items()},
            "tables": [asdict(table) for table in (*self.tables(), *self.folded())],
        }

    def csv(self) -> str:
        """The rows as CSV."""
        return _csv(COLUMNS, self.rows())

    def runs_csv(self) -> str:
        """Every run as CSV, with its figures so far where it is not finished; `find_runs` reads it again."""
        records = run_records(self.runs)
        return _csv(RUN_COLUMNS, ({**run, "settings": json.dumps(run["settings"], sort_keys=True)} for run in records))

    def page(self, pictures: "Sequence[Picture]") -> str:
        """The page."""
        import jinja2

        about = (
            f"Made by amn report from {self.finished} finished runs ({len(self.runs) - self.finished} unfinished) of "
            f"{len(self.found)} models. No test question was asked: all errors are on validation questions."
        )
        if self.left_out:
            about += f" Trials are left out ({', '.join(self.left_out)}); --labels shows them."
        source = (files("amn.report") / "page.html").read_text(encoding="utf-8")
        template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
        shown = {"tables": self.tables(), "folded": self.folded(), "pictures": pictures}
        return template.render(title=TITLE, about=about, missing=MISSING, **shown)


COLUMNS = (
    *("model", "task", "seeds", "unfinished", "best_error", "mean_error", "std_error", "worst_error", "failed_seeds"),
    *("best_seed", "epoch", "created_banks", "required_banks", "entities", "entities_read", "ratio", "majority_error"),
    *("paper_error", "paper_created", "paper_required", "paper_ratio"),
    *("cost_sentences", "cost_entities", "cost_read", "cost_ingest", "cost_decode"),
    *("cost_ingest_seconds", "cost_decode_seconds"),
)
RUN_COLUMNS = (
    *("architecture", "label", "task", "seed", "epochs", "hidden", "settings", "training_questions", "finished"),
    *FIGURES,
)


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def check_extras() -> None:
    """Says early what a report needs.

    Raises:
        MissingExtraError: where it is not installed.
    """
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("plot", "amn report") from error


def write(report: Report, out: Path, figures: Path | None = None, readme: Path | None = None) -> list[Path]:
    """Writes the page, the CSV and the JSON beside it, and what else is asked for; gives what was written.

    Args:
        report: what to write.
        out: the page.
        figures: a folder for the figures as PNG.
        readme: a Markdown file whose tables are to be filled.
    """
    check_extras()
    texts = {} if readme is None else {readme: fill_readme(readme.read_text(encoding="utf-8"), report)}
    pictures = report.pictures()
    texts |= {out: report.page(pictures), out.with_suffix(".csv"): report.csv()}
    texts[out.with_name(f"{out.stem}-runs.csv")] = report.runs_csv()
    texts[out.with_suffix(".json")] = json.dumps(report.document(), indent=1, allow_nan=False) + "\n"
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    if figures is None:
        return list(texts)
    figures.mkdir(parents=True, exist_ok=True)
    return [*texts, *(picture.save_png(figures) for picture in pictures)]


def fill_readme(text: str, report: Report) -> str:
    """The text with every table between its marks made anew, each by its key; `results` is that of the README.

    Raises:
        AMNError: where there are no such marks.
    """
    tables = {table.key: table for table in report.tables()}
    if MAIN_MODEL in report.found:
        tables["results"] = readme_table(report.found, report.analysis, MAIN_MODEL)
    marks = re.compile(r"<!-- (\S+): begin -->.*?<!-- \1: end -->", re.DOTALL)
    if not tables.keys() & set(marks.findall(text)):
        expected = f"<!-- NAME: begin --> and <!-- NAME: end -->, with one of these names: {', '.join(tables)}"
        raise AMNError(f"the document has no place for a table: expected {expected}")
    return marks.sub(lambda found: _between(found, tables.get(found[1])), text)


def _between(found: re.Match[str], table: Table | None) -> str:
    return f"<!-- {found[1]}: begin -->\n{table.markdown()}\n<!-- {found[1]}: end -->" if table else found[0]
