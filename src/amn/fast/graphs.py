"""The word graphs of several stories side by side. `amn.data.graph.WordGraph` is the same for one, and judges this.

Entities are numbered through all stories, from 1; 0 is nobody. So one table serves all stories, and an entity's number
says whose it is.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Int

from amn.data.graph import CONTEXT, NO_EDGE, PAST, RECENT_NEIGHBOURS, SELF
from amn.fast.weights import Array

_NOBODY = -1  # the place of nobody, who is never outside a view


@dataclass(frozen=True, slots=True)
class Members:
    """Whom a sentence of each of some stories may change: the words of all sentences, then whom their questions name.

    Args:
        entities: who they are.
        story: whose.
        place: which of the members of its sentence each is, from 0, the distinct words first.
        spoken: how many words each sentence has.
        counts: how many members.
    """

    entities: Int[Array, " member"]
    story: Int[Array, " member"]
    place: Int[Array, " member"]
    spoken: Int[Array, " story"]
    counts: Int[Array, " story"]

    @property
    def most(self) -> int:
        """How many members the sentence with most of them has."""
        return int(self.counts.max())

    def ordered(self, order: Int[Array, " member"]) -> "Members":
        """The same in another order."""
        entities, story, place = (part.take(order) for part in (self.entities, self.story, self.place))
        return Members(entities, story, place, self.spoken, self.counts)


@dataclass(frozen=True, slots=True)
class Views:
    """What a sentence of each of some stories may read besides its members, and along which edges.

    Args:
        context: these entities, then zeros.
        edges: the kind of edge from each member to each row: first the members, then the context.
    """

    context: Int[Array, "story context"]
    edges: Int[Array, "story place row"]


class WordGraphs:
    """Whom each entity met last, fed one sentence of each of some stories.

    Args:
        entities: how many there are in all stories together.
    """

    def __init__(self, entities: int) -> None:
        self._met = np.zeros((RECENT_NEIGHBOURS, entities + 1), np.intp)  # the latest first
        self._deepest = 0  # how many anyone has met, of those that are remembered
        self._row = np.zeros(entities + 1, np.intp)  # which row each has in the views at hand, from 1; 0 where none
        self._row[0] = _NOBODY
        self._turn = np.zeros(entities + 1, np.intp)  # at which turn each was first proposed as context

    def tell(self, members: Members, paths: Int[Array, " pair"]) -> Views:
        """Adds a sentence to each of some stories.

        Args:
            members: whom it may change.
            paths: the kinds of the edges among its words, word after word and sentence after sentence.
        """
        met = self._met[: self._deepest].take(members.entities, 1)
        self._row[members.entities] = members.place + 1
        context = self._recent_outside(met, self._row.take(met) == 0, members)
        self._row[context] = np.arange(members.most, members.most + context.shape[1]) + 1
        self._row[0] = _NOBODY
        row = self._row.take(met)
        views = Views(context, _edges(row, members, context.shape[1], paths))
        self._remember(met, row, members)
        self._row[members.entities] = 0
        self._row[context] = 0
        self._row[0] = _NOBODY
        return views

    def _recent_outside(
        self, met: Int[Array, "recent member"], outside: Bool[Array, "recent member"], members: Members
    ) -> Int[Array, "story context"]:
        """The members' latest neighbours outside, each one's first before anyone's second; the named ask first."""
        stories = len(members.counts)
        spoken, counts = members.spoken[members.story], members.counts[members.story]
        asker = (members.place - spoken) % counts
        turns = np.zeros(len(met) * members.most * stories, np.intp)  # whom each proposes at each turn
        _close_up(met, outside, turns, members.most * stories, asker * stories + members.story)
        turn = turns.nonzero()[0]
        proposed = turns.take(turn)
        self._turn[proposed[::-1]] = turn[::-1]  # the earliest is written last
        first = (self._turn.take(proposed) == turn).nonzero()[0]
        proposed, story = proposed.take(first), turn.take(first) % stories
        order = story.astype(np.min_scalar_type(stories)).argsort(kind="stable")  # small numbers are sorted sooner
        proposed, story = proposed.take(order), story.take(order)
        counts = np.bincount(story, minlength=stories)
        rank = np.arange(len(story)) - (counts.cumsum() - counts).take(story)
        near = (rank < CONTEXT).nonzero()[0]
        context = np.zeros((stories, min(CONTEXT, int(counts.max()))), np.intp)
        context[story.take(near), rank.take(near)] = proposed.take(near)
        return context

    def _remember(self, met: Int[Array, "recent member"], row: Int[Array, "recent member"], members: Members) -> None:
        """Makes the words of a sentence each other's latest neighbours, the first of them the very latest."""
        words = int(members.spoken.sum())
        entities, story, place = members.entities[:words], members.story[:words], members.place[:words]
        spoken, most = members.spoken[story], int(members.spoken.max())
        other = np.arange(most - 1)[:, None]
        near = np.zeros((len(met) + most - 1, words), np.intp)
        near[: most - 1] = entities.take(np.arange(words) - place + other + (other >= place), mode="clip")
        near[: most - 1] *= other < spoken - 1
        row = row[:, :words]
        begin = np.arange(words) + (spoken - 1) * words
        _close_up(met[:, :words], (row > spoken) | (row == 0), near.reshape(-1), words, begin)
        near = near[:RECENT_NEIGHBOURS]
        self._deepest = max(self._deepest, int(near.any(1).sum()))
        self._met[: len(near), entities] = near


def _close_up(
    met: Int[Array, "recent member"],
    chosen: Bool[Array, "recent member"],
    into: Int[Array, " cell"],
    step: int,
    begin: Int[Array, " member"],
) -> None:
    """Writes the chosen neighbours of each member one step after another from where its own begin."""
    cell = chosen * step
    cell[:1] += begin - step
    for last, this in pairwise(cell):
        this += last
    found = chosen.ravel().nonzero()[0]
    into[cell.ravel().take(found)] = met.ravel().take(found)


def _edges(
    row: Int[Array, "recent member"], members: Members, context: int, paths: Int[Array, " pair"]
) -> Int[Array, "story place row"]:
    """The kinds of the edges: what a sentence says, and a past edge from each member to whom it has met."""
    stories, most = len(members.counts), members.most
    rows = most + context + 2  # with room for nobody, and for who has no row
    edges = np.full((stories, most, rows), NO_EDGE, np.int8)
    start = (members.story * most + members.place) * rows + 1
    edges.reshape(-1)[(row + start).ravel()] = PAST
    edges[:, range(most), range(2, most + 2)] = SELF
    words = int(members.spoken.sum())
    widths = members.spoken[members.story[:words]]
    begin = start[:words] + 1 - (widths.cumsum() - widths)
    edges.reshape(-1)[np.repeat(begin, widths) + np.arange(len(paths))] = paths
    return edges[:, :, 2:]
