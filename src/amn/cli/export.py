"""The verb that exports a model for other runtimes."""

from pathlib import Path
from typing import Literal

from amn.cli.output import note, print_json


def export(model: str, /, *, out: Path, format: Literal["onnx"] = "onnx", json: bool = False) -> None:
    """Export a model as ONNX graphs.

    Three graphs: start, step (one sentence) and decode, which onnxruntime runs.

    Example: amn export qa1 --format onnx --out exported

    Args:
        model: a model directory, a shipped model, or a name on the Hugging Face hub.
        out: folder to write; it is made where there is none.
        format: of the graphs.
        json: print {"model": ..., "format": ..., "directory": ..., "graphs": [...]}.
    """
    from amn.api import load
    from amn.inference.export import export_onnx

    qa = load(model)
    note(f"exporting {model}: this takes some seconds for each graph")
    graphs = [path.name for path in export_onnx(qa.trained, out)]
    if json:
        print_json({"model": model, "format": format, "directory": str(out), "graphs": graphs})
    else:
        print(f"{out}: {', '.join(graphs)}")
