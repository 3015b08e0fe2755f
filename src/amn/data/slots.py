"""An example in slots: its words by their place in the story, its answers by class and by place."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from itertools import chain
from random import Random

from amn.data.examples import Example
from amn.data.facts import KINDS
from amn.data.vocabulary import Vocabulary, answer_items, answer_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much room the longest example needs along each axis."""

    slots: int = 2
    sentences: int = 1
    words: int = 1
    members: int = 1
    questions: int = 1
    question_words: int = 1
    facts: int = 0
    tokens: int = 0

    def union(self, other: "Sizes") -> "Sizes":
        """Room enough for both."""
        return Sizes(**{f.name: max(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})


@dataclass(frozen=True, slots=True)
class InSlots:
    """One example in slots, and its answers as classes and, where the story tells them, as slots."""

    slot_words: list[int]
    sentences: list[list[int]]
    questions: list[list[int]]
    answers: list[int]
    answer_slots: list[int]
    facts: list[list[tuple[int, int, int]]]
    tokens: list[list[tuple[int, int]]]

    @property
    def sizes(self) -> Sizes:
        """How much room it needs."""
        return Sizes(
            slots=len(self.slot_words),
            sentences=max(1, len(self.sentences)),
            words=max(map(len, self.sentences), default=1),
            questions=len(self.questions),
            question_words=max(map(len, self.questions), default=1),
            facts=max(map(len, self.facts), default=0),
            tokens=max(map(len, self.tokens), default=0),
        )


def in_slots(example: Example, vocabulary: Vocabulary) -> InSlots:
    """The example with numbers in the place of words."""
    told = dict.fromkeys(chain.from_iterable(example.sentences))
    asked = dict.fromkeys(chain.from_iterable(example.questions))
    slots = {word: slot for slot, word in enumerate(told | asked, 1)}
    answers = [(answer or "").lower() for answer in example.answers]
    return InSlots(
        slot_words=[0] + [vocabulary.word_id(word) for word in slots],
        sentences=[[slots[word] for word in sentence] for sentence in example.sentences],
        questions=[[slots[word] for word in question] for question in example.questions],
        answers=[vocabulary.answer_id(answer) for answer in example.answers],
        answer_slots=[slots[answer] if answer in told else 0 for answer in answers],
        facts=[
            [(KINDS.index(fact.kind) + 1, slots[fact.source], slots[fact.target]) for fact in sorted(known)]
            for known in example.facts
        ],
        tokens=_tokens(example, vocabulary, {word: slots[word] for word in told}) if vocabulary.by_item else [],
    )


def _tokens(example: Example, vocabulary: Vocabulary, told: Mapping[str, int]) -> list[list[tuple[int, int]]]:
    """Class and slot of each token of each answer."""
    spelled = [() if answer is None else answer_tokens(_shuffled(answer, told)) for answer in example.answers]
    return [[(vocabulary.answer_id(token), told.get(token, 0)) for token in tokens] for tokens in spelled]


def _shuffled(answer: str, told: Collection[str]) -> list[tuple[str, ...]]:
    """The items of an answer in an order that the story decides, so that none is learned where none is meant.

    It is a list where the story tells all its words; what the story does not tell, a way to go say, keeps its order.
    """
    items = [_as_told(item, told) for item in answer_items(answer)]
    if len(items) > 1 and all(word in told for item in items for word in item):
        Random(f"{answer}/{len(told)}/{' '.join(told)}").shuffle(items)
    return items


def _as_told(item: tuple[str, ...], told: Collection[str]) -> tuple[str, ...]:
    """The words of an item, those as one that the story tells as one: the (mary jones) of "mary jones of leeds"."""
    for end in range(len(item), 1, -1):
        if (whole := " ".join(item[:end])) in told:
            return (whole, *_as_told(item[end:], told))
    return (*item[:1], *_as_told(item[1:], told)) if item else ()
