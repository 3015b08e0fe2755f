"""How much a request costs the model before it runs, and how much of it fits in a moment."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from amn.data.story import words

T = TypeVar("T")

SLICE_SECONDS = 0.005  # what one request may take before others have their turn
# Seconds for a unit of cost, for a question, and for a sentence that is explained, until they were measured.
READ_PACE, ASK_PACE, EXPLAIN_PACE = 2e-6, 2e-3, 1e-3
_SHARE = 0.2  # of a new measurement in the pace


@dataclass(frozen=True, slots=True)
class ReadingWork:
    """Sentences to read, and what each costs.

    Args:
        sentences: as they are told.
        costs: one for each.
    """

    sentences: Sequence[str]
    costs: Sequence[int]

    @classmethod
    def of(cls, sentences: Sequence[str], questions: Sequence[str]) -> "ReadingWork":
        """What sentences cost to read for some questions; those without a word are left out.

        Every question may have a memory of its own, in which the words of a sentence and those that the question names
        look at each other.
        """
        asked = [len(words(question)) for question in questions]
        spoken = [(sentence, length) for sentence in sentences if (length := len(words(sentence)))]
        by_length = {length: sum((length + named) ** 2 for named in asked) for length in {n for _, n in spoken}}
        return cls([sentence for sentence, _ in spoken], [by_length[length] for _, length in spoken])

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def cost(self) -> int:
        """What all of it costs."""
        return sum(self.costs)


class Pace:
    """How fast something goes on this machine, learnt from what it took before.

    Args:
        first: seconds for a unit of cost, until it was measured.
    """

    def __init__(self, first: float) -> None:
        self._pace = first

    def timed(self, cost: float, function: Callable[[], T]) -> T:
        """Runs a function of known cost, and learns from it."""
        started = time.perf_counter()
        result = function()
        self._pace += _SHARE * ((time.perf_counter() - started) / max(cost, 1) - self._pace)
        return result

    def seconds(self, cost: float) -> float:
        """How long a cost takes, about."""
        return cost * self._pace

    def fitting(self, costs: Sequence[int], seconds: float = SLICE_SECONDS) -> int:
        """How many of the first costs fit in some seconds; at least one."""
        left = seconds / self._pace
        for count, cost in enumerate(costs):
            left -= cost
            if left < 0:
                return max(1, count)
        return len(costs)
