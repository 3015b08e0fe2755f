"""How well a model answers, and how much it reads to do so, for every number of banks that it may read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from amn.data.batches import Batch, encode
from amn.data.examples import Example
from amn.data.vocabulary import Vocabulary
from amn.errors import AMNError
from amn.models.amn import AMN, Told
from amn.models.base import Model, Reading
from amn.models.decoder import Names
from amn.models.paper.model import PaperAMN
from amn.store.model_directory import TrainedModel

PASS_PERCENT = 5.0  # a task counts as solved below this error, as in the paper
DEFAULT_BANKS = 1  # how many banks a model reads unless told otherwise
ALL_BANKS = 0
BATCH_STORIES = 256
_DIGITS = 4
_REPEATS, _LONG = 3, 0.05  # how often a short decode is timed, and the seconds from which once is enough

# The answers of one story of a batch, in words. It is given from above, so that a model is scored by the very function
# that answers users: a class and a story word that spell the same are one answer there.
Decide = Callable[[Reading, Vocabulary, int, Example], list[str]]


@dataclass(frozen=True)
class Tally:
    """What a model did with each question, by the number of banks read: row 0 reads one bank, row 1 two, and so on.

    Args:
        wrong: whether the answer was wrong.
        read: how many entities the banks read hold, copies counted each time.
        entities: how many different words the story has.
        created: how many banks the story has.
        ingest: seconds for reading the stories.
        decode: seconds for answering, by the number of banks read.
        decode_all: seconds for answering from all banks.
    """

    wrong: Bool[Tensor, "bank question"]
    read: Float[Tensor, "bank question"]
    entities: Float[Tensor, " question"]
    created: Float[Tensor, " question"]
    ingest: float
    decode: tuple[float, ...]
    decode_all: float

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return self.wrong.shape[1]

    @property
    def most_banks(self) -> int:
        """The most banks that any story created."""
        return self.wrong.shape[0]

    def row(self, banks: int) -> dict[str, Any]:
        """The figures when so many banks are read; ALL_BANKS for all."""
        at = (min(banks, self.most_banks) or self.most_banks) - 1
        return {
            "banks": at + 1,
            "error_percent": round(100 * _mean(self.wrong[at]), _DIGITS),
            "entities_read": round(_mean(self.read[at]), _DIGITS),
            "ratio": round(_mean(self.read[at] / self.entities.clamp(min=1)), _DIGITS),
        }

    def required_banks(self) -> int:
        """The fewest banks with which the task is solved; all where it is not."""
        rows = (self.row(banks) for banks in range(1, self.most_banks + 1))
        return next((row["banks"] for row in rows if row["error_percent"] < PASS_PERCENT), self.most_banks)

    def figures(self, banks: int = DEFAULT_BANKS) -> dict[str, Any]:
        """All figures of an evaluation.

        Args:
            banks: how many banks are read for the error; ALL_BANKS for all.
        """
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
            "by_banks": [self.row(number) for number in range(1, self.most_banks + 1)],
            "seconds": {
                "ingest": round(self.ingest, _DIGITS),
                "decode": round(self.decode[required - 1], _DIGITS),
                "decode_all_banks": round(self.decode_all, _DIGITS),
            },
        }

    def spread(self) -> dict[str, Any]:
        """How stories differ: the banks that they create, and what share of its entities each bank holds."""
        created = self.created.double()
        return {
            "created_banks": {
                "mean": round(_mean(created), _DIGITS),
                "std": round(float(created.std(correction=0)), _DIGITS),
                "min": int(created.min()),
                "max": int(created.max()),
                "questions": {str(int(n)): int((created == n).sum()) for n in created.unique()},
            },
            "bank_shares": self.bank_shares(),
        }

    def bank_shares(self) -> list[dict[str, Any]]:
        """For each bank, the most general first: in how many questions it exists, and what share of entities it holds.

        The banks read are always the last ones, so what a bank holds is the difference that reading it makes.
        """
        held = torch.diff(self.read, dim=0, prepend=torch.zeros_like(self.read[:1]))
        shares = held / self.entities.clamp(min=1)
        found = []
        for bank in range(self.most_banks):
            place = (self.created - 1 - bank).long()  # its place among the banks read, the last one first
            exists = place >= 0
            share = shares.gather(0, place.clamp(min=0).unsqueeze(0))[0][exists]
            found.append({"bank": bank, "questions": int(exists.sum()), "share": round(_mean(share), _DIGITS)})
        return found


def evaluate(trained: TrainedModel, examples: Sequence[Example], decide: Decide) -> Tally:
    """Asks a model every question that has an answer.

    Args:
        trained: the model.
        examples: stories with questions and their right answers.
        decide: what turns a reading into answers.

    Raises:
        AMNError: where no question has an answer.
    """
    known = [example for example in examples if any(answer is not None for answer in example.answers)]
    if not known:
        raise AMNError("none of the questions has an answer to compare with")
    longest_first = sorted(known, key=lambda example: -len(example.sentences))
    parts = []
    for start in range(0, len(longest_first), BATCH_STORIES):
        parts.append(_tally(trained, longest_first[start : start + BATCH_STORIES], decide, warm_up=start == 0))
    return _joined(parts)


@torch.inference_mode()
def _tally(trained: TrainedModel, examples: Sequence[Example], decide: Decide, *, warm_up: bool) -> Tally:
    sentences = max(1, *(len(example.sentences) for example in examples))
    batch = encode(examples, trained.vocabulary).take(torch.arange(len(examples)), sentences=sentences)
    batch = batch.to(next(trained.model.parameters()).device)
    started = perf_counter()
    answer = ingest(trained.model, batch)
    seconds = perf_counter() - started
    if warm_up:
        answer(DEFAULT_BANKS)
    first, *times = _timed(answer, DEFAULT_BANKS)
    readings = [first]
    for banks in range(2, int(first.banks.max()) + 1):
        reading, time = _timed(answer, banks)
        readings.append(reading)
        times.append(time)
    _, decode_all = _timed(answer, ALL_BANKS)
    asked = batch.weights.cpu() > 0
    asked &= torch.tensor([_answered(example, asked.shape[1]) for example in examples])
    wrong = [_wrong(reading, trained.vocabulary, examples, decide, asked.shape[1])[asked] for reading in readings]
    return Tally(
        wrong=torch.stack(wrong),
        read=torch.stack([reading.entities_read.cpu()[asked] for reading in readings]),
        entities=first.entities.cpu().unsqueeze(1).expand_as(asked)[asked],
        created=first.banks.cpu().unsqueeze(1).expand_as(asked)[asked],
        ingest=seconds,
        decode=tuple(times),
        decode_all=decode_all,
    )


def ingest(model: Model, batch: Batch) -> Callable[[int], Reading]:
    """Reads the stories and gives what answers from a number of banks; a model of one pass does all of it then."""
    if type(model).begin is not Model.begin:
        carry, sentences = model.begin(batch, 1.0)
        for sentence in sentences:
            carry = model.advance(carry, sentence)
        if type(model) is AMN:
            names = model.names(batch, carry.memory)
            return lambda banks: _decode(model, carry, names, banks)
        return lambda banks: model.finish(batch, carry, 1.0, banks)
    if isinstance(model, PaperAMN):
        encoding = model.encoder(batch)
        memory = model.start(batch, encoding)
        for told in model.sentences(batch, encoding):
            memory, _ = model.step(memory, told, encoding.questions)
        return lambda banks: model.decode(memory, encoding.questions, banks)
    return lambda banks: model(batch, banks=banks)


def _decode(model: AMN, told: Told, names: Names | None, banks: int) -> Reading:
    """Decodes without the entities that are not read, where the last bank alone is: they are left out, not masked."""
    memory = told.memory
    if banks != 1:
        return model.decode(memory, told.questions, banks, names)
    room = max(1, round(float(memory.in_last.sum(-1).max())))
    slots = memory.in_last.topk(room, -1).indices
    inside = {name: getattr(memory, name).gather(1, slots) for name in ("strengths", "relevance", "in_last", "depth")}
    states = memory.states.gather(1, slots.unsqueeze(-1).expand(-1, -1, memory.states.shape[-1]))
    reading = model.decode(replace(memory, states=states, **inside), told.questions, banks, names)
    return replace(reading, entities=memory.entities)


def _timed(answer: Callable[[int], Reading], banks: int) -> tuple[Reading, float]:
    """A reading and its seconds; what is over in no time is done a few times, and the quickest counts."""
    seconds = float("inf")
    for _ in range(_REPEATS):
        started = perf_counter()
        reading = answer(banks)
        seconds = min(seconds, perf_counter() - started)
        if seconds > _LONG:
            break
    return reading, seconds


def _answered(example: Example, questions: int) -> list[bool]:
    known = [answer is not None for answer in example.answers]
    return known + [False] * (questions - len(known))


def _wrong(
    reading: Reading, vocabulary: Vocabulary, examples: Sequence[Example], decide: Decide, questions: int
) -> Bool[Tensor, "story question"]:
    """Which answers are wrong; also where there is no question."""
    rows = []
    for i, example in enumerate(examples):
        given = decide(reading, vocabulary, i, example)
        wrong = [said.lower() != (right or "").lower() for said, right in zip(given, example.answers, strict=True)]
        rows.append(wrong + [True] * (questions - len(wrong)))
    return torch.tensor(rows)


def _joined(parts: Sequence[Tally]) -> Tally:
    """One tally of several; a story that has no more banks is read the same however many are asked for."""
    most = max(part.most_banks for part in parts)
    return Tally(
        wrong=torch.cat([_rows(part.wrong, most) for part in parts], 1),
        read=torch.cat([_rows(part.read, most) for part in parts], 1),
        entities=torch.cat([part.entities for part in parts]),
        created=torch.cat([part.created for part in parts]),
        ingest=sum(part.ingest for part in parts),
        decode=tuple(map(sum, zip(*(_times(part.decode, most) for part in parts), strict=True))),
        decode_all=sum(part.decode_all for part in parts),
    )


def _rows(values: Tensor, count: int) -> Tensor:
    return torch.cat((values, values[-1:].expand(count - len(values), -1)))


def _times(values: tuple[float, ...], count: int) -> Iterator[float]:
    yield from values
    yield from values[-1:] * (count - len(values))


def _mean(values: Tensor) -> float:
    return float(values.double().mean())
