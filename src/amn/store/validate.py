"""Checks of a model directory before it is used: nothing here allocates memory of a size that a file claims.

The functions take the description (the JSON of config.json) and the weights.
"""

import json
import logging
import math
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from amn.errors import CheckpointError
from amn.inference.shapes import Shape, amn_shapes

MAX_CONFIG_BYTES = 64 << 20
MAX_SIZE = 1 << 20  # of a width, a vocabulary, or any other integer of a config
MAX_HIDDEN = 8192
DIGESTS = "sha256"  # the entry of config.json with the checksums

_PARTS = {"architecture": str, "config": dict, "vocabulary": dict, "training": dict}
_PARTS_BEFORE = {*_PARTS, "format_version", "calibration"}  # the entries of models saved before there were checksums
_POSITIVE = ("vocabulary_size", "num_answers", "hidden", "heads", "max_banks", "items")
_KNOWN = {**dict.fromkeys(_POSITIVE, int), "bank_gap": float, "norm_epsilon": float, "pointer": bool, "needs": bool}
_RESERVED_WORDS = 2  # ids for padding and the unknown word

_log = logging.getLogger(__name__)


def parsed(text: bytes, source: str) -> dict[str, Any]:
    """The description in a text.

    Raises:
        CheckpointError: where it is too long or not JSON.
    """
    if len(text) > MAX_CONFIG_BYTES:
        raise CheckpointError(f"{source}: expected at most {MAX_CONFIG_BYTES} bytes, found {len(text)}")
    try:
        described = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{source}: not a readable model description ({error})") from error
    _expect(isinstance(described, dict), source, "an object", described)
    return described


def check_description(described: Mapping[str, Any], source: str) -> None:
    """Checks that the parts of a description are there, of the right types, in range, and consistent."""
    for name, kind in _PARTS.items():
        _expect(isinstance(described.get(name), kind), source, f"{name}: {_named(kind)}", described.get(name))
    _check_config(described["config"], source)
    _check_texts(described["vocabulary"].get("names", []), source, "names")
    for name, size in (("words", "vocabulary_size"), ("answers", "num_answers")):
        listed = described["vocabulary"].get(name)
        _check_texts(listed, source, name)
        more = _RESERVED_WORDS if name == "words" else 0
        _expect(len(listed) + more == described["config"].get(size), source, f"{size}: {len(listed) + more}", size)
    if DIGESTS in described:
        wanted = described[DIGESTS]
        _expect(isinstance(wanted, dict), source, f"{DIGESTS}: an object", wanted)
        same = wanted.get("description") == _digest_of(described)
        _expect(same, source, "a description with a matching checksum", "another: it is damaged, or was edited")
    else:
        known = described.keys() <= _PARTS_BEFORE
        _expect(known, source, f"{DIGESTS} among {', '.join(sorted(described))}", "none: a name is damaged")
        _log.warning("%s: the model has no checksums, so damage cannot be detected", source)


def _check_texts(listed: object, source: str, name: str) -> None:
    texts = (
        isinstance(listed, list) and all(isinstance(text, str) for text in listed) and len(set(listed)) == len(listed)
    )
    _expect(texts, source, f"{name}: a list of different texts", listed)


def _check_config(config: Mapping[str, Any], source: str) -> None:
    for name, value in config.items():
        _expect(_is_plain(value), source, f"{name}: a number in range, true or false, or a short list", value)
        kind = _KNOWN.get(name, object)
        right = isinstance(value, kind | int if kind is float else kind)
        right &= kind not in (int, float) or not isinstance(value, bool)  # which is an int in Python
        _expect(right, source, f"{name}: {_named(kind)}", value)
    for name in _POSITIVE:
        _expect(config.get(name, 1) > 0, source, f"{name}: above 0", config.get(name))
    hidden, heads = config.get("hidden", 1), config.get("heads", 1)
    _expect(hidden <= MAX_HIDDEN, source, f"hidden: at most {MAX_HIDDEN}", hidden)
    _expect(hidden % heads == 0, source, f"hidden: a multiple of heads, {heads}", hidden)
    for name in ("bank_gap", "norm_epsilon"):
        _expect(config.get(name, 1.0) > 0, source, f"{name}: above 0", config.get(name))


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= MAX_SIZE and all(isinstance(item, int) and 0 <= item <= MAX_SIZE for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str) or (isinstance(value, int) and 0 <= value <= MAX_SIZE)


def check_weights(described: Mapping[str, Any], weights: Mapping[str, np.ndarray], data: bytes, source: str) -> None:
    """Checks that weights fit their description, in names, shapes, types and checksum, and are finite."""
    expected = expected_shapes(described["architecture"], described["config"])
    for name in expected.keys() ^ weights.keys():
        side = "is missing" if name in expected else "does not belong to this architecture"
        raise CheckpointError(f"{source}: the tensor {name[:100]!r} {side}")
    for name, shape in expected.items():
        found = weights[name]
        fits = len(found.shape) == len(shape) and all(w in (-1, f) for w, f in zip(shape, found.shape, strict=True))
        _expect(fits, source, f"{name}: shape {shape}, as the config says", found.shape)
        _expect(found.dtype.kind == "f", source, f"{name}: floating-point numbers", found.dtype)
        _expect(bool(np.isfinite(found).all()), source, f"{name}: finite numbers", "others")
    if DIGESTS in described:
        same = described[DIGESTS].get("weights") == sha256(data).hexdigest()
        _expect(same, source, "the weights that config.json was saved with", "others: one of them is damaged")


def with_digests(described: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """A description with the checksums of itself and of the weights."""
    plain = {name: value for name, value in described.items() if name != DIGESTS}
    return {**plain, DIGESTS: {"weights": sha256(data).hexdigest(), "description": _digest_of(plain)}}


def _digest_of(described: Mapping[str, Any]) -> str:
    plain = {name: value for name, value in described.items() if name != DIGESTS}
    return sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def expected_shapes(architecture: str, config: Mapping[str, Any]) -> dict[str, Shape]:
    """The tensors of a model and their shapes, without allocating them; -1 where any size will do.

    The default model needs no torch, so its shapes are listed; torch computes those of the others.
    """
    if architecture == "amn":
        return amn_shapes(config)
    import torch

    from amn.models import config_of, model_class

    kind = model_class(architecture)
    try:
        with torch.device("meta"):
            model = kind(config_of(kind, config))
    except (TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"config: not one of {architecture} ({error})") from error
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def _named(kind: type) -> str:
    names = {str: "text", dict: "an object", int: "an integer", float: "a number", bool: "true or false"}
    return names.get(kind, "a value")


def _expect(holds: bool, source: str, expected: str, found: object) -> None:
    if not holds:
        raise CheckpointError(f"{source}: expected {expected}, found {repr(found)[:100]}")
