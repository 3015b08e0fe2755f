"""What reading a story and answering from it cost: operations counted, and time measured."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import mean
from typing import Any, cast

import torch
from torch.utils.flop_counter import FlopCounterMode

from amn.bench.timing import measure
from amn.data.batches import Batch
from amn.data.examples import Example
from amn.evaluation.metrics import DEFAULT_BANKS
from amn.inference.torch_batches import plain_batch
from amn.inference.trained import TrainedModel
from amn.models.amn import AMN, StoryState
from amn.models.base import Model, Reading

COUNTED_STORIES = 8  # one by one, so that no padding is counted
TIMED_STORIES = 32  # together
_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Work:
    """The operations of stories that are read one by one, as means over stories with one set of questions each.

    Operations are the multiplications and additions of matrix products, which do not depend on the machine.
    """

    sentences: float  # of a story
    entities: float  # its distinct words (V)
    read: float  # entities, or memory slots, that an answer reads
    ingest: float  # operations for reading a story
    decode: float  # operations for answering a question


@dataclass(frozen=True, slots=True)
class Cost(Work):
    """What a model costs on stories, with times besides."""

    ingest_seconds: float  # for reading a story, many together
    decode_seconds: float  # for answering a question, many together

    def figures(self) -> dict[str, float]:
        """All numbers by name."""
        return asdict(self)


def cost_of(trained: TrainedModel, examples: Sequence[Example]) -> Cost:
    """Counts and times a model on the first of some stories, read as it reads by default."""
    ingest, decode = _seconds(trained, examples[:TIMED_STORIES])
    return Cost(**asdict(work_of(trained, examples)), ingest_seconds=ingest, decode_seconds=decode)


@torch.no_grad()  # operations cannot be counted in inference mode
def work_of(trained: TrainedModel, examples: Sequence[Example]) -> Work:
    """Counts operations on the first of some stories."""
    counted = [_work(trained, example) for example in examples[:COUNTED_STORIES]]
    return Work(*(mean(column) for column in zip(*counted, strict=True)))


def _work(trained: TrainedModel, example: Example) -> tuple[float, float, float, float, float]:
    batch = plain_batch(trained, [example])
    reading, answering = FlopCounterMode(display=False), FlopCounterMode(display=False)
    with reading:
        carry = trained.model.ingest(batch)
    with answering:
        said = _answer(trained.model, batch, carry)
    decode = answering.get_total_flops() / len(example.questions)
    entities = float(batch.sentences.max())  # the words of the story have the first slots
    return len(example.sentences), entities, float(said.entities_read.mean()), reading.get_total_flops(), decode


def _answer(model: Model, batch: Batch, carry: Any) -> Reading:
    """Answers one story. Torch masks what the default model does not read, and the core leaves it out: so do we."""
    if not model.in_core:
        return model.finish(batch, carry, 1.0, DEFAULT_BANKS)
    default, memory = cast(AMN, model), cast(StoryState, carry).memory
    read = memory.in_last[0] > 0
    read[0] |= ~read.any()  # padding, which no bank holds, where nothing is read
    by_slot = ("states", "strengths", "relevance", "depth")
    only = replace(memory, **{name: getattr(memory, name)[:, read] for name in by_slot})
    return default.decode(only, carry.questions, DEFAULT_BANKS, default.names(batch, memory))


def _seconds(trained: TrainedModel, examples: Sequence[Example]) -> tuple[float, float]:
    """Seconds for a story and for a question."""
    batch = plain_batch(trained, examples)
    with torch.inference_mode():
        carry = trained.model.ingest(batch)
        runs: dict[str, Callable[[], object]] = {"ingest": partial(trained.model.ingest, batch)}
        runs["decode"] = partial(trained.model.finish, batch, carry, 1.0, DEFAULT_BANKS)
        taken = {name: timing.seconds for name, timing in measure(runs, repeats=_REPEATS).items()}
    questions = sum(len(example.questions) for example in examples)
    return taken["ingest"] / len(examples), taken["decode"] / questions
