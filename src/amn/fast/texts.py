"""The words of several stories as numbers: which entity each is, and what each sentence tells."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from jaxtyping import Int

from amn.data.examples import Example, Words
from amn.data.graph import path_kinds, places_of
from amn.fast.encode import Telling
from amn.fast.spelling import Spelled
from amn.fast.weights import Array

_NEVER = np.iinfo(np.intp).max


class Texts:
    """Stories with their questions. Entities are numbered through all stories, from 1; 0 is nobody.

    A sentence that several stories tell word for word is kept once, as a *telling*: nothing but the words of a sentence
    decides how it is encoded.

    Args:
        examples: the stories.
        spelled: the words of each.
    """

    def __init__(self, examples: Sequence[Example], spelled: Sequence[Spelled]) -> None:
        lengths = np.array([len(example.sentences) for example in examples])
        self.story = np.repeat(np.arange(len(examples)), lengths)  # whose each sentence is
        self.last = lengths.cumsum() - 1  # the last sentence of each story
        said, words = self._tellings(examples, spelled)
        self.telling = np.array(said, np.intp)  # what each sentence tells
        self.spoken = self.counts[self.telling]  # how many distinct words each sentence has
        self.begin = self.spoken.cumsum() - self.spoken  # where its words begin among all words
        self._number_entities(examples, words)
        self._count_named()

    def _tellings(self, examples: Sequence[Example], spelled: Sequence[Spelled]) -> tuple[list[int], list[list[str]]]:
        """Which telling each sentence is, and the distinct words of each telling."""
        distinct: dict[tuple[tuple[int, ...], Words], int] = {}
        said: list[int] = []
        for spell, example in zip(spelled, examples, strict=True):
            known = spell.tellings
            for sentence in example.sentences:
                telling = known.get(sentence)
                if telling is None:
                    telling = known[sentence] = distinct.setdefault((spell(sentence), sentence), len(distinct))
                said.append(telling)
        self.tellings: list[Telling] = [(spelt, places_of(sentence)) for spelt, sentence in distinct]
        words = [list(dict.fromkeys(sentence)) for _, sentence in distinct]
        self.counts = np.array([len(told) for told in words], np.intp)
        kinds = [b"".join(path_kinds(places)) for _, places in self.tellings]
        self.kinds = np.frombuffer(b"".join(kinds), np.int8)  # of the edges among the words of each telling
        self.first_kind = np.cumsum([0, *map(len, kinds[:-1])])
        return said, words

    def _number_entities(self, examples: Sequence[Example], words: Sequence[Sequence[str]]) -> None:
        numbers: dict[str, int] = {}
        told = np.array([numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(words)], np.intp)
        starts = self.counts.cumsum() - self.counts
        place = np.repeat(starts[self.telling] - self.begin, self.spoken) + np.arange(self.spoken.sum())
        asked = [list(chain.from_iterable(example.questions)) for example in examples]
        named = [numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(asked)]
        asker = np.repeat(np.arange(len(examples)), [len(one) for one in asked])
        told_by = np.repeat(self.story, self.spoken)
        keys = np.concatenate((told_by * len(numbers) + told.take(place), asker * len(numbers) + named))
        distinct, number = np.unique(keys, return_inverse=True)
        number += 1
        self.words, self.asked = number[: len(place)], number[len(place) :]  # entities, in the order of the words
        sizes = np.bincount(distinct // len(numbers), minlength=len(examples))
        self.own = _padded(np.arange(1, len(distinct) + 1), sizes)  # each story's entities, then zeros

    def _count_named(self) -> None:
        """How many members each sentence has besides its words: what questions name, once the story has told of it."""
        sentence = np.repeat(np.arange(len(self.story)), self.spoken)
        self.first = np.full(self.own.max() + 1, _NEVER)  # the first sentence that speaks of each entity
        self.first[self.words[::-1]] = sentence[::-1]  # the earliest is written last
        is_named = np.zeros(len(self.first), bool)
        is_named[self.asked] = True
        distinct = list(dict.fromkeys(self.asked.tolist()))
        self.named = _padded(distinct, np.count_nonzero(is_named[self.own], 1))
        known = self.first[self.named][self.story] < np.arange(len(self.story))[:, None]
        again = is_named[self.words] & (self.first[self.words] < sentence)
        self.others = known.sum(1) - np.bincount(sentence[again], minlength=len(self.story))

    def in_groups(self) -> Iterator[list[int]]:
        """All sentences, those together that have equally many words and members; each after the one before it."""
        shapes = (self.spoken * (self.named.shape[1] + 1) + self.others).tolist()
        ends = set(self.last.tolist())
        waiting: dict[int, list[int]] = {}
        following = np.unique(self.story, return_index=True)[1].tolist()
        while True:
            for sentence in following:
                waiting.setdefault(shapes[sentence], []).append(sentence)
            if not waiting:
                return
            shape = max(waiting, key=lambda shape: len(waiting[shape]))
            group = waiting.pop(shape)
            yield group
            following = [sentence + 1 for sentence in group if sentence not in ends]


def _padded(values: Sequence[int] | Int[Array, " value"], sizes: Int[Array, " row"]) -> Int[Array, "row column"]:
    """Rows of several sizes, one after another among the values, with zeros after them."""
    columns = np.arange(max(1, sizes.max(initial=0)))
    table = np.zeros((len(sizes), len(columns)), np.intp)
    table[columns < sizes[:, None]] = values
    return table
