"""Finds the compiled kernels for this machine, and hands them what they read."""

import ctypes
import platform
from functools import cache
from struct import pack

import numpy as np
import torch

from amn.core.build import path_of

_KINDS = {"AVX512": "x86-64-v4", "AVX2": "x86-64-v3"}  # processors, as torch calls them and as compilers do


@cache
def compiled() -> ctypes.CDLL | None:
    """The kernels, where they were built for this kind of processor."""
    path = path_of(_KINDS.get(torch.backends.cpu.get_cpu_capability(), platform.machine()))
    return ctypes.CDLL(str(path)) if path.exists() else None


def packed(*values: int | float | np.ndarray) -> bytes:
    """A structure of C: whole numbers, numbers, and where arrays are. Who calls this keeps the arrays."""
    codes: list[str] = []
    found: list[int | float] = []
    for value in values:
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            codes.append("P")
            found.append(value.ctypes.data)
        else:
            codes.append({int: "q", float: "f"}[type(value)])
            found.append(value)
    return pack("".join(codes), *found)
