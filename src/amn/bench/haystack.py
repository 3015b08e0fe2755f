"""Facts in streams of any length, answered without reading all of it for each question.

Whether a filter lets a sentence in depends on the sentence, the question, and how much was let in before. So the books
are read once for all questions, each with the bar at its lowest: what does not pass then never passes. A stream is then
only those sentences and the facts, each judged again at its place, as if all that lies between had been judged too.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, islice
from random import Random

import numpy as np

from amn.answers import answers_of
from amn.bench.filters import filter_of
from amn.data.examples import Words
from amn.data.noise import Books, places_of
from amn.data.story import words, words_of
from amn.inference.engine import open_memory
from amn.inference.trained import TrainedModel

BLOCK = 4096  # sentences that are judged together
MANY = 1 << 40  # sentences, all of which were let in: the bar is at its lowest


@dataclass(frozen=True, slots=True)
class Needle:
    """A question with the facts that were told before it."""

    facts: tuple[str, ...]
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """What came of a stream: the answer, and how many of its sentences were let in."""

    answer: str
    sentences: int
    let_in: int


class Haystack:
    """The books, as far as one filter might let them in for some questions.

    Args:
        name: of the filter.
        trained: the model.
        books: what facts are hidden in.
        questions: that will be asked.
    """

    def __init__(self, name: str, trained: TrainedModel, books: Books, questions: Sequence[str]) -> None:
        self._filter, self._trained, self._books = name, trained, books
        kinds = dict.fromkeys(self._kind(question) for question in questions)
        self._inside: dict[Words, list[int]] = {kind: [] for kind in kinds}  # which sentences might be let in
        self._words: dict[int, Words] = {}  # of these
        self._firsts: list[int] = []  # sentence of each book
        lengths = [0, *self._read(list(kinds))]
        self._tokens = np.cumsum(lengths)  # before each sentence

    def _kind(self, question: str) -> Words:
        """A question as a model reads it: unknown words are all alike to a gate."""
        vocabulary = self._trained.vocabulary
        return tuple(word if vocabulary.word_id(word) > 1 else "" for word in words(question))

    def _read(self, kinds: Sequence[Words]) -> Iterator[int]:
        """Notes what might be let in, and gives the length of each sentence."""
        judge, place = filter_of(self._filter, self._trained, kinds), 0
        for book in self._books.books:
            self._firsts.append(place)
            texts = self._books.of_book(book)
            while told := words_of(list(islice(texts, BLOCK))):
                judge.seen = MANY
                judge.let_in[:] = MANY
                for number, at in zip(*np.nonzero(judge.judge(told)), strict=True):
                    self._inside[kinds[number]].append(place + int(at))
                    self._words[place + int(at)] = told[at]
                place += len(told)
                yield from map(len, told)

    def outcome(self, asked: Needle, tokens: int, rng: Random) -> StreamAnswer:
        """The answer after a stream of so many tokens, exactly as if it had been read."""
        question = words(asked.question)
        memory, judge = open_memory(self._trained, [question]), filter_of(self._filter, self._trained, [question])
        sentences, events = self._stream(asked, tokens, rng)
        let_in = 0
        for place, told in events:
            judge.seen = place
            if judge.judge([told])[0, 0]:
                memory.hear([told])
                let_in += 1
        (answer,) = answers_of(memory.read(1), self._trained, [asked.question], 1)
        return StreamAnswer(answer.answer, sentences, let_in)

    def _stream(self, asked: Needle, tokens: int, rng: Random) -> tuple[int, Iterator[tuple[int, Words]]]:
        """How many sentences a stream has, and those that might be let in, with their places in it."""
        book, skip = self._books.start(rng)
        left, places = places_of(asked.facts, tokens, rng)
        count = len(self._tokens) - 1
        begin = min(self._firsts[book] + skip, [*self._firsts[1:], count][book])
        before = [self._after(begin, place) if left else 0 for place in places]  # sentences of noise before each fact
        noise = self._after(begin, left) if left else 0
        told = ((at + number, words(fact)) for number, (at, fact) in enumerate(zip(before, asked.facts, strict=True)))
        inside = self._inside[self._kind(asked.question)]
        found = (
            (at + bisect_left(before, at + 1), self._words[(begin + at) % count])
            for at in _places(inside, begin, noise, count)
        )
        return noise + len(asked.facts), merge(told, found, key=lambda event: event[0])

    def _after(self, begin: int, tokens: int) -> int:
        """How many sentences from some place on it takes to have so many tokens."""
        laps, rest = divmod(int(self._tokens[begin]) + tokens, int(self._tokens[-1]))
        return laps * (len(self._tokens) - 1) + int(np.searchsorted(self._tokens, rest)) - begin


def _places(inside: Sequence[int], begin: int, length: int, count: int) -> Iterator[int]:
    """Which of so many sentences from some place on are among some, where the books go round."""
    laps = range(begin // count, (begin + length) // count + 1)
    rounds = ((lap * count + place - begin for place in inside) for lap in laps)
    return (at for at in chain.from_iterable(rounds) if 0 <= at < length)
