"""One run, trained alone in its directory."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from amn.config import RunSpec
from amn.errors import CheckpointError
from amn.store.run_directory import LOG_FILE, SPEC_FILE, STATE_FILE, RunDirectory
from amn.training.loop import CHECKPOINT_SECONDS, OnEpoch, OnStep, Run, Trainer
from amn.training.prepare import Encoded


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How a run is trained."""

    device: torch.device  # where to compute
    progress: OnEpoch  # called after every epoch
    stepped: OnStep | None = None  # called after every step
    resume: bool = False  # go on with what the directory holds
    checkpoint_every: float = CHECKPOINT_SECONDS  # seconds between checkpoints


def fit_run(
    spec: RunSpec, data: Encoded, path: Path, options: FitOptions, *, keep: Callable[[Path], None] | None = None
) -> RunDirectory:
    """Trains a run to its end and gives its directory; one that fails at once leaves nothing.

    `keep` writes what else the directory shall hold. Where the user stops it, `Interrupted` is raised and all is saved.
    """
    directory = RunDirectory(path)
    with _starting(path):
        directory.start(spec, resume=options.resume)
        if directory.finished:
            return directory
        if keep is not None:
            keep(path)
        trainer = Trainer(
            [Run(spec, directory, data)],
            directory.state,
            options.device,
            options.progress,
            stepped=options.stepped,
            checkpoint_every=options.checkpoint_every,
        )
        if options.resume:
            trainer.resume()
        trainer.fit()
    return directory


@contextmanager
def _starting(path: Path) -> Iterator[None]:
    """Removes a directory that was new where the run in it fails before there is anything to go on from."""
    new = not path.exists() or (path.is_dir() and not any(path.iterdir()))
    if path.is_dir() and not new and not (path / SPEC_FILE).is_file():
        raise CheckpointError(f"{path} holds other things already: give --out a folder of its own, such as {path}/NAME")
    parents = [parent for parent in path.parents if not parent.exists()]
    try:
        yield
    except BaseException:
        if new and not any((path / name).exists() for name in (STATE_FILE, LOG_FILE)):
            shutil.rmtree(path, ignore_errors=True)
            for parent in parents:
                with suppress(OSError):  # it holds something else by now
                    parent.rmdir()
        raise
