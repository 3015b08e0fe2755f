"""Runs the notebook of the tutorial and keeps what it gives, after a change of the model or of what is printed.

python scripts/docs/run_notebook.py
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbclient
import nbformat

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs" / "notebooks" / "tutorial.ipynb"


def main() -> None:
    """Runs every cell from the start, in a folder that goes afterwards."""
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with TemporaryDirectory() as folder:
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it was run
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
    nbformat.validate(notebook)
    nbformat.write(notebook, NOTEBOOK)


def joined(outputs: list[Any]) -> list[Any]:
    """Outputs with one stream for what was printed in pieces, and of a line that was written anew its last state."""
    kept: list[Any] = []
    for output in outputs:
        before = kept[-1] if kept else None
        if before is not None and output.output_type == "stream" and before.get("name") == output.name:
            before.text += output.text
        else:
            kept.append(output)
    for output in kept:
        if output.output_type == "stream":
            output.text = "\n".join(line.rpartition("\r")[2].rstrip() for line in output.text.split("\n"))
    return kept


if __name__ == "__main__":
    main()
