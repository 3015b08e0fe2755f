"""The boundary of the compiled core: the structures of amn.h, checked arrays, and the library for this machine."""

import ctypes
import os
import platform
from array import array
from ctypes import POINTER, Structure, c_double, c_float, c_int, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

import numpy as np

from amn.core.build import path_of

NO_ROOM, BAD_INPUT = -1, -2
NUM_KINDS = 6  # of edges
SHARED = 4  # which names of a question a sentence may hold


class CLayer(Structure):
    """`struct amn_layer`."""

    _fields_ = [("outputs", c_int32), ("inputs", c_int32), ("weight", c_void_p), ("bias", c_void_p)]


class CGRU(Structure):
    """`struct amn_gru`."""

    _fields_ = [("input", CLayer), ("state", CLayer)]


class CGate(Structure):
    """`struct amn_gate`."""

    _fields_ = [
        ("width", c_int32),
        ("embedding", c_void_p),
        *((name, CGRU) for name in ("sentence", "question")),
        *((name, CLayer) for name in ("heard", "asked", "verdict")),
        *((name, c_float) for name in ("lowest", "slope", "highest")),
        ("refers", c_void_p),
        *((name, CLayer) for name in ("need_heard", "need_asked", "need_verdict")),
        *((name, c_void_p) for name in ("need_shared", "names")),
        ("pronoun_highest", c_float),
    ]


class CWeights(Structure):
    """`struct amn_weights`."""

    _fields_ = [
        *((name, c_int32) for name in ("hidden", "heads", "max_banks", "vectors", "anonymous", "pointer", "items")),
        *((name, c_float) for name in ("bank_gap", "epsilon")),
        *((name, c_void_p) for name in ("embedding", "edge_bias")),
        *((name, CGRU) for name in ("word", "question", "update", "propagate")),
        *((name, CLayer) for name in ("from_question", "query", "key_value")),
        *((name, CLayer) for name in ("strength_state", "strength_question", "candidate_state")),
        *((name, c_float) for name in ("strength_previous", "reset", "candidate_previous")),
        *((name, CLayer) for name in ("move_state", "move_question", "create")),
        *((name, CLayer) for name in ("match", "summary", "answer", "point")),
        *((name, c_float) for name in ("nothing", "growth", "slope")),
        ("classes", c_void_p),
        ("class_vectors", c_void_p),
        ("item", c_int32),
        ("next", CGRU),
        ("gate", CGate),
    ]


class CWords(Structure):
    """`struct amn_words`."""

    _fields_ = [("met", c_int32), ("vectors", c_void_p), ("count", c_int32), ("begin", c_void_p), ("words", c_void_p)]


class CJudging(Structure):
    """`struct amn_judging`."""

    _fields_ = [
        ("questions", POINTER(CWords)),
        ("asked", c_void_p),
        ("seen", c_int64),
        *((name, c_void_p) for name in ("facts", "follows", "verdicts")),
    ]


class CChange(Structure):
    """`struct amn_change`."""

    _fields_ = [
        *((name, c_int32) for name in ("count", "members", "banks", "created")),
        *((name, POINTER(c_int32)) for name in ("slots", "before", "after")),
        ("strengths", POINTER(c_float)),
    ]


class CCount(Structure):
    """`struct amn_count`."""

    _fields_ = [
        *((name, c_int32) for name in ("slots", "entities", "banks", "questions", "read", "names", "pairs")),
        ("bytes", c_int64),
    ]


class CTables(Structure):
    """`struct amn_tables`."""

    _fields_ = [
        *((name, c_int32) for name in ("slots", "banks", "pair_count")),
        ("vote", c_double),
        *((name, c_void_p) for name in ("states", "strengths", "relevance", "depth", "order")),
        *((name, c_void_p) for name in ("neighbours", "neighbour_counts", "last_anonymous", "pairs")),
    ]


class CAttention(Structure):
    """`struct amn_attention`."""

    _fields_ = [("count", c_int32), *((name, c_void_p) for name in ("slots", "mass", "whole"))]


class CStories(Structure):
    """`struct amn_stories`."""

    _fields_ = [
        *((name, c_int32) for name in ("count", "slots", "sentences", "words", "asked")),
        *((name, c_void_p) for name in ("told", "questions", "lengths")),
    ]


class CViews(Structure):
    """`struct amn_views`."""

    _fields_ = [("room", c_int32), *((name, c_void_p) for name in ("members", "context", "edges"))]


# As `amn_sizes` has them.
_STRUCTURES = (CLayer, CGRU, CGate, CWeights, CWords, CJudging, CChange, CCount, CTables, CAttention, CStories, CViews)
_PROTOTYPES: dict[str, tuple[object, list[object]]] = {
    "amn_sizes": (None, [POINTER(c_int64)]),
    "amn_model_new": (c_void_p, [POINTER(CWeights)]),
    "amn_model_free": (None, [c_void_p]),
    "amn_desk_new": (c_void_p, [c_void_p, c_int64]),
    "amn_desk_free": (None, [c_void_p]),
    "amn_memory_new": (c_void_p, [c_void_p]),
    "amn_memory_free": (None, [c_void_p]),
    "amn_gate_ask": (c_int, [c_void_p, POINTER(CWords), c_void_p]),
    "amn_gate_judge": (c_int, [c_void_p, POINTER(CWords), POINTER(CJudging)]),
    "amn_ask": (c_int, [c_void_p, c_void_p, POINTER(CWords)]),
    "amn_tell": (c_int, [c_void_p, c_void_p, POINTER(CWords)]),
    "amn_changed": (None, [c_void_p, POINTER(CChange)]),
    "amn_counted": (None, [c_void_p, c_int32, POINTER(CCount)]),
    "amn_decode": (c_int, [POINTER(c_void_p), c_int32, c_void_p, c_int32, POINTER(c_void_p), POINTER(c_void_p)]),
    "amn_names": (None, [c_void_p, c_void_p]),
    "amn_attend": (c_int, [c_void_p, c_void_p, c_int32, c_int32, POINTER(CAttention)]),
    "amn_bank": (None, [c_void_p, c_int32, c_void_p]),
    "amn_of": (None, [c_void_p, c_int32, c_void_p, c_void_p, c_void_p]),
    "amn_save": (None, [c_void_p, POINTER(CTables)]),
    "amn_restore": (c_int, [c_void_p, POINTER(CTables)]),
    "amn_views": (c_int, [POINTER(CStories), POINTER(CViews)]),
}


@cache
def library() -> ctypes.CDLL | None:
    """The core that was built for this kind of processor; None where there is none."""
    folder = os.environ.get("AMN_CORE")  # another build of it, or "none"
    if folder == "none":
        return None
    path = path_of(_kind(), Path(folder)) if folder else path_of(_kind())
    return load_library(path) if path.exists() else None


def load_library(path: Path) -> ctypes.CDLL:
    """Loads a core, with the types of its functions; its structures must be those declared here."""
    core = ctypes.CDLL(str(path))
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(core, name)
        function.restype, function.argtypes = result, arguments
    sizes = (c_int64 * len(_STRUCTURES))()
    core.amn_sizes(sizes)
    if list(sizes) != [ctypes.sizeof(one) for one in _STRUCTURES]:
        raise ImportError(f"{path}: its structures are not those of boundary.py")
    return core


def _kind() -> str:
    """The processor, as compilers call its kind."""
    if platform.machine() != "x86_64":
        return platform.machine()
    kinds = {
        "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
        "x86-64-v3": {"avx2", "fma", "bmi2"},
    }
    features = set(described("flags").split())
    return next((kind for kind, needed in kinds.items() if needed <= features), "x86-64")


def described(what: str) -> str:
    """What the system says of this machine's processor; nothing where it does not."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(what)), "")


def address(values: np.ndarray, dtype: type, *shape: int) -> int:
    """Where an array is, which must be of this kind and shape; who calls keeps it alive."""
    if values.dtype != dtype or values.shape != shape or not values.flags.c_contiguous:
        raise TypeError(f"expected {dtype.__name__} {shape} in one piece, found {values.dtype} {values.shape}")
    return values.ctypes.data


def layer(weight: np.ndarray, bias: np.ndarray | None, outputs: int, inputs: int) -> CLayer:
    """A layer, whose arrays must have these sizes."""
    where = None if bias is None else address(bias, np.float32, outputs)
    return CLayer(outputs, inputs, address(weight, np.float32, outputs, inputs), where)


def words(rows: "array[int]", begin: "array[int]", vectors: "array[int]") -> CWords:
    """Some rows of words; `begin` says where each begins and the last ends. Who calls keeps the arrays alive."""
    return CWords(len(vectors), vectors.buffer_info()[0], len(begin) - 1, begin.buffer_info()[0], rows.buffer_info()[0])
