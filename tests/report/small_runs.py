"""Run directories as training leaves them, made in no time."""

from pathlib import Path
from typing import Any

import torch

from amn.config import RunSpec
from amn.data.source import read_stories
from amn.data.vocabulary import Vocabulary
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.store.run_directory import RunDirectory

SMALL: dict[str, dict[str, Any]] = {
    "amn": {"hidden": 8, "heads": 2},
    "amn-paper": {"hidden": 8, "capacity": 64, "max_banks": 2},
}


def make_run(
    out: Path, data: Path, task: int | str, seed: int = 0, error: float | None = 0.0, read: float = 2.0, **spec: Any
) -> RunDirectory:
    """A run directory as training leaves it, with weights as they were drawn; unfinished where there is no error."""
    of = RunSpec(task=task, seed=seed, data=str(data), **spec)
    directory = RunDirectory(out / of.name)
    directory.start(of, resume=False)
    score = {"error_percent": error, "entities": 10.0, "entities_read": read, "ratio": read / 10, "banks": 3.0}
    directory.log({"epoch": 0, "loss": {"answer": 1.0}, "seconds": 1.0, **score, "error_percent": 50.0})
    if error is None:
        return directory
    directory.log({"epoch": 1, "loss": {"answer": 0.1}, "seconds": 2.0, **score, "best": True})
    record: dict[str, Any] = {"run": of.to_json(), "validation": {"epoch": 1, "questions": 40, **score}}
    record |= {"training_data": "released", "training_questions": 40, "torch": "2.0"}
    record |= {"seconds_of_fleet": 10.0, "models_in_fleet": 4}
    directory.save_best(_drawn(of, data, record), "")
    directory.finish(record)
    return directory


def bare_run(out: Path, spec: RunSpec, error: float | None, ratio: float = 0.1, finished: bool = True) -> None:
    """A run without weights, which is all that tables of errors read; never validated where there is no error."""
    directory = RunDirectory(out / spec.name)
    directory.start(spec, resume=False)
    score = {"error_percent": error, "entities": 10.0, "entities_read": 10 * ratio, "ratio": ratio, "banks": 3.0}
    if error is not None:
        directory.log({"epoch": 0, **score, "best": True})
        directory.log({"epoch": 1, **score, "error_percent": error + 1})
    if finished:
        questions = spec.train.train_questions or 9000
        directory.finish({"validation": {"epoch": 0, "questions": 40, **score}, "training_questions": questions})


def _drawn(spec: RunSpec, data: Path, record: dict[str, Any]) -> TrainedModel:
    vocabulary = Vocabulary.of(read_stories(data / f"qa{spec.task if spec.task == 6 else 1}_train.txt"))
    settings = {**SMALL.get(spec.architecture, {"hidden": 8}), **spec.settings}
    model = build_model(spec.architecture, vocabulary, settings)
    if spec.architecture == "amn":
        with torch.no_grad():  # so that banks are created and some entities stay behind
            model.get_parameter("create.bias").fill_(0.5)
            model.get_parameter("move_state.bias").fill_(0.0)
    return TrainedModel.of(architecture=spec.architecture, model=model, vocabulary=vocabulary, record=record)
