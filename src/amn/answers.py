"""Answers and their explanations, as plain data for the command line, the server and the page."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import takewhile
from math import isfinite
from typing import Any, TypedDict

import numpy as np
from jaxtyping import Float

from amn.data.vocabulary import COMMA, END, UNKNOWN_ANSWER, Vocabulary, spelled_answer
from amn.errors import AMNError, CheckpointError
from amn.inference.calibration import GUESS, features
from amn.inference.story_memory import Prediction
from amn.inference.trained import TrainedModel

SHOWN_WORDS = 8  # in the repr of a bank
CANDIDATES = 6  # answers that are ranked
_DIRECTIONS = {"n": "north", "e": "east", "s": "south", "w": "west"}  # the steps of a path


class AskOptions(TypedDict, total=False):
    """The options of a question, as `LiveMemory.ask` explains them."""

    banks: int | None
    deadline: float | None
    explain: bool


@cache
def json_names(kind: type) -> tuple[tuple[str, str], ...]:
    """The names of the fields of a class, in Python and in JSON."""
    return tuple((one.name, one.metadata.get("alias", one.name)) for one in fields(kind))


class Serializable:
    """A base class of dataclasses with a form in JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON data."""
        kind: type = type(self)
        return {name: _plain(getattr(self, own)) for own, name in json_names(kind)}


def _plain(value: object) -> object:
    if isinstance(value, Serializable):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, dict) else value


@dataclass(frozen=True, slots=True)
class Candidate(Serializable):
    """A possible answer.

    Args:
        answer: the answer.
        score: its probability.
    """

    answer: str
    score: float


class Choices:
    """The choices of a model by name: classes of the vocabulary, words of the story, or both."""

    def __init__(self, vocabulary: Vocabulary, words: Sequence[str]) -> None:
        self._vocabulary, self.names = vocabulary, [*vocabulary.answers, *words]
        self._words = {word: place for place, word in enumerate(words, len(vocabulary.answers))}

    def chance(self, name: str, scores: Float[np.ndarray, " answer"]) -> float:
        """The probability of an answer: the sum over all choices with its name."""
        places = (self._vocabulary.answer_id(name), self._words.get(name, -1))
        return float(sum(scores[place] for place in places if place >= 0))

    def rank(self, scores: Float[np.ndarray, " answer"]) -> list[Candidate]:
        """The best answers first."""
        most = min(2 * CANDIDATES, len(scores) - 1)  # an answer may occur twice
        best = {self.names[place]: None for place in np.argpartition(-scores, most)[: most + 1].tolist()}
        found = [Candidate(name, self.chance(name, scores)) for name in best if name]
        return sorted(found, key=lambda one: -one.score)[:CANDIDATES]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity(Serializable):
    """A word in a bank.

    Args:
        word: the word.
        strength: how relevant its state is to the questions, in [0, 1].
        relevance: the logit that decided how far it moved.
        attention: its share of the attention within its bank; 0 if the bank was not read.
    """

    word: str
    strength: float
    relevance: float
    attention: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Bank(Serializable):
    """A memory bank; the one with the highest index is the most relevant.

    Args:
        index: 0 for the most general bank.
        size: how many entities it holds.
        entities: the most relevant first; not all of a huge bank.
    """

    index: int
    size: int
    entities: tuple[Entity, ...]

    def __repr__(self) -> str:
        dots = ["..."] if len(self.entities) > SHOWN_WORDS else []
        shown = " ".join([*(entity.word for entity in self.entities[:SHOWN_WORDS]), *dots])
        return f"Bank(index={self.index}, size={self.size}, {shown})"


@dataclass(frozen=True, slots=True)
class Move(Serializable):
    """An entity that moved to a deeper bank; it stays in the banks before it as well.

    Args:
        word: the entity.
        before: the deepest bank that held it; None for a new entity.
        after: the deepest bank that holds it now.
    """

    word: str
    before: int | None = field(metadata={"alias": "from"})
    after: int = field(metadata={"alias": "to"})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SentenceTrace(Serializable):
    """What one sentence did to the memory.

    Only the words that it touched are listed, so that the size of a trace does not depend on how much is stored. The
    banks after a sentence follow from the traces up to it: the latest trace of a word counts.

    Args:
        sentence: its number, from 0.
        text: the sentence.
        banks: how many banks there are after it.
        created: whether it created the last of them.
        moves: the entities that are new or moved deeper.
        depth: the deepest bank of each word that it touched.
        strengths: the strength of each word that it touched.
    """

    sentence: int
    text: str
    banks: int = 1
    created: bool = False
    moves: tuple[Move, ...] = ()
    depth: dict[str, int]
    strengths: dict[str, float]

    @property
    def did(self) -> str:
        """What it did to the banks, in words; empty if no word moved beyond the first."""
        made = [f"bank {self.banks - 1} created"] if self.created else []
        return "; ".join([*made, *(f"{move.word} → bank {move.after}" for move in self.moves if move.after > 0)])

    def __repr__(self) -> str:
        return f"SentenceTrace({self.sentence}, {self.text!r}{', ' if self.did else ''}{self.did})"

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "SentenceTrace":
        """The inverse of `to_dict`."""
        moves = tuple(Move(move["word"], move["from"], move["to"]) for move in data["moves"])
        return cls(**{**data, "moves": moves})


@dataclass(frozen=True, slots=True)
class Edge(Serializable):
    """Two neighbouring words of a sentence.

    Args:
        before: the first word.
        after: the second word.
        sentence: the last sentence that has them.
    """

    before: str = field(metadata={"alias": "from"})
    after: str = field(metadata={"alias": "to"})
    sentence: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation(Serializable):
    """What was read for an answer. The answer itself need not be an entity of the banks read.

    Args:
        banks: all banks with their entities; none if the model has no banks.
        sentences: what each of the latest sentences did.
        graph: the word graph of these sentences.
        read: the indices of the banks that were read, the most relevant first.
        seen: how many sentences the memory was told.
        let_in: how many of them the gate let in; the others left no trace.
    """

    banks: tuple[Bank, ...]
    sentences: tuple[SentenceTrace, ...]
    graph: tuple[Edge, ...]
    read: tuple[int, ...]
    seen: int = 0
    let_in: int = 0

    def __repr__(self) -> str:
        return f"Explanation({len(self.banks)} banks, read {list(self.read)}, {len(self.sentences)} sentences)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Answer(Serializable):
    """The answer to one question; comparisons ignore its milliseconds.

    Args:
        question: the question as asked.
        answer: the answer.
        score: its probability.
        known: whether it counts as known; false for "unknown" and for guesses.
        top: the next best candidates, the best first.
        sentences: with an explanation, the numbers of the sentences that it rests on, from 0: without any of them the
            answer would be different, or far less certain.
        banks_read: how many banks were read, the most relevant first.
        banks_created: how many banks the memory has.
        entities_read: how many entities the banks read hold; one in several banks counts each time.
        entities: how many different words the story has.
        milliseconds: how long it took, including reading the story if it was given in the same call.
        stopped_for_deadline: whether the answer is uncertain because time ran out.
        explanation: what was read for it, if asked for.
    """

    question: str
    answer: str
    score: float
    known: bool = True
    top: tuple[Candidate, ...] = ()
    sentences: tuple[int, ...] = ()
    banks_read: int = 1
    banks_created: int = 1
    entities_read: int = 0
    entities: int = 0
    milliseconds: float = field(default=0.0, compare=False)
    stopped_for_deadline: bool = False
    explanation: Explanation | None = field(default=None, hash=False)

    @property
    def said(self) -> str:
        """The answer for people: guesses are marked, unknown is explained, and paths are spelled out."""
        if self.answer == UNKNOWN_ANSWER:
            return "the story does not say"
        items = self.answer.split(",")
        if len(items) > 1 and _DIRECTIONS.keys() >= set(items):
            items = [_DIRECTIONS[step] for step in items]
        answer = ", ".join(items)
        return answer if self.known else f"not sure: {answer}, {100 * self.score:.0f} %"

    @property
    def was_read(self) -> str:
        """What was read for it, in words; a word counts once, however many banks hold it."""
        held = min(self.entities_read, self.entities)
        return f"read {held} of {self.entities} entities in {self.banks_read} of {self.banks_created} banks"

    def __repr__(self) -> str:
        guess = "" if self.known else ", known=False"
        why = "" if self.explanation is None else ", explanation=..."
        return f"Answer(answer={self.answer!r}, score={self.score:.2f}{guess}, question={self.question!r}{why})"

    def _repr_html_(self) -> str:
        from amn.notebook import answer_html

        return answer_html(self)

    def __str__(self) -> str:
        late = ", stopped for the deadline" if self.stopped_for_deadline else ""
        return f"{self.said} (score {self.score:.2f}; {self.was_read}; {self.milliseconds:.1f} ms{late})"


def answers_of(found: Prediction, trained: TrainedModel, questions: Sequence[str], banks: int) -> list[Answer]:
    """The answers to the questions of one memory, from the prediction by so many banks; 0 for all."""
    choices = Choices(trained.vocabulary, found.words)
    if not any(choices.names):
        raise AMNError("story: the model has no answers, and the story has no word to point at")
    scores = found.logits[: len(questions)].astype(np.float64)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    if np.isnan(scores).any():
        raise CheckpointError("the model, or the restored memory, is damaged: its scores are not numbers")
    return [
        _answer(found, trained, question, i, _ranked(choices, scores[i], found.tokens[i].tolist()), banks)
        for i, question in enumerate(questions)
    ]


def _ranked(choices: Choices, scores: Float[np.ndarray, "token answer"], tokens: Sequence[int]) -> list[Candidate]:
    """The candidates, the best first; those of an answer of several tokens are others for its first token."""
    first = choices.rank(scores[0])
    chosen = list(takewhile(bool, (choices.names[token] for token in tokens)))  # up to the end
    if len(tokens) == 1 or not chosen:  # an empty answer is no answer: take the next best
        return first
    answer = spelled_answer(chosen)
    others = [one for one in first if one.answer not in (answer, chosen[0], COMMA)]
    return [Candidate(answer, _chance(choices, scores, chosen)), *others]


def _chance(choices: Choices, scores: Float[np.ndarray, "token answer"], chosen: Sequence[str]) -> float:
    """The probability of a list of items in any order: each position may begin with any remaining item."""
    starts = [at for at in range(len(chosen)) if at == 0 or chosen[at - 1] == COMMA]
    chance = 1.0
    for at, token in enumerate([*chosen, END][: len(scores)]):
        fine = {chosen[start] for start in starts if start >= at} if at in starts else {token}
        chance *= sum(choices.chance(name, scores[at]) for name in fine)
    return chance


def _answer(
    found: Prediction, trained: TrainedModel, question: str, number: int, ranked: Sequence[Candidate], banks: int
) -> Answer:
    best, *others = ranked
    second = others[0].score if others else 0.0
    score, guess = best.score, GUESS
    if trained.calibration is not None:
        strange = found.strange[number]
        looks = features(best.score, second, best.answer, question, found.words, trained.vocabulary, strange)
        score, guess = trained.calibration.score(looks), trained.calibration.guess
    items = best.answer.split(",")  # none of them is another answer
    return Answer(
        question=question,
        answer=best.answer,
        score=score,
        known=best.answer != UNKNOWN_ANSWER and score >= guess,
        top=tuple(other for other in others if other.answer not in items),
        banks_read=min(banks or found.banks, found.banks),
        banks_created=found.banks,
        entities_read=found.entities_read[number],
        entities=found.entities,
    )


def timed(answers: Sequence[Answer], seconds: float) -> list[Answer]:
    """Answers with the time that all of them took together."""
    return [replace(answer, milliseconds=1000 * seconds) for answer in answers]


def check_limits(banks: int | None, deadline: float | None) -> None:
    """Checks a number of banks and a deadline in seconds."""
    if banks is not None and banks < 0:
        raise AMNError(f"banks: expected a number of banks, or 0 for all, found {banks}")
    if deadline is not None and not (isfinite(deadline) and deadline >= 0):
        raise AMNError(f"deadline: expected seconds, at least 0, found {deadline}")
