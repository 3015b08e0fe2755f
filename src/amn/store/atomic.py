"""Atomic writes: a reader finds the old file or the new one, however the writer ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from amn.data.files import PART, remove, replaced
from amn.errors import CheckpointError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns system errors while writing a path into a CheckpointError that says what to do."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"{path}: could not be written ({error}); the previous content is intact. "
            "Make room or allow writing, then continue with --resume; or choose another --out"
        ) from error


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a temporary file, which gets its name once its bytes are on disk.

    Tensors are given as bytes too: a library that writes files itself would leave temporary files with unknown names.
    """
    with writing(path), replaced(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def clear_leftovers(folder: Path) -> None:
    """Removes the unfinished files of writers that were killed."""
    for part in folder.glob(f".*{PART}"):
        remove(part)
