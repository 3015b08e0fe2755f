"""What is known to hold after each sentence of a story: the graph that a model may be shown in training.

Its nodes are words and its edges are facts. Only what has been told counts, not what a generator knows besides.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

# Every kind of edge, in the order of the numbers that a model knows them by.
KINDS = ("in", "not in", "maybe in", "holds", "north of", "east of", "is", "fears", "bigger than")


class Fact(NamedTuple):
    """An edge between two words, lower-cased: `Fact("mary", "in", "kitchen")`."""

    source: str
    kind: str
    target: str


Facts = frozenset[Fact]


def told_facts(facts: Sequence[Facts], sentences: Sequence[Iterable[str]]) -> tuple[Facts, ...]:
    """What holds after each sentence (`facts`), as far as both words of a fact have been told by then."""
    told: set[str] = set()
    found = []
    for known, words in zip(facts, sentences, strict=True):
        told.update(words)
        found.append(frozenset(fact for fact in known if fact.source in told and fact.target in told))
    return tuple(found)
