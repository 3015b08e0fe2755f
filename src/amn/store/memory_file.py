"""The file format of live memories: JSON and tensors with a checksum over both, and the format of version 0.1."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from amn.data.examples import Words
from amn.data.graph import WordGraph
from amn.data.vocabulary import UNKNOWN
from amn.errors import CheckpointError
from amn.inference.story_memory import Arrays, graph_tables
from amn.inference.trained import TrainedModel
from amn.store.stepwise import Steps, encoding

MAGIC = b"amn memory 3\n"
_LENGTH = 8  # bytes for the length of the JSON
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
        CheckpointError: where the bytes are not a whole saved memory.
    """
    start = len(MAGIC)
    digest, body = data[start : start + 32], data[start + 32 :]
    if not data.startswith(MAGIC):
        raise CheckpointError(f"{source}: not a saved memory of this version")
    if sha256(body).digest() != digest:
        raise CheckpointError(f"{source}: the saved memory is damaged: its checksum does not match")
    end = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    return _read(body[_LENGTH:end], body[end:], source)


def read_old(directory: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Reads the two files of version 0.1, and checks that they belong together."""
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


def from_version_1(
    asked: Sequence[str], told: Sequence[Words], tensors: Arrays, layout: dict[str, Any], trained: TrainedModel
) -> tuple[list[str], Arrays]:
    """The words and tables of a memory of version 0.1, which kept no neighbours: the sentences give these again."""
    met = list(dict.fromkeys([*asked, *chain.from_iterable(told)]))
    slots = {word: slot for slot, word in enumerate(met, 1)}
    graph = WordGraph([slots[word] for word in asked])
    for sentence in told:
        graph.tell([slots[word] for word in sentence])
    unknown = [word for word in met if trained.vocabulary.word_id(word) == UNKNOWN]
    anonymous = np.zeros(trained.anonymous, np.int32)
    for word in chain.from_iterable(told):
        if word in unknown and trained.anonymous:
            anonymous[unknown.index(word) % trained.anonymous] = slots[word]
    states = tensors["states"].astype(np.float32)
    votes = states.astype(np.float64) @ trained.weights["create.weight"][0, :-1]
    return met, graph_tables(np.array(layout["depth"], np.int32), graph) | {
        "states": states,
        "strengths": tensors["strengths"].astype(np.float32),
        "relevance": tensors["relevance"].astype(np.float32),
        "last_anonymous": anonymous,
        "banks": np.array([layout["banks"]], np.int32),
        "vote": np.array([float(votes[layout["last"]].sum())]),
    }
