"""The steps of an epoch: which examples each model of a fleet takes, and when."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from amn.data.batches import Shape, epoch_order
from amn.training.fleet import Fleet


@dataclass(frozen=True)
class Step:
    """One step of a fleet."""

    done: list[int]  # updates that each model has had
    indices: Int[Tensor, "model batch"]  # the examples of each model, -1 where it has none
    shape: Shape  # how far these stories fill the axes of a batch


@dataclass(frozen=True)
class EpochPlan:
    """The steps of an epoch, and how many of them each model takes part in while it is active."""

    steps: list[Step]
    per_model: list[int]


def epoch_plan(fleet: Fleet, epoch: int, active: Sequence[bool], batch_size: int, at_least: int = 0) -> EpochPlan:
    """The steps of an epoch for the models that are active, aligned by how long their stories are.

    There are at least so many, with empty ones where no model has as many: so a fleet that has lost models in the
    middle of an epoch keeps its place.
    """
    orders = []
    for member in fleet.members:
        keys = fleet.training.keys(member.task)
        orders.append(dict(epoch_order(keys, batch_size, seed=member.seed, epoch=epoch)))
    per_model = [len(order) for order in orders]
    done = [epoch * count for count in per_model]
    taking = [order if trains else {} for order, trains in zip(orders, active, strict=True)]
    steps = []
    for rank in max(*orders, _ranks(at_least, epoch), key=len):
        steps.append(_step(fleet, [order.get(rank, []) for order in taking], done, batch_size))
        done = [count + (rank in order) for count, order in zip(done, orders, strict=True)]
    return EpochPlan(steps, per_model)


def _ranks(count: int, epoch: int) -> dict[int, list[int]]:
    """The ranks of so many batches in the order of an epoch."""
    return dict(epoch_order([1] * count, 1, seed=0, epoch=epoch))


def _step(fleet: Fleet, chosen: list[list[int]], done: list[int], size: int) -> Step:
    indices = torch.full((len(chosen), size), -1)
    for row, part in zip(indices, chosen, strict=True):
        row[: len(part)] = torch.tensor(part, dtype=torch.long)
    taken = [(member.task, part) for member, part in zip(fleet.members, chosen, strict=True)]
    return Step(done, indices, fleet.training.shape_of(taken))
