"""How many models train how fast: a fleet against one model at a time."""

import os
import platform
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from amn.config import RunSpec, TrainConfig
from amn.training.loop import Trainer, make_runs
from amn.training.plan import Step, epoch_plan

_WARM_UP = 3
_QUESTIONS = 2000  # more than any step count asks for, and quickly generated
_SENTENCES = 10  # the longest stories of task 1, which every step is given, so that all do the same work


def bench_train(*, models: int, steps: int, device: torch.device) -> dict[str, Any]:
    """Times updates of one model, and of a fleet, on stories of task 1."""
    train = TrainConfig(train_questions=_QUESTIONS)
    specs = [RunSpec(task=1, seed=seed, train=train) for seed in range(models)]
    with TemporaryDirectory() as folder:
        runs = make_runs(specs, Path(folder), resume=False)
        trainers = [Trainer(part, Path(folder) / "state", device, _ignore) for part in (runs[:1], runs)]
    rates = [_steps_per_second(trainer, steps) * len(trainer.runs) for trainer in trainers]
    rows = [
        {"engine": "single", "models": 1, "model_steps_per_second": round(rates[0], 2)},
        {"engine": "fleet", "models": models, "model_steps_per_second": round(rates[1], 2)},
    ]
    return {"bench": "train", "machine": _machine(device), "rows": rows}


def _ignore(_entry: dict[str, Any]) -> None:
    """Nobody watches a benchmark train."""


def _steps_per_second(trainer: Trainer, count: int) -> float:
    """Steps of the whole fleet in a second, after a warm-up that also captures what a GPU replays."""
    fleet = trainer.fleet
    plan = epoch_plan(fleet, 0, [True] * len(fleet), trainer.runs[0].spec.train.batch_size)

    def take(step: Step) -> None:
        fleet.train_step(step.done, step.indices, _SENTENCES, plan.per_model)

    for step in plan.steps[:_WARM_UP]:
        take(step)
    _wait(fleet.device)
    started = time.perf_counter()
    for i in range(count):
        take(plan.steps[i % len(plan.steps)])
    _wait(fleet.device)
    return count / (time.perf_counter() - started)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _machine(device: torch.device) -> str:
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, torch {torch.__version__}"
    threads = torch.get_num_threads()
    return f"{platform.machine()}, {os.cpu_count()} processors, {threads} torch threads, torch {torch.__version__}"
