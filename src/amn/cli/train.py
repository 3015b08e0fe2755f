"""Verbs that train: one run, or a sweep of many."""

import json as json_module
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amn.cli.output import note, print_json
from amn.data.rows import Columns
from amn.errors import AMNError, ColumnError, ConfigError, DataError

if TYPE_CHECKING:
    import torch

    from amn.config import RunSpec
    from amn.data.source import OwnStories
    from amn.store.run_directory import RunDirectory
    from amn.training.own import OwnPlan

RUNS = Path("runs")  # the default folder of runs
_FIRST_ROW = 2  # the number of its line at most: a table has a header


def train(
    stories: str | None = None,
    /,
    *,
    task: str | None = None,
    model: str = "amn",
    data: Path | None = None,
    validation: Path | None = None,
    start: str | None = None,
    distract: Path | None = None,
    seed: int = 0,
    epochs: int | None = None,
    device: str = "auto",
    out: Path | None = None,
    resume: bool = False,
    story_column: str | None = None,
    question_column: str | None = None,
    answer_column: str | None = None,
    set_: tuple[str, ...] = (),
    label: str = "",
    threads: int = 1,
    checkpoint_every: float = 120.0,
    log_to: Literal["jsonl", "tensorboard"] = "jsonl",
    print_config: bool = False,
    json: bool = False,
) -> None:
    """Train one model, on your own stories or on a task.

    For your own stories, settings that you do not give are chosen to suit them. Ctrl-C saves the run and prints the
    command that continues it.

        amn train robots.jsonl --out my-model
        amn train --task 1

    Args:
        stories: your own stories: a file (.jsonl, .json, .csv, .tsv, .parquet, else bAbI text), a folder of such files,
            or - for standard input.
        task: 1 to 20, scaled, multi, short, joint for all twenty together, or a board such as stepgame.
        model: the architecture.
        data: for a task, a folder of its files, or one file; by default the stories are generated.
        validation: your own stories for validation; by default a tenth of the stories is held out.
        start: a trained model to start from, by name or directory; none for random weights.
        distract: a folder of texts (*.txt) that the model should ignore: some of their sentences are mixed into the
            training stories, and then a gate is trained that turns such sentences away, for long texts.
        seed: the random seed.
        epochs: passes over the training questions; by default chosen by their number. For a task 8 if amn learns it
            quickly (1, 6, 9, 10, 12, 15, 20; two minutes on a CPU), else 40, or what the recipe of the model says.
        device: cpu, cuda, or auto.
        out: the run directory, which --model accepts; by default runs/ and the name of the data or task.
        resume: continue a run that was stopped.
        story_column: the name of the story column, if it is not story, context, passage or text.
        question_column: the name of the question column, if it is not question or query.
        answer_column: the name of the answer column, if it is not answer, label or target.
        set_: a setting of the model or the training, as name=value; may be given several times.
        label: part of the name of a task's run, to tell settings apart.
        threads: threads of torch on a CPU.
        checkpoint_every: seconds between checkpoints.
        log_to: tensorboard to write its files too, besides the log of the run directory.
        print_config: print the configuration as JSON, and stop.
        json: print the result as JSON.
    """
    from amn.inference.device import choose_device
    from amn.store.run_directory import RunDirectory
    from amn.training.precision import check_precision
    from amn.training.sweep import Grid, parse_task, quick

    given = _settings(set_, epochs, start) | ({} if distract is None else {"distract": str(distract)})
    plan, folder = None, None if data is None else str(data)
    if task is not None:
        if stories is not None:
            raise ConfigError(f"give either {stories} or --task {task}; use --data for the files of a task")
        tasks = [parse_task(task)]
        (spec,) = Grid(tasks=tasks, models=[model], seeds=[seed], data=folder, settings=given, label=label).specs()
        spec = spec if "epochs" in given else quick(spec)
        path = out or RUNS / spec.name
    else:
        columns = Columns(story=story_column, question=question_column, answer=answer_column)
        plan, path = _plan(
            stories or folder, validation, columns, given, model=model, seed=seed, out=out, resume=resume
        )
        spec = plan.spec
    if print_config:
        print_json(spec.to_json())
        return
    where = choose_device(device, threads)
    check_precision([spec], where.type)
    for line in [*(plan.describe() if plan else ()), f"training in {path}; Ctrl-C saves and stops"]:
        note(line)
    if resume and RunDirectory(path).finished:
        note(f"{path} is already finished")
    directory = _fit(spec, plan, path, where, resume, checkpoint_every, log_to)
    if distract is not None:
        from amn.training.gate import gate_run

        gate_run(directory, distract, note, None if plan is None else (plan.training, plan.validation))
    if plan is not None:
        _conclude(plan, directory, json)
        return
    note(f"best model: {directory.best}")
    if json:
        print_json(directory.result())


def _plan(
    data: str | None,
    validation: Path | None,
    columns: Columns,
    given: dict[str, Any],
    *,
    model: str,
    seed: int,
    out: Path | None,
    resume: bool,
) -> tuple["OwnPlan", Path]:
    """The plan of a training on the user's stories, and its directory.

    A resumed run uses the stories in its directory: files may have changed, and standard input is gone.
    """
    from amn.data.source import name_of
    from amn.store.run_directory import RunDirectory
    from amn.training.own import kept_stories, plan_own, run_name

    if data is None and not (resume and out):
        raise ConfigError("give a file of stories (amn train stories.jsonl), or --task for a generated task")
    path = out or RUNS / run_name(name_of(data or ""), model, seed)
    kept = kept_stories(RunDirectory(path)) if resume else None
    if kept is None and data is None:
        raise ConfigError(f"{path} holds no run to continue: give the file of stories too")
    if kept is not None and data is None:
        spec = RunDirectory(path).spec()
        data, model, seed = spec.data, spec.architecture, spec.seed
    stories = kept or _read(data, columns)
    if kept is None and validation is not None:
        stories = stories.judged_by(_read(validation, columns))
    return plan_own(stories, given=given, model=model, seed=seed, data=data), path


def _read(data: str | Path | None, columns: Columns) -> "OwnStories":
    """The user's stories; of a bad line it is said how to see the others, and how to do without them."""
    from amn.data.source import own_stories

    try:
        return own_stories(data, columns=columns)
    except DataError as error:
        of_all = isinstance(error, ColumnError) and (error.line or 0) <= _FIRST_ROW  # the others are no better
        if error.line is None or of_all or str(data) == "-":
            raise
        name = shlex.quote(str(data))
        raise AMNError(
            f"{error}\n"
            f"  all bad lines: amn data check {name}\n"
            f"  without them:  amn data convert {name} good.jsonl --skip-bad"
        ) from error


def _conclude(plan: "OwnPlan", directory: "RunDirectory", json: bool) -> None:
    """Scores a finished run, and prints the result, advice, and how to use the model."""
    from amn.fitting import conclude

    outcome = conclude(plan, directory)
    if json:
        print_json(outcome.to_json(directory.path))
        return
    for line in outcome.lines(directory.path):
        print(line)


def _fit(
    spec: "RunSpec",
    plan: "OwnPlan | None",
    path: Path,
    device: "torch.device",
    resume: bool,
    checkpoint_every: float,
    log_to: str,
) -> "RunDirectory":
    """Trains a run to its end, or until Ctrl-C."""
    from amn.training.display import tensorboard, training_display
    from amn.training.loop import Interrupted
    from amn.training.own import fit_own
    from amn.training.prepare import data_key, encode_all
    from amn.training.single import FitOptions, fit_run

    with training_display() as display:
        options = FitOptions(
            device=device,
            progress=tensorboard(path / "tensorboard", display.epoch) if log_to == "tensorboard" else display.epoch,
            stepped=display.step,
            resume=resume,
            checkpoint_every=checkpoint_every,
        )
        try:
            if plan is not None:
                return fit_own(plan, path, options)
            (data,) = encode_all([data_key(spec)])
            return fit_run(spec, data, path, options)
        except Interrupted:
            raise _stopped("--resume") from None


def _stopped(*extra: str) -> AMNError:
    """The error after Ctrl-C, with the command that continues."""
    from amn.training.loop import Interrupted

    words = [*sys.argv[1:], *(word for word in extra if word not in sys.argv)]
    return Interrupted(f"stopped; everything is saved. To continue: {shlex.join(['amn', *words])}")


def sweep(
    *,
    tasks: str = "1-20",
    models: str = "amn",
    seeds: str = "0-4",
    data: Path | None = None,
    epochs: int | None = None,
    engine: Literal["fleet", "process", "ray"] = "fleet",
    device: str = "auto",
    out: Path = RUNS,
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
    """Train tasks x models x seeds; finished runs are skipped, and stopped ones continued.

    Example: amn sweep --tasks 1,6,9-13 --seeds 0-4 --data babi/en-valid-10k --out runs

    Args:
        tasks: numbers, ranges, scaled, multi, short, joint.
        models: architectures, separated by commas.
        seeds: numbers and ranges.
        data: a folder of bAbI files; by default the stories are generated.
        epochs: passes over the training questions; by default 40, or what the recipe of a model says.
        engine: fleet trains similar models together in this process; process divides the runs among processes of this
            machine; ray among the nodes of a cluster, which need not share a disk.
        device: cpu, cuda, or auto.
        out: the folder of the run directories.
        set_: a setting of the model or the training, as name=value; may be given several times.
        label: part of the names of the runs, to tell settings apart.
        workers: processes that prepare data (fleet), or that train (process, and ray if it is started here).
        threads: threads of torch on a CPU, in each process.
        fleet_size: runs that a worker of process or ray trains together; by default 1, and 16 on a GPU with ray.
        stop_after: save and stop after this many seconds.
        checkpoint_every: seconds between checkpoints, the most that is lost with a worker.
        compile: compile the training step, which pays for long trainings on a GPU.
        address: the address of a Ray cluster; by default RAY_ADDRESS, or else a cluster is started on this machine.
    """
    from amn.training.display import Lines
    from amn.training.engines import sweep as run
    from amn.training.loop import Interrupted
    from amn.training.sweep import Grid, Options, parse_numbers, parse_tasks

    grid = Grid(
        tasks=parse_tasks(tasks),
        models=[name.strip() for name in models.split(",")],
        seeds=parse_numbers(seeds),
        data=None if data is None else str(data),
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


def _settings(texts: tuple[str, ...], epochs: int | None, start: str | None = None) -> dict[str, Any]:
    """The settings from --set, and from the options for some of them."""
    given = dict(_setting(text) for text in texts)
    if any(given.get(name) for name in ("gate", "needs")):
        raise ConfigError(
            "--set: a gate is trained separately, after the memory; amn train --distract FOLDER does both, and "
            "scripts/add_gate.py adds one to a trained model"
        )
    if epochs is not None:
        given["epochs"] = epochs
    if start is not None:
        given["start"] = None if start == "none" else start
    return given


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"a setting is written name=value, found {text!r}")
    try:
        return name.strip(), json_module.loads(value)
    except ValueError:
        return name.strip(), value
