"""Which facts a question needs: what a gate learns it from, and how much it may turn away.

The data name the sentences that an answer rests on. It may rest on more: on one that would have changed it, had another
been told, as whoever left a room counts where it is asked who is there. So the model is asked: where the gate turns
away what changes its answer, that is needed too. What a gate can know of a sentence is what it says of whom the
question names; so what is needed once is needed wherever the same is said of others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Bool

from amn.answers import answers_of
from amn.data.examples import Example, Words
from amn.data.story import Story, words
from amn.data.vocabulary import UNKNOWN
from amn.evaluation.metrics import same_answer
from amn.inference.engine import let_in, open_gate, read_examples
from amn.inference.gate import is_name, names_in_question, shared_names
from amn.inference.trained import TrainedModel

PRONOUNS = frozenset(("he", "she", "they", "him", "her", "them"))
REFERRING = 0  # the saying of all sentences with pronouns, which go with the fact before them

Saying = tuple[tuple[str, ...], tuple[str, ...]]  # a sentence and a question without their names


@dataclass
class Needs:
    """What is known to be needed."""

    numbers: dict[str, int]  # of the words that the model knows
    names: frozenset[int]  # the numbers of those that are names
    _sayings: dict[Saying, int] = field(default_factory=lambda: {((), ()): REFERRING})
    _needed: set[int] = field(default_factory=set)
    missed: list[tuple[Words, Words]] = field(default_factory=list)  # sentences and questions that only a search found

    def numbered(self, spoken: Words) -> tuple[int, ...]:
        """A sentence or question by the numbers of its words."""
        return tuple([self.numbers.get(word, UNKNOWN) for word in spoken])

    def look(self, sentence: Words, question: Words) -> tuple[int, int]:
        """Which names of a question a sentence shares, and the number of what is said and asked."""
        named = names_in_question(question, self.numbers, self.names)
        shared = shared_names(sentence, named)
        if not PRONOUNS.isdisjoint(sentence):
            return shared, REFERRING
        saying = self._nameless(sentence, named), self._nameless(question, named)
        return shared, self._sayings.setdefault(saying, len(self._sayings))

    def _nameless(self, spoken: Words, named: Sequence[str]) -> tuple[str, ...]:
        """The words of a sentence with names as far as the question shares them: 1 for its first, 2 for others."""
        marks = {name: "1" if name == named[0] else "2" for name in named}
        return tuple([marks.get(word) or ("" if is_name(word, self.numbers, self.names) else word) for word in spoken])

    def note(self, sentence: Words, question: Words) -> None:
        """Takes note that a question needs a sentence."""
        self._needed.add(self.look(sentence, question)[1])

    def note_support(self, stories: Iterable[Story]) -> bool:
        """Takes note of what the data say; returns whether they say anything."""
        for story in stories:
            for question in story.questions:
                for place in question.support:
                    self.note(words(story.sentences[place]), words(question.text))
        return bool(self._needed - {REFERRING})

    @property
    def labels(self) -> tuple[Bool[np.ndarray, " saying"], Bool[np.ndarray, " saying"]]:
        """Of what is said and asked by its number: whether it is needed, and whether anything can be learned of it."""
        needed = np.zeros(len(self._sayings), bool)
        needed[list(self._needed)] = True
        return needed, np.arange(len(needed)) != REFERRING


def answers(trained: TrainedModel, asked: Sequence[Example]) -> list[str]:
    """The answer of a model to the question of each story."""
    found = zip(read_examples(trained, asked, 1), asked, strict=True)
    return [answers_of(one, trained, [" ".join(example.questions[0])], 1)[0].answer for one, example in found]


def search(needs: Needs, plain: TrainedModel, gated: TrainedModel, asked: Sequence[Example]) -> int:
    """Takes note of what a gate turns away although it changes answers; returns how many answers it changed."""
    verdicts = [_judged(gated, one) for one in asked]
    inside = [_with(one, verdict) for one, verdict in zip(asked, verdicts, strict=True)]
    found = zip(asked, verdicts, answers(plain, asked), answers(plain, inside), strict=True)
    changed = [(one, verdict, before) for one, verdict, before, after in found if before != after]
    for one, verdict, before in changed:
        for place in _missing(plain, one, verdict, before):
            needs.note(one.sentences[place], one.questions[0])
            needs.missed.append((one.sentences[place], one.questions[0]))
    return len(changed)


def _judged(gated: TrainedModel, asked: Example) -> Bool[np.ndarray, " sentence"]:
    """Which sentences of a story its question lets in."""
    gate = open_gate(gated, asked.questions)
    assert gate is not None
    return gate.judge(asked.sentences)[0]


def _with(one: Example, inside: Bool[np.ndarray, " sentence"]) -> Example:
    return replace(one, sentences=tuple([one.sentences[place] for place in np.flatnonzero(inside)]), facts=())


def _missing(plain: TrainedModel, one: Example, inside: Bool[np.ndarray, " sentence"], answer: str) -> list[int]:
    """Some sentences that were turned away and bring an answer back, none of which can be spared."""
    heads = [place for place, spoken in enumerate(one.sentences) if PRONOUNS.isdisjoint(spoken)]
    ends = dict(pairwise([*heads, len(one.sentences)]))  # those with pronouns go with the one before them
    kept, missing = np.ones(len(inside), bool), []
    for head in heads:
        if not inside[head]:
            kept[head : ends[head]] = False
            if answers(plain, [_with(one, kept)]) != [answer]:
                kept[head : ends[head]] = True
                missing.append(head)
    return missing


def lost(plain: TrainedModel, gated: TrainedModel, asked: Sequence[Example], right: Sequence[bool]) -> tuple[int, int]:
    """How many fewer answers are right behind a gate than were `right` without, and how many sentences it lets in."""
    inside = [let_in(gated, one) for one in asked]
    still = sum(is_right(one, answer) for one, answer in zip(asked, answers(plain, inside), strict=True))
    return sum(right) - still, sum(len(one.sentences) for one in inside)


def is_right(asked: Example, answer: str) -> bool:
    """Whether that is the answer to the question of a story."""
    return same_answer(answer, asked.answers[0] or "")
