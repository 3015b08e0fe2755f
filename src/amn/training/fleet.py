"""A fleet: many small models of one architecture trained together, each as if it were alone.

The weights are the rows of one matrix, the models run under `torch.func.vmap`, and one backward pass and one update
serve them all. On a GPU the whole step is recorded as a CUDA graph for each shape of stories, because such small models
wait for kernel launches and not for arithmetic.
"""

import logging
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, fields, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.func import vmap

from amn.config import TrainConfig
from amn.data.batches import Batch, Shape, epoch_order
from amn.inference.recorded import Recording
from amn.models.base import Model, Reading, answer_loss, answered, without_spare_classes
from amn.training.optimiser import Adam, learning_rate
from amn.training.pool import WIDTHS, Pool, hide_words, index_rows
from amn.training.stacked import Layout, Reader, Readings

_LOG = logging.getLogger(__name__)
_SENTENCE_ROOM = (2, 5, 8, 10, 14, 20, 30, 40, 50)  # story lengths that a step is recorded for on a GPU


@dataclass(frozen=True)
class Member:
    """One model of a fleet: its own module, the pool entries it trains and validates on, and its settings."""

    model: Model
    task: int
    seed: int
    train: TrainConfig


@dataclass(frozen=True)
class Score:
    """How a model does on a set of questions: the error, and means over questions."""

    error_percent: float
    entities: float
    entities_read: float
    ratio: float
    banks: float

    @classmethod
    def of(cls, sums: Sequence[float]) -> "Score":
        """From sums over questions: how many there are, how many are wrong, and the other figures in their order."""
        questions, wrong, *others = sums
        return cls(100 * wrong / questions, *(value / questions for value in others))

    def rounded(self) -> dict[str, float]:
        """The figures as a log shows them."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Step:
    """One step of a fleet."""

    done: list[int]  # updates that each model has had
    per_epoch: list[int]  # updates that each model has in an epoch
    indices: Int[Tensor, "model batch"]  # the examples of each model, -1 where it has none
    shape: Shape  # how far these stories fill the axes of a batch


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
        settings = [member.train for member in members]
        self.num_answers = _column([member.model.config.num_answers for member in members], device, torch.long)
        self.clip = _column([train.clip for train in settings], device)
        plain = [train.optimiser == "sgd" for train in settings]
        self.plain = _column(plain, device, torch.bool) if any(plain) else None
        self.beta_2 = _column([train.beta_2 for train in settings], device)
        decay = _column([train.weight_decay for train in settings], device)
        self.decay = decay * self.layout.matrices().to(device)
        self.hidden = _column([train.anonymise for train in settings], device)[:, 0]
        self.hidden_words = _column([train.hide_words for train in settings], device)[:, 0]
        self.loss_parts: tuple[str, ...] = ()
        self._recordings: dict[tuple[str, Shape, int], Recording] = {}

    def __len__(self) -> int:
        return len(self.members)

    def epoch(self, number: int, active: Sequence[bool], batch_size: int, at_least: int = 0) -> list[Step]:
        """The steps of an epoch for the models that are active, aligned by how long their stories are.

        There are at least so many, with empty ones where no model has as many: so a fleet that has lost models in the
        middle of an epoch keeps its place.
        """
        keys = [(self.training.keys(member.task), member.seed) for member in self.members]
        orders = [dict(epoch_order(key, batch_size, seed=seed, epoch=number)) for key, seed in keys]
        per_epoch = [len(order) for order in orders]
        done = [number * count for count in per_epoch]
        taking = [order if trains else {} for order, trains in zip(orders, active, strict=True)]
        steps = []
        others = dict(epoch_order([1] * at_least, 1, seed=0, epoch=number))  # the ranks of so many batches
        for rank in max(*orders, others, key=len):
            chosen = [order.get(rank, []) for order in taking]
            steps.append(Step(done, per_epoch, index_rows(chosen, batch_size), self._shape_of(self.training, chosen)))
            done = [count + (rank in order) for count, order in zip(done, orders, strict=True)]
        return steps

    def _shape_of(self, pool: Pool, chosen: list[list[int]]) -> Shape:
        """How far some examples of each model fill the axes of a batch."""
        return pool.shape_of([(member.task, part) for member, part in zip(self.members, chosen, strict=True)])

    def train_step(self, step: Step) -> Float[Tensor, "model part"]:
        """One update of every model; returns the parts of each model's mean loss, in the order of `loss_parts`."""
        plan = list(zip(self.members, step.done, step.per_epoch, strict=True))
        rates = [learning_rate(member.train, done, per_epoch) for member, done, per_epoch in plan]
        progress = [done / (member.train.epochs * per_epoch) for member, done, per_epoch in plan]
        inputs = (
            step.indices.to(self.device),
            _column(rates, self.device),
            torch.tensor(progress, device=self.device),
            torch.tensor(step.done, device=self.device),
        )
        return self._run("train", self.room(step.shape, self.training.shape), self._update, inputs)

    def room(self, shape: Shape, whole: Shape) -> Shape:
        """The shape to compute with: exact on a CPU, one of a few on a GPU, none beyond the whole."""
        if self.device.type != "cuda":
            return shape
        sentences = min([room for room in _SENTENCE_ROOM if room >= shape.sentences] + [whole.sentences])
        fits = (width for width in WIDTHS if all(own <= room for own, room in zip(shape[1:], width, strict=True)))
        return Shape(min(sentences, whole.sentences), *map(min, next(fits, whole[1:]), whole[1:]))

    def _update(self, room: Shape, indices: Tensor, rates: Tensor, progress: Tensor, steps: Tensor) -> Tensor:
        batch = self.training.take(self.which, indices, room)
        batch = vmap(hide_words)(replace(batch, key=self.seeds * 1_000_003 + steps), self.hidden, self.hidden_words)
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
        reading, num_classes = Reading(**fields), self.template.config.num_answers
        logits = without_spare_classes(reading.logits, num_answers, num_classes)
        parts = {"answer": answer_loss(logits, batch, num_classes), **reading.losses}
        if reading.further is not None:
            further = without_spare_classes(reading.further, num_answers, num_classes)
            parts["further"] = answer_loss(further, batch, num_classes) * self.template.further_weight
        self.loss_parts = tuple(parts)
        counted = batch.weights[:, 0]
        return torch.stack([(part * counted).sum() for part in parts.values()]) / counted.sum().clamp(min=1)

    @torch.no_grad()
    def scores(self, questions_a_batch: int = 256) -> list[Score]:
        """How each model does on its validation questions, reading its last bank."""
        totals = torch.zeros(len(self), 6, device=self.device)
        pool = self.validation
        orders = [np.argsort(-shapes[:, 0], kind="stable").tolist() for shapes in pool.shapes]
        for start in range(0, max(len(orders[member.task]) for member in self.members), questions_a_batch):
            parts = [orders[member.task][start : start + questions_a_batch] for member in self.members]
            room = self.room(self._shape_of(pool, parts), pool.shape)
            indices = index_rows(parts, questions_a_batch).to(self.device)
            totals += self._run("score", room, self._count, (indices,))
        return [Score.of(row) for row in totals.tolist()]

    @torch.no_grad()
    def _count(self, room: Shape, indices: Tensor) -> Float[Tensor, "model figure"]:
        batch = replace(self.validation.take(self.which, indices, room), num_classes=self.num_answers[:, 0])
        done = torch.ones(len(self), device=self.device)
        readings = self.reader.plain(self.layout.split(self.weights.detach()), batch, done)
        return vmap(self._figures)(readings, batch, self.num_answers)

    def _figures(self, fields: Readings, batch: Batch, num_answers: Tensor) -> Float[Tensor, " figure"]:
        reading, num_classes = Reading(**fields), self.template.config.num_answers
        logits = without_spare_classes(reading.logits, num_answers, num_classes)
        counted = batch.weights
        right = answered(logits, batch, num_classes, reading.tokens)
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

    def _run(self, kind: str, room: Shape, function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> Tensor:
        """Calls a function; on a GPU it is recorded the first time that a shape is met, and then replayed."""
        if self.device.type != "cuda":
            return function(room, *inputs)
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
