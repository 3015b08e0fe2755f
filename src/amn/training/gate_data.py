"""What a gate learns from: sentences of stories with their questions, and sentences of texts, as word numbers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from random import Random

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from amn.data.examples import Spoken, Words, examples, names_of
from amn.data.story import Story, words
from amn.data.tasks import generate_preset
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.inference.gate import is_name, names_in_question, shared_names
from amn.models.layers import MIX_PLACE, mix
from amn.training.prepare import ALL_TASKS, EVERYTHING, JOINT, MIXED, task_stories

PRONOUNS = frozenset(("he", "she", "they", "we", "him", "her", "them", "us"))
REFERRING = 0  # the saying of all sentences with pronouns, which go with the fact before them

Saying = tuple[tuple[str, ...], tuple[str, ...]]  # a sentence and a question without their names
MIXED_QUESTIONS = 60_000
_MOST_ALIKE = 4  # pairs of a sentence and a question that stand together often count so many times


@dataclass(frozen=True, kw_only=True)
class GateConfig:
    """How a gate is trained."""

    width: int = 48  # of its states
    epochs: int = 10  # each ends with a reading of the whole folder
    steps: int = 120  # batches of an epoch
    batch_size: int = 1024  # sentences of stories in a batch, and as many of texts
    learning_rate: float = 4e-3  # of AdamW, at its height
    hide_words: float = 0.2  # chance with which words that are no names are hidden, in half of the sentences of stories
    held_out: float = 0.15  # share of the texts that only the thresholds are chosen by, and the leaks counted in
    early: float = 0.1  # share of the sentences of texts let in while a text may still be a story: the lowest threshold
    missed: float = 0.005  # share of the sentences of stories that the highest threshold may turn away
    searched: int = 3000  # questions that are answered after an epoch, with what is turned away and without
    lost: float = 0.0  # how much smaller the share of right answers may be for what is turned away as not needed
    seed: int = 0  # of weights and draws


@dataclass
class Needs:
    """Which facts questions need, as labels to learn from.

    The data name the supporting facts of an answer. It may depend on more: on a sentence that would have changed it,
    as somebody who left a room counts where it is asked who is there. So the model is asked, too: where the gate turns
    away what changes its answer, that is needed as well. All that a gate knows of a sentence is what it says of those
    whom the question names, so a label holds wherever the same is said and asked of others.
    """

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
        """Notes that a question needs a sentence."""
        self._needed.add(self.look(sentence, question)[1])

    def note_support(self, stories: Iterable[Story]) -> bool:
        """Notes the supporting facts that the data name; returns whether there are any."""
        for story in stories:
            for question in story.questions:
                for place in question.support:
                    self.note(words(story.sentences[place]), words(question.text))
        return bool(self._needed - {REFERRING})

    @property
    def labels(self) -> tuple[Bool[np.ndarray, " saying"], Bool[np.ndarray, " saying"]]:
        """For each number of what is said and asked: whether it is needed, and whether that is known."""
        needed = np.zeros(len(self._sayings), bool)
        needed[list(self._needed)] = True
        return needed, np.arange(len(needed)) != REFERRING


class Rows:
    """Rows of numbers of any lengths, in one array."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.lengths = np.array([len(row) for row in rows], np.int64)
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._numbers = np.array([number for row in rows for number in row], np.int64)

    def __len__(self) -> int:
        return len(self.lengths)

    def padded(self, chosen: Int[np.ndarray, " row"]) -> Int[Tensor, "row word"]:
        """Some rows, with zeros behind the shorter ones."""
        lengths = self.lengths[chosen]
        places = np.arange(max(1, lengths.max(initial=1)))
        inside = places < lengths[:, None]
        found = np.zeros(inside.shape, np.int64)
        found[inside] = self._numbers[(self._starts[chosen][:, None] + places)[inside]]
        return torch.from_numpy(found)

    def without(self, words: Int[Tensor, " word"]) -> "Rows":
        """The same with some words unknown."""
        found = copy(self)
        found._numbers = np.where(np.isin(self._numbers, words.numpy()), UNKNOWN, self._numbers)
        return found


@dataclass(frozen=True)
class Pairs:
    """The different sentences and questions that stand together, as numbers of words."""

    sentences: Rows
    questions: Rows
    # The places of a sentence and a question, which names they share, and the number of what they say.
    rows: Int[np.ndarray, "pair four"]

    @classmethod
    def of(cls, spoken: Iterable[tuple[Words, Words]], needs: Needs) -> "Pairs":
        """Those of sentences and questions; what stands together often counts a few times."""
        sentences, questions = dict[tuple[int, ...], int](), dict[tuple[int, ...], int]()
        counts = Counter[tuple[int, int, int, int]]()
        for sentence, question in spoken:
            place = sentences.setdefault(needs.numbered(sentence), len(sentences))
            asked = questions.setdefault(needs.numbered(question), len(questions))
            counts[place, asked, *needs.look(sentence, question)] += 1
        rows = [pair for pair, count in counts.items() for _ in range(min(count, _MOST_ALIKE))]
        return cls(Rows(list(sentences)), Rows(list(questions)), np.array(rows, np.int64).reshape(-1, 4))


@dataclass(frozen=True)
class GateData:
    """What a gate learns from."""

    stories: Pairs  # sentences of stories, each with a question asked after it
    texts: Rows  # the sentences of texts
    names: Int[Tensor, " name"]  # which words are names


def spoken_pairs(stories: Iterable[Story], seed: int = 0) -> Iterator[tuple[Words, Words]]:
    """Each sentence of stories with one of the questions asked after it."""
    rng = Random(seed)
    for story in stories:
        asked = [(question.after, words(question.text)) for question in story.questions]
        for place, text in enumerate(story.sentences):
            after = [question for told, question in asked if told > place]
            if after and (spoken := words(text)):
                yield spoken, rng.choice(after)


def text_rows(sentences: Iterable[str], needs: Needs) -> Rows:
    """Sentences of texts as numbers."""
    return Rows([needs.numbered(words(sentence)) for sentence in sentences])


def stories_of(task: int | str, data: str | None, split: str) -> list[Story]:
    """The stories of what a run trains on; of mixed ones, without the sentences that no question is about."""
    if task in (JOINT, EVERYTHING):
        parts: list[int | str] = [*ALL_TASKS, *([MIXED] if task == EVERYTHING else [])]
        return [story for part in parts for story in stories_of(part, data, split)]
    if task == MIXED:
        questions, seed = (MIXED_QUESTIONS, 1) if split == "train" else (MIXED_QUESTIONS // 20, 2)
        return list(generate_preset(MIXED, questions=questions, seed=seed, irrelevant=0.0))
    return task_stories(task, data, split)[0]


def names_in(stories: Iterable[Story]) -> frozenset[str]:
    """The words of stories that new names may stand for."""
    return names_of([Spoken.of(list(examples(stories)))])[0]


def known_names(names: Iterable[str], vocabulary: Vocabulary) -> Int[Tensor, " name"]:
    """The numbers of names; where none is known, that of unknown words, which stands for itself."""
    return torch.tensor(sorted({vocabulary.word_id(name) for name in names} | {UNKNOWN}))


def shuffled_words(
    rows: Int[Tensor, "row word"],
    key: Int[Tensor, "row one"],
    names: Int[Tensor, " name"],
    touched: Float[Tensor, "row one"],
    exchanged: Float[Tensor, "row one"],
    hidden: Float[Tensor, "row one"],
) -> Int[Tensor, "row word"]:
    """Rows with some of their words hidden or exchanged; rows of the same key have the same words changed.

    Args:
        rows: numbers of words.
        key: any numbers.
        names: the words that are names.
        touched: how many of the names become another name or unknown.
        exchanged: how many of these become another name.
        hidden: how many of the other words become unknown.
    """
    mixed = mix(rows * MIX_PLACE ^ key)  # depends on the word and the key alone
    first, second = ((mixed >> shift & 0xFFFFF).float() / (1 << 20) for shift in (40, 20))
    others = torch.where(second < exchanged, names[(mixed & 0xFFFFF) % len(names)], UNKNOWN)
    is_name = torch.isin(rows, names) & (rows > UNKNOWN)
    changed = torch.where(is_name & (first < touched), others, rows)
    unknown = ~is_name & (first < hidden) & (rows > UNKNOWN)
    return torch.where(unknown, UNKNOWN, changed)
