"""Files that are replaced whole: a reader finds the old one or the new one, however the writer ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from amn.errors import CheckpointError

_PART = ".part"  # ends the names of files that are being written


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a temporary file to write to; it gets its name once its bytes are on disk."""
    part = path.with_name(f".{path.name}.{os.getpid()}{_PART}")
    with writing(path):
        try:
            yield part
            _flush(part)
            os.replace(part, path)
            flush_folder(path.parent)
        finally:
            _remove(part)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns what the system refuses into an error that says what to do."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"{path}: could not be written ({error}); what was there before is intact. "
            "Make room or permit writing, then go on with --resume; or choose another --out"
        ) from error


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all.

    Tensors come as bytes too: a library that writes files itself would leave temporary ones that we do not know of.
    """
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def clear_leftovers(folder: Path) -> None:
    """Removes what writers that were killed have left half-written."""
    for part in folder.glob(f".*{_PART}"):
        _remove(part)


def _flush(path: Path) -> None:
    """Makes sure that the bytes are on disk before the name points to them."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Makes sure that a name is found again after a power loss: it is in the folder, which is a file of its own."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # a folder that lost its write permission; the error that matters is already on its way
        return
