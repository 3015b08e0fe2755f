"""Verbs that train: one run, or a sweep of many."""

import json as json_module
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amn.cli.output import note, print_json
from amn.cli.progress import Lines, training_display
from amn.errors import AMNError, ConfigError

if TYPE_CHECKING:
    import torch

    from amn.config import RunSpec
    from amn.training.loop import Progress, Run


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
    label: str = "",
    threads: int = 1,
    checkpoint_every: float = 120.0,
    log_to: Literal["jsonl", "tensorboard"] = "jsonl",
    print_config: bool = False,
    json: bool = False,
) -> None:
    """Train one model.

    Ctrl-C saves, and says how to go on.

    Example: amn train --task 1

    Args:
        task: 1 to 20, scaled, multi, or joint for all twenty together.
        model: the architecture.
        data: folder of bAbI files, or one file; without it the stories are generated.
        seed: of weights, order and draws.
        epochs: passes over the training questions; by default 8 for tasks that amn learns quickly (1, 6, 9, 10, 12,
            15, 20; two minutes on a CPU), else 40, or what the recipe of the model says.
        device: cpu, cuda, or auto.
        out: folder for run directories; a run goes to a folder of its own in it.
        resume: go on with a run that was stopped.
        set_: a setting of model or training, as name=value; may be given several times.
        label: part of the run's name, to tell settings apart.
        threads: of torch on a CPU.
        checkpoint_every: seconds between checkpoints.
        log_to: the log of the run directory is always written; tensorboard writes there too.
        print_config: print what would be trained as JSON, and stop.
        json: print the result as JSON.
    """
    from amn.training.loop import make_runs

    spec = _one_run(task, model, data, seed, epochs, set_, label)
    if print_config:
        print_json(spec.to_json())
        return
    where = _prepare(device, threads)
    (run,) = make_runs([spec], out, resume=resume)
    if run.directory.finished:
        note(f"{run.directory.path} is finished already")
    else:
        _fit(run, resume, where, checkpoint_every, log_to)
    note(f"best model: {run.directory.best}")
    if json:
        print_json(run.directory.result())


def _one_run(
    task: str, model: str, data: Path | None, seed: int, epochs: int | None, settings: tuple[str, ...], label: str
) -> "RunSpec":
    from amn.training.grid import Grid, quick
    from amn.training.sweep import parse_tasks

    tasks = parse_tasks(task)
    if len(tasks) != 1:
        raise ConfigError(f"expected one task, found {task!r}; amn sweep trains several")
    given = _settings(settings, epochs)
    grid = Grid(tasks=tasks, models=[model], seeds=[seed], data=_text(data), settings=given, label=label)
    (spec,) = grid.specs()
    return spec if "epochs" in given else quick(spec)


def _prepare(device: str, threads: int) -> "torch.device":
    """Sets up torch and gives the device to compute on."""
    import torch

    from amn.inference.device import choose_device

    torch.set_num_threads(threads)
    return choose_device(device)


def _fit(run: "Run", resume: bool, device: "torch.device", checkpoint_every: float, log_to: str) -> None:
    """Trains a run to its end, or until Ctrl-C."""
    from amn.training.loop import Interrupted, Trainer

    with training_display() as display:
        trainer = Trainer(
            [run],
            run.directory.state,
            device,
            _logging(display, run, log_to),
            stepped=display.step,
            checkpoint_every=checkpoint_every,
        )
        if resume:
            trainer.resume()
        try:
            trainer.fit()
        except Interrupted:
            raise _stopped("--resume") from None


def _logging(display: Lines, run: "Run", log_to: str) -> "Progress":
    """What is told of every epoch."""
    if log_to != "tensorboard":
        return display.epoch
    from amn.training.tensorboard import TensorBoardLog

    log = TensorBoardLog(run.directory.path / "tensorboard")

    def both(entry: dict[str, Any]) -> None:
        log.note(entry)
        display.epoch(entry)

    return both


def _stopped(*extra: str) -> AMNError:
    """The error for Ctrl-C, with the line that goes on."""
    from amn.training.loop import Interrupted

    words = [*sys.argv[1:], *(word for word in extra if word not in sys.argv)]
    return Interrupted(f"stopped; all is saved. To go on: {shlex.join(['amn', *words])}")


def sweep(
    *,
    tasks: str = "1-20",
    models: str = "amn",
    seeds: str = "0-4",
    data: Path | None = None,
    epochs: int | None = None,
    engine: Literal["fleet", "process", "ray"] = "fleet",
    device: str = "auto",
    out: Path = Path("runs"),
    set_: tuple[str, ...] = (),
    label: str = "",
    workers: int | None = None,
    threads: int = 1,
    fleet_size: int | None = None,
    stop_after: float | None = None,
    checkpoint_every: float = 120.0,
    compile: bool = False,
    address: str | None = None,
) -> None:
    """Train tasks x models x seeds; what is finished is skipped, what was stopped goes on.

    Example: amn sweep --tasks 1,6,9-13 --seeds 0-4 --data babi/en-valid-10k --out runs

    Args:
        tasks: numbers, ranges, scaled, multi, joint.
        models: architectures, separated by commas.
        seeds: numbers and ranges.
        data: folder of bAbI files; without it the stories are generated.
        epochs: passes over the training questions; by default 40, or what the recipe of a model says.
        engine: fleet trains like models together in this process; process divides the runs among processes of this
            machine; ray among the nodes of a cluster, which need share no disk.
        device: cpu, cuda, or auto.
        out: folder for run directories.
        set_: a setting of model or training, as name=value; may be given several times.
        label: part of the runs' names, to tell settings apart.
        workers: processes that prepare data (fleet), or that train (process, and ray where it is started here).
        threads: of torch on a CPU, in each process.
        fleet_size: runs that a worker of process or ray trains together; by default 1, and 16 on a GPU of ray.
        stop_after: save and stop after so many seconds.
        checkpoint_every: seconds between checkpoints, which is the most that is lost when a worker is.
        compile: compile the step; pays for long trainings on a GPU.
        address: of a Ray cluster; by default that in RAY_ADDRESS, or else one is started on this machine.
    """
    from amn.training.engines import Options
    from amn.training.engines import sweep as run
    from amn.training.grid import Grid
    from amn.training.loop import Interrupted
    from amn.training.sweep import parse_numbers, parse_tasks

    grid = Grid(
        tasks=parse_tasks(tasks),
        models=[name.strip() for name in models.split(",")],
        seeds=parse_numbers(seeds),
        data=_text(data),
        settings=_settings(set_, epochs),
        label=label,
    )
    options = Options(
        engine=engine,
        device=device,
        workers=workers,
        threads=threads,
        fleet_size=fleet_size,
        stop_after=stop_after,
        checkpoint_every=checkpoint_every,
        compiled=compile,
        address=address,
    )
    try:
        run(grid.specs(), out, Lines().epoch, options)
    except Interrupted:
        raise _stopped() from None


def bench(*, models: int = 16, steps: int = 20, device: str = "auto", threads: int = 1, json: bool = False) -> None:
    """Compare a fleet with one model at a time: models x steps a second.

    Args:
        models: of the fleet.
        steps: to time, after a few to warm up.
        device: cpu, cuda, or auto.
        threads: of torch on a CPU.
        json: print the figures as JSON.
    """
    from amn.bench.train import bench_train

    found = bench_train(models=models, steps=steps, device=_prepare(device, threads))
    if json:
        print_json(found)
        return
    print(found["machine"])
    for row in found["rows"]:
        print(f"{row['engine']:8}{row['models']:5} models{row['model_steps_per_second']:12.1f} model steps a second")


def _settings(texts: tuple[str, ...], epochs: int | None) -> dict[str, Any]:
    given = dict(_setting(text) for text in texts)
    return given if epochs is None else given | {"epochs": epochs}


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"a setting is written name=value, found {text!r}")
    try:
        return name.strip(), json_module.loads(value)
    except ValueError:
        return name.strip(), value


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
