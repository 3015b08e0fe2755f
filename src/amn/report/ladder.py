"""The ladder from the paper to the default model: what each change is worth, left out alone or added to the paper."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from amn.evaluation.metrics import PASS_PERCENT
from amn.report.runs import RunRecord, Summaries, TaskName
from amn.report.tables import Column, Table, shown

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
WITH = {
    "amn-paper": "the equations as written",
    "amn-paper-with-question": "+ entities start from the question",
    "amn-paper-with-joining": "+ edges join all words of a sentence",
    "amn-paper-with-norm": "+ RMS norm",
}


@dataclass(frozen=True)
class Rung:
    """One model of a ladder, on the tasks that all its models were trained on."""

    model: str
    title: str
    runs: Mapping[TaskName, Sequence[RunRecord]]  # by task, every finished seed

    def error(self, task: TaskName) -> float:
        """The mean error of the seeds of a task."""
        return mean(run.figure("error_percent") for run in self.runs[task])

    @property
    def mean_error(self) -> float:
        """The mean over tasks."""
        return mean(map(self.error, self.runs))

    @property
    def failed(self) -> int:
        """How many tasks have a mean error over 5 %."""
        return sum(self.error(task) > PASS_PERCENT for task in self.runs)

    @property
    def ratio(self) -> float:
        """Entities read over entities, the mean over tasks."""
        return mean(mean(run.figure("ratio") for run in seeds) for seeds in self.runs.values())

    @property
    def seeds(self) -> str:
        """How many seeds there are of each task."""
        counts = sorted({len(seeds) for seeds in self.runs.values()})
        return str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"


@dataclass(frozen=True)
class Ladder:
    """Models that differ by one change each, and the tasks that they share."""

    key: str
    title: str
    rungs: tuple[Rung, ...]

    @property
    def tasks(self) -> list[TaskName]:
        """The tasks that every model has finished runs of."""
        return list(self.rungs[0].runs)

    def table(self) -> Table:
        """A line for each model."""
        columns = [Column("over these tasks", name) for name in ("error %", "tasks over 5 %", "ratio", "seeds")]
        columns += [Column("error % by task", str(task)) for task in self.tasks]
        rows = [
            (
                rung.title,
                (shown(rung.mean_error), str(rung.failed), shown(rung.ratio, 3), rung.seeds)
                + tuple(shown(rung.error(task), 1) for task in self.tasks),
            )
            for rung in self.rungs
        ]
        note = (
            "Validation error of each run's best epoch, mean over seeds; answers are read from the last bank. All "
            "models have the same training; only tasks that all of them finished count. Ratio: entities read over "
            "entities."
        )
        return Table(self.key, self.title, note, tuple(columns), tuple(rows))

    def csv(self) -> str:
        """A line for each model, task and seed."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("ladder", "model", "change", "task", "seed", "error_percent", "ratio", "banks"))
        for rung in self.rungs:
            for task, seeds in rung.runs.items():
                for run in seeds:
                    figures = [run.figure(name) for name in ("error_percent", "ratio", "banks")]
                    writer.writerow((self.key, rung.model, rung.title, task, run.spec.seed, *figures))
        return text.getvalue()


def ladders(found: Summaries) -> list[Ladder]:
    """The ladders of which at least two models were trained."""
    made = (
        _ladder("ladder-without", "Without one deviation each", WITHOUT, found),
        _ladder("ladder-with", "From the paper, one change after another", WITH, found),
    )
    return [ladder for ladder in made if ladder is not None]


def _ladder(key: str, title: str, titles: Mapping[str, str], found: Summaries) -> Ladder | None:
    done = {
        model: {task: summary.finished for task, summary in found[model].items() if summary.finished}
        for model in titles
        if model in found
    }
    done = {model: tasks for model, tasks in done.items() if tasks}
    if len(done) < 2:
        return None
    shared = [task for task in next(iter(done.values())) if all(task in tasks for tasks in done.values())]
    if not shared:
        return None
    rungs = (Rung(model, titles[model], {task: tasks[task] for task in shared}) for model, tasks in done.items())
    return Ladder(key, title, tuple(rungs))


def markdown(table: Table) -> str:
    """A table for a Markdown page."""
    heads = ["", *(column.name for column in table.columns)]
    lines = [heads, ["---"] * len(heads), *([name, *cells] for name, cells in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
