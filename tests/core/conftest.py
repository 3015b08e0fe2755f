"""The compiled core, built for every kind of processor that this one can stand in for."""

import platform
from collections.abc import Iterator
from ctypes import CDLL
from pathlib import Path

import pytest
import torch

from amn.core import boundary, build

ABLE = {"AVX512": ("x86-64-v4", "x86-64-v3"), "AVX2": ("x86-64-v3",)}  # what processors can run, by torch's names
RUNNABLE = ABLE.get(torch.backends.cpu.get_cpu_capability(), (platform.machine(),))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a core that compiles without a warning."""
    folder = tmp_path_factory.mktemp("core")
    if not build.compile_core(folder, *build.WARNINGS):
        if build.compile_core(folder):
            pytest.fail("the core compiles with warnings only")
        pytest.skip("there is no C compiler that knows this kind of processor")
    return folder


@pytest.fixture(params=RUNNABLE)
def core(request: pytest.FixtureRequest, built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CDLL]:
    """Reads with the core for one kind of processor; models must be made after this."""
    path = build.path_of(request.param, built)
    if not path.exists():
        pytest.skip(f"the C compiler does not know processors of the kind {request.param}")
    library = boundary.load_library(path)
    monkeypatch.setattr(boundary, "library", lambda: library)
    yield library
