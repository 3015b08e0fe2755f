"""The engines of a sweep: one process with fleets, several processes, or a Ray cluster.

All of them write the same run directories, checkpoints and ledger, so that a sweep may be stopped under one engine and
go on under another.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from amn.config import RunSpec
from amn.errors import AMNError
from amn.training.checkpoint import forget_finished, open_folder
from amn.training.loop import Interrupted, OnEpoch
from amn.training.precision import check_precision
from amn.training.stopping import stop_requests
from amn.training.sweep import Options, SweepEvent, note_event, train_fleets, train_steps, unfinished

_Workers = dict[Connection, tuple[ForkServerProcess, "Job"]]  # the processes that run, by their pipes
MAX_LOSSES = 3  # a job whose worker is lost so often without a checkpoint in between is given up
LOOK_SECONDS = 0.5  # how often to look whether the user wants to stop
_END_SECONDS = 60.0  # that a worker gets to save its checkpoint


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
    """What a worker reports of its job."""

    entries: tuple[dict[str, object], ...] = ()  # log entries since the last update
    event: SweepEvent | None = None
    failure: str = ""  # why the job cannot go on
    files: dict[str, bytes] = field(default_factory=dict)  # what it has written, where it shares no disk
    worker: int = field(default_factory=os.getpid)  # its process number


def work(
    specs: Sequence[RunSpec], out: Path, options: Options, progress: OnEpoch, moved: Mapping[str, str] | None = None
) -> Iterator[Update]:
    """A worker's part: trains a job, as `train_steps` does, and yields what happens."""
    try:
        check_precision(specs, options.device)
        for event in train_steps(specs, out, options, progress, moved):
            yield Update(event=event)
    except Interrupted:
        yield Update(event=SweepEvent("paused", tuple(spec.name for spec in specs), -1))
    except AMNError as error:
        yield Update(failure=str(error))


class Queue:
    """The jobs of a sweep, each of `size` unfinished runs: those that wait, and those that failed."""

    def __init__(self, specs: Sequence[RunSpec], out: Path, size: int, progress: OnEpoch) -> None:
        left = unfinished(specs, out)
        self.waiting = deque(Job(tuple(left[i : i + size])) for i in range(0, len(left), size))
        self.out, self.progress = out, progress
        self.failures: list[str] = []

    def take(self, job: Job, update: Update) -> Job:
        """Records an update of a worker; returns the job as it is then."""
        for entry in update.entries:
            self.progress(entry)
        if update.failure:
            self.failed(job, update.failure)
        if update.event is None:
            return job
        note_event(self.out, **asdict(update.event), worker=update.worker)
        return replace(job, losses=0) if update.event.event == "checkpoint" else job

    def lost(self, job: Job, reason: str) -> None:
        """A worker died: its job waits for another, unless that has happened too often."""
        note_event(self.out, "lost", job.names, reason=reason)
        if job.losses + 1 < MAX_LOSSES:
            self.waiting.appendleft(replace(job, losses=job.losses + 1))
        else:
            self.failed(job, f"{MAX_LOSSES} workers were lost with it ({reason})")

    def failed(self, job: Job, reason: str) -> None:
        """A job cannot go on; the others do."""
        note_event(self.out, "failed", job.names, reason=reason)
        self.failures.append(f"{', '.join(job.names)}: {reason}")

    def close(self) -> None:
        """Raises an error where jobs have failed."""
        if self.failures:
            raise AMNError("\n".join(["some runs failed; the others are done:", *self.failures]))


def _run_in_processes(specs: Sequence[RunSpec], out: Path, progress: OnEpoch, options: Options) -> None:
    """Trains the unfinished runs of a sweep in several processes, each a job at a time with one torch thread."""
    queue = Queue(specs, out, options.fleet_size or 1, progress)
    places = options.workers or os.cpu_count() or 1
    running: _Workers = {}
    with stop_requests(options.stop_after) as stop:
        try:
            while running or (queue.waiting and not stop.due):
                while queue.waiting and len(running) < places and not stop.due:
                    _start(queue.waiting.popleft(), out, replace(options, stop_after=stop.seconds_left), running)
                for inbox in wait(list(running), LOOK_SECONDS):
                    assert isinstance(inbox, Connection)
                    _receive(inbox, queue, running)
                if stop.signalled:
                    raise Interrupted("stopped; checkpoints were saved: the same command goes on")
        finally:
            _end(running)
    queue.close()


def _start(job: Job, out: Path, options: Options, running: _Workers) -> None:
    context = get_context("forkserver")
    context.set_forkserver_preload(["torch"])  # once for all workers: it takes seconds
    inbox, outbox = context.Pipe(duplex=False)
    process = context.Process(target=_main, args=(job, out, options, outbox), daemon=True)
    process.start()
    outbox.close()  # so that the worker's is the only one, and its end is the end of the pipe
    running[inbox] = process, job


def _receive(inbox: Connection, queue: Queue, running: _Workers) -> None:
    """Takes one message of a worker, or notices its end."""
    process, job = running[inbox]
    try:
        update: Update = inbox.recv()
    except (EOFError, OSError):
        del running[inbox]
        process.join()
        if process.exitcode != 0:
            queue.lost(job, f"exit code {process.exitcode}")
        return
    running[inbox] = process, queue.take(job, update)


def _end(running: _Workers) -> None:
    """Asks the workers that still run to save and end."""
    for process, _ in running.values():
        process.terminate()
    for process, _ in running.values():
        process.join(_END_SECONDS)
        process.kill()


def _main(job: Job, out: Path, options: Options, outbox: Connection) -> None:
    """What a worker process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the sweep will end us
    threading.Thread(target=_die_with_parent, daemon=True).start()
    for update in work(job.specs, out, options, lambda entry: outbox.send(Update(entries=(entry,)))):
        outbox.send(update)


def _die_with_parent() -> None:
    """Ends this process when the sweep was killed, so that a new sweep finds its runs alone."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def sweep(specs: Sequence[RunSpec], out: Path, progress: OnEpoch, options: Options) -> None:
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
        _run_in_processes(specs, out, progress, options)
    else:
        from amn.training.ray_engine import run_on_ray

        run_on_ray(specs, out, progress, options)
    forget_finished(out, [spec.name for spec in specs])
