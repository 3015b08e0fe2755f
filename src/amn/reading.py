"""From what a model says about a batch to answers in words."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite

import torch

from amn.answers import Answer, rank
from amn.data.batches import encode
from amn.data.examples import Example
from amn.data.graph import CONTEXT
from amn.data.vocabulary import Vocabulary
from amn.errors import AMNError
from amn.models.base import Reading
from amn.training.model_directory import TrainedModel

MAX_WORDS = 32_000  # different words in a story that is read as a batch: batches keep slots in 16 bits
MAX_CELLS = 1 << 26  # room for the edges of a batch, one for each sentence and pair of entities that it touches


@torch.inference_mode()
def read_batch(trained: TrainedModel, examples: Sequence[Example], banks: int) -> Reading:
    """Reads stories in one pass.

    Raises:
        AMNError: where they do not fit.
    """
    for example in examples:
        if len(slot_words(example)) > MAX_WORDS:
            raise AMNError(f"story: more than {MAX_WORDS} different words are too many for {trained.architecture}")
    if cells(examples) > MAX_CELLS:
        raise AMNError(f"story: too long for {trained.architecture}; shorten it or its longest sentences")
    longest = max(len(example.sentences) for example in examples)
    batch = encode(examples, trained.vocabulary).take(torch.arange(len(examples)), sentences=max(1, longest))
    device = next(trained.model.parameters()).device
    reading: Reading = trained.model(batch.to(device), banks=banks)
    return reading


def groups_of(trained: TrainedModel, questions: int, shared: bool | None = None) -> list[list[int]]:
    """Which questions one memory is built for: all of them where training did so, else each has a memory of its own.

    A model that never met several questions at once answers them badly from one memory.
    """
    if shared is None:
        shared = bool(trained.record.get("run", {}).get("train", {}).get("together", False))
    return [list(range(questions))] if shared else [[i] for i in range(questions)]


def cells(examples: Sequence[Example]) -> int:
    """How much room the edges of a batch need at most."""
    sentences = max(len(example.sentences) for example in examples)
    named = max(len(set(chain.from_iterable(example.questions))) for example in examples)
    spoken = max((len(sentence) for example in examples for sentence in example.sentences), default=0)
    members = spoken + named
    return len(examples) * sentences * members * (members + CONTEXT)


def slot_words(example: Example) -> list[str]:
    """The word of each slot of an example; slot 0 is padding."""
    return ["", *dict.fromkeys(chain.from_iterable((*example.sentences, *example.questions)))]


def answers_of(
    reading: Reading, vocabulary: Vocabulary, story: int, questions: Sequence[str], words: Sequence[str], banks: int
) -> list[Answer]:
    """The answers for one story of a batch.

    Args:
        reading: what the model said.
        vocabulary: the answers that it knows.
        story: which story of the batch.
        questions: its questions, as written.
        words: the word of each slot, for a model that can point at one.
        banks: how many banks were to be read; 0 for all.
    """
    scores = torch.softmax(reading.logits[story, : len(questions)].double(), -1).tolist()
    created = round(float(reading.banks[story]))
    blank = Answer(
        question="",
        answer="",
        score=0.0,
        banks_read=min(banks or created, created),
        banks_created=created,
        entities=round(float(reading.entities[story])),
    )
    names = [*vocabulary.answers, *words]
    read = reading.entities_read[story].tolist()
    return [
        _fill(replace(blank, question=question, entities_read=round(read[i])), names, scores[i])
        for i, question in enumerate(questions)
    ]


def _fill(answer: Answer, names: Sequence[str], scores: Sequence[float]) -> Answer:
    ranked = rank((name, score) for name, score in zip(names, scores, strict=False) if name)
    if not ranked:
        raise AMNError("story: the model knows no answers of its own, and the story holds no word to point at")
    best, *others = ranked
    return replace(answer, answer=best.answer, score=best.score, top=tuple(others))


def check_limits(banks: int | None, deadline: float | None) -> None:
    """Refuses what cannot be a number of banks or of seconds."""
    if banks is not None and banks < 0:
        raise AMNError(f"banks: expected how many to read, or 0 for all, found {banks}")
    if deadline is not None and not (isfinite(deadline) and deadline >= 0):
        raise AMNError(f"deadline: expected seconds, at least 0, found {deadline}")
