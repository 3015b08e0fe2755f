"""Which words stand together: the word graph A of the paper, at a cost that does not grow with the story.

Every word remembers its most recent neighbours and no more. From that a sentence gets its *view*: the entities that it
may change (its own words, and those that the question names), a few recent neighbours that these may read, and the
edges along which they read.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class View:
    """What one sentence touches.

    Args:
        members: entities that may change: the sentence's distinct words in their order, then what the question names.
        spoken: how many of the members are words of the sentence.
        context: entities outside it that members may read.
        edges: for each member, the kind of its edge to each member and then to each of the context.
    """

    members: list[int]
    spoken: int
    context: list[int]
    edges: list[list[int]]


class WordGraph:
    """The word graph of one story, fed sentence by sentence.

    Args:
        named: the entities that the questions name.
        context: how many neighbours a view may hold besides its members.
    """

    def __init__(self, named: Collection[int], *, context: int = CONTEXT) -> None:
        self._named = tuple(dict.fromkeys(named))
        self._context = context
        self._neighbours: dict[int, list[int]] = {}

    def tell(self, sentence: Sequence[int]) -> View:
        """Adds a sentence (entity numbers in order) and returns its view."""
        spoken = list(dict.fromkeys(sentence))
        inside = set(spoken)
        named = [entity for entity in self._named if entity in self._neighbours and entity not in inside]
        members = spoken + named
        context = self._recent_outside(named + spoken, set(members))
        edges = self._edges(sentence, members, len(spoken), context)
        self._remember(spoken)
        return View(members, len(spoken), context, edges)

    def _recent_outside(self, askers: Sequence[int], inside: set[int]) -> list[int]:
        """The askers' most recent neighbours outside the members, each asker's first before anyone's second."""
        lists = [[entity for entity in self._neighbours.get(asker, ()) if entity not in inside] for asker in askers]
        chosen: dict[int, None] = {}
        for rank in range(max(map(len, lists), default=0)):
            for entities in lists:
                if rank < len(entities):
                    chosen[entities[rank]] = None
                    if len(chosen) == self._context:
                        return list(chosen)
        return list(chosen)

    def _edges(self, sentence: Sequence[int], members: list[int], spoken: int, context: list[int]) -> list[list[int]]:
        path = set(zip(sentence[1:], sentence, strict=False))
        columns = members + context
        rows = []
        for i, reader in enumerate(members):
            past = set(self._neighbours.get(reader, ()))
            row = [PAST if entity in past else NO_EDGE for entity in columns]
            if i < spoken:
                for j in range(spoken):
                    pair = (reader, members[j])
                    row[j] = BEFORE if pair in path else AFTER if pair[::-1] in path else CURRENT
            row[i] = SELF
            rows.append(row)
        return rows

    def _remember(self, spoken: list[int]) -> None:
        """Moves the words of a sentence to the front of each other's lists."""
        inside = set(spoken)
        for word in spoken:
            fresh = [other for other in spoken if other != word]
            known = [other for other in self._neighbours.get(word, ()) if other not in inside]
            self._neighbours[word] = (fresh + known)[:RECENT_NEIGHBOURS]
