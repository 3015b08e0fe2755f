"""How many models train how fast: a fleet against one model at a time."""

from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from amn.bench.timing import report, seconds_of
from amn.config import RunSpec, TrainConfig
from amn.training.loop import Trainer, make_runs

_WARM_UP = 3  # steps, which also capture what a GPU replays
_QUESTIONS = 2000  # more than any step count asks for, and quickly generated
_SENTENCES = 10  # the longest stories of task 1, which every step is given, so that all do the same work


def bench_train(*, models: int, steps: int, device: torch.device) -> dict[str, Any]:
    """Times updates of one model, and of a fleet, on stories of task 1."""
    train = TrainConfig(train_questions=_QUESTIONS)
    specs = [RunSpec(task=1, seed=seed, train=train) for seed in range(models)]
    with TemporaryDirectory() as folder:
        runs = make_runs(specs, Path(folder), resume=False)
        trainers = [Trainer(part, Path(folder) / "state", device, lambda _: None) for part in (runs[:1], runs)]
    rows = []
    for engine, trainer in zip(("single", "fleet"), trainers, strict=True):
        rate = len(trainer.runs) * steps / _seconds(trainer, steps)
        rows.append({"engine": engine, "models": len(trainer.runs), "model_steps_per_second": rate})
    return report("train", rows, device)


def _seconds(trainer: Trainer, count: int) -> float:
    """The seconds of so many steps of the whole fleet, after a warm-up."""
    fleet = trainer.fleet
    shape = fleet.training.shape._replace(sentences=_SENTENCES)
    plan = fleet.epoch(0, [True] * len(fleet), trainer.runs[0].spec.train.batch_size)

    def take(steps: int) -> None:
        for step in islice(cycle(plan), steps):
            fleet.train_step(replace(step, shape=shape))

    take(_WARM_UP)
    return seconds_of(lambda: take(count), fleet.device)
