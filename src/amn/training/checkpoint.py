"""The state of a fleet on disk: one safetensors file, replaced whole, from which training goes on bit for bit."""

import json
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from amn.errors import CheckpointError

FORMAT_VERSION = "1"


def save_state(path: Path, tensors: dict[str, Tensor], position: dict[str, Any]) -> None:
    """Writes tensors and a plain description; a reader finds the old file or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    metadata = {"format_version": FORMAT_VERSION, "position": json.dumps(position)}
    try:
        save_file({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, temporary, metadata)
        _flush(temporary)
        os.replace(temporary, path)
    except (OSError, SafetensorError) as error:
        temporary.unlink(missing_ok=True)
        raise CheckpointError(
            f"{path}: the checkpoint could not be written ({error}); the one before it is intact. "
            "Make room or choose another --out, then go on with --resume"
        ) from error


def _flush(path: Path) -> None:
    """Makes sure that the bytes are on disk before the name points to them."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads what `save_state` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            version = metadata.get("format_version")
            if version != FORMAT_VERSION:
                raise CheckpointError(
                    f"{path}: expected checkpoint format {FORMAT_VERSION}, found {version}; train anew with another --out"
                )
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(metadata["position"])  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(
            f"{path}: not a readable checkpoint ({error}); delete it to start this run anew"
        ) from error
