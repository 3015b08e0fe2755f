"""A fleet: many small models of one architecture trained together, each as if it were alone.

The weights are the rows of one matrix, the models run under `torch.func.vmap`, and one backward pass and one update
serve them all. On a GPU the whole step is recorded as a CUDA graph for each shape of stories, because such small models
wait for kernel launches and not for arithmetic.
"""

import logging
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.func import vmap

from amn.config import TrainConfig
from amn.data.batches import Batch, Dataset, Shape, anonymise, concatenate
from amn.inference.recorded import Recording
from amn.models.base import Model, Reading, answer_loss, answered, uniform
from amn.training.optimiser import Adam, learning_rate
from amn.training.parameters import Layout
from amn.training.reader import Reader, Readings

_LOG = logging.getLogger(__name__)
_ANONYMOUS_STREAM = 101  # of the random numbers that choose which words are hidden
_STORY_STREAM = 102  # and in which stories
_WORD_STREAM, _OTHER_STORY_STREAM = 104, 105  # the same for words that are no names
_SPARE_ROWS = 10_000  # sentences for which there is room besides: those of few stories differ more
_STORIES_WITH_HIDDEN_WORDS = 0.5  # the others keep all their words, so that known words are learned as well as without
_SENTENCE_ROOM = (2, 5, 8, 10, 14, 20, 30, 40, 50)  # story lengths that a step is recorded for on a GPU
_WIDTHS = ((13, 13, 56), (17, 17, 88))  # members, words, slots: stories that fit go together, for room costs time
_BY_WIDTH = 1 << 20  # more than any story has sentences


@dataclass(frozen=True)
class Pool:
    """The examples of several tasks on one device, one after another; each model of a fleet takes from its own."""

    data: Dataset  # the examples of all tasks
    first: Int[Tensor, " task"]  # where those of each task begin
    shapes: list[Int[np.ndarray, "example axis"]]  # how far each story of each task fills the axes

    @classmethod
    def of(cls, sets: Sequence[Dataset], device: torch.device, spare: float = 0.0) -> "Pool":
        """Joins the sets of tasks, with room for a share of further sentences."""
        first = torch.tensor([0, *(len(one) for one in sets[:-1])]).cumsum(0)
        joined = concatenate(sets).to(device)
        if spare:
            joined = joined.with_spare_rows(_SPARE_ROWS + int(spare * len(joined.sentences["sentences"])))
        return cls(joined, first.to(device), [one.shapes for one in sets])

    def renew(self, parts: Sequence[Dataset]) -> None:
        """Writes other stories over the last ones, in the place where recorded steps find them."""
        first = len(self.data) - sum(len(part) for part in parts)
        row = int(self.data.starts[first]) - 1
        for part in parts:
            self.data.write(part, first, row)
            self.shapes[-1][len(self.shapes[-1]) - len(self.data) + first :][: len(part)] = part.shapes
            first, row = first + len(part), row + len(part.sentences["sentences"])

    @property
    def shape(self) -> Shape:
        """Room for every story."""
        longest = max(int(shapes[:, 0].max(initial=1)) for shapes in self.shapes)
        return self.data.shape._replace(sentences=longest)

    def keys(self, task: int) -> Int[np.ndarray, " example"]:
        """Numbers to sort the stories of a task by: the wide ones last, and among those of like width the long ones."""
        shapes = self.shapes[task]
        return shapes[:, 0] + _BY_WIDTH * sum((shapes[:, 1:] > np.array(width)).any(1) for width in _WIDTHS)

    def shape_of(self, chosen: Sequence[tuple[int, list[int]]]) -> Shape:
        """Room for some stories of some tasks."""
        found = [self.shapes[task][part].max(0) for task, part in chosen if part]
        return Shape(*np.max(found, 0).tolist()) if found else Shape(1, 1, 1, 1)

    def take(self, which: Int[Tensor, " model"], indices: Int[Tensor, "model batch"], room: Shape | int) -> Batch:
        """A batch for each model: `which` task, and which of its examples; -1 stands for none."""
        place = torch.where(indices >= 0, indices + self.first[which].unsqueeze(1), -1)
        return self.data.take(place, room)


def _hide_words(batch: Batch, share: Float[Tensor, ""], chance: Float[Tensor, ""]) -> Batch:
    """Makes words unknown in some of the stories: a share of those that new names may stand for, and others by chance.

    A story without its other words may not be understood, so these have a chance of their own; and a word that is the
    answer stays, unless it is a name: names can be pointed at, and what is no name has to be known.
    """
    assert batch.key is not None
    shape = batch.slot_words.shape
    names = torch.zeros_like(batch.slot_words) if batch.names is None else batch.names
    some, others = (
        uniform(batch.key, (shape[0], 1), stream) < _STORIES_WITH_HIDDEN_WORDS
        for stream in (_STORY_STREAM, _OTHER_STORY_STREAM)
    )
    unnamed = some & (uniform(batch.key, shape, _ANONYMOUS_STREAM) < share) & (names > 0)
    unread = others & (uniform(batch.key, shape, _WORD_STREAM) < chance) & (names == 0) & ~_is_answer(batch)
    return replace(anonymise(batch, unnamed | unread), names=None)


def _is_answer(batch: Batch) -> Bool[Tensor, "batch slot"]:
    """Which words of a story answer one of its questions."""
    answers = batch.answer_slots if batch.token_slots is None else batch.token_slots.flatten(1)
    slots = torch.arange(batch.slot_words.shape[1], device=answers.device)
    return (answers.unsqueeze(-1) == slots).any(1)


@dataclass(frozen=True)
class Member:
    """One model of a fleet: its own module, the pool entries it trains and validates on, and its settings."""

    model: Model
    task: int
    seed: int
    train: TrainConfig


@dataclass(frozen=True, kw_only=True)
class Score:
    """How a model does on a set of questions."""

    error_percent: float
    entities: float
    entities_read: float
    ratio: float
    banks: float


class Fleet:
    """The stacked models and everything needed to train and score them.

    Args:
        members: the models; they may differ in vocabulary, task, seed and settings, but not in architecture, width or
            precision.
        training: their training examples.
        validation: their validation examples.
        device: where to compute.
        room: words and answers to have room for; by default those of the largest member.
        compiled: compile the step of a model that reads sentence by sentence.
    """

    def __init__(
        self,
        members: Sequence[Member],
        training: Pool,
        validation: Pool,
        device: torch.device,
        room: tuple[int, int] | None = None,
        compiled: bool = False,
    ) -> None:
        self.members = list(members)
        self.training, self.validation, self.device = training, validation, device
        self.answer_room = room or _answer_room(members)
        alone = len(members) == 1 and self.answer_room == _answer_room(members)
        self.template = (deepcopy(members[0].model) if alone else _template(members[0].model, *self.answer_room)).to(
            device
        )
        self.layout = Layout.of(self.template)
        self.reader = Reader(self.template, compiled=compiled, precision=members[0].train.precision)
        self.weights = self.layout.stack([member.model for member in members]).to(device).requires_grad_()
        self.adam = Adam.for_weights(self.weights.detach())
        self.which = torch.tensor([member.task for member in members], device=device)
        self.seeds = torch.tensor([member.seed for member in members], device=device)
        self.num_answers = _column([member.model.config.num_answers for member in members], device, torch.long)
        self.clip = _column([member.train.clip for member in members], device)
        plain = [member.train.optimiser == "sgd" for member in members]
        self.plain = _column(plain, device, torch.bool) if any(plain) else None
        self.beta_2 = _column([member.train.beta_2 for member in members], device)
        decay = _column([member.train.weight_decay for member in members], device)
        self.decay = decay * self.layout.matrices().to(device)
        self.hidden = _column([member.train.anonymise for member in members], device)[:, 0]
        self.hidden_words = _column([member.train.hide_words for member in members], device)[:, 0]
        self.loss_parts: tuple[str, ...] = ()
        self._recordings: dict[tuple[str, Shape, int], Recording] = {}

    def __len__(self) -> int:
        return len(self.members)

    def train_step(
        self, steps: list[int], indices: Int[Tensor, "model batch"], shape: Shape, steps_per_epoch: list[int]
    ) -> Float[Tensor, "model part"]:
        """One update of every model.

        Args:
            steps: how many updates each model has had.
            indices: the examples of each model, -1 where it has none.
            shape: how far these stories fill the axes.
            steps_per_epoch: of each model.

        Returns:
            The parts of each model's mean loss, in the order of `loss_parts`.
        """
        plan = list(zip(self.members, steps, steps_per_epoch, strict=True))
        rates = [learning_rate(member.train, step, in_epoch) for member, step, in_epoch in plan]
        progress = [step / (member.train.epochs * in_epoch) for member, step, in_epoch in plan]
        inputs = (
            indices.to(self.device),
            _column(rates, self.device),
            torch.tensor(progress, device=self.device),
            torch.tensor(steps, device=self.device),
        )
        room = self.room(shape, self.training.shape)
        if self.device.type != "cuda":
            return self._update(room, *inputs)
        return self._replay("train", room, self._update, inputs)

    def room(self, shape: Shape, whole: Shape) -> Shape:
        """The shape to compute with: exact on a CPU, one of a few on a GPU, none beyond the whole."""
        if self.device.type != "cuda":
            return shape
        sentences = min([room for room in _SENTENCE_ROOM if room >= shape.sentences] + [whole.sentences])
        fits = (width for width in _WIDTHS if all(own <= room for own, room in zip(shape[1:], width, strict=True)))
        return Shape(min(sentences, whole.sentences), *map(min, next(fits, whole[1:]), whole[1:]))

    def _update(self, room: Shape, indices: Tensor, rates: Tensor, progress: Tensor, steps: Tensor) -> Tensor:
        batch = self.training.take(self.which, indices, room)
        batch = vmap(_hide_words)(replace(batch, key=self.seeds * 1_000_003 + steps), self.hidden, self.hidden_words)
        self.weights.grad = None
        readings = self.reader(self.layout.split(self.weights), batch, progress)
        losses = vmap(self._losses)(readings, batch, self.num_answers)
        losses.sum().backward()
        assert self.weights.grad is not None
        active = (batch.weights.sum((1, 2)) > 0).unsqueeze(1)
        self.adam.update(self.weights, self.weights.grad, rates, self.clip, active, self.decay, self.plain, self.beta_2)
        return losses.detach()

    def _losses(self, fields: Readings, batch: Batch, num_answers: Tensor) -> Float[Tensor, " part"]:
        """The parts of one model's mean loss over its batch."""
        reading = Reading(**fields)
        num_classes = self.template.config.num_answers
        logits = self._without_spare_answers(reading.logits, num_answers)
        parts = {"answer": answer_loss(logits, batch, num_classes), **reading.losses}
        if reading.further is not None:
            further = self._without_spare_answers(reading.further, num_answers)
            parts["further"] = answer_loss(further, batch, num_classes) * self.template.further_weight
        self.loss_parts = tuple(parts)
        counted = batch.weights[:, 0]
        return torch.stack([(part * counted).sum() for part in parts.values()]) / counted.sum().clamp(min=1)

    def _without_spare_answers(self, logits: Tensor, num_answers: Tensor) -> Tensor:
        """Rules out the answer classes that only other models of the fleet have."""
        number = torch.arange(logits.shape[-1], device=logits.device)
        spare = (number >= num_answers) & (number < self.template.config.num_answers)
        return logits.masked_fill(spare, torch.finfo(logits.dtype).min)

    @torch.no_grad()
    def scores(self, questions_a_batch: int = 256) -> list[Score]:
        """How each model does on its validation questions, reading its last bank."""
        totals = torch.zeros(len(self), 6, device=self.device)
        pool = self.validation
        orders = [np.argsort(-shapes[:, 0], kind="stable").tolist() for shapes in pool.shapes]
        for start in range(0, max(len(orders[member.task]) for member in self.members), questions_a_batch):
            parts = [orders[member.task][start : start + questions_a_batch] for member in self.members]
            taken = pool.shape_of([(member.task, part) for member, part in zip(self.members, parts, strict=True)])
            room = self.room(taken, pool.shape)
            indices = index_rows(parts, questions_a_batch)
            if self.device.type == "cuda":
                totals += self._replay("score", room, self._count, (indices.to(self.device),))
            else:
                totals += self._count(room, indices)
        return [_score(row) for row in totals.tolist()]

    @torch.no_grad()
    def _count(self, room: Shape, indices: Tensor) -> Float[Tensor, "model figure"]:
        batch = replace(self.validation.take(self.which, indices, room), num_classes=self.num_answers[:, 0])
        done = torch.ones(len(self), device=self.device)
        readings = self.reader.plain(self.layout.split(self.weights.detach()), batch, done)
        return vmap(self._figures)(readings, batch, self.num_answers)

    def _figures(self, fields: Readings, batch: Batch, num_answers: Tensor) -> Float[Tensor, " figure"]:
        reading = Reading(**fields)
        logits = self._without_spare_answers(reading.logits, num_answers)
        counted = batch.weights
        right = answered(logits, batch, self.template.config.num_answers, reading.tokens)
        wrong = (~right).to(counted.dtype) * counted
        entities = reading.entities.unsqueeze(-1)
        figures = (
            counted,
            wrong,
            counted * entities,
            counted * reading.entities_read,
            counted * reading.entities_read / entities.clamp(min=1),
            counted * reading.banks.unsqueeze(-1),
        )
        return torch.stack([figure.sum() for figure in figures])

    def _replay(self, kind: str, room: Shape, function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> Tensor:
        """Plays a function back, recorded the first time a story length is met."""
        key = (kind, room, inputs[0].shape[1])
        if key not in self._recordings:
            started, saved = time.monotonic(), self.state()
            pool = next((made.pool for made in self._recordings.values()), None)
            self._recordings[key] = Recording(lambda *values: (function(room, *values),), inputs, pool)
            self.restore(saved)
            _LOG.info("recorded %s for %s in %.1f s", kind, room, time.monotonic() - started)
        return self._recordings[key](*inputs)[0]

    def state(self) -> dict[str, Tensor]:
        """Everything that training has changed."""
        adam = {f"adam.{f.name}": getattr(self.adam, f.name) for f in fields(Adam)}
        return {name: value.detach().clone() for name, value in {"weights": self.weights, **adam}.items()}

    @torch.no_grad()
    def restore(self, state: dict[str, Tensor]) -> None:
        """Goes back to a state."""
        self.weights.copy_(state["weights"])
        for f in fields(Adam):
            getattr(self.adam, f.name).copy_(state[f"adam.{f.name}"])

    def only(self, keep: Sequence[int]) -> "Fleet":
        """A fleet of some of these models, each where it stands: what is finished stops costing."""
        members = [self.members[i] for i in keep]
        smaller = Fleet(members, self.training, self.validation, self.device, self.answer_room, self.reader.compiled)
        smaller.restore({name: value[list(keep)] for name, value in self.state().items()})
        smaller.loss_parts = self.loss_parts
        return smaller


def index_rows(parts: list[list[int]], size: int) -> Int[Tensor, "model batch"]:
    """Lists of indices as one matrix, -1 where a list is shorter."""
    return torch.tensor([part + [-1] * (size - len(part)) for part in parts])


def _answer_room(members: Sequence[Member]) -> tuple[int, int]:
    configs = [member.model.config for member in members]
    return max(c.vocabulary_size for c in configs), max(c.num_answers for c in configs)


def _template(model: Model, vocabulary_size: int, num_answers: int) -> Model:
    """A module with room for every member's vocabulary; only its shape matters, the weights are given at each call.

    It knows no vocabulary, so its lists may hold a word twice: the errors of its validation are a little high.
    """
    return type(model)(replace(model.config, vocabulary_size=vocabulary_size, num_answers=num_answers))


def _column(
    values: Sequence[float], device: torch.device, dtype: torch.dtype = torch.float32
) -> Float[Tensor, "model one"]:
    return torch.tensor(values, device=device, dtype=dtype).unsqueeze(1)


def _score(row: list[float]) -> Score:
    questions, wrong, entities, read, ratio, banks = row
    mean = [value / questions for value in (entities, read, ratio, banks)]
    return Score(
        error_percent=100 * wrong / questions, entities=mean[0], entities_read=mean[1], ratio=mean[2], banks=mean[3]
    )
