"""The ladder from the paper to the default model: what each change is worth, left out alone or added to the paper."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import mean

from amn.evaluation.metrics import PASS_PERCENT
from amn.report.runs import Summaries, Summary, TaskName, span
from amn.report.tables import MISSING, NOT_GIVEN, Column, Table, marked, shown

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
FILLED = {"amn": "default", "amn-filled-bank": "reads the deepest bank that holds anything"}


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
    """Models that differ by one change each."""

    key: str
    title: str
    rungs: tuple[Rung, ...]

    @property
    def tasks(self) -> list[TaskName]:
        """The tasks that at least two models have, which can be compared."""
        found = dict.fromkeys(task for rung in self.rungs for task in rung.tasks)
        several = [task for task in found if sum(task in rung.tasks for rung in self.rungs) > 1]
        return sorted(several, key=lambda task: (isinstance(task, str), task))

    @property
    def shared(self) -> list[TaskName]:
        """The tasks that all models have finished, over which means are taken."""
        return [task for task in self.tasks if all(rung.finished(task) for rung in self.rungs)]

    def table(self) -> Table:
        """A line for each model."""
        names = ("mean error %", "best seeds, error %", "tasks over 5 %", "ratio", "seeds")
        columns = [Column(f"{len(self.shared)} tasks", name) for name in names]
        columns += [Column("mean error % of a task", str(task)) for task in self.tasks]
        runs = (run for rung in self.rungs for summary in rung.tasks.values() for run in summary.judged)
        epochs = span(run.spec.train.epochs for run in runs)
        note = (
            "Validation error of each run's best epoch, mean over seeds, answers from the last bank; all have the same "
            f"training ({epochs} epochs). Means are over the {len(self.shared)} tasks that all have finished; ratio: "
            "entities read over entities; *: some of these runs are not finished, and the figure is how far they got."
        )
        return Table(self.key, self.title, note, tuple(columns), tuple(map(self._row, self.rungs)))

    def _row(self, rung: Rung) -> tuple[str, tuple[str, ...]]:
        shared, error = self.shared, partial(rung.figure, "error_percent")
        seeds = span(len(summary.judged) for summary in rung.tasks.values())
        cells = tuple(marked(rung.tasks[task]) if task in rung.tasks else NOT_GIVEN for task in self.tasks)
        if not shared:
            return rung.title, (*[MISSING] * 4, seeds, *cells)
        failed = sum(error([task]) > PASS_PERCENT for task in shared)
        sums = shown(error(shared)), shown(error(shared, min)), str(failed), shown(rung.figure("ratio", shared), 3)
        return rung.title, (*sums, seeds, *cells)


def ladders(found: Summaries) -> list[Ladder]:
    """The ladders of which at least two models were trained on the same task."""
    made = (
        _ladder("ladder-without", "Without one deviation each", WITHOUT, found),
        _ladder("ladder-with", "From the paper, one change after another", WITH, found),
        _ladder("filled-bank", "Without empty banks", FILLED, found),
    )
    return [ladder for ladder in made if ladder.tasks]


def _ladder(key: str, title: str, titles: Mapping[str, str], found: Summaries) -> Ladder:
    judged = {
        model: {task: summary for task, summary in found[model].items() if summary.judged}
        for model in titles
        if model in found
    }
    return Ladder(key, title, tuple(Rung(titles[model], tasks) for model, tasks in judged.items() if tasks))
