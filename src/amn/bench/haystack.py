"""Facts in streams of any length, answered without reading all of it for each question.

Whether a filter takes a sentence for a fact depends on the sentence, the question, how many came before it, and how
many of them were facts. So the books are read once for all questions, and it is noted of each sentence how far on in a
stream it might still be one. A stream is then only such sentences and the facts, each judged again at its place, as if
all that lies between had been judged too: the outcome is that of reading.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from operator import itemgetter
from random import Random
from typing import Any

import numpy as np
from jaxtyping import Int

from amn.answers import answers_of
from amn.bench.filters import filter_of
from amn.data.examples import Words
from amn.data.noise import Books, places_of
from amn.data.story import words, words_of
from amn.inference.engine import open_memory
from amn.inference.gate import Judge
from amn.inference.trained import TrainedModel

BLOCK = 4096  # sentences that are judged together
FEW = 256  # facts: as long as there are no more, what is noted holds
STAGES = 26  # a sentence of stage s might be let in among the first 2 ** (s + 1) of a stream
_SCALE = 1 << 30  # a judge that counts in such units hardly moves while it judges


@dataclass(frozen=True, slots=True)
class Needle:
    """A question with the facts that come before it."""

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
    """The books that facts are hidden in, as far as a filter of some name might let them in for some questions."""

    def __init__(self, name: str, trained: TrainedModel, books: Books, questions: Sequence[str]) -> None:
        self._filter, self._trained, self._books = name, trained, books
        kinds = list(dict.fromkeys(self._kind(question) for question in questions))
        found: dict[Words, list[tuple[int, int]]] = {kind: [] for kind in kinds}
        self._words: dict[int, Words] = {}  # of the sentences that might be let in
        self._firsts: list[int] = []  # sentence of each book
        self._tokens = np.cumsum([0, *self._read(kinds, found)])  # before each sentence
        # Which sentences might be let in for each kind of question, and to which stage.
        self._inside = {kind: np.array(some, np.int64).reshape(-1, 2).T for kind, some in found.items()}

    def _kind(self, question: str) -> Words:
        """A question as a model reads it: unknown words are all alike to a gate."""
        vocabulary = self._trained.vocabulary
        return tuple(word if vocabulary.word_id(word) > 1 else "" for word in words(question))

    def _read(self, kinds: Sequence[Words], found: dict[Words, list[tuple[int, int]]]) -> Iterator[int]:
        """Notes what might be let in, and gives the length of each sentence."""
        judge, place = filter_of(self._filter, self._trained, kinds, needs=False), 0
        for book in self._books.books:
            self._firsts.append(place)
            texts = self._books.of_book(book)
            while told := words_of(list(islice(texts, BLOCK))):
                stages = _stages(judge, told)
                for number, at in zip(*np.nonzero(stages), strict=True):
                    found[kinds[number]].append((place + int(at), int(stages[number, at])))
                    self._words[place + int(at)] = told[at]
                place += len(told)
                yield from map(len, told)

    def outcome(self, asked: Needle, tokens: int, rng: Random) -> StreamAnswer:
        """The answer after a stream of so many tokens, exactly as if it had been read."""
        question = words(asked.question)
        count, facts, (places, sentences, stages) = self._stream(asked, tokens, rng)
        within = stages > np.log2(places + 1).astype(int)
        for chosen in (within, np.ones_like(within)):  # all that might be let in, where more than few are
            memory, judge = open_memory(self._trained, [question]), filter_of(self._filter, self._trained, [question])
            let_in = 0
            told_at = zip(
                places[chosen].tolist(), map(self._words.__getitem__, sentences[chosen].tolist()), strict=True
            )
            for place, told in merge(facts, told_at, key=itemgetter(0)):
                judge.state.seen = place
                if judge.judge([told])[0, 0]:
                    memory.ingest([told])
                    let_in += 1
            if judge.state.facts[0] <= FEW:
                break
        (answer,) = answers_of(memory.read(1), self._trained, [asked.question], 1)
        return StreamAnswer(answer.answer, count, let_in)

    def _stream(self, asked: Needle, tokens: int, rng: Random) -> tuple[int, list[tuple[int, Words]], tuple[Any, ...]]:
        """How many sentences a stream has, its facts with their places, and what might be let in besides."""
        book, skip = self._books.start(rng)
        left, places = places_of(asked.facts, tokens, rng)
        count = len(self._tokens) - 1
        begin = min(self._firsts[book] + skip, [*self._firsts[1:], count][book])
        before = [self._after(begin, place) if left else 0 for place in places]  # sentences of noise before each fact
        length = self._after(begin, left) if left else 0
        facts = [(at + i, words(fact)) for i, (at, fact) in enumerate(zip(before, asked.facts, strict=True))]
        inside, stages = self._inside[self._kind(asked.question)]
        laps = np.arange(begin // count, (begin + length) // count + 1) * count - begin
        at = (laps[:, None] + inside).ravel()
        within = (at >= 0) & (at < length)
        at, stages = at[within], np.tile(stages, len(laps))[within]
        return length + len(facts), facts, (at + np.searchsorted(before, at, "right"), (begin + at) % count, stages)

    def _after(self, begin: int, tokens: int) -> int:
        """How many sentences from some place on it takes to have so many tokens."""
        laps, rest = divmod(int(self._tokens[begin]) + tokens, int(self._tokens[-1]))
        return laps * (len(self._tokens) - 1) + int(np.searchsorted(self._tokens, rest)) - begin


def _stages(judge: Judge, told: Sequence[Words]) -> Int[np.ndarray, "question sentence"]:
    """How many stages of a stream each sentence might be let in at; 0 where it never is."""
    stages = np.zeros((len(judge.state.facts), len(told)), np.int64)
    left = list(range(len(told)))
    for stage in range(STAGES):
        judge.state.seen = _SCALE * max((1 << stage) - 1, 2 * FEW)  # a threshold that is rather too low
        judge.state.facts[:] = _SCALE * 2 * FEW
        passed = judge.judge([told[at] for at in left])
        stages[:, left] += passed
        left = [left[place] for place in np.flatnonzero(passed.any(0)).tolist()]
        if not left:
            break
    return stages
