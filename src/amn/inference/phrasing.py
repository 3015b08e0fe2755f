"""How strange a text is to a model: which of its words stand together as they never did in training."""

import base64
import binascii
import zlib
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from amn.data.examples import Words
from amn.errors import CheckpointError
from amn.inference.found import Arrays

_EDGE, _NAME = 0, 1  # the numbers of where a sentence begins and ends, and of any word that is not listed
_LISTED = 2  # the number of the first listed word
_MOST_WORDS = 1 << 13  # that a file may list


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The pairs of words that training told one after another. Names are all one word here, and so are new words."""

    words: tuple[str, ...]  # those that count as themselves
    told: frozenset[int] = field(repr=False)  # the pairs, each as one number
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_numbers", {word: i for i, word in enumerate(self.words, _LISTED)})

    @classmethod
    def of(cls, sentences: Iterable[Words], names: Container[str]) -> "Phrasing":
        """Those of some sentences and questions."""
        rows = set(sentences)
        listed = cls(tuple(sorted({word for row in rows for word in row if word not in names})), frozenset())
        return cls(listed.words, frozenset(pair for row in rows for pair in listed._pairs(row)))

    def strange(self, sentence: Words) -> int:
        """How many of the pairs of a sentence were never told."""
        told = self.told
        return sum([pair not in told for pair in self._pairs(sentence)])

    def names(self, sentence: Words) -> list[str]:
        """The words of a sentence that count as names."""
        return [word for word in sentence if word not in self._numbers]

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
        """As it stands beside a model's weights: the words, and a bit for each pair of them."""
        table = np.zeros(self._size**2, bool)
        table[list(self.told)] = True
        packed = base64.b64encode(zlib.compress(np.packbits(table).tobytes(), 9)).decode()
        return {"words": list(self.words), "told": packed}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Phrasing":
        """The inverse of `to_json`; takes no more room than the words need, whatever the data claims."""
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
    """How strange questions and what is told about them are; without a phrasing, nothing is."""

    def __init__(self, phrasing: Phrasing | None, questions: Sequence[Words]) -> None:
        self._phrasing = phrasing
        self._told = [0] * len(questions)  # the most strange pairs of a sentence that is about each question
        self._asked, self._about, self._names = self._told, list[frozenset[str]](), frozenset[str]()
        if phrasing is not None:
            self._asked = [phrasing.strange(question) for question in questions]
            self._about = [frozenset(phrasing.names(question)) for question in questions]
            self._names = self._names.union(*self._about)

    def tell(self, sentences: Sequence[Words]) -> None:
        """Hears sentences; only those that name what a question names can make that strange."""
        if self._phrasing is None:
            return
        for sentence in sentences:
            if not self._names.isdisjoint(sentence) and (strange := self._phrasing.strange(sentence)):
                about = [number for number, names in enumerate(self._about) if not names.isdisjoint(sentence)]
                for number in about:
                    self._told[number] = max(self._told[number], strange)

    @property
    def counts(self) -> list[int]:
        """The strange pairs of each question, and of the strangest sentence about it."""
        return [asked + told for asked, told in zip(self._asked, self._told, strict=True)]

    def arrays(self) -> Arrays:
        """What it has to keep, to be saved; nothing where nothing is strange anyway."""
        return {} if self._phrasing is None else {"strange": np.array(self._told, np.int32)}

    def resume(self, arrays: Arrays) -> None:
        """Puts back what `arrays` gave; memories of older versions have none, and nothing told was strange."""
        told = arrays.get("strange", np.zeros(len(self._told), np.int32)).tolist()
        if len(told) != len(self._told):
            raise ValueError("how strange each question is")
        self._told = told
