"""How events and questions are worded: templates read from text files, a fifth of them kept out of training.

A file has one section for each kind of event or question, a line with a colon at its end. Below it stand productions:
text with alternatives in brackets, `(went|walked) to`, which may nest and may be empty, and with fields, `{who}`. Those
that begin with `=` are bAbI's own, or the plainest where it has none. `<name> := ...` defines a part that later
productions use as `<name>`. A word marked by `~` is kept out of training with all wordings that contain it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from random import Random
from typing import Literal

# One wording in this many is kept out by its hash; with those that contain marked words it is about a fifth.
_HASH_SHARE = 6
_PART = re.compile("<[^>]+>")
_NEW_WORDS = 0.3  # how often a kept-out wording is one with new words

Which = Literal["train", "kept-out", "all"]


def expand(production: str) -> Iterator[str]:
    """All sentences of a production, in the order of its alternatives."""
    start = production.find("(")
    if start < 0:
        yield production
        return
    end = _closing(production, start)
    for choice in _alternatives(production[start + 1 : end]):
        for middle in expand(choice):
            for rest in expand(production[end + 1 :]):
                yield production[:start] + middle + rest


def _is_kept_out(text: str) -> bool:
    return "~" in text or int.from_bytes(sha256(text.encode()).digest()[:4]) % _HASH_SHARE == 0


def _closing(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    raise ValueError(f"a bracket is left open: {text}")


def _alternatives(text: str) -> list[str]:
    """The parts between the bars that stand in no inner bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


@dataclass(frozen=True)
class Wordings:
    """The wordings of one kind of event or question."""

    babi: tuple[str, ...]  # bAbI's own, or the plainest where it has none; these are never kept out of training
    productions: tuple[str, ...]  # of all further ones

    @cached_property
    def marked(self) -> tuple[str, ...]:
        """All further wordings, tidied, words kept out still marked."""
        texts = (" ".join(text.split()) for production in self.productions for text in expand(production))
        return tuple(text for text in dict.fromkeys(texts) if text not in self.babi)

    @cached_property
    def new(self) -> tuple[str, ...]:
        """Those with words that training lacks."""
        return tuple(text.replace("~", "") for text in self.marked if "~" in text)

    @cached_property
    def recombined(self) -> tuple[str, ...]:
        """Those kept out by a stable hash of their text, whatever kind they belong to; their words are known."""
        return tuple(text for text in self.marked if "~" not in text and _is_kept_out(text))

    @property
    def kept_out(self) -> tuple[str, ...]:
        """All that training lacks."""
        return (*self.recombined, *self.new)

    @cached_property
    def train(self) -> tuple[str, ...]:
        """All further wordings that are not kept out."""
        return tuple(text for text in self.marked if not _is_kept_out(text))

    @cached_property
    def all(self) -> tuple[str, ...]:
        """Every wording."""
        return tuple(dict.fromkeys((*self.babi, *self.train, *self.kept_out)))

    def choose(self, rng: Random, which: Which, babi: float) -> str:
        """One wording; bAbI's own with a given chance, where such exist and are asked for."""
        if which == "kept-out":
            new = not self.recombined or (self.new and rng.random() < _NEW_WORDS)
            return rng.choice(self.new if new else self.recombined)
        if self.babi and rng.random() < babi:
            return rng.choice(self.babi)
        return rng.choice(self.train if which == "train" else self.all)


def _read(file: str) -> dict[str, Wordings]:
    """The wordings of each kind in a text file of this package."""
    parts: dict[str, str] = {}
    found: dict[str, tuple[list[str], list[str]]] = {}
    own, further = list[str](), list[str]()
    for line in (files("amn.data.tasks.mixed") / file).read_text(encoding="utf-8").splitlines():
        if " := " in line:
            name, _, part = line.partition(" := ")
            parts[name] = part
        elif line.startswith(" "):
            production = _PART.sub(lambda name: parts[name[0]], line.strip())
            if production.startswith("= "):
                own += expand(production.removeprefix("= "))
            else:
                further.append(production)
        elif line.endswith(":"):
            own, further = found[line.removesuffix(":")] = [], []
    return {kind: Wordings(tuple(own), tuple(further)) for kind, (own, further) in found.items()}


EVENTS = _read("events.txt")
QUESTIONS = _read("questions.txt")
OPENERS, WRAPPERS = _read("openers.txt").values()
