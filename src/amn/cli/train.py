"""Verbs that train: one run, or a sweep of many."""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amn.cli.output import note
from amn.errors import ConfigError

if TYPE_CHECKING:
    import torch

    from amn.training.config import RunSpec


def train(
    *,
    task: str,
    model: str = "amn",
    data: Path | None = None,
    seed: int = 0,
    epochs: int | None = None,
    device: str = "auto",
    out: Path = Path("runs"),
    resume: bool = False,
    set_: tuple[str, ...] = (),
    threads: int = 1,
) -> None:
    """Train one model.

    Example: amn train --task 1 --epochs 5

    Args:
        task: 1 to 20, scaled, multi, or joint for all twenty together.
        model: the architecture.
        data: folder of bAbI files, or one file; without it the stories are generated.
        seed: of weights, order and draws.
        epochs: passes over the training questions.
        device: cpu, cuda, or auto.
        out: folder for run directories; a run goes to a folder of its own in it.
        resume: go on with a run that was stopped.
        set_: a setting of model or training, as name=value; may be given several times.
        threads: of torch on a CPU.
    """
    import torch

    from amn.training.loop import Trainer, make_runs

    torch.set_num_threads(threads)
    spec = specs([_task(task)], [model], [seed], data, epochs, set_)[0]
    out.mkdir(parents=True, exist_ok=True)
    (run,) = make_runs([spec], out, resume=resume)
    if run.directory.finished:
        note(f"{run.directory.path} is finished already")
        return
    trainer = Trainer([run], run.directory.state, choose_device(device), show_progress)
    if resume:
        trainer.resume()
    trainer.fit()
    note(f"best model: {run.directory.best}")


def sweep(
    *,
    tasks: str = "1-20",
    models: str = "amn",
    seeds: str = "0-4",
    data: Path | None = None,
    epochs: int | None = None,
    engine: Literal["fleet"] = "fleet",
    device: str = "auto",
    out: Path = Path("runs"),
    set_: tuple[str, ...] = (),
    label: str = "",
    workers: int = 1,
    threads: int = 1,
    stop_after: float | None = None,
    compile: bool = False,
) -> None:
    """Train tasks x models x seeds; what is finished is skipped, what was stopped goes on.

    Example: amn sweep --tasks 1,6,9-13 --seeds 0-4 --data babi/en-valid-10k --out runs

    Args:
        tasks: numbers, ranges, scaled, multi, joint.
        models: architectures, separated by commas.
        seeds: numbers and ranges.
        data: folder of bAbI files; without it the stories are generated.
        epochs: passes over the training questions.
        engine: fleet trains like models together in one process.
        device: cpu, cuda, or auto.
        out: folder for run directories.
        set_: a setting of model or training, as name=value; may be given several times.
        label: part of the runs' names, to tell settings apart.
        workers: processes that prepare data.
        threads: of torch on a CPU.
        stop_after: save and stop after so many seconds.
        compile: compile the step; pays for long trainings on a GPU.
    """
    import torch

    from amn.training.sweep import parse_numbers, parse_tasks, train_fleets

    assert engine == "fleet"
    torch.set_num_threads(threads)
    architectures = [name.strip() for name in models.split(",")]
    wanted = specs(parse_tasks(tasks), architectures, parse_numbers(seeds), data, epochs, set_, label)
    train_fleets(
        wanted, out, choose_device(device), show_progress, workers=workers, stop_after=stop_after, compiled=compile
    )


def _task(text: str) -> int | str:
    from amn.training.sweep import parse_tasks

    tasks = parse_tasks(text)
    if len(tasks) != 1:
        raise ConfigError(f"expected one task, found {text!r}; amn sweep trains several")
    return tasks[0]


def specs(
    tasks: list[int | str],
    models: list[str],
    seeds: list[int],
    data: Path | None,
    epochs: int | None,
    settings: tuple[str, ...],
    label: str = "",
) -> "list[RunSpec]":
    """The runs of a grid."""
    import dataclasses

    from amn.models import model_class
    from amn.training.config import RunSpec, TrainConfig, split_settings

    given = dict(_setting(text) for text in settings)
    if epochs is not None:
        given["epochs"] = epochs
    found = []
    for model in models:
        kind = model_class(model)
        own = {f.name for f in dataclasses.fields(kind.Config)}
        of_model, of_training = split_settings(given, own)
        recipe = TrainConfig(**{**getattr(kind, "recipe", {}), **of_training})
        for task in tasks:
            for seed in seeds:
                where = None if data is None else str(data)
                found.append(
                    RunSpec(
                        task=task,
                        architecture=model,
                        seed=seed,
                        data=where,
                        settings=of_model,
                        train=recipe,
                        label=label,
                    )
                )
    return found


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"a setting is written name=value, found {text!r}")
    try:
        return name.strip(), json_module.loads(value)
    except ValueError:
        return name.strip(), value


def choose_device(name: str) -> "torch.device":
    """The device that a name means; auto takes a GPU where there is one."""
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.startswith("cuda"):
        torch.set_float32_matmul_precision("high")
    return torch.device(name)


def show_progress(entry: dict[str, Any]) -> None:
    """A line an epoch."""
    loss = " ".join(f"{name} {value:.3f}" for name, value in entry["loss"].items())
    score = (
        f"error {entry['error_percent']:.2f} % ratio {entry['ratio']:.3f} banks {entry['banks']:.1f}"
        if "ratio" in entry
        else ""
    )
    done = entry["epoch"] + 1
    left = entry["seconds"] / done * (entry["epochs"] - done)
    print(
        f"{entry['run']} epoch {done}/{entry['epochs']} {loss} {score} {'*' if entry.get('best') else ' '} left {left:.0f} s",
        file=sys.stderr,
        flush=True,
    )
