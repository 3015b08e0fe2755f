"""Run directories, checkpoints and data as bytes, to travel between machines that share no disk."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from amn.config import RunSpec
from amn.data.babi import find_task_file
from amn.data.boards import find_board
from amn.errors import CheckpointError, DataError
from amn.store.atomic import write_atomically, writing
from amn.store.run_directory import RESULT_FILE
from amn.training.checkpoint import known_states
from amn.training.prepare import data_key, parts_of

_LAST = (".safetensors", RESULT_FILE)  # written last, since they speak for what stands beside them


def pack(out: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Everything that a sweep's folder holds of some runs."""
    wanted = list(names)
    paths = [path for name in wanted for path in (out / name).rglob("*")]
    for state in known_states(out, wanted):
        paths += [state.path, state.path.with_suffix(".json")]
    found = {path for path in paths if path.is_file() and not path.name.startswith(".")}
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(found)}


def unpack(folder: Path, files: dict[str, bytes]) -> None:
    """Writes what `pack` gave; each file whole, and those that speak for others after them."""
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
