"""The steps of an epoch: which examples each model of a fleet takes, and when."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Int
from torch import Tensor

from amn.data.batches import Shape, epoch_order
from amn.training.fleet import Fleet, index_rows


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
    keys = [(fleet.training.keys(member.task), member.seed) for member in fleet.members]
    orders = [dict(epoch_order(key, batch_size, seed=seed, epoch=epoch)) for key, seed in keys]
    per_model = [len(order) for order in orders]
    done = [epoch * count for count in per_model]
    taking = [order if trains else {} for order, trains in zip(orders, active, strict=True)]
    steps = []
    others = dict(epoch_order([1] * at_least, 1, seed=0, epoch=epoch))  # the ranks of so many batches
    for rank in max(*orders, others, key=len):
        chosen = [order.get(rank, []) for order in taking]
        taken = [(member.task, part) for member, part in zip(fleet.members, chosen, strict=True)]
        steps.append(Step(done, index_rows(chosen, batch_size), fleet.training.shape_of(taken)))
        done = [count + (rank in order) for count, order in zip(done, orders, strict=True)]
    return EpochPlan(steps, per_model)
