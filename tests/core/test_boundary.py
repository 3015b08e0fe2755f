"""What crosses the boundary of the compiled core, and how the core is built and found."""

from ctypes import CDLL
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amn.core import boundary, build
from amn.inference.core import CoreMemory, core_of
from amn.inference.engine import open_memory
from amn.inference.torch_memory import TorchMemory
from random_stories import (
    random_model,
)


def test_other_models_and_numbers_of_64_bits_are_left_to_torch(core: CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    from random_stories import in_double

    assert core_of(in_double(random_model(0))) is None
    assert core_of(replace(random_model(0), architecture="entnet")) is None
    assert isinstance(open_memory(random_model(0), [("mary",)]), CoreMemory)
    monkeypatch.setattr(boundary, "library", lambda: None)
    assert isinstance(open_memory(random_model(0), [("mary",)]), TorchMemory)


def test_want_of_room_is_an_error(core: CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    made = core_of(random_model(0))
    assert made is not None
    with pytest.raises(MemoryError):
        made.check(boundary.NO_ROOM)
    monkeypatch.setattr(made, "code", Without(core, "amn_memory_new"))
    with pytest.raises(MemoryError, match="for another story"):
        CoreMemory(made, [("mary",)])


class Without:
    """A library one of whose functions finds no room."""

    def __init__(self, library: CDLL, name: str) -> None:
        self._library, self._name = library, name

    def __getattr__(self, name: str) -> Any:
        return (lambda *_: None) if name == self._name else getattr(self._library, name)


def test_arrays_of_another_kind_or_shape_do_not_cross_the_boundary() -> None:
    values = np.zeros((3, 4), np.float32)
    assert boundary.address(values, np.float32, 3, 4) == values.ctypes.data
    for wrong in (values.astype(np.float64), values.T, values[:, ::2], values[:2]):
        with pytest.raises(TypeError, match=r"expected float32 \(3, 4\)"):
            boundary.address(wrong, np.float32, 3, 4)


def test_a_library_with_other_structures_is_refused(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundary, "_STRUCTURES", (boundary.CGRU, *boundary._STRUCTURES[1:]))
    with pytest.raises(ImportError, match="structures"):
        boundary.load_library(next(built.glob("core-*.so")))


def test_the_environment_names_another_build_or_none(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = boundary.library.__wrapped__
    monkeypatch.setenv("AMN_CORE", "none")
    assert found() is None
    monkeypatch.setenv("AMN_CORE", str(built / "nowhere"))
    assert found() is None
    monkeypatch.setenv("AMN_CORE", str(built))
    library = found()
    assert library is not None and Path(library._name).parent == built


def test_without_a_compiler_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.compile_core(tmp_path) == []


def test_a_compiler_that_fails_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "false")
    older = tmp_path / "core-x86-64-v3-0123456789ab.so"
    older.touch()
    assert build.compile_core(tmp_path) == [] and not older.exists()
    assert "no core for" in capsys.readouterr().out
