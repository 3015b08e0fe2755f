"""Adaptive Memory Networks (Li and Kadav, 2018): question answering that reads only what matters."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amn.answers import Answer, Explanation
    from amn.api import QA, Request, load
    from amn.errors import AMNError
    from amn.fitting import train
    from amn.memory import LiveMemory
    from amn.pretrained import shipped_models

__version__ = "0.2.0"

# Where each public name lives: it is imported when it is first used, so that `import amn` and `amn --help` are quick.
_HOMES = {
    "AMNError": "amn.errors",
    "Answer": "amn.answers",
    "Explanation": "amn.answers",
    "LiveMemory": "amn.memory",
    "QA": "amn.api",
    "Request": "amn.api",
    "load": "amn.api",
    "shipped_models": "amn.pretrained",
    "train": "amn.fitting",
}

__all__ = [
    "QA",
    "AMNError",
    "Answer",
    "Explanation",
    "LiveMemory",
    "Request",
    "load",
    "shipped_models",
    "train",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'amn' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
