"""Stories read by compiled code (native/kernels.c), where it was built: what numpy does, in half the time.

It is compiled when the package is installed (native/build.py), for the usual kinds of processors. Where there was no
compiler, or the processor is of another kind, there is none, and numpy does the work.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float

from amn.core import loader
from amn.fast.encode import Asked, Gates
from amn.fast.texts import Texts
from amn.fast.weights import EPSILON, Array, Weights


@dataclass(frozen=True, slots=True)
class Memory:
    """The memories of all stories, which are changed in place.

    Args:
        states: of all entities; nobody is number 0.
        marks: of all entities.
        banks: how many banks each story has.
        entities: how many entities.
        votes: the sum of the votes of its last bank.
        voters: how many entities its last bank holds.
    """

    states: Float[Array, "entity hidden"]
    marks: Float[Array, "entity 5"]
    banks: Float[Array, " story"]
    entities: Float[Array, " story"]
    votes: Float[Array, " story"]
    voters: Float[Array, " story"]


def can_read(weights: Weights) -> bool:
    """Whether there is code for a model: it knows numbers of 32 bits."""
    return weights.dtype == np.float32 and loader.compiled() is not None


def tell(weights: Weights, texts: Texts, gates: Gates, asked: Asked, memory: Memory) -> None:
    """Reads all stories to their ends.

    Args:
        weights: of the model.
        texts: what is told.
        gates: what its words tell the update GRU.
        asked: the questions.
        memory: what to change.
    """
    code = loader.compiled()
    assert code is not None
    own = np.count_nonzero(texts.own, 1)
    sentences = np.concatenate(([0], texts.last + 1))
    entities = np.concatenate(([1], 1 + own.cumsum()))
    story = loader.packed(
        *(len(own), asked.update.shape[1], gates.rows.shape[1], int(texts.counts.max()), texts.named.shape[1]),
        *(sentences, entities, texts.telling, texts.begin, texts.words, texts.counts, gates.starts, texts.first_kind),
        *(texts.kinds, texts.named, texts.is_named, gates.rows),
        *(asked.likeness, asked.move, asked.update),
    )
    kept = (memory.states, memory.marks, memory.banks, memory.entities, memory.votes, memory.voters)
    if code.amn_tell(_laid_out(weights).packed, story, loader.packed(*kept)):
        raise MemoryError(f"no room to read {len(own)} stories at once")


class _Layout:
    """A model's weights as kernels.c wants them."""

    def __init__(self, weights: Weights) -> None:
        config, update, propagate = weights.config, weights.update, weights.propagate
        self._arrays = (
            *(np.concatenate(update.state, 1), update.new_bias, weights.ask, weights.tell, weights.edge_bias),
            *(np.concatenate(propagate.input, 1), propagate.bias, np.concatenate(propagate.state, 1)),
            *(propagate.new_bias, weights.of_state.T.copy()),
        )  # kept, because the packed form says only where they are
        numbers = (weights.update_strength, weights.candidate_strength, weights.candidate_bias, weights.move_bias)
        more = (float(config.bank_gap), weights.load, weights.create_bias, EPSILON)
        self.packed = loader.packed(config.hidden, config.heads, config.max_banks, *self._arrays, *numbers, *more)


_laid: WeakKeyDictionary[Weights, _Layout] = WeakKeyDictionary()


def _laid_out(weights: Weights) -> _Layout:
    found = _laid.get(weights)
    if found is None:
        found = _laid[weights] = _Layout(weights)
    return found
