"""The plainest control: always give the answer that training stories give most often."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from amn.data.examples import Example
from amn.errors import AMNError


@dataclass(frozen=True, slots=True)
class Majority:
    """One answer for everything.

    Args:
        answer: the answer, lower-cased.
    """

    answer: str

    def error_percent(self, examples: Iterable[Example]) -> float:
        """How often it is wrong.

        Raises:
            AMNError: where no question has an answer.
        """
        wrong = [answer != self.answer for answer in _answers(examples)]
        if not wrong:
            raise AMNError("none of the questions has an answer to compare with")
        return round(100 * sum(wrong) / len(wrong), 4)


def majority(training: Iterable[Example]) -> Majority:
    """The most frequent answer of training examples, the first in the alphabet among equals.

    Raises:
        AMNError: where no question has an answer.
    """
    counts = Counter(_answers(training))
    if not counts:
        raise AMNError("none of the training questions has an answer")
    return Majority(min(counts, key=lambda answer: (-counts[answer], answer)))


def _answers(examples: Iterable[Example]) -> Iterator[str]:
    return (answer.lower() for example in examples for answer in example.answers if answer is not None)
