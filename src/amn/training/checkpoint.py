"""The state of a fleet on disk: one safetensors file, replaced whole, from which training goes on bit for bit."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from amn.errors import CheckpointError
from amn.store.atomic import write_atomically

FORMAT_VERSION = "1"


def save_state(path: Path, tensors: dict[str, Tensor], position: dict[str, Any]) -> None:
    """Writes tensors and a plain description; a reader finds the old file or the new one, never a part."""
    metadata = {"format_version": FORMAT_VERSION, "position": json.dumps(position)}
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    write_atomically(path, save(plain, metadata))


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads what `save_state` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format_version") == FORMAT_VERSION:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
                return tensors, json.loads(metadata["position"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise unreadable(path, error) from error
    raise CheckpointError(
        f"{path}: expected checkpoint format {FORMAT_VERSION}, found {metadata.get('format_version')}; "
        "go on with the amn that wrote it, or train anew with another --out"
    )


def unreadable(path: Path, reason: Exception) -> CheckpointError:
    """The error for a checkpoint that is broken."""
    return CheckpointError(f"{path}: not a readable checkpoint ({reason}); delete it to start this training anew")
