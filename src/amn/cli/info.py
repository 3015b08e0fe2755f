"""Verbs about models and the installation: list models, export one, show versions."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from amn import __version__
from amn.cli.output import note, print_json, print_pairs
from amn.pretrained import shipped_models

_REQUIRED = ("numpy", "safetensors", "jaxtyping", "cyclopts", "rich")
_OPTIONAL = ("fastapi", "uvicorn", "matplotlib", "onnxruntime", "huggingface_hub", "ray", "tensorboard")


def info(*, markdown: bool = False, json: bool = False) -> None:
    """Show versions and the machine.

    Args:
        markdown: print a table to paste in a report.
        json: print JSON.
    """
    import torch

    facts = {"amn": __version__, "python": platform.python_version(), "system": platform.platform()}
    facts |= {"processors": str(os.cpu_count()), "torch": torch.__version__}
    facts |= {"torch threads": str(torch.get_num_threads())}
    facts |= {"gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else "none"}
    facts |= {name: _version(name) for name in (*_REQUIRED, *_OPTIONAL)}
    if json:
        print_json(facts)
    else:
        print_pairs(facts, markdown=markdown)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def models(*, json: bool = False) -> None:
    """List the architectures that can be trained, and the shipped models.

    Args:
        json: print them as JSON.
    """
    from amn.models import MODELS

    found = {"architectures": sorted(MODELS), "shipped": shipped_models()}
    if json:
        print_json(found)
    else:
        print_pairs({name: ", ".join(names) or "none" for name, names in found.items()})


def export(model: str, /, *, out: Path, format: Literal["onnx"] = "onnx", json: bool = False) -> None:
    """Export a model as ONNX graphs: start, step (one sentence) and decode.

    Example: amn export qa1 --format onnx --out exported

    Args:
        model: a model directory, a shipped model, or a name on the Hugging Face hub.
        out: the folder to write, which is created if needed.
        format: the format of the graphs.
        json: print {"model": ..., "format": ..., "directory": ..., "graphs": [...]}.
    """
    from amn.api import load
    from amn.inference.export import export_onnx

    qa = load(model)
    note(f"exporting {model}: this takes a few seconds per graph")
    graphs = [path.name for path in export_onnx(qa.trained, out)]
    if json:
        print_json({"model": model, "format": format, "directory": str(out), "graphs": graphs})
    else:
        print(f"{out}: {', '.join(graphs)}")
