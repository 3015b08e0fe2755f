"""What readers of stories give, whoever they are: readings in words and numbers, and what each sentence did."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

from amn.data.examples import Words
from amn.data.graph import RECENT_NEIGHBOURS, WordGraph


@dataclass(frozen=True, slots=True)
class Found:
    """What was read for the questions of one memory."""

    # A score for each answer class and, where the model can point, for each word that was told; for each token of an
    # answer, which is one where the model makes a single choice.
    logits: Float[np.ndarray, "question token answer"]
    # Which of these was chosen for each token; what comes after an end does not count.
    tokens: Int[np.ndarray, "question token"]
    words: Sequence[str]  # these words
    entities: int  # how many entities the memory has
    entities_read: Sequence[int]  # how many of them were read for each question, copies counted each time
    banks: int  # how many banks there are
    strange: Sequence[int]  # how many pairs of words were strange (`amn.inference.phrasing`), for each question


@dataclass(frozen=True, slots=True)
class Change:
    """What one sentence did to a memory."""

    # The deepest bank that held each entity that it touched; None where it is new.
    before: dict[str, int | None] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)  # the deepest bank that holds each of them now
    strengths: dict[str, float] = field(default_factory=dict)  # the strength of each entity that was updated
    banks: int = 1  # how many banks there are now
    created: bool = False  # whether one of them is new


@dataclass(frozen=True, slots=True)
class Held:
    """An entity as a bank holds it: its word, its strength in [0, 1], and the logit that decides how far it moves."""

    word: str
    strength: float
    relevance: float


Arrays = dict[str, np.ndarray]


def placed(depth: Int[np.ndarray, " slot"], graph: WordGraph) -> Arrays:
    """The tables of a memory that say how deep entities are, in which order banks list them, and whom they met last."""
    met = [graph.neighbours(slot) for slot in range(len(depth))]
    neighbours = np.zeros((len(met), RECENT_NEIGHBOURS), np.int32)
    for slot, others in enumerate(met):
        neighbours[slot, : len(others)] = others
    return {
        "depth": depth,
        "order": np.argsort(depth, kind="stable")[int((depth < 0).sum()) :].astype(np.int32),
        "neighbours": neighbours,
        "neighbour_counts": np.array([*map(len, met)], np.int32),
    }


class StoryMemory(Protocol):
    """The memory of one story, told sentence by sentence and built for some questions."""

    @property
    def banks(self) -> int:
        """How many banks there are; 0 where the model has none."""

    @property
    def entities(self) -> int:
        """How many entities there are."""

    @property
    def nbytes(self) -> int:
        """What its tables take."""

    def tell(self, sentence: Words) -> Change:
        """Reads a sentence and says what it did."""

    def hear(self, sentences: Sequence[Words]) -> None:
        """Reads sentences."""

    def read(self, banks: int) -> Found:
        """Answers from some banks, the most relevant first; 0 for all."""

    def bank(self, index: int) -> list[Held]:
        """The entities of a bank."""

    def attention(self, banks: int, question: int) -> list[dict[str, float]]:
        """How much the answer to a question rests on each entity of each bank; nothing where a bank is not read."""

    def arrays(self) -> Arrays:
        """Everything that it knows besides its words, to be saved."""

    def resume(self, words: Sequence[str], arrays: Arrays) -> None:
        """Puts back what `arrays` gave, into a new memory of the same questions; `words` are those met so far."""

    @property
    def words(self) -> Sequence[str]:
        """The words that it has met, in order; those of the questions come first."""
