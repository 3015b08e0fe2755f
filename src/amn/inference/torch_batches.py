"""Batches of stories in torch: any architecture, on any device."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import torch
from jaxtyping import Float, Int

from amn.data.batches import Batch, Sizes, encode
from amn.data.coreference import linked
from amn.data.examples import Example
from amn.data.graph import CONTEXT
from amn.errors import AMNError
from amn.inference.clauses import clauses
from amn.inference.phrasing import Strangeness
from amn.inference.recorded import read_recorded
from amn.inference.spelling import distinct, slot_words, told_words
from amn.inference.story_memory import Prediction
from amn.inference.trained import TrainedModel
from amn.models.base import Reading

MAX_WORDS = 32_000  # distinct words in a story: slots have 16 bits
MAX_CELLS = 1 << 26  # edges of a batch, one for each sentence and pair of entities that it touches


@torch.inference_mode()
def read_batch(trained: TrainedModel, examples: Sequence[Example], banks: int) -> Reading:
    """Reads stories in one pass."""
    check_room(trained, examples)
    device = next(trained.model.parameters()).device
    if device.type == "cuda":
        return on_cpu(read_recorded(trained.model, roomy_batch(trained, examples), banks))
    return on_cpu(trained.model(plain_batch(trained, examples).to(device), banks=banks))


def read_by_torch(trained: TrainedModel, examples: Sequence[Example], banks: int) -> list[Prediction]:
    """The predictions of a model for some stories."""
    examples = in_clauses(trained, examples)
    reading = read_batch(trained, examples, banks)
    return [prediction_for(reading, trained, story, example) for story, example in enumerate(examples)]


def in_clauses(trained: TrainedModel, examples: Sequence[Example]) -> list[Example]:
    """Stories with their sentences as the model reads them, clause by clause."""
    return [replace(one, sentences=tuple(clauses(one.sentences, trained.phrasing)), facts=()) for one in examples]


def check_room(trained: TrainedModel, examples: Sequence[Example]) -> None:
    """Checks that stories fit into one batch.

    Raises:
        AMNError: where they do not.
    """
    sizes = _sizes(examples)
    if sizes.slots > MAX_WORDS:
        raise AMNError(f"story: more than {MAX_WORDS} distinct words are too many for {trained.architecture}")
    if len(examples) * sizes.sentences * sizes.members * (sizes.members + CONTEXT) > MAX_CELLS:
        raise AMNError(f"story: too long for {trained.architecture}; shorten it or its longest sentences")


def plain_batch(trained: TrainedModel, examples: Sequence[Example]) -> Batch:
    """A batch padded to its largest example."""
    data = encode(examples, trained.vocabulary, named=trained.model.sees_questions)
    return data.take(torch.arange(len(examples)), data.shape)


def roomy_batch(trained: TrainedModel, examples: Sequence[Example]) -> Batch:
    """A batch padded further along each axis, so that batches have few different shapes."""
    room = Sizes(**{name: _rounded(size) if size else 0 for name, size in asdict(_sizes(examples)).items()})
    spare = _rounded(len(examples)) - len(examples)
    stories = torch.tensor([*range(len(examples)), *[-1] * spare])
    data = encode(examples, trained.vocabulary, room, named=trained.model.sees_questions)
    return data.take(stories, room.sentences)


def on_cpu(reading: Reading) -> Reading:
    """Copies a reading to the CPU at once, for every single number would have to wait for the device."""
    tokens = None if reading.tokens is None else reading.tokens.cpu()
    counts = (reading.entities.cpu(), reading.entities_read.cpu(), reading.banks.cpu())
    return Reading(reading.logits.cpu(), *counts, tokens=tokens)


def _sizes(examples: Sequence[Example]) -> Sizes:
    """The sizes of a batch of examples."""
    asked = [question for example in examples for question in example.questions]
    spoken = max((len(sentence) for example in examples for sentence in example.sentences), default=1)
    named = max(len(distinct(example.questions)) for example in examples)
    return Sizes(
        slots=max(len(slot_words(example)) for example in examples),
        sentences=max(len(example.sentences) for example in examples),
        words=spoken,
        members=spoken + named,
        questions=max(len(example.questions) for example in examples),
        question_words=max(map(len, asked)),
    )


def _rounded(size: int) -> int:
    """The smallest number that is at least as large and a power of two, or three quarters of one."""
    power = 1 << max(0, size - 1).bit_length()
    return power * 3 // 4 if size <= power * 3 // 4 else power


def prediction_for(reading: Reading, trained: TrainedModel, story: int, example: Example) -> Prediction:
    """The prediction for one story of a batch."""
    asked, classes = len(example.questions), len(trained.vocabulary.answers)
    points = reading.logits.shape[-1] > classes
    words = told_words(example, trained.vocabulary, trained.anonymous) if points else []
    slots = {word: slot for slot, word in enumerate(slot_words(linked(example, trained.vocabulary)))}
    chosen = [*range(classes), *(classes + slots[word] for word in words)]
    read = [round(read) for read in reading.entities_read[story, :asked].tolist()]
    entities, banks = round(float(reading.entities[story])), round(float(reading.banks[story]))
    strangeness = Strangeness(trained.phrasing, example.questions)
    strangeness.tell(example.sentences)
    return Prediction(*choices(reading, story, asked, chosen), words, entities, read, banks, strangeness.counts)


def choices(
    reading: Reading, story: int, asked: int, chosen: Sequence[int]
) -> tuple[Float[np.ndarray, "question token answer"], Int[np.ndarray, "question token"]]:
    """The logits of some choices for a story, and the choice for each token."""
    if reading.tokens is None:
        logits = reading.logits[story, :asked, None][..., list(chosen)].numpy()
        return logits, logits.argmax(-1)
    place = {number: at for at, number in enumerate(chosen)}
    tokens = [[place.get(token, 0) for token in row] for row in reading.tokens[story, :asked].tolist()]
    return reading.logits[story, :asked][..., list(chosen)].numpy(), np.array(tokens)


class TorchStories:
    """Stories read by torch."""

    @torch.inference_mode()
    def __init__(self, trained: TrainedModel, examples: Sequence[Example]) -> None:
        self.heard = sum(len(example.sentences) for example in examples)
        examples = in_clauses(trained, examples)
        check_room(trained, examples)
        self._trained, self._examples = trained, examples
        self._batch = plain_batch(trained, examples).to(next(trained.model.parameters()).device)
        self._carry = trained.model.ingest(self._batch)

    @torch.inference_mode()
    def read(self, banks: int) -> list[Prediction]:
        reading = on_cpu(self._trained.model.finish(self._batch, self._carry, 1.0, banks))
        return [prediction_for(reading, self._trained, i, example) for i, example in enumerate(self._examples)]

    @torch.inference_mode()
    def decode(self, banks: int) -> None:
        self._trained.model.finish(self._batch, self._carry, 1.0, banks)
