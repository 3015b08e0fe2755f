"""The word graphs of several stories side by side. `amn.data.graph.WordGraph` is the same for one, and judges this.

Entities are numbered through all stories, from 1; 0 is nobody. So one table serves all stories, and an entity's number
says whose it is.
"""

from itertools import pairwise

import numpy as np
from jaxtyping import Int

from amn.data.graph import CONTEXT, NO_EDGE, PAST, RECENT_NEIGHBOURS, SELF
from amn.fast.weights import Array

_NOBODY = -1  # the place of nobody, who is never outside a view


class WordGraphs:
    """What each entity met last, fed sentences of equal shape, one of a story.

    Args:
        entities: how many there are in all stories together.
    """

    def __init__(self, entities: int) -> None:
        self._met = np.zeros((RECENT_NEIGHBOURS, entities + 1), np.intp)  # whom each met, the latest first
        self._place = np.zeros(entities + 1, np.intp)  # the row that each has in the views at hand, from 1; else 0
        self._place[0] = _NOBODY
        self._turn = np.zeros(entities + 1, np.intp)  # at which turn each was first proposed as context

    def tell(
        self, members: Int[Array, "member story"], spoken: int, paths: Int[Array, "story spoken spoken"]
    ) -> tuple[Int[Array, "context story"], Int[Array, "story member row"]]:
        """Adds a sentence to each of some stories.

        Args:
            members: the entities that it may change: its distinct words, then what the questions name besides.
            spoken: how many of them are its words.
            paths: the kinds of the edges among its words.

        Returns:
            The entities outside it that members may read, then zeros; and the kinds of all edges.
        """
        num_members, place = len(members), self._place
        met = self._met.take(members, 1)
        place[members] = np.arange(1, num_members + 1)[:, None]
        context = self._recent_outside(met, place.take(met) == 0, spoken)
        place[context] = np.arange(num_members + 1, num_members + 1 + CONTEXT)[:, None]
        place[0] = _NOBODY
        where = place.take(met)
        edges = _edges(where, num_members + CONTEXT)
        edges[:, range(spoken, num_members), range(spoken, num_members)] = SELF
        edges[:, :spoken, :spoken] = paths
        self._remember(members[:spoken], met[:, :spoken], where[:, :spoken])
        place[members] = 0
        place[context] = 0
        place[0] = _NOBODY
        return context, edges

    def _recent_outside(
        self, met: Int[Array, "recent member story"], outside: Array, spoken: int
    ) -> Int[Array, "context story"]:
        """The members' latest neighbours outside, each one's first before anyone's second; the named ask first."""
        _, members, stories = met.shape
        asker = (np.arange(members) - spoken) % members
        column = asker[:, None] * stories + np.arange(stories)
        turns = np.zeros(met.size, np.intp)  # whom each member proposes at each turn
        _close_up(met, outside, turns, column)
        turn = turns.nonzero()[0]
        proposed = turns.take(turn)
        self._turn[proposed[::-1]] = turn[::-1]  # the earliest is written last
        first = self._turn.take(proposed) == turn
        turn, proposed = turn[first], proposed[first]
        story = turn % stories
        order = story.astype(np.int16).argsort(kind="stable") if stories < 1 << 15 else story.argsort(kind="stable")
        story, proposed = story.take(order), proposed.take(order)
        counts = np.bincount(story, minlength=stories)
        rank = np.arange(len(story)) - np.repeat(counts.cumsum() - counts, counts)
        near = rank < CONTEXT
        context = np.zeros((CONTEXT, stories), np.intp)
        context[rank[near], story[near]] = proposed[near]
        return context

    def _remember(
        self,
        words: Int[Array, "spoken story"],
        met: Int[Array, "recent spoken story"],
        where: Int[Array, "recent spoken story"],
    ) -> None:
        """Makes the words of a sentence each other's latest neighbours, the first of them the very latest."""
        count, stories = words.shape
        latest = np.zeros((RECENT_NEIGHBOURS + count, count, stories), np.intp)
        other = np.arange(count - 1)[:, None]
        latest[: count - 1] = words[other + (other >= np.arange(count))]
        before = np.arange(count)[:, None] * stories + np.arange(stories)
        _close_up(met, (where > count) | (where == 0), latest[count - 1 :].reshape(-1), before)
        self._met[:, words] = latest[:RECENT_NEIGHBOURS]


def _close_up(
    met: Int[Array, "recent member story"], chosen: Array, into: Int[Array, " cell"], column: Int[Array, "member story"]
) -> None:
    """Writes those of each member's neighbours that are chosen one after another, so that no gap stays between them."""
    line = chosen * column.size
    line[0] += column - column.size
    for last, this in pairwise(line):
        this += last
    found = chosen.ravel().nonzero()[0]
    into[line.ravel().take(found)] = met.ravel().take(found)


def _edges(where: Int[Array, "recent member story"], rows: int) -> Int[Array, "story member row"]:
    """A past edge from each member to whom it has met, where these have rows."""
    _, members, stories = where.shape
    edges = np.full((stories, members, rows + 2), NO_EDGE, np.int8)  # with room for nobody, and for who has no row
    start = (np.arange(stories) * members + np.arange(members)[:, None]) * (rows + 2) + 1
    edges.reshape(-1)[(where + start).ravel()] = PAST
    return edges[:, :, 2:]
