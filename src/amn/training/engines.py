"""The engines of a sweep: one process with fleets, several processes, or a Ray cluster.

All of them write the same run directories, checkpoints and ledger, so that a sweep may be stopped under one engine and
go on under another.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import getpid
from pathlib import Path

from amn.config import RunSpec
from amn.errors import AMNError
from amn.training.checkpoint import forget_finished, open_folder
from amn.training.files import unpack
from amn.training.loop import Interrupted, Progress
from amn.training.precision import check_precision
from amn.training.sweep import Ledger, Options, SweepEvent, train_fleets, train_steps, unfinished

MAX_LOSSES = 3  # a job whose worker is lost so often without a checkpoint in between is given up


@dataclass(frozen=True)
class Job:
    """Runs that a worker trains together, and how often in a row a worker was lost with them."""

    specs: tuple[RunSpec, ...]
    losses: int = 0

    @property
    def names(self) -> list[str]:
        """Of its runs."""
        return [spec.name for spec in self.specs]


@dataclass(frozen=True, kw_only=True)
class Update:
    """What a worker tells of its job."""

    entries: tuple[dict[str, object], ...] = ()  # log entries since the last update
    event: SweepEvent | None = None
    failure: str = ""  # why the job cannot go on
    files: dict[str, bytes] = field(default_factory=dict)  # what it has written, where it has a disk of its own
    worker: int = field(default_factory=getpid)  # number of the process that tells it


def work(
    specs: Sequence[RunSpec], out: Path, options: Options, progress: Progress, moved: Mapping[str, str] | None = None
) -> Iterator[Update]:
    """A worker's part: trains a job and tells what happens; as `train_steps`."""
    try:
        check_precision(specs, options.device)
        for event in train_steps(specs, out, options, progress, moved):
            yield Update(event=event)
    except Interrupted:
        yield Update(event=SweepEvent("paused", tuple(spec.name for spec in specs), -1))
    except AMNError as error:
        yield Update(failure=str(error))


class Queue:
    """The jobs of a sweep, each of `size` unfinished runs: what waits, and what became of the rest."""

    def __init__(self, specs: Sequence[RunSpec], out: Path, size: int, progress: Progress) -> None:
        left = unfinished(specs, out)
        self.waiting = deque(Job(tuple(left[i : i + size])) for i in range(0, len(left), size))
        self.out, self.progress, self.ledger = out, progress, Ledger(out)
        self.failures: list[str] = []

    def take(self, job: Job, update: Update) -> Job:
        """Records what a worker told; gives the job as it now stands."""
        unpack(self.out, update.files)
        for entry in update.entries:
            self.progress(entry)
        if update.failure:
            self.failed(job, update.failure)
        if update.event is None:
            return job
        self.ledger.note(**asdict(update.event), worker=update.worker)
        return replace(job, losses=0) if update.event.event == "checkpoint" else job

    def lost(self, job: Job, reason: str) -> None:
        """A worker died: its job waits for another, unless that has happened too often."""
        self.ledger.note("lost", job.names, reason=reason)
        if job.losses + 1 < MAX_LOSSES:
            self.waiting.appendleft(replace(job, losses=job.losses + 1))
        else:
            self.failed(job, f"{MAX_LOSSES} workers were lost with it ({reason})")

    def failed(self, job: Job, reason: str) -> None:
        """A job cannot go on; the others do."""
        self.ledger.note("failed", job.names, reason=reason)
        self.failures.append(f"{', '.join(job.names)}: {reason}")

    def close(self) -> None:
        """Says in the end what failed."""
        if self.failures:
            raise AMNError("\n".join(["some runs failed; the others are done:", *self.failures]))


def sweep(specs: Sequence[RunSpec], out: Path, progress: Progress, options: Options) -> None:
    """Trains every unfinished run.

    Raises:
        Interrupted: where the user stopped it; the same call goes on.
        AMNError: where runs failed, after all others are done.
    """
    if options.engine != "ray":  # whose nodes see to it themselves
        check_precision(specs, options.device)
    if options.engine == "fleet":
        train_fleets(specs, out, options, progress)
        return
    open_folder(out)
    if not unfinished(specs, out):
        return
    if options.engine == "process":
        from amn.training.process_engine import run_jobs  # late: each engine needs its own means only
    else:
        from amn.training.ray_engine import run_jobs
    run_jobs(specs, out, progress, options)
    forget_finished(out, [spec.name for spec in specs])
