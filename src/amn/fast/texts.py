"""The words of several stories as numbers: which entity each is, and what each sentence tells."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from jaxtyping import Int

from amn.data.examples import Example, Words
from amn.data.graph import path_kinds, places_of
from amn.fast.encode import Telling
from amn.fast.graphs import Members
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
        self._find_named()

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
        place = ranges(starts[self.telling], self.spoken)
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

    def _find_named(self) -> None:
        """Whom the questions name, and when each was first told of: from then on a named one is a member."""
        self.first = np.full(self.own.max() + 1, _NEVER)  # the first sentence that speaks of each entity
        self.first[self.words[::-1]] = np.repeat(np.arange(len(self.story)), self.spoken)[::-1]  # it is written last
        named = np.array(list(dict.fromkeys(self.asked.tolist())))
        sizes = np.bincount(self.own.nonzero()[0][named - 1], minlength=len(self.own))
        self.named = _padded(named, sizes)  # whom the questions of each story name, then zeros
        self.is_named = np.zeros(len(self.first), bool)
        self.is_named[named] = True

    def in_groups(self) -> Iterator[Int[Array, " sentence"]]:
        """All sentences, each after the one before it; those together that have about as many members."""
        most = self.spoken + np.count_nonzero(self.named, 1)[self.story]
        size = np.frexp(most)[1]  # equal where the larger is less than twice as large
        ends = np.zeros(len(self.story) + 1, bool)
        ends[self.last] = True
        waiting = [np.unique(self.story, return_index=True)[1]]
        while any(map(len, waiting)):
            ready = np.concatenate(waiting)
            sizes = size.take(ready)
            now = sizes == np.bincount(sizes).argmax()
            group = ready[now]
            yield group
            waiting = [ready[~now], group[~ends.take(group)] + 1]

    def members(self, sentences: Int[Array, " story"]) -> Members:
        """Whom a sentence of each of some stories may change."""
        spoken = self.spoken[sentences]
        story, place = np.repeat(np.arange(len(sentences)), spoken), ranges(np.zeros_like(spoken), spoken)
        words = self.words.take(ranges(self.begin[sentences], spoken))
        named = self.named[self.story[sentences]]
        is_word = np.zeros(len(self.first), bool)
        is_word[words] = True
        told = (self.first.take(named) < sentences[:, None]) & ~is_word.take(named)
        whose = told.nonzero()[0]
        after = (told.cumsum(1) - 1 + spoken[:, None])[told]
        return Members(
            entities=np.concatenate((words, named[told])),
            story=np.concatenate((story, whose)),
            place=np.concatenate((place, after)),
            spoken=spoken,
            counts=spoken + np.bincount(whose, minlength=len(spoken)),
        )

    def newcomers_first(self, members: Members, sentences: Int[Array, " story"]) -> tuple[Members, int]:
        """The members with those in front who have no state yet: told for the first time, and named by no question."""
        new = (self.first.take(members.entities) == sentences.take(members.story)) & ~self.is_named.take(
            members.entities
        )
        order = np.argsort(~new, kind="stable")
        return members.ordered(order), int(new.sum())

    def paths(self, sentences: Int[Array, " story"]) -> Int[Array, " pair"]:
        """The kinds of the edges among the words of sentences, word after word and sentence after sentence."""
        return self.kinds.take(ranges(self.first_kind[self.telling[sentences]], self.spoken[sentences] ** 2))


def ranges(begins: Int[Array, " range"], sizes: Int[Array, " range"]) -> Int[Array, " number"]:
    """Several ranges of numbers, one after another."""
    return np.repeat(begins + sizes - sizes.cumsum(), sizes) + np.arange(sizes.sum())


def _padded(values: Sequence[int] | Int[Array, " value"], sizes: Int[Array, " row"]) -> Int[Array, "row column"]:
    """Rows of several sizes, one after another among the values, with zeros after them."""
    columns = np.arange(max(1, sizes.max(initial=0)))
    table = np.zeros((len(sizes), len(columns)), np.intp)
    table[columns < sizes[:, None]] = values
    return table
