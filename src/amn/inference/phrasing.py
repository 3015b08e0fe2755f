"""How unusual a text is for a model: which pairs of adjacent words never occurred in training."""

import base64
import binascii
import zlib
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from amn.data.examples import Words
from amn.errors import CheckpointError
from amn.inference.story_memory import Arrays

_EDGE, _NAME = 0, 1  # the numbers of the edges of a sentence, and of any word that is not listed
_LISTED = 2  # the number of the first listed word
_NO_VERBS = frozenset(
    "already and never now really secretly still truly".split()
)  # though they may come after a pronoun
_MOST_WORDS = 1 << 13  # in a file


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The pairs of adjacent words in training. All names and unknown words count as one word."""

    words: tuple[str, ...]  # those that count as themselves
    told: frozenset[int] = field(repr=False)  # the pairs, each as one number
    verbs: frozenset[str] = field(init=False, repr=False, compare=False)  # what came after a pronoun that is a subject
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_numbers", {word: i for i, word in enumerate(self.words, _LISTED)})
        subjects = [self._numbers[word] * self._size for word in ("he", "she", "they") if word in self._numbers]
        after = (word for word, i in self._numbers.items() if any(first + i in self.told for first in subjects))
        object.__setattr__(self, "verbs", frozenset(after) - _NO_VERBS)

    @classmethod
    def of(cls, sentences: Iterable[Words], names: Container[str]) -> "Phrasing":
        """The phrasing of some sentences and questions."""
        rows = set(sentences)
        listed = cls(tuple(sorted({word for row in rows for word in row if word not in names})), frozenset())
        return cls(listed.words, frozenset(pair for row in rows for pair in listed._pairs(row)))

    def strange(self, sentence: Words) -> int:
        """How many of the pairs of a sentence were never told."""
        told = self.told
        return sum([pair not in told for pair in self._pairs(sentence)])

    def begins(self, words: Words) -> bool:
        """Whether each pair of words was told, if a sentence begins with them."""
        return self.told.issuperset(self._pairs(words)[:-1])

    def names(self, sentence: Words) -> list[str]:
        """The names and unknown words of a sentence."""
        return [word for word in sentence if self.is_name(word)]

    def is_name(self, word: str) -> bool:
        """Whether a word counts as a name."""
        return word not in self._numbers

    def _pairs(self, sentence: Words) -> list[int]:
        size, before, pairs = self._size, _EDGE, []
        for word in sentence:
            number = self._numbers.get(word, _NAME)
            pairs.append(before * size + number)
            before = number
        return [*pairs, before * size + _EDGE]

    @property
    def _size(self) -> int:
        return len(self.words) + _LISTED

    def to_json(self) -> dict[str, Any]:
        """As JSON, for the description of a model: the words, and a bit for each pair of them."""
        table = np.zeros(self._size**2, bool)
        table[list(self.told)] = True
        packed = base64.b64encode(zlib.compress(np.packbits(table).tobytes(), 9)).decode()
        return {"words": list(self.words), "told": packed}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Phrasing":
        """The inverse of `to_json`; allocates no more than the words need, whatever the data claims."""
        try:
            empty = cls(tuple(map(str, data["words"][:_MOST_WORDS])), frozenset())
            size = -(-(empty._size**2) // 8)
            packed = zlib.decompressobj().decompress(base64.b64decode(data["told"], validate=True), size)
        except (KeyError, TypeError, binascii.Error, zlib.error) as error:
            raise CheckpointError(f"phrasing: not readable ({error})") from error
        if len(packed) != size or len(empty._numbers) != len(data["words"]):
            raise CheckpointError(f"phrasing: expected {size} bytes for as many different words, found {len(packed)}")
        table = np.unpackbits(np.frombuffer(packed, np.uint8), count=empty._size**2)
        return cls(empty.words, frozenset(np.flatnonzero(table).tolist()))


class Strangeness:
    """Counts strange pairs in questions and in sentences about them; without a phrasing, none."""

    def __init__(self, phrasing: Phrasing | None, questions: Sequence[Words]) -> None:
        self._phrasing = phrasing
        self._told = [0] * len(questions)  # for each question, the most strange pairs in a sentence about it
        self._asked, self._about, self._names = self._told, list[frozenset[str]](), frozenset[str]()
        if phrasing is not None:
            self._asked = [phrasing.strange(question) for question in questions]
            self._about = [frozenset(phrasing.names(question)) for question in questions]
            self._names = self._names.union(*self._about)

    def tell(self, sentences: Sequence[Words]) -> None:
        """Counts strange pairs in sentences; a sentence is about a question if they share a name."""
        if self._phrasing is None:
            return
        for sentence in sentences:
            if not self._names.isdisjoint(sentence) and (strange := self._phrasing.strange(sentence)):
                about = [number for number, names in enumerate(self._about) if not names.isdisjoint(sentence)]
                for number in about:
                    self._told[number] = max(self._told[number], strange)

    @property
    def counts(self) -> list[int]:
        """For each question, its strange pairs plus those of the strangest sentence about it."""
        return [asked + told for asked, told in zip(self._asked, self._told, strict=True)]

    def arrays(self) -> Arrays:
        """The state, for saving; empty without a phrasing."""
        return {} if self._phrasing is None else {"strange": np.array(self._told, np.int32)}

    def resume(self, arrays: Arrays) -> None:
        """Restores the state from `arrays`; older memories have none, and count as without strange pairs."""
        told = arrays.get("strange", np.zeros(len(self._told), np.int32)).tolist()
        if len(told) != len(self._told):
            raise ValueError("expected a count of strange pairs for each question")
        self._told = told
