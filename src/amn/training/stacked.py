"""Many models of one architecture as one: their weights as the rows of a matrix, and one forward pass for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn import functional as F
from torch.utils import _pytree as pytree

from amn.config import Precision
from amn.data.batches import Batch
from amn.models.base import Model, Reading

Weights = dict[str, Tensor]
Readings = dict[str, Any]  # the fields of `Reading`, each with an axis of models in front


@dataclass(frozen=True)
class Layout:
    """Where each parameter stands in a row. Models whose vocabularies differ share the room of the largest."""

    shapes: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, model: nn.Module) -> "Layout":
        """The layout of a model's own parameters."""
        return cls({name: tuple(parameter.shape) for name, parameter in model.named_parameters()})

    def stack(self, models: Sequence[nn.Module]) -> Float[Tensor, "model parameter"]:
        """The models' weights as rows; room that a model does not need stays zero."""
        return torch.stack([self._row(dict(model.named_parameters())) for model in models])

    def _row(self, parameters: dict[str, nn.Parameter]) -> Float[Tensor, " parameter"]:
        parts = []
        for name, shape in self.shapes.items():
            value = parameters[name].detach()
            room = [pad for size, own in zip(shape[::-1], value.shape[::-1], strict=True) for pad in (0, size - own)]
            parts.append(F.pad(value, room).flatten())
        return torch.cat(parts)

    def split(self, rows: Float[Tensor, "model parameter"]) -> dict[str, Tensor]:
        """Each parameter with a leading axis of models; gradients flow back to the rows."""
        parts = rows.split([prod(shape) for shape in self.shapes.values()], 1)
        named = zip(self.shapes.items(), parts, strict=True)
        return {name: part.unflatten(1, shape) for (name, shape), part in named}

    def matrices(self) -> Float[Tensor, " parameter"]:
        """1 where a row holds part of a matrix, 0 where it holds a vector: a bias, or a single number."""
        parts = [torch.full((prod(shape),), float(len(shape) > 1)) for shape in self.shapes.values()]
        return torch.cat(parts)

    @torch.no_grad()
    def write(self, row: Float[Tensor, " parameter"], model: nn.Module) -> None:
        """Puts one row back into a model."""
        for name, value in self.split(row.unsqueeze(0)).items():
            parameter = model.get_parameter(name)
            parameter.copy_(value[0][tuple(slice(size) for size in parameter.shape)])


class Reader:
    """A model's `forward` with an axis of models in front of everything.

    Args:
        model: whose code to run; its own weights do not matter.
        compiled: compile the step, where the model reads sentence by sentence. One compiled step serves stories of any
            length, and fuses what would be hundreds of small kernels.
        precision: of matrix products in training; everything else, and all validation, is in float32.
    """

    def __init__(self, model: Model, *, compiled: bool = False, precision: Precision = "float32") -> None:
        self.precision = precision
        self.compiled = compiled and model.reads_by_sentence
        self._forward, self._begin, self._advance, self._finish = (
            _with_weights(model, name) for name in ("forward", "begin", "advance", "finish")
        )
        if self.compiled:
            self._advance = torch.compile(vmap(self._advance), dynamic=False)

    def __call__(self, weights: Weights, batch: Batch, progress: Float[Tensor, " model"]) -> Readings:
        """Reads with the last bank, as in training."""
        read = self._by_steps if self.compiled else self.plain
        if self.precision == "float32":
            return read(weights, batch, progress)
        with torch.autocast(progress.device.type, torch.bfloat16, cache_enabled=False):
            readings = read(weights, batch, progress)
        return pytree.tree_map(lambda value: value.float() if value.is_floating_point() else value, readings)

    def _by_steps(self, weights: Weights, batch: Batch, progress: Float[Tensor, " model"]) -> Readings:
        carry, sentences = vmap(self._begin)(weights, batch, progress)
        carry = pytree.tree_map(_with_gradient, carry)
        # A slice of a longer story has other strides, for which the step would be compiled again: hence the copies.
        for sentence in sentences:
            carry = self._advance(weights, carry, pytree.tree_map(Tensor.contiguous, sentence))
        readings: Readings = vmap(self._finish)(weights, batch, carry, progress)
        return readings

    def plain(self, weights: Weights, batch: Batch, progress: Float[Tensor, " model"]) -> Readings:
        """The same without compiling; a single model does without `vmap`, which costs a sixth of its time."""
        if len(progress) > 1:
            readings: Readings = vmap(self._forward)(weights, batch, progress)
            return readings
        alone = pytree.tree_map(lambda value: value[0], (weights, batch, progress))
        return pytree.tree_map(lambda value: value.unsqueeze(0), self._forward(*alone))


def _with_weights(model: Model, name: str) -> Callable[..., Any]:
    """A method of a model as a function of its weights and inputs.

    A reading becomes a dictionary, since the shapes of a `Reading` are those of one model.
    """
    method = _Method(model, name)

    def call(weights: Weights, *inputs: Any) -> Any:
        found = functional_call(method, {f"model.{key}": value for key, value in weights.items()}, inputs)
        return fields_of(found) if isinstance(found, Reading) else found

    return call


def fields_of(reading: Reading) -> Readings:
    """The fields that a reading has."""
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
    """Makes a constant look like what the step returns, so that the step is compiled only once."""
    if value.requires_grad or not value.is_floating_point():
        return value.contiguous()
    return value.detach().clone().requires_grad_()
