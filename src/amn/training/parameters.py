"""The weights of many models as one matrix: a row a model, so that one update serves them all."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


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
