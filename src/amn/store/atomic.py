"""Files that are replaced whole: a reader finds the old one or the new one, however the writer ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from amn.data.files import PART, remove, replaced
from amn.errors import CheckpointError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a temporary file to write to; it gets its name once its bytes are on disk."""
    with writing(path), replaced(path) as part:
        yield part


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
    for part in folder.glob(f".*{PART}"):
        remove(part)
