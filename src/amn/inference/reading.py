"""From what a model says about a batch to answers in words."""

from collections.abc import Sequence
from itertools import chain
from math import isfinite

import numpy as np
import torch

from amn.answers import Answer, Candidate, rank
from amn.compact import CompactMemory
from amn.data.batches import Batch, Sizes, encode
from amn.data.examples import Example
from amn.data.graph import CONTEXT
from amn.data.vocabulary import Vocabulary
from amn.errors import AMNError
from amn.fast import kernels
from amn.fast.decode import Found
from amn.fast.spelling import choose, slot_words, spelled
from amn.fast.stories import Stories
from amn.fast.weights import weights_of
from amn.inference.recorded import read_recorded
from amn.models.amn import AMN
from amn.models.base import Reading
from amn.store.model_directory import TrainedModel

MAX_WORDS = 32_000  # different words in a story that is read as a batch: batches keep slots in 16 bits
SHORT = 1000  # sentences up to which a single story is encoded all at once
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
    device = next(trained.model.parameters()).device
    if device.type == "cuda":
        return _on_cpu(read_recorded(trained.model, roomy_batch(trained, examples), banks))
    longest = max(len(example.sentences) for example in examples)
    batch = encode(examples, trained.vocabulary).take(torch.arange(len(examples)), sentences=max(1, longest))
    return _on_cpu(trained.model(batch.to(device), banks=banks))


def _on_cpu(reading: Reading) -> Reading:
    """All at once, because each of its numbers would have to wait for the device."""
    return Reading(reading.logits.cpu(), reading.entities.cpu(), reading.entities_read.cpu(), reading.banks.cpu())


def roomy_batch(trained: TrainedModel, examples: Sequence[Example]) -> Batch:
    """Examples with a little more room than needed along each axis, so that batches have few shapes."""
    room = _room(examples)
    spare = _rounded(len(examples)) - len(examples)
    stories = torch.tensor([*range(len(examples)), *[-1] * spare])
    return encode(examples, trained.vocabulary, room).take(stories, sentences=room.sentences)


def _room(examples: Sequence[Example]) -> Sizes:
    asked = [question for example in examples for question in example.questions]
    spoken = max((len(sentence) for example in examples for sentence in example.sentences), default=1)
    named = max(len(set(chain.from_iterable(example.questions))) for example in examples)
    return Sizes(
        slots=_rounded(max(len(slot_words(example)) for example in examples)),
        sentences=_rounded(max(len(example.sentences) for example in examples)),
        words=_rounded(spoken),
        members=_rounded(spoken + named),
        questions=_rounded(max(len(example.questions) for example in examples)),
        question_words=_rounded(max(map(len, asked))),
    )


def _rounded(size: int) -> int:
    """The least power of two, or three halves of one, that is as large."""
    power = 1 << max(0, size - 1).bit_length()
    return power * 3 // 4 if size <= power * 3 // 4 else power


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


def read_examples(trained: TrainedModel, examples: Sequence[Example], banks: int) -> list[Found]:
    """Reads stories side by side: the default model by its fast path, any other by torch.

    On a GPU torch reads several stories there, which pays for wide models; a single one is faster on the CPU.
    """
    model = trained.model
    if type(model) is AMN:
        alone = len(examples) == 1
        if alone and not (len(examples[0].sentences) <= SHORT and kernels.can_read(weights_of(model))):
            return [read_alone(model, trained.vocabulary, examples[0], banks)]
        if alone or next(model.parameters()).device.type == "cpu":
            return Stories(weights_of(model), trained.vocabulary, examples).read(banks)
    reading = read_batch(trained, examples, banks)
    return [found_in(reading, trained.vocabulary, story, example) for story, example in enumerate(examples)]


def read_alone(model: AMN, vocabulary: Vocabulary, example: Example, banks: int) -> Found:
    """Reads one story sentence by sentence, however long it is."""
    memory = CompactMemory(model, vocabulary, example.questions)
    memory.hear(example.sentences)
    return memory.read(banks)


def found_in(reading: Reading, vocabulary: Vocabulary, story: int, example: Example) -> Found:
    """What a reading holds about one story."""
    asked = len(example.questions)
    pointer = reading.logits.shape[-1] > len(vocabulary.answers)
    words = list(spelled(vocabulary, example, pointer=pointer).told.values())
    slots = {word: slot for slot, word in enumerate(slot_words(example))}
    return Found(
        logits=choose(reading.logits[story, :asked].numpy(), vocabulary, [slots[word] for word in words]),
        words=words,
        entities=round(float(reading.entities[story])),
        entities_read=[round(read) for read in reading.entities_read[story, :asked].tolist()],
        banks=round(float(reading.banks[story])),
    )


def answers_of(found: Found, vocabulary: Vocabulary, questions: Sequence[str], banks: int) -> list[Answer]:
    """The answers to the questions of one memory.

    Args:
        found: what was read.
        vocabulary: the answers that the model knows.
        questions: its questions, as written.
        banks: how many banks were to be read; 0 for all.
    """
    names = [*vocabulary.answers, *found.words]
    scores = found.logits[: len(questions)].astype(np.float64)
    scores = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
    scores /= scores.sum(-1, keepdims=True)
    return [_answer(found, question, i, _ranked(names, scores[i]), banks) for i, question in enumerate(questions)]


def _ranked(names: Sequence[str], scores: np.ndarray) -> list[Candidate]:
    return rank((name, score) for name, score in zip(names, scores.tolist(), strict=False) if name)


def _answer(found: Found, question: str, number: int, ranked: list[Candidate], banks: int) -> Answer:
    if not ranked:
        raise AMNError("story: the model knows no answers of its own, and the story holds no word to point at")
    best, *others = ranked
    return Answer(
        question=question,
        answer=best.answer,
        score=best.score,
        top=tuple(others),
        banks_read=min(banks or found.banks, found.banks),
        banks_created=found.banks,
        entities_read=found.entities_read[number],
        entities=found.entities,
    )


def check_limits(banks: int | None, deadline: float | None) -> None:
    """Refuses what cannot be a number of banks or of seconds."""
    if banks is not None and banks < 0:
        raise AMNError(f"banks: expected how many to read, or 0 for all, found {banks}")
    if deadline is not None and not (isfinite(deadline) and deadline >= 0):
        raise AMNError(f"deadline: expected seconds, at least 0, found {deadline}")
