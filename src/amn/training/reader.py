"""Runs many models at once: one module's code over stacked weights and stacked batches."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.utils import _pytree as pytree

from amn.config import Precision
from amn.data.batches import Batch
from amn.models.base import Model, Reading

Weights = dict[str, Tensor]
Readings = dict[str, Any]  # the fields of `Reading`, each with an axis of models in front


class Reader:
    """A model's `forward` with an axis of models in front of everything.

    Args:
        model: whose code to run; its own weights do not matter.
        compiled: compile the step, where the model reads sentence by sentence. One compiled step serves stories of any
            length, and fuses what would be hundreds of small kernels.
        precision: of matrix products in training; everything else, and all validation, is in float32.
    """

    def __init__(self, model: Model, *, compiled: bool = False, precision: Precision = "float32") -> None:
        self.model, self.precision = model, precision
        self.compiled = compiled and model.reads_by_sentence
        self._begin, self._advance, self._finish = (
            self._stacked(_Method(model, name)) for name in ("begin", "advance", "finish")
        )
        if self.compiled:
            self._advance = torch.compile(self._advance, dynamic=False)

    @staticmethod
    def _stacked(module: nn.Module) -> Callable[..., Any]:
        def call(weights: Weights, *inputs: Any) -> Any:
            found = functional_call(module, {f"model.{name}": value for name, value in weights.items()}, inputs)
            return _fields(found) if isinstance(found, Reading) else found

        return vmap(call)

    def __call__(self, weights: Weights, batch: Batch, progress: Float[Tensor, " model"]) -> Readings:
        """Reads with the last bank, as in training."""
        read = self._by_steps if self.compiled else self.plain
        if self.precision == "float32":
            return read(weights, batch, progress)
        with torch.autocast(progress.device.type, torch.bfloat16, cache_enabled=False):
            readings = read(weights, batch, progress)
        return pytree.tree_map(lambda value: value.float() if value.is_floating_point() else value, readings)

    def _by_steps(self, weights: Weights, batch: Batch, progress: Float[Tensor, " model"]) -> Readings:
        carry, sentences = self._begin(weights, batch, progress)
        carry = pytree.tree_map(_with_gradient, carry)
        # A slice of a longer story has other strides, for which the step would be compiled anew: hence the copies.
        for sentence in sentences:
            carry = self._advance(weights, carry, pytree.tree_map(Tensor.contiguous, sentence))
        readings: Readings = self._finish(weights, batch, carry, progress)
        return readings

    def plain(self, weights: Weights, batch: Batch, progress: Float[Tensor, " model"]) -> Readings:
        """The same without compiling; a model that is alone needs no `vmap`, which costs a sixth of its time."""
        if len(progress) > 1:
            readings: Readings = vmap(self._read)(weights, batch, progress)
            return readings
        alone = pytree.tree_map(lambda value: value[0], (weights, batch, progress))
        return pytree.tree_map(lambda value: value.unsqueeze(0), self._read(*alone))

    def _read(self, weights: Weights, batch: Batch, progress: Tensor) -> Readings:
        return _fields(functional_call(self.model, weights, (batch, progress)))


def _fields(reading: Reading) -> Readings:
    """What a reading holds; a dictionary, for the shapes of a `Reading` are those of one model."""
    return {name: value for name, value in vars(reading).items() if value is not None}


class _Method(nn.Module):
    """A method of a model as a module, which is what `functional_call` takes."""

    def __init__(self, model: Model, name: str) -> None:
        super().__init__()
        self.model, self.name = model, name

    def forward(self, *inputs: Any) -> Any:
        """Calls the method."""
        return getattr(self.model, self.name)(*inputs)


def _with_gradient(value: Tensor) -> Tensor:
    """Lets what starts as a constant look like what the step returns, so that the step is compiled only once."""
    if value.requires_grad or not value.is_floating_point():
        return value
    return value.detach().clone().requires_grad_()
