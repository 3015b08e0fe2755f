"""The runs that a report is made from, and what their seeds come to."""

import csv
import dataclasses
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Literal

from amn.config import RunSpec, TrainConfig, split_settings
from amn.errors import CheckpointError, ConfigError, did_you_mean
from amn.evaluation.metrics import PASS_PERCENT
from amn.models import model_class
from amn.store.run_directory import SPEC_FILE, RunDirectory
from amn.training.sweep import parse_task

TaskName = int | str
Labels = Collection[str] | Literal["all"]
ALL_LABELS: Literal["all"] = "all"
FIGURES = ("epoch", "error_percent", "entities", "entities_read", "ratio", "banks")  # of the best epoch of a run
_OF_DATA = {"vocabulary_size", "num_answers"}  # settings that follow from the stories


@dataclass(frozen=True)
class RunRecord:
    """One run, from its directory or from a CSV file of runs."""

    directory: RunDirectory  # the run directory; a run from a CSV file has none on disk
    spec: RunSpec  # what was trained
    validation: dict[str, Any] | None  # the figures of the best epoch; None where the run is not finished
    curve: tuple[dict[str, Any], ...]  # the entries of its log
    record: dict[str, Any]  # what its result says of the training; empty where the run is not finished

    @property
    def seconds(self) -> float | None:
        """Its share of the time that its fleet was trained."""
        if "seconds_of_fleet" not in self.record:
            return None
        return float(self.record["seconds_of_fleet"]) / self.record["models_in_fleet"]

    @property
    def model(self) -> str:
        """The architecture, with the label that tells settings apart."""
        return f"{self.spec.architecture}-{self.spec.label}" if self.spec.label else self.spec.architecture

    @property
    def reached(self) -> dict[str, Any]:
        """The figures of its best epoch, so far where it is not finished; empty where it was never validated."""
        validated = [entry for entry in self.curve if "error_percent" in entry]
        chosen = [entry for entry in validated if entry.get("best")]
        return self.validation or next(iter((chosen or validated)[::-1]), {})

    def figure(self, name: str) -> float:
        """A figure of a run that was validated."""
        return float(self.reached[name])

    @property
    def training_questions(self) -> int | None:
        """How many it was trained on, as far as known."""
        found: int | None = self.record.get("training_questions", self.spec.train.train_questions)
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, those of the training first and then the model's own."""
        config = model_class(self.spec.architecture).Config
        usual = {f.name: f.default for f in dataclasses.fields(config) if f.name not in _OF_DATA}
        return dataclasses.asdict(self.spec.train) | usual | self.spec.settings


@dataclass(frozen=True)
class Summary:
    """The runs of one model on one task."""

    model: str  # its name, with the label
    task: TaskName
    finished: tuple[RunRecord, ...]  # its finished runs, by seed
    unfinished: tuple[RunRecord, ...]

    @classmethod
    def of(cls, runs: Iterable[RunRecord]) -> "Summary":
        """The summary of runs of one model and task."""
        known = sorted(runs, key=run_order)
        finished, unfinished = (tuple(r for r in known if (r.validation is None) == open) for open in (False, True))
        return cls(known[0].model, known[0].spec.task, finished, unfinished)

    @property
    def best(self) -> RunRecord:
        """The run with the least validation error, among equals the one that reads the fewest entities."""
        return min(self.finished, key=lambda run: (run.figure("error_percent"), run.figure("entities_read")))

    @property
    def judged(self) -> list[RunRecord]:
        """All runs that were validated, whether finished or not."""
        return [run for run in (*self.finished, *self.unfinished) if run.reached]

    def figures(self, name: str) -> list[float]:
        """A figure of all runs that were validated."""
        return [run.figure(name) for run in self.judged]

    @property
    def errors(self) -> list[float]:
        """The validation error of every finished seed."""
        return [run.figure("error_percent") for run in self.finished]

    @property
    def failed(self) -> int:
        """How many seeds did not solve the task."""
        return sum(error > PASS_PERCENT for error in self.errors)

    def row(self) -> dict[str, Any]:
        """The figures of the seeds; empty where none is finished."""
        row: dict[str, Any] = {"model": self.model, "task": self.task, "seeds": len(self.finished)}
        row["unfinished"] = len(self.unfinished)
        if not self.finished:
            return row
        best = self.best
        return row | {
            "best_error": best.figure("error_percent"),
            "mean_error": round(mean(self.errors), 4),
            "std_error": round(stdev(self.errors), 4) if len(self.errors) > 1 else None,
            "worst_error": max(self.errors),
            "failed_seeds": self.failed,
            "best_seed": best.spec.seed,
            "epoch": best.validation["epoch"] if best.validation else None,
            "created_banks": best.figure("banks"),
            "entities": best.figure("entities"),
            "entities_read": best.figure("entities_read"),
            "ratio": best.figure("ratio"),
        }


Summaries = Mapping[str, Mapping[TaskName, Summary]]  # by model and task


def find_runs(sources: Sequence[Path]) -> list[RunRecord]:
    """The runs in some folders, at any depth, and in CSV files as `Report.runs_csv` writes them.

    A run that is in a folder replaces the one of the same name in a CSV file.

    Raises:
        CheckpointError: where there is none, or where a file cannot be read.
    """
    folders = [source for source in sources if source.suffix != ".csv"]
    paths = {path.resolve(): path for folder in folders for path in _run_paths(folder)}
    found = [_read(RunDirectory(path)) for path in paths.values()]
    names = {run.spec.name for run in found}
    tables = [source for source in sources if source.suffix == ".csv"]
    found += [run for table in tables for run in _recorded(table) if run.spec.name not in names]
    if not found:
        raise CheckpointError(f"no run directory in {', '.join(map(str, sources))}; amn train and amn sweep make them")
    return found


def without_trials(runs: Sequence[RunRecord], labels: Labels) -> tuple[list[RunRecord], tuple[str, ...]]:
    """The runs to show, and the labels of the others: a run with a label is a trial, unless its label is wanted.

    Raises:
        ConfigError: where a label is wanted that no run has.
        CheckpointError: where all runs are trials.
    """
    held = {run.spec.label for run in runs if run.spec.label}
    wanted = held if labels == ALL_LABELS else set(labels)
    if unknown := sorted(wanted - held):
        raise ConfigError(f"--labels: no run is labelled {unknown[0]!r}: {did_you_mean(unknown[0], held)}")
    shown = [run for run in runs if run.spec.label in wanted | {""}]
    if not shown:
        raise CheckpointError(f"all runs are labelled ({', '.join(sorted(held))}), as trials are: give --labels")
    return shown, tuple(sorted(held - wanted))


def _run_paths(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: no such folder")
    yield from sorted(path.parent for path in folder.rglob(SPEC_FILE))


def _read(directory: RunDirectory) -> RunRecord:
    validation, record = None, {}
    if directory.finished:
        try:
            record = directory.result()
            validation = record["validation"]
        except (ValueError, KeyError) as error:
            raise CheckpointError(f"{directory.path}: its result cannot be read ({error})") from error
        if "error_percent" not in validation:  # no epoch of it was ever validated
            validation = None
    return RunRecord(directory, directory.spec(), validation, tuple(directory.entries()), record)


def _recorded(table: Path) -> Iterator[RunRecord]:
    """The runs of a CSV file, in its order."""
    try:
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{table}: cannot be read ({error})") from error
    for line, row in enumerate(rows, start=2):
        try:
            yield _from_row(table, row)
        except (ConfigError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{table}:{line}: not a run as amn report writes it ({error!r})") from error


def _from_row(table: Path, row: dict[str, str]) -> RunRecord:
    kind = model_class(row["architecture"])
    own, train = split_settings(json.loads(row["settings"]), {f.name for f in dataclasses.fields(kind.Config)})
    spec = RunSpec(
        task=parse_task(row["task"]),
        architecture=row["architecture"],
        seed=int(row["seed"]),
        settings=own,
        train=TrainConfig(**{**kind.recipe, **train, "epochs": int(row["epochs"])}),
        label=row["label"],
    )
    figures = {name: json.loads(row[name]) for name in FIGURES if row[name]}
    record = {name: int(row[name]) for name in ("training_questions",) if row[name]}
    finished = row["finished"] == "True"
    curve = () if finished or not figures else (figures,)
    return RunRecord(RunDirectory(table / spec.name), spec, figures if finished else None, curve, record)


def summaries(runs: Iterable[RunRecord]) -> dict[str, dict[TaskName, Summary]]:
    """What the seeds come to, by model and task."""
    groups: dict[tuple[str, TaskName], list[RunRecord]] = {}
    for run in sorted(runs, key=run_order):
        groups.setdefault((run.model, run.spec.task), []).append(run)
    found: dict[str, dict[TaskName, Summary]] = {}
    for (model, task), group in groups.items():
        found.setdefault(model, {})[task] = Summary.of(group)
    return found


def run_order(run: RunRecord) -> tuple[str, bool, int, str, int]:
    """By model, then by task, those with a number first, then by seed."""
    task = run.spec.task
    return run.model, isinstance(task, str), task if isinstance(task, int) else 0, str(task), run.spec.seed


def span(numbers: Iterable[int]) -> str:
    """The least and the greatest of some numbers as text."""
    found = sorted(set(numbers))
    return "-".join(str(number) for number in dict.fromkeys((found[0], found[-1])))
