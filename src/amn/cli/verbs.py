"""The table of verbs: the one place where a verb is added.

A verb is a typed function in a module of this package. Its positional-only parameters are arguments, its keyword-only
parameters are options (`skip_bad: bool = False` is `--skip-bad`), and its docstring is its help. It returns an exit
code, or None for success. Parameters are of type bool, int, float, str, Path, a Literal of strings, one of these or
None, or a tuple of these; that is what both front ends understand. Modules of this package import torch, cyclopts and
rich inside functions only: help must be quick, and a training machine may have neither of the last two.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from amn.errors import ConfigError, did_you_mean


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command line."""

    name: str  # what the user types; two words for a verb of a group ("data check")
    module: str  # that has a function of the last of these words; it is imported when the verb is used

    def function(self) -> Callable[..., int | None]:
        """Import and give the function behind the verb."""
        function = getattr(importlib.import_module(self.module), self.name.split()[-1])
        return cast(Callable[..., int | None], function)


GROUPS = {
    "data": "Look at data files and change their format.",
    "bench": "Measure speed and work, side by side in one run.",
}

VERBS = (
    Verb("demo", "amn.cli.demo"),
    Verb("ask", "amn.cli.ask"),
    *(Verb(name, "amn.cli.data") for name in ("generate", "data check", "data convert")),
    *(Verb(name, "amn.cli.train") for name in ("train", "sweep")),
    Verb("evaluate", "amn.cli.evaluate"),
    Verb("report", "amn.cli.report"),
    Verb("serve", "amn.cli.serve"),
    *(Verb(f"bench {kind}", "amn.cli.bench") for kind in ("decode", "ingest", "train", "scale", "stream", "serve")),
    Verb("export", "amn.cli.export"),
    *(Verb(name, "amn.cli.info") for name in ("models", "info")),
)


def find_verb(words: list[str]) -> tuple[Verb, list[str]]:
    """The verb that a command line starts with, and the rest of the line."""
    by_name = {verb.name: verb for verb in VERBS}
    for length in (2, 1):
        if verb := by_name.get(" ".join(words[:length])):
            return verb, words[length:]
    length = 2 if words[:1] and words[0] in GROUPS else 1
    name = " ".join(words[:length])
    raise ConfigError(f"unknown verb {name!r}: {did_you_mean(name, by_name)}")
