"""Adaptive Memory Networks (Li and Kadav, 2018): question answering that reads only what matters.

    import amn
    qa = amn.load()                                        # a shipped model; amn.shipped_models() lists them
    qa("Mary went to the garden.", "Where is Mary?")       # an Answer: .answer, .score, .known, ...
    qa([(story, question), ...])                           # many stories at once
    memory = qa.memory(["Where is Mary?"])                 # a live memory, for questions that stand
    memory.tell("Mary went to the garden.")
    memory.ask()                                           # at any time; any other question: memory.ask("Who ...?")
    qa = amn.train("stories.jsonl", out="my-model")        # on your own stories; amn.load("my-model")

help(amn.load), help(amn.train), help(amn.QA), help(amn.LiveMemory) and help(amn.Answer) say more.
Mistakes that you can mend raise amn.AMNError. The command line is `amn --help`.
"""

import typing
from importlib import import_module

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
# There is no __all__, by which help(amn) would print every method of every class: 500 lines instead of a screen.
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


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'amn' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
