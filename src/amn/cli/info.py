"""Verbs about the installation: which models there are, and what they run on."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from amn import __version__
from amn.cli.output import print_json, print_pairs
from amn.pretrained import shipped_models

_REQUIRED = ("numpy", "safetensors", "jaxtyping", "cyclopts", "rich")
_OPTIONAL = ("fastapi", "uvicorn", "matplotlib", "onnxruntime", "huggingface_hub", "ray", "tensorboard")


def info(*, markdown: bool = False, json: bool = False) -> None:
    """Show versions and the machine.

    Args:
        markdown: as a table to paste in a report.
        json: as JSON.
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
    """List the architectures that can be trained and the models that are shipped.

    Args:
        json: print them as JSON.
    """
    from amn.models import MODELS

    found = {"architectures": sorted(MODELS), "shipped": shipped_models()}
    if json:
        print_json(found)
    else:
        print_pairs({name: ", ".join(names) or "none" for name, names in found.items()})
