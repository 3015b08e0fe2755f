"""How well a model answers, how sure it is, and how much it reads, for every number of banks that it may read."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float

from amn.answers import Answer, answers_of
from amn.data.examples import Example, Words
from amn.data.story import same_answer
from amn.errors import AMNError
from amn.inference.engine import Engine, tell_stories
from amn.inference.story_memory import Prediction
from amn.inference.trained import TrainedModel

PASS_PERCENT = 5.0  # a task counts as solved below this error, as in the paper
DEFAULT_BANKS = 1  # how many banks a model reads by default
ALL_BANKS = 0
BATCH_STORIES = 256
CONFIDENT = 0.9  # a wrong answer with a higher score is a confident error
BINS = 15  # of the calibration error
_DIGITS = 4
_REPEATS, _LONG = 3, 0.05  # how often a short decode is timed, and the seconds from which once is enough
_FIRST_WORDS = 2  # questions that begin with the same words are of one kind
_T = TypeVar("_T")


@dataclass(frozen=True)
class Tally:
    """What a model did with each question, by the number of banks read: row 0 reads one bank, row 1 two, and so on."""

    wrong: Bool[np.ndarray, "bank question"]  # whether the answer was wrong
    score: Float[np.ndarray, "bank question"]  # how sure it was
    known: Bool[np.ndarray, "bank question"]  # whether it was given as known, and not as unknown or as a guess
    read: Float[np.ndarray, "bank question"]  # how many entities the banks read hold, copies counted each time
    entities: Float[np.ndarray, " question"]  # how many different words the story has
    created: Float[np.ndarray, " question"]  # how many banks the story has
    ingest: float  # seconds for reading the stories
    decode: tuple[float, ...]  # seconds for answering, by the number of banks read
    decode_all: float  # seconds for answering from all banks
    sentences: int = 0  # how many sentences the stories have
    let_in: int = 0  # how many of them a gate let in; all where there is none

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return self.wrong.shape[1]

    @property
    def most_banks(self) -> int:
        """The most banks that any story created."""
        return self.wrong.shape[0]

    def of(self, chosen: Bool[np.ndarray, " question"]) -> "Tally":
        """The tally of some of the questions."""
        by_bank = {name: getattr(self, name)[:, chosen] for name in _BY_BANK}
        return replace(self, **by_bank, entities=self.entities[chosen], created=self.created[chosen])

    def _place(self, banks: int) -> int:
        return (min(banks, self.most_banks) or self.most_banks) - 1

    def row(self, banks: int) -> dict[str, Any]:
        """The figures when so many banks are read; ALL_BANKS for all."""
        at = self._place(banks)
        return {
            "banks": at + 1,
            "error_percent": round(100 * _mean(self.wrong[at]), _DIGITS),
            "entities_read": round(_mean(self.read[at]), _DIGITS),
            "ratio": round(_mean(self.read[at] / np.maximum(self.entities, 1)), _DIGITS),
        }

    def required_banks(self) -> int:
        """The fewest banks with which the task is solved; all where it is not."""
        rows = (self.row(banks) for banks in range(1, self.most_banks + 1))
        return next((row["banks"] for row in rows if row["error_percent"] < PASS_PERCENT), self.most_banks)

    def figures(self, banks: int = DEFAULT_BANKS) -> dict[str, Any]:
        """All figures of an evaluation, with the error at so many banks read; ALL_BANKS for all."""
        required = self.required_banks()
        needed = self.row(required)
        return {
            "questions": self.questions,
            "error_percent": self.row(banks)["error_percent"],
            "required_banks": required,
            "created_banks": round(_mean(self.created), _DIGITS),
            "entities": round(_mean(self.entities), _DIGITS),
            "entities_read": needed["entities_read"],
            "ratio": needed["ratio"],
            "sentences_let_in": round(self.let_in / max(1, self.sentences), _DIGITS),
            "by_banks": [self.row(number) for number in range(1, self.most_banks + 1)],
            "seconds": {
                "ingest": round(self.ingest, _DIGITS),
                "decode": round(self.decode[required - 1], _DIGITS),
                "decode_all_banks": round(self.decode_all, _DIGITS),
            },
        }

    def confidence(self, banks: int = DEFAULT_BANKS) -> dict[str, float]:
        """How far scores can be trusted: the share given as known, what was wrong and sure, and calibration."""
        at = self._place(banks)
        wrong, score = self.wrong[at], self.score[at]
        return {
            "known": round(_mean(self.known[at]), _DIGITS),
            "confident_errors_percent": round(100 * _mean(wrong & (score > CONFIDENT)), _DIGITS),
            "calibration_error": round(calibration_error(score, ~wrong), _DIGITS),
        }

    def spread(self) -> dict[str, Any]:
        """How stories differ: the banks that they create, and what share of its entities each bank holds."""
        numbers, counts = np.unique(self.created, return_counts=True)
        return {
            "created_banks": {
                "mean": round(_mean(self.created), _DIGITS),
                "std": round(float(self.created.std()), _DIGITS),
                "min": int(self.created.min()),
                "max": int(self.created.max()),
                "questions": {str(int(n)): int(count) for n, count in zip(numbers, counts, strict=True)},
            },
            "bank_shares": self.bank_shares(),
        }

    def bank_shares(self) -> list[dict[str, Any]]:
        """For each bank, the most general first: in how many questions it exists, and what share of entities it holds.

        The banks read are always the last ones, so what a bank holds is the difference that reading it makes.
        """
        shares = np.diff(self.read, axis=0, prepend=0) / np.maximum(self.entities, 1)
        found = []
        for bank in range(self.most_banks):
            place = (self.created - 1 - bank).astype(int)  # its place among the banks read, the last one first
            exists = place >= 0
            share = shares[place[exists], exists.nonzero()[0]]
            found.append({"bank": bank, "questions": int(exists.sum()), "share": round(_mean(share), _DIGITS)})
        return found


def calibration_error(scores: Float[np.ndarray, " question"], right: Bool[np.ndarray, " question"]) -> float:
    """How far scores are from the share of right answers: the mean distance over bins of like scores."""
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    gaps = [abs(float(scores[bins == i].sum()) - int(right[bins == i].sum())) for i in range(BINS)]
    return sum(gaps) / max(1, len(scores))


def right_answers(examples: Iterable[Example]) -> list[str]:
    """The answers that are known, lower-cased; as `judged`."""
    return [answer.lower() for example in judged(examples) for answer in example.answers if answer is not None]


def guessing_error(training: Iterable[str], right: Sequence[str]) -> float:
    """The error in percent of always giving the most frequent training answer, or the first of such by the alphabet."""
    counts = Counter(training)
    given = min(counts, key=lambda answer: (-counts[answer], answer))
    return 100 * sum(answer != given for answer in right) / len(right)


def evaluate(trained: TrainedModel, examples: Sequence[Example], engine: Engine = "auto") -> Tally:
    """Asks a model every question that has an answer, by the code that answers users, or by torch; as `judged`."""
    asked = judged(examples)
    tell_stories(trained, asked[:1], engine).read(DEFAULT_BANKS)  # a warm-up
    batches = [asked[start : start + BATCH_STORIES] for start in range(0, len(asked), BATCH_STORIES)]
    return _joined([_tally(trained, batch, engine) for batch in batches])


def judged(examples: Iterable[Example]) -> list[Example]:
    """The examples that can be judged, in the order of a tally: the longest stories first.

    Raises:
        AMNError: where no question has an answer.
    """
    known = [example for example in examples if any(answer is not None for answer in example.answers)]
    if not known:
        raise AMNError("none of the questions has an answer to compare with")
    return sorted(known, key=lambda example: -len(example.sentences))


def by_kind(examples: Sequence[Example], tally: Tally, banks: int = DEFAULT_BANKS) -> list[dict[str, Any]]:
    """A row for each kind of question that was asked, the worst first; `banks` as for `Tally.figures`."""
    kinds = np.array(
        [
            kind_of(question, kind)
            for example in judged(examples)
            for kind, question, answer in zip(example.kinds, example.questions, example.answers, strict=True)
            if answer is not None
        ]
    )
    rows = []
    for kind in sorted(set(kinds.tolist())):
        part = tally.of(kinds == kind)
        figures = {name: part.row(banks)[name] for name in ("error_percent", "entities_read")}
        rows.append({"kind": kind, "questions": part.questions, **figures, **part.confidence(banks)})
    return sorted(rows, key=lambda row: -row["error_percent"])


def kind_of(question: Words, named: str = "") -> str:
    """The kind of a question: the one that the data names, or how it begins."""
    return named or " ".join(question[:_FIRST_WORDS])


def _tally(trained: TrainedModel, examples: Sequence[Example], engine: Engine) -> Tally:
    """Asks all questions of some stories with one bank read, with two, and so on, to as many as any story has."""
    stories, seconds = _timed(lambda: tell_stories(trained, examples, engine), repeats=1)
    readings: list[list[tuple[Answer, str]]] = []
    times: list[float] = []
    most = DEFAULT_BANKS
    while len(readings) < most:
        banks = len(readings) + 1
        found, time = _timed(partial(stories.read, banks))
        readings.append([(answer, right) for _, answer, right in answered(trained, examples, found, banks)])
        times.append(time)
        most = max(answer.banks_created for answer, _ in readings[-1])
    _, decode_all = _timed(lambda: stories.read(ALL_BANKS))
    first = [answer for answer, _ in readings[0]]
    return Tally(
        wrong=np.array([[not same_answer(answer.answer, right) for answer, right in row] for row in readings]),
        score=np.array([[answer.score for answer, _ in row] for row in readings]),
        known=np.array([[answer.known for answer, _ in row] for row in readings]),
        read=np.array([[float(answer.entities_read) for answer, _ in row] for row in readings]),
        entities=np.array([float(answer.entities) for answer in first]),
        created=np.array([float(answer.banks_created) for answer in first]),
        ingest=seconds,
        decode=tuple(times),
        decode_all=decode_all,
        sentences=sum(len(example.sentences) for example in examples),
        let_in=stories.heard,
    )


def answered(
    trained: TrainedModel, examples: Sequence[Example], found: Sequence[Prediction], banks: int
) -> Iterator[tuple[Prediction, Answer, str]]:
    """Every question whose right answer is known: what was found in its story, the answer, and what is right."""
    for one, example in zip(found, examples, strict=True):
        given = answers_of(one, trained, [" ".join(question) for question in example.questions], banks)
        for answer, right in zip(given, example.answers, strict=True):
            if right is not None:
                yield one, answer, right


def _timed(work: Callable[[], _T], repeats: int = _REPEATS) -> tuple[_T, float]:
    """A result and its seconds; what takes little time is repeated, and the quickest counts."""
    seconds = float("inf")
    for _ in range(repeats):
        started = perf_counter()
        found = work()
        seconds = min(seconds, perf_counter() - started)
        if seconds > _LONG:
            break
    return found, seconds


def _joined(parts: Sequence[Tally]) -> Tally:
    """One tally of several; a story that has no more banks is read the same however many are asked for."""
    most = max(part.most_banks for part in parts)
    arrays: dict[str, Any] = {
        name: np.concatenate([_rows(getattr(part, name), most) for part in parts], 1) for name in _BY_BANK
    }
    arrays |= {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("entities", "created")}
    sums = {
        name: sum(getattr(part, name) for part in parts) for name in ("ingest", "decode_all", "sentences", "let_in")
    }
    decode = sum(_rows(np.array(part.decode), most) for part in parts)
    return Tally(**arrays, **sums, decode=tuple(np.asarray(decode).tolist()))


_BY_BANK = ("wrong", "score", "known", "read")


def _rows(values: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate((values, np.repeat(values[-1:], count - len(values), 0)))


def _mean(values: np.ndarray) -> float:
    return float(values.mean(dtype=np.float64)) if values.size else 0.0
