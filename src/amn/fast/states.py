"""The states of the entities of several stories, and what a sentence of each does to them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from amn.fast.encode import Gates
from amn.fast.graphs import Members, Views
from amn.fast.step import attend
from amn.fast.weights import Array, Weights, normalise, product, products


@dataclass(frozen=True, slots=True)
class Newcomers:
    """Words that are told for the first time. They have no state yet, so what they become is known for each telling.

    Args:
        states: after their update.
        asks: what they look for.
        told: what they tell.
        parts: what they tell the gates of the GRU that propagates.
    """

    states: Float[Array, "word hidden"]
    asks: Float[Array, "word hidden"]
    told: Float[Array, "word tell"]
    parts: Float[Array, "3 word hidden"]

    @classmethod
    def of(cls, weights: Weights, gates: Gates) -> "Newcomers":
        """All words of all tellings, as if each were told for the first time."""
        states = weights.update(gates.rows.copy(), np.zeros_like(gates.rows[0]))
        normed = normalise(states)
        asks, told = product(normed, weights.ask), product(normed, weights.tell)
        return cls(states, asks, told, products(states, weights.propagate.state))


class States:
    """States, zero where an entity has not been told of.

    Args:
        weights: of the model.
        entities: how many there are, with nobody, who is number 0.
    """

    def __init__(self, weights: Weights, entities: int) -> None:
        self.weights = weights
        self.table = np.zeros((entities, weights.config.hidden), weights.dtype)
        # What each tells who reads it: as context, kept until its state changes; then what it tells as a member.
        self._told = np.zeros((2 * entities, weights.tell.shape[1]), weights.dtype)
        self._stale = np.zeros(entities, bool)

    def hear(self, gates: Gates) -> None:
        """Takes in what will be told."""
        self._gates, self._new = gates, Newcomers.of(self.weights, gates)

    def read(
        self, members: Members, new: int, said: Int[Array, " word"], views: Views
    ) -> Float[Array, "member hidden"]:
        """Adds and updates, and propagates.

        Args:
            members: whom the sentences may change, newcomers first, then other words.
            new: how many newcomers there are.
            said: which word of all tellings each word is.
            views: what they may read.

        Returns:
            The members' new states.
        """
        weights, words = self.weights, len(said)
        states = self.table.take(members.entities, 0)
        states[:new] = self._new.states.take(said[:new], 0)
        states[new:words] = weights.update(self._gates.rows.take(said[new:], 1), states[new:words])  # Eq. (13)
        messages = self._messages(states, members, said[:new], views)
        parts = np.empty((3, *states.shape), states.dtype)
        parts[:, :new] = self._new.parts.take(said[:new], 1)
        products(states[new:], weights.propagate.state, out=parts[:, new:])
        states = weights.propagate.step(weights.propagate.project(messages), parts, states)  # Eq. (15)
        self.table[members.entities] = states
        self._stale[members.entities] = True
        return states

    def _messages(
        self, states: Float[Array, "member hidden"], members: Members, said: Int[Array, " new"], views: Views
    ) -> Float[Array, "member hidden"]:
        """Eq. (14)."""
        self._freshen(views.context)
        weights, new, half = self.weights, len(said), len(self.table)
        normed, asks = normalise(states[new:]), np.empty_like(states)
        asks[:new] = self._new.asks.take(said, 0)
        product(normed, weights.ask, out=asks[new:])
        self._told[half : half + new] = self._new.told.take(said, 0)
        product(normed, weights.tell, out=self._told[half + new : half + len(states)])
        rows = np.zeros(views.edges.shape[::2], np.intp)
        rows[members.story, members.place] = np.arange(half, half + len(states))
        rows[:, members.most :] = views.context
        asks = asks.take(np.maximum(rows[:, : members.most] - half, 0), 0)
        messages = attend(weights, asks, self._told.take(rows, 0), views.edges).reshape(-1, states.shape[1])
        return messages.take(members.story * members.most + members.place, 0)

    def _freshen(self, context: Int[Array, "story context"]) -> None:
        stale = context[self._stale[context]]
        self._told[stale] = product(normalise(self.table.take(stale, 0)), self.weights.tell)
        self._stale[stale] = False
