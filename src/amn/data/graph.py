"""Which words stand together: the word graph A of the paper, at a cost that does not grow with the story.

Every word remembers its most recent neighbours and no more. From that a sentence gets its *view*: the entities that it
may change (its own words, and those that the question names), a few recent neighbours that these may read, and the
edges along which they read.
"""

from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache
from itertools import chain, filterfalse, islice, zip_longest
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

RECENT_NEIGHBOURS = 16  # how many neighbours a word remembers
CONTEXT = 8  # how many neighbours outside the sentence can be read

# What an edge from reader i to entity j says. The numbers index a table of learned biases.
NO_EDGE = 0
PAST = 1  # they stood together in an earlier sentence
CURRENT = 2  # they stand together now
BEFORE = 3  # j stands just before i now: the path of the paper
AFTER = 4  # j stands just after i now: the same path backwards
SELF = 5
NUM_EDGE_KINDS = 6


class View(NamedTuple):
    """What one sentence touches; a named tuple, as there is one for each sentence and these are fast to make."""

    # Entities that may change: the sentence's distinct words in their order, then what the question names.
    members: list[int]
    spoken: int  # how many of the members are words of the sentence
    context: list[int]  # entities outside it that members may read
    # For each member, the kind of its edge to each member and then to each of the context; a byte for each.
    kinds: bytes

    @property
    def edges(self) -> Int[np.ndarray, "member row"]:
        """The kinds of the edges as a matrix."""
        return np.frombuffer(self.kinds, np.int8).reshape(len(self.members), -1)


class WordGraph:
    """The word graph of one story, fed sentence by sentence, for questions that name some entities."""

    def __init__(self, named: Collection[int], *, context: int = CONTEXT) -> None:
        self._named = tuple(dict.fromkeys(named))
        self._context = context
        self._neighbours: dict[int, tuple[int, ...]] = {}  # of each word, the one that it met last in front

    def tell(self, sentence: Sequence[int], places: tuple[int, ...] | None = None) -> View:
        """Adds a sentence (entity numbers, and what `places_of` gives for them if it is known); returns its view."""
        spoken = list(dict.fromkeys(sentence))
        inside = set(spoken)
        named = [entity for entity in self._named if entity in self._neighbours and entity not in inside]
        inside.update(named)
        context = self._recent_outside(named + spoken, inside)
        kinds = self._kinds(places or places_of(sentence), spoken, named, context)
        self._remember(spoken)
        return View(spoken + named, len(spoken), context, kinds)

    def neighbours(self, entity: int) -> tuple[int, ...]:
        """The neighbours that an entity remembers, the latest first."""
        return self._neighbours.get(entity, ())

    def meet(self, entity: int, others: Sequence[int]) -> None:
        """Restores the neighbours of an entity from a saved graph, the latest first."""
        self._neighbours[entity] = tuple(others)

    def _recent_outside(self, askers: Sequence[int], inside: set[int]) -> list[int]:
        """The askers' most recent neighbours outside the members, each asker's first before anyone's second."""
        known = self._neighbours
        most, outside = self._context, inside.__contains__  # of one asker's no more than that can be chosen
        lists = [islice(filterfalse(outside, known[asker]), most) for asker in askers if asker in known]
        chosen = dict.fromkeys(chain.from_iterable(zip_longest(*lists)))
        chosen.pop(None, None)
        return list(chosen)[:most]

    def _kinds(self, places: tuple[int, ...], spoken: list[int], named: list[int], context: list[int]) -> bytes:
        """The edges, row by row. Whether a reader remembers an entity is 1 or 0: a past edge, or none."""
        known, others = self._neighbours, named + context
        rows: list[bytes] = []
        blank = bytes(len(others))
        for path, reader in zip(path_kinds(places), spoken, strict=True):
            rows += path, bytes(map(set(known[reader]).__contains__, others)) if reader in known else blank
        for place, reader in enumerate(named, len(spoken)):
            row = bytearray(map(set(known[reader]).__contains__, chain(spoken, others)))
            row[place] = SELF
            rows.append(bytes(row))
        return b"".join(rows)

    def _remember(self, spoken: list[int]) -> None:
        """Makes the words of a sentence each other's latest neighbours, the first of them the very latest."""
        known, inside = self._neighbours, set(spoken)
        for place, word in enumerate(spoken):
            before = filterfalse(inside.__contains__, known.get(word, ()))
            known[word] = (*spoken[:place], *spoken[place + 1 :], *before)[:RECENT_NEIGHBOURS]


def places_of(sentence: Sequence[Hashable]) -> tuple[int, ...]:
    """Which of its distinct words each word of a sentence is."""
    if len(set(sentence)) == len(sentence):
        return tuple(range(len(sentence)))
    number: dict[Hashable, int] = {}
    return tuple([number.setdefault(word, len(number)) for word in sentence])


@lru_cache(maxsize=1024)
def path_kinds(places: tuple[int, ...]) -> tuple[bytes, ...]:
    """The edges among the words of a sentence, which depend on nothing but which of them are the same."""
    count = max(places, default=-1) + 1
    kinds = [bytearray([CURRENT]) * count for _ in range(count)]
    for first, second in zip(places, places[1:], strict=False):
        kinds[first][second] = AFTER
    for first, second in zip(places, places[1:], strict=False):
        kinds[second][first] = BEFORE
    for word, row in enumerate(kinds):
        row[word] = SELF
    return tuple(map(bytes, kinds))
