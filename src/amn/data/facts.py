"""What is known to hold after each sentence of a story: the graph that a model may be shown in training.

Its nodes are words and its edges are facts. Only what has been told counts, not what a generator knows besides.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

# Every kind of edge, in the order of the numbers that a model knows them by.
KINDS = ("in", "not in", "maybe in", "holds", "north of", "east of", "is", "fears", "bigger than", "was in")


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


def with_earlier_places(facts: Iterable[Facts]) -> Iterator[Facts]:
    """The same facts, and for each thing the place before the one where it is: `Fact("milk", "was in", "hall")`.

    A thing is where its holder is. A place that was not told does not count.
    """
    now: dict[str, str] = {}
    before: dict[str, str] = {}
    for known in facts:
        at = {fact.source: fact.target for fact in known if fact.kind == "in"}
        holder = {fact.target: fact.source for fact in known if fact.kind == "holds"}
        places = {thing: at.get(holder.get(thing, thing)) for thing in {*now, *holder}}
        for thing, place in places.items():
            if place is not None and place != now.get(thing):
                before.update({thing: now[thing]} if thing in now else {})
                now[thing] = place
        yield known.union(Fact(thing, "was in", place) for thing, place in before.items())
