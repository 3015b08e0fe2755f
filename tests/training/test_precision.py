"""Training in bfloat16 on a processor that dies of it ends with an error, and the process lives."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from amn.cli import main as cli
from amn.errors import ConfigError
from amn.fitting import train
from amn.training import precision
from amn.training.engines import work
from amn.training.sweep import Options
from training.small import small

KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
ROWS = [
    {"story": [f"{name} went home."], "question": f"Where is {name}?", "answer": "home"} for name in ("Mary", "John")
]


@pytest.fixture(autouse=True)
def deadly_processor(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A processor on which every product in bfloat16 is an illegal instruction."""
    monkeypatch.setattr(precision, "_PRODUCTS", KILLED)
    monkeypatch.setattr(precision, "processor", lambda: "Abacus 9000")
    precision.computes_bfloat16.cache_clear()
    yield
    precision.computes_bfloat16.cache_clear()


@pytest.mark.parametrize("verb", ["train --task 1", "sweep --tasks 1 --seeds 0", "sweep --tasks 1 --engine process"])
def test_a_run_is_refused_before_its_directory_is_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, verb: str
) -> None:
    out = tmp_path / "out"
    assert cli.main([*verb.split(), "--set", "precision=bfloat16", "--device", "cpu", "--out", str(out)]) == 2
    assert "precision: products in bfloat16 fail on this processor (Abacus 9000)" in capsys.readouterr().err
    assert not out.exists()


def test_from_python_too() -> None:
    with pytest.raises(ConfigError, match="precision: .*Abacus 9000"):
        train(ROWS, device="cpu", precision="bfloat16")


def test_a_worker_tells_why_it_cannot(data: Path, tmp_path: Path) -> None:
    specs = [small(data, precision="bfloat16")]
    (update,) = work(specs, tmp_path, Options(device="cpu"), lambda _: None)
    assert "Abacus 9000" in update.failure
    assert list(tmp_path.iterdir()) == []


def test_other_runs_are_not_asked(data: Path) -> None:
    precision.check_precision([small(data)], "cpu")
    assert precision.computes_bfloat16.cache_info().currsize == 0
