"""The interface of story memories, and the data that they return: predictions, and what each sentence did."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

from amn.data.examples import Words
from amn.data.graph import RECENT_NEIGHBOURS, WordGraph


@dataclass(frozen=True, slots=True)
class Prediction:
    """The output of a model for the questions of one memory."""

    # For each token of an answer, a score for each class and, if the model can point, for each word of the story. An
    # answer has one token if the model makes a single choice.
    logits: Float[np.ndarray, "question token answer"]
    # The choice for each token; those after the end token do not count.
    tokens: Int[np.ndarray, "question token"]
    words: Sequence[str]  # these words of the story
    entities: int  # how many entities the memory has
    entities_read: Sequence[int]  # how many of them were read for each question; copies count each time
    banks: int  # how many banks there are
    strange: Sequence[int]  # how many strange pairs of words (`amn.inference.phrasing`) there are, for each question


@dataclass(frozen=True, slots=True)
class Change:
    """What one sentence did to a memory."""

    # The deepest bank that held each entity that it touched; None for new ones.
    before: dict[str, int | None] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)  # the deepest bank that holds each of them now
    strengths: dict[str, float] = field(default_factory=dict)  # the strength of each entity that was updated
    banks: int = 1  # how many banks there are now
    created: bool = False  # whether one of them is new


def merged(changes: Sequence[Change]) -> Change:
    """What the clauses of a sentence did together."""
    whole, *others = changes
    for one in others:
        before = whole.before | one.before | whole.before  # where both have a word, the first
        created = whole.created or one.created
        whole = Change(before, whole.after | one.after, whole.strengths | one.strengths, one.banks, created)
    return whole


@dataclass(frozen=True, slots=True)
class HeldEntity:
    """An entity of a bank: its word, its strength in [0, 1], and the logit that decides how far it moves."""

    word: str
    strength: float
    relevance: float


Arrays = dict[str, np.ndarray]


def graph_tables(depth: Int[np.ndarray, " slot"], graph: WordGraph) -> Arrays:
    """The tables of depth, of the order of entities in banks, and of neighbours."""
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
    """The memory of one story, built for some questions and told sentence by sentence."""

    @property
    def banks(self) -> int:
        """The number of banks; 0 if the model has none."""

    @property
    def entities(self) -> int:
        """The number of entities."""

    @property
    def nbytes(self) -> int:
        """The size of its tables in bytes."""

    def tell(self, sentence: Words) -> Change:
        """Reads a sentence and returns what it did."""

    def ingest(self, sentences: Sequence[Words]) -> None:
        """Reads sentences."""

    def read(self, banks: int) -> Prediction:
        """The prediction from some banks, the most relevant first; 0 for all."""

    def bank(self, index: int) -> list[HeldEntity]:
        """The entities of a bank."""

    def attention(self, banks: int, question: int) -> list[dict[str, float]]:
        """The attention to each entity of each bank for a question; empty for banks that are not read."""

    def arrays(self) -> Arrays:
        """Its state without the words, for saving."""

    def resume(self, words: Sequence[str], arrays: Arrays) -> None:
        """Restores the state from `arrays` in a new memory for the same questions; `words` are those met so far."""

    @property
    def words(self) -> Sequence[str]:
        """The words so far, in order; those of the questions come first."""
