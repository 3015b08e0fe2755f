"""A live memory as bytes: JSON and tensors in one piece, with a checksum over all of it. No pickle."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from amn.errors import CheckpointError
from amn.store.stepwise import Steps, encoding

MAGIC = b"amn memory 3\n"
_LENGTH = 8  # bytes that say how long the JSON is
OLD_JSON, OLD_TENSORS = "memory.json", "memory.safetensors"  # of version 0.1: two files in a directory
_OLD_VERSIONS = (1, 2)


def packing(described: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Steps[bytes]:
    """A description and its tensors as one piece of bytes, made in steps."""
    text = yield from encoding(dict(described), depth=3)
    body = len(text).to_bytes(_LENGTH, "little") + text + save(dict(tensors))
    yield
    return MAGIC + sha256(body).digest() + body


def unpack(data: bytes, source: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The inverse of `packing`.

    Raises:
        CheckpointError: where the bytes are not those of a memory, or not all of them.
    """
    start = len(MAGIC)
    digest, body = data[start : start + 32], data[start + 32 :]
    if not data.startswith(MAGIC):
        raise CheckpointError(f"{source}: not a saved memory of this version")
    if sha256(body).digest() != digest:
        raise CheckpointError(f"{source}: the saved memory is damaged, its checksum is another")
    end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    return _read(body[_LENGTH:end], body[end:], source)


def read_old(directory: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What version 0.1 saved, checked to be whole and to belong together."""
    try:
        text, tensors = (directory / OLD_JSON).read_bytes(), (directory / OLD_TENSORS).read_bytes()
    except OSError as error:
        raise CheckpointError(f"{directory}: not a saved memory ({error})") from error
    described, arrays = _read(text, tensors, str(directory))
    if described.get("format_version") not in _OLD_VERSIONS:
        raise CheckpointError(f"{directory}: expected a memory of version 0.1, found {described.get('format_version')}")
    if described.get("tensors") != sha256(tensors).hexdigest():
        raise CheckpointError(f"{directory}: {OLD_TENSORS} is not the one that {OLD_JSON} was saved with")
    return described, arrays


def _read(text: bytes, tensors: bytes, source: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        described = json.loads(text)
        arrays = load(tensors)
    except (ValueError, SafetensorError) as error:
        raise CheckpointError(f"{source}: not a saved memory ({error})") from error
    if not isinstance(described, dict):
        raise CheckpointError(f"{source}: not a saved memory")
    for name, values in arrays.items():
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise CheckpointError(f"{source}: expected finite numbers in {name}")
    return described, arrays
