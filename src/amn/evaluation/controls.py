"""The plainest control: always give the answer that training stories give most often."""

from collections import Counter
from collections.abc import Iterable

from amn.data.examples import Example
from amn.errors import AMNError


def majority(training: Iterable[Example]) -> str:
    """The most frequent answer of training examples, lower-cased; the first in the alphabet among equals."""
    counts = Counter(_answers(training))
    return min(counts, key=lambda answer: (-counts[answer], answer))


def majority_error(training: Iterable[Example], examples: Iterable[Example]) -> float:
    """The error in percent of always giving the majority answer.

    Raises:
        AMNError: where no question has an answer.
    """
    given, right = majority(training), _answers(examples)
    return round(100 * sum(answer != given for answer in right) / len(right), 4)


def _answers(examples: Iterable[Example]) -> list[str]:
    found = [answer.lower() for example in examples for answer in example.answers if answer is not None]
    if not found:
        raise AMNError("none of the questions has an answer to compare with")
    return found
