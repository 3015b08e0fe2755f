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
    target: str  # the function, as "module:function"; it is imported when the verb is used
    help: str  # one line for the list of verbs

    def function(self) -> Callable[..., int | None]:
        """Import and give the function behind the verb."""
        module, _, attribute = self.target.partition(":")
        return cast(Callable[..., int | None], getattr(importlib.import_module(module), attribute))


GROUPS = {
    "data": "Look at data files and change their format.",
    "bench": "Measure speed and work, side by side in one run.",
}

VERBS = (
    Verb("demo", "amn.cli.demo:demo", "Answer sample questions and draw the memory banks."),
    Verb("ask", "amn.cli.ask:ask", "Answer questions about a story; without questions, a conversation."),
    Verb("generate", "amn.cli.data:generate", "Write generated stories and questions."),
    Verb("data check", "amn.cli.data:check", "Count what a data file or folder holds, and list its bad lines."),
    Verb("data convert", "amn.cli.data:convert", "Rewrite a data file in the other format."),
    Verb("train", "amn.cli.train:train", "Train one model."),
    Verb("sweep", "amn.cli.train:sweep", "Train many: tasks x models x seeds, resumable."),
    Verb("evaluate", "amn.cli.evaluate:evaluate", "Score a model: error, banks and entities read."),
    Verb("report", "amn.cli.report:report", "Make a page of tables and figures from runs."),
    Verb("serve", "amn.cli.serve:serve", "Serve the HTTP interface and the web page."),
    Verb("bench decode", "amn.cli.bench:decode", "Time answers from the required banks against all banks."),
    Verb("bench ingest", "amn.cli.bench:ingest", "Time story to answer, against the other models."),
    Verb("bench train", "amn.cli.bench:train", "Time training: a fleet against one model at a time."),
    Verb("bench scale", "amn.cli.bench:scale", "Time live memories of ever more entities."),
    Verb("bench stream", "amn.cli.bench:stream", "Measure answers about facts in texts of any length."),
    Verb("bench serve", "amn.cli.bench:serve", "Time a server with ever more clients, batching on and off."),
    Verb("export", "amn.cli.export:export", "Export a model as ONNX graphs."),
    Verb("models", "amn.cli.info:models", "List the architectures and the shipped models."),
    Verb("info", "amn.cli.info:info", "Show versions and the machine, ready to paste in a report."),
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
