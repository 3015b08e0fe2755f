"""The notebook of the tutorial runs, and gives what it was saved with."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "notebooks" / "tutorial.ipynb"


SCORE = re.compile(r"(?<=score[ =])\d\.\d\d")  # another model is as right, and a little more or less sure


def said(cell: Any) -> list[str]:
    """What a cell gave, without what warns of the machine."""
    outputs = (output for output in cell.outputs if output.get("name") != "stderr")
    texts = (one["text"] if one["output_type"] == "stream" else one["data"]["text/plain"] for one in outputs)
    return [SCORE.sub("...", text) for text in texts]


def test_the_tutorial_runs_and_says_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    kept = nbformat.read(NOTEBOOK, as_version=4)
    run = nbclient.NotebookClient(
        nbformat.read(NOTEBOOK, as_version=4), timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    fixed = [i for i, cell in enumerate(kept.cells) if "varies" not in cell.metadata.get("tags", ())]
    told = [i for i in fixed if kept.cells[i].cell_type == "code"]
    assert told and all(kept.cells[i].outputs for i in told)
    assert [said(run.cells[i]) for i in told] == [said(kept.cells[i]) for i in told]
    assert (tmp_path / "my-model" / "config.json").exists()
