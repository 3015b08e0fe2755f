"""A sweep by several processes on one machine; each trains a job at a time with a torch thread of its own."""

import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from amn.config import RunSpec
from amn.training.engines import Job, Queue, Update, work
from amn.training.loop import Interrupted, Progress
from amn.training.stopping import stop_requests
from amn.training.sweep import Options

_LOOK_SECONDS = 0.5  # how often to look whether the user wants to stop
_END_SECONDS = 60.0  # that a worker gets to save its checkpoint


@dataclass
class _Worker:
    process: ForkServerProcess
    job: Job


def run_jobs(specs: Sequence[RunSpec], out: Path, progress: Progress, options: Options) -> None:
    """Trains the unfinished runs of a sweep in processes of their own."""
    queue = Queue(specs, out, options.fleet_size or 1, progress)
    places = options.workers or os.cpu_count() or 1
    running: dict[Connection, _Worker] = {}
    with stop_requests(options.stop_after) as stop:
        try:
            while running or (queue.waiting and not stop.due):
                while queue.waiting and len(running) < places and not stop.due:
                    _start(queue.waiting.popleft(), out, replace(options, stop_after=stop.seconds_left), running)
                for inbox in wait(list(running), _LOOK_SECONDS):
                    assert isinstance(inbox, Connection)
                    _receive(inbox, queue, running)
                if stop.signalled:
                    raise Interrupted("stopped; checkpoints were saved: the same command goes on")
        finally:
            _end(running)
    queue.close()


def _start(job: Job, out: Path, options: Options, running: dict[Connection, _Worker]) -> None:
    context = get_context("forkserver")
    context.set_forkserver_preload(["torch"])  # once for all workers: it takes seconds
    inbox, outbox = context.Pipe(duplex=False)
    process = context.Process(target=_main, args=(job, out, options, outbox), daemon=True)
    process.start()
    outbox.close()  # so that the worker's is the only one, and its end is the end of the pipe
    running[inbox] = _Worker(process, job)


def _receive(inbox: Connection, queue: Queue, running: dict[Connection, _Worker]) -> None:
    """Takes one message of a worker, or notices its end."""
    worker = running[inbox]
    try:
        update: Update = inbox.recv()
    except (EOFError, OSError):
        del running[inbox]
        worker.process.join()
        if worker.process.exitcode != 0:
            queue.lost(worker.job, f"exit code {worker.process.exitcode}")
        return
    worker.job = queue.take(worker.job, update)


def _end(running: dict[Connection, _Worker]) -> None:
    """Asks the workers that still run to save and end."""
    for worker in running.values():
        worker.process.terminate()
    for worker in running.values():
        worker.process.join(_END_SECONDS)
        worker.process.kill()


def _main(job: Job, out: Path, options: Options, outbox: Connection) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the sweep tells us
    threading.Thread(target=_die_with_parent, daemon=True).start()
    for update in work(job.specs, out, options, lambda entry: outbox.send(Update(entries=(entry,)))):
        outbox.send(update)


def _die_with_parent() -> None:
    """Ends this process when the sweep was killed, so that a new sweep finds its runs alone."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
