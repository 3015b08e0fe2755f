"""Trainings that take seconds: small models, few stories."""

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from multiprocessing import current_process, get_context
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import torch
from torch import Tensor

from amn.cli.main import main
from amn.config import RunSpec, TrainConfig
from amn.data.babi import write_babi
from amn.data.tasks import generate
from amn.store.run_directory import RunDirectory
from amn.training.loop import Trainer, make_runs

CPU = torch.device("cpu")
QUESTIONS = {1: 70, 6: 40, 15: 54}  # training questions of each task; their numbers of steps differ
SETTINGS = {"amn": {"heads": 2}, "amn-paper": {"max_banks": 2, "powers": 1, "capacity": 32}}  # beside the width
SETTINGS["ggtnn"] = {"text_width": 16, "message_width": 8}
SETTINGS |= {f"amn-paper-with-{step}": SETTINGS["amn-paper"] for step in ("question", "joining", "attention", "budget")}
SOURCE = Path(__file__).parents[2] / "src"
SHORT, LONG = 4, 50  # the most sentences of a story: with few, a step takes a third of the time
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
    config = TrainConfig(**{"epochs": 3, "batch_size": 16, "warmup_steps": 5, "window": SHORT, **train})
    return RunSpec(task=task, architecture=architecture, seed=seed, data=str(data), settings=settings, train=config)


def stop_at(step: int, number: int = signal.SIGINT) -> Callable[[int, int], None]:
    """Sends this process a signal at a step."""
    return lambda done, _total: os.kill(os.getpid(), number) if done == step else None


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


class Started:
    """The command line in a process of its own; it is forked from one that has torch, and so starts at once.

    Args:
        words: the line.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._texts = [NamedTemporaryFile("r"), NamedTemporaryFile("r")]
        context = get_context("forkserver")
        context.set_forkserver_preload(["torch"])
        files = [text.name for text in self._texts]
        # Whatever a test leaves behind ends with the tests.
        self._process = context.Process(target=_command_line, args=(words, *files), daemon=True)
        self._process.start()

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def interrupt(self) -> None:
        """Presses Ctrl-C."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGINT)

    def communicate(self, timeout: float = 120) -> tuple[str, str]:
        """What it has written to standard output and standard error, when it has ended."""
        self._process.join(timeout)
        assert self.returncode is not None, "it has not ended"
        return self._texts[0].read(), self._texts[1].read()


def _command_line(words: Sequence[str], out: str, errors: str) -> None:
    for number, name in ((1, out), (2, errors)):
        os.dup2(os.open(name, os.O_WRONLY), number)
    current_process()._config["daemon"] = False  # type: ignore[attr-defined] # it may have workers of its own
    os.environ.update(ENVIRONMENT)
    sys.argv = ["amn", *words]
    sys.exit(main())


def amn(*words: object) -> Started:
    """The command line in a process of its own."""
    return Started([str(word) for word in words])


def options_of(spec: RunSpec) -> list[str]:
    """The options of the command line by which `small` runs are trained, against any recipe of their model."""
    given = {**spec.settings, **asdict(spec.train)}
    pairs = [("--set", f"{name}={json.dumps(value)}") for name, value in given.items()]
    return ["--data", str(spec.data), *(word for pair in pairs for word in pair)]
