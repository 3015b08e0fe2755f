"""Adaptive Memory Networks: ask about a story, get the answer and why.

    qa = amn.load()                          # or of amn.shipped_models()
    qa("Mary went home.", "Where is Mary?")  # an Answer
    qa([(story, question), ...])             # many stories at once
    memory = qa.memory("Where is Mary?")     # .tell("..."), .ask()
    qa = amn.train("stories.jsonl", out="my-model")

More: help(amn.QA), help(amn.LiveMemory), help(amn.Answer), help(amn.train).
What you can mend is an amn.AMNError. The command line: amn --help.
"""

import sys
import typing
from importlib import import_module
from types import ModuleType

if typing.TYPE_CHECKING:
    from amn.answers import Answer as Answer
    from amn.answers import Explanation as Explanation
    from amn.api import QA as QA
    from amn.api import Request as Request
    from amn.api import load as load
    from amn.errors import AMNError as AMNError
    from amn.fitting import train as train
    from amn.memory import LiveMemory as LiveMemory
    from amn.pretrained import shipped_models as shipped_models

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


class _Package(ModuleType):
    """This module, with names that are imported on demand.

    Functions of the module could do the same, but help(amn) would print them; and with an __all__ it would print every
    method of every class: 500 lines instead of a screen.
    """

    def __getattr__(self, name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'amn' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__(self) -> list[str]:
        return sorted(["__version__", *_HOMES])


sys.modules[__name__].__class__ = _Package
