"""Words of a story as the numbers of their vectors, and which of them an answer may be.

`amn.models.encoder.Encoder.spell` gives a batch the same numbers, and judges these.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from jaxtyping import Float

from amn.data.examples import Example, Words
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.models.encoder import ANONYMOUS


class Spelling:
    """Gives the words of one story their numbers, in the order in which they come, those of the questions first.

    Args:
        vocabulary: the words that the model knows.
        pointer: whether the model can point at words, and so tells unknown ones apart.
    """

    def __init__(self, vocabulary: Vocabulary, *, pointer: bool) -> None:
        self._vocabulary, self._pointer, self._unknown = vocabulary, pointer, 0

    def number(self, word: str) -> int:
        """The vector of a word that comes for the first time; when there are no more for unknown ones, one again."""
        known = self._vocabulary.word_id(word)
        if known != UNKNOWN or not self._pointer:
            return known
        self._unknown += 1
        return len(self._vocabulary.words) + (self._unknown - 1) % ANONYMOUS


@dataclass(frozen=True, slots=True)
class Spelled:
    """The words of an example.

    Args:
        numbers: the vector of each word.
        told: for each vector the word that it stands for as an answer: of several the one that was told last. Empty
            where the model cannot point.
        tellings: what a reader has found out about sentences that are spelled so.
    """

    numbers: dict[str, int]
    told: dict[int, str]
    tellings: dict[Words, int] = field(default_factory=dict)

    def __call__(self, words: Words) -> tuple[int, ...]:
        """The vectors of some words."""
        return tuple([self.numbers[word] for word in words])


def spelled(vocabulary: Vocabulary, example: Example, *, pointer: bool) -> Spelled:
    """The words of an example, as a model reads them."""
    spelling = Spelling(vocabulary, pointer=pointer)
    words = dict.fromkeys(chain.from_iterable((*example.questions, *example.sentences)))
    numbers = {word: spelling.number(word) for word in words}
    told = {numbers[word]: word for word in chain.from_iterable(example.sentences)} if pointer else {}
    return Spelled(numbers, told)


class _Alike(dict[str, int]):
    """The vectors of words that are spelled alike in all stories, looked up when they are needed."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def __missing__(self, word: str) -> int:
        self[word] = self._vocabulary.word_id(word)
        return self[word]


def all_spelled(vocabulary: Vocabulary, examples: Sequence[Example], *, pointer: bool) -> list[Spelled]:
    """The words of several examples. Only where the model can point has a story unknown words of its own."""
    if pointer:
        return [spelled(vocabulary, example, pointer=True) for example in examples]
    return [Spelled(_Alike(vocabulary), {})] * len(examples)


def slot_words(example: Example) -> list[str]:
    """The word of each slot of an example; slot 0 is padding."""
    return ["", *dict.fromkeys(chain.from_iterable((*example.sentences, *example.questions)))]


def choose(
    logits: Float[np.ndarray, "question answer"], vocabulary: Vocabulary, words: Iterable[int]
) -> Float[np.ndarray, "question some"]:
    """The logits of all classes and, where there are more, those that stand at some places after them."""
    classes = len(vocabulary.answers)
    if logits.shape[1] == classes:
        return logits
    return logits[:, [*range(classes), *(classes + place for place in words)]]
