"""Trainings that take seconds: small models, few stories."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from amn.config import RunSpec, TrainConfig
from amn.data.babi import write_babi
from amn.data.tasks import generate
from amn.store.run_directory import RunDirectory
from amn.training.loop import Trainer, make_runs

CPU = torch.device("cpu")
QUESTIONS = {1: 70, 6: 40, 15: 54}  # training questions of each task; their numbers of steps differ
SETTINGS = {"amn": {"heads": 2}, "amn-paper": {"max_banks": 2, "powers": 1, "capacity": 32}}  # beside the width
SETTINGS |= {f"amn-paper-with-{step}": SETTINGS["amn-paper"] for step in ("question", "joining", "norm")}
SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}


def write_data(folder: Path) -> Path:
    """A folder of small bAbI files."""
    for task, count in QUESTIONS.items():
        write_babi(generate(task, questions=count, seed=1), folder / f"qa{task}_train.txt")
        write_babi(generate(task, questions=30, seed=2), folder / f"qa{task}_valid.txt")
    return folder


def small(data: Path, task: int = 1, seed: int = 0, architecture: str = "amn", **train: Any) -> RunSpec:
    """A run of a small model."""
    settings = {"hidden": 8, **SETTINGS.get(architecture, {})}
    config = TrainConfig(**{"epochs": 3, "batch_size": 16, "warmup_steps": 5, **train})
    return RunSpec(task=task, architecture=architecture, seed=seed, data=str(data), settings=settings, train=config)


def trainer_of(specs: Sequence[RunSpec], out: Path, *, resume: bool = False, **options: Any) -> Trainer:
    """A trainer of one fleet with its checkpoint in `out`."""
    return Trainer(make_runs(specs, out, resume=resume), out / "state", CPU, lambda _: None, **options)


def weights_of(trainer: Trainer, spec: RunSpec) -> dict[str, Tensor]:
    """The last weights of a run, without the room that it has in a fleet."""
    i = [run.spec for run in trainer.runs].index(spec)
    model = trainer.fleet.members[i].model
    trainer.fleet.layout.write(trainer.fleet.weights.detach()[i], model)
    return {name: value.clone() for name, value in model.state_dict().items()}


def log_of(out: Path, spec: RunSpec) -> list[dict[str, Any]]:
    """The log of a run without times."""
    entries = RunDirectory(out / spec.name).entries()
    return [{name: value for name, value in entry.items() if name != "seconds"} for entry in entries]


def ledger_of(out: Path) -> list[dict[str, Any]]:
    """The events of a sweep so far."""
    path = out / "ledger.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def amn(*words: object) -> "subprocess.Popen[str]":
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "amn", *map(str, words)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def options_of(spec: RunSpec) -> list[str]:
    """The options of the command line by which `small` runs are trained, against any recipe of their model."""
    given = {**spec.settings, **asdict(spec.train)}
    pairs = [("--set", f"{name}={json.dumps(value)}") for name, value in given.items()]
    return ["--data", str(spec.data), *(word for pair in pairs for word in pair)]
