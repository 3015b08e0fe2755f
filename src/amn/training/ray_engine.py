"""A sweep on a Ray cluster: the runs go out as jobs, and what they write comes back to this machine as bytes.

No disk is shared. A job takes with it what there is of its runs, and sends all of it back at every checkpoint; when its
worker is lost, another one goes on from what came back last.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import amn
from amn.config import RunSpec
from amn.data.babi import find_task_file
from amn.data.boards import find_board
from amn.errors import AMNError, CheckpointError, ConfigError, DataError, MissingExtraError
from amn.store.atomic import write_atomically, writing
from amn.store.run_directory import RESULT_FILE
from amn.training.checkpoint import known_states
from amn.training.engines import LOOK_SECONDS, Job, Queue, Update, work
from amn.training.loop import Interrupted, OnEpoch
from amn.training.prepare import data_key, parts_of
from amn.training.stopping import stop_requests
from amn.training.sweep import Options

_GPU_FLEET = 16  # runs that share a GPU, where nothing else is said
_LAST = (".safetensors", RESULT_FILE)  # written last: where they are, the files beside them are complete


def run_on_ray(specs: Sequence[RunSpec], out: Path, progress: OnEpoch, options: Options) -> None:
    """Trains the unfinished runs of a sweep on a Ray cluster."""
    with _cluster(options) as ray:
        options = _placed(ray, options)
        queue = Queue(specs, out, options.fleet_size or 1, progress)
        _Driver(ray, queue, options).run()
    queue.close()


class _Driver:
    """Hands out jobs and takes what comes back."""

    def __init__(self, ray: Any, queue: Queue, options: Options) -> None:
        self.ray, self.queue, self.options = ray, queue, options
        self.running: dict[Any, Job] = {}
        gpus = 1 if options.device == "cuda" else 0
        place = {"num_cpus": options.threads, "num_gpus": gpus, "max_retries": 0, "num_returns": "streaming"}
        self.train = ray.remote(**place)(_train)

    def run(self) -> None:
        """Until every job has ended, or the time is up."""
        with stop_requests(self.options.stop_after) as stop:
            while not stop.due and (self.queue.waiting or self.running):
                while self.queue.waiting:
                    self._submit(self.queue.waiting.popleft(), stop.seconds_left)
                ready, _ = self.ray.wait(list(self.running), num_returns=1, timeout=LOOK_SECONDS)
                for stream in ready:  # those that have an update, or have ended
                    self._receive(stream)
            if stop.signalled:
                raise Interrupted("stopped; what came back is saved: the same command goes on")

    def _submit(self, job: Job, seconds: float) -> None:
        files = pack(self.queue.out, job.names)
        sources = sorted({spec.data for spec in job.specs if spec.data is not None})
        data = {source: pack_data(job.specs, source) for source in sources}
        self.running[self.train.remote(job.specs, replace(self.options, stop_after=seconds), files, data)] = job

    def _receive(self, stream: Any) -> None:
        """Takes the next update of a job, or notices its end."""
        from ray.exceptions import RayError, RayTaskError

        job = self.running[stream]
        try:
            update = self.ray.get(next(stream))
            unpack(self.queue.out, update.files)
            self.running[stream] = self.queue.take(job, update)
            return
        except StopIteration:
            pass
        except RayTaskError as error:
            self.queue.failed(job, str(error.cause))
        except RayError as error:
            self.queue.lost(job, type(error).__name__)
        del self.running[stream]


def _train(
    specs: tuple[RunSpec, ...], options: Options, files: dict[str, bytes], data: dict[str, dict[str, bytes]]
) -> Iterator[Update]:
    """What a worker runs, on any machine."""
    names, entries = [spec.name for spec in specs], list[dict[str, Any]]()
    with TemporaryDirectory(prefix="amn-") as folder:
        out = Path(folder) / "runs"
        unpack(out, files)
        moved = {source: _unpack_data(Path(folder) / f"data{i}", source, data[source]) for i, source in enumerate(data)}
        for update in work(specs, out, options, entries.append, moved):
            yield replace(update, entries=tuple(entries), files=pack(out, names))
            entries.clear()


def _unpack_data(folder: Path, source: str, files: dict[str, bytes]) -> str:
    """Writes data files; gives the folder, or the file where the data is one file."""
    unpack(folder, files)
    file = folder / Path(source).name
    return str(file if file.exists() else folder)


def _placed(ray: Any, options: Options) -> Options:
    """The options with what the cluster has: a GPU for each job where there are any, else processors."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    gpus = sum(node.get("GPU", 0) for node in nodes)
    device = ("cuda" if gpus else "cpu") if options.device == "auto" else options.device.partition(":")[0]
    if device == "cuda" and not gpus:
        raise ConfigError("no node of the Ray cluster has a GPU: give --device cpu")
    most = max((node.get("CPU", 0) for node in nodes), default=0)
    if most < options.threads:
        raise ConfigError(f"--threads {options.threads}: the largest node of the Ray cluster has {most:.0f} processors")
    size = options.fleet_size or (_GPU_FLEET if device == "cuda" else 1)
    return replace(options, device=device, fleet_size=size)


@contextmanager
def _cluster(options: Options) -> Iterator[Any]:
    """Ray, connected to the cluster that is named, or to one of this machine's own; left when all is done."""
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("ray", "--engine ray") from error
    if ray.is_initialized():
        yield ray
        return
    address = options.address or os.environ.get("RAY_ADDRESS")
    sent = {"py_modules": [str(Path(amn.__file__).parent)]}  # to the nodes of other machines
    how: dict[str, Any] = {"address": address, "runtime_env": sent}
    if address is None:
        how = {"address": "local", "num_cpus": options.workers or os.cpu_count(), "include_dashboard": False}
    try:
        ray.init(log_to_driver=False, logging_level=logging.WARNING, **how)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise AMNError(
            f"no Ray cluster lets us in at {address or 'this machine'} ({error}); is it up, and is RAY_AUTH_TOKEN set "
            "if it wants one?"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def pack(out: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Everything that a sweep's folder holds of some runs."""
    wanted = list(names)
    paths = [path for name in wanted for path in (out / name).rglob("*")]
    for state in known_states(out, wanted):
        paths += [state.path, state.path.with_suffix(".json")]
    found = {path for path in paths if path.is_file() and not path.name.startswith(".")}
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(found)}


def unpack(folder: Path, files: dict[str, bytes]) -> None:
    """Writes what `pack` gave, each file atomically, and those in `_LAST` after the others."""
    for name in sorted(files, key=lambda name: ([name.endswith(end) for end in reversed(_LAST)], name)):
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise CheckpointError(f"{name}: a file of a run must lie in the folder of its sweep")
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, files[name])


def pack_data(specs: Sequence[RunSpec], data: str) -> dict[str, bytes]:
    """The data files that some runs read."""
    path = Path(data)
    if not path.is_dir():
        return {path.name: _bytes(path)}
    if any(find_board(spec.task) for spec in specs):
        return {file.name: _bytes(file) for file in sorted(path.iterdir()) if file.is_file()}
    tasks = {part.key.task for spec in specs for part in parts_of(data_key(spec))}
    return {found.name: _bytes(found) for found in _task_files(path, sorted(t for t in tasks if isinstance(t, int)))}


def _task_files(folder: Path, tasks: list[int]) -> Iterator[Path]:
    for task in tasks:
        for split in ("train", "valid"):
            try:
                yield find_task_file(folder, task, split)
            except DataError:
                if split != "train":  # a training file that is missing is generated
                    raise


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(path, None, "a file that can be read", error.strerror or str(error)) from error
