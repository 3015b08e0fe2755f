"""The table of verbs, to which new ones are added.

A verb is a typed function in a module of this package. Its positional-only parameters are arguments, its keyword-only
parameters are options (`skip_bad: bool = False` is `--skip-bad`), and its docstring is its help. It returns an exit
code, or None for success. Parameters are of type bool, int, float, str, Path, a Literal of strings, one of these or
None, or a tuple of these, which both cyclopts and `amn.cli.plain` support. Modules of this package import torch,
cyclopts and rich only inside functions: help must be quick, and a machine for training may lack the last two.
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
    module: str  # with a function named by the last word; it is imported when the verb is used

    def function(self) -> Callable[..., int | None]:
        """Import the function of the verb."""
        function = getattr(importlib.import_module(self.module), self.name.split()[-1])
        return cast(Callable[..., int | None], function)


GROUPS = {
    "data": "Check and convert data files.",
    "bench": "Measure speed and cost.",
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
    *(Verb(name, "amn.cli.info") for name in ("export", "models", "info")),
)


def find_verb(words: list[str]) -> tuple[Verb, list[str]]:
    """The verb at the start of a command line, and the rest of the line."""
    by_name = {verb.name: verb for verb in VERBS}
    for length in (2, 1):
        if verb := by_name.get(" ".join(words[:length])):
            return verb, words[length:]
    length = 2 if words[:1] and words[0] in GROUPS else 1
    name = " ".join(words[:length])
    raise ConfigError(f"unknown command {name!r}: {did_you_mean(name, by_name)}")
