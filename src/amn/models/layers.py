"""Layers and functions of tensors that all models share; the axes are those of `amn.models.base`."""

from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree

_PARTS, _MANY_ROWS = 16, 4096  # on a GPU so many rows are multiplied in so many parts
_State = TypeVar("_State")  # a registered dataclass of tensors


def masked_softmax(scores: Float[Tensor, "*axes"], mask: Bool[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """Softmax over the last axis where the mask holds; zeros where it holds nowhere."""
    floor = torch.finfo(scores.dtype).min
    weights = F.softmax(scores.masked_fill(~mask, floor), -1)
    return weights * mask


def rms_norm(values: Float[Tensor, "*axes hidden"], epsilon: float = 1e-6) -> Float[Tensor, "*axes hidden"]:
    """Values scaled to a root mean square of one; those whose mean square is below epsilon stay the smaller."""
    return values * torch.rsqrt(values.square().mean(-1, keepdim=True) + epsilon)


class Linear(nn.Linear):
    """A linear layer that sees all leading axes as one.

    Under `vmap` the plain layer may copy its weights for every story; one product over all rows never does.
    """

    def forward(self, values: Float[Tensor, "*axes inputs"]) -> Float[Tensor, "*axes outputs"]:
        """Values W^T + b."""
        return linear(values, self.weight, self.bias)


def linear(
    values: Float[Tensor, "*axes inputs"],
    weight: Float[Tensor, "outputs inputs"],
    bias: Float[Tensor, " outputs"] | None,
) -> Float[Tensor, "*axes outputs"]:
    """Values W^T + b.

    The gradient of W is a small matrix of sums over all rows, which leaves most of a GPU idle. Many rows are therefore
    multiplied in parts, whose gradients are summed.
    """
    rows = values.reshape(-1, values.shape[-1])
    if not values.is_cuda or len(rows) < _MANY_ROWS or len(rows) % _PARTS:
        return F.linear(rows, weight, bias).view(*values.shape[:-1], -1)
    products = (rows.view(_PARTS, -1, rows.shape[-1]) @ weight.t().expand(_PARTS, -1, -1)).view(*values.shape[:-1], -1)
    return products if bias is None else products + bias


class Cell(nn.Module):
    """A recurrent cell whose input part can be computed ahead for a whole story."""

    gates: int  # how many vectors it computes from input and state

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.input = Linear(inputs, self.gates * hidden)
        self.state = Linear(hidden, self.gates * hidden)


class GRU(Cell):
    """A gated recurrent unit.

    r = sigmoid(W_r x + U_r h), z = sigmoid(W_z x + U_z h), n = tanh(W_n x + r * U_n h), h' = (1 - z) * n + z * h
    """

    gates = 3

    def forward(
        self, projected: Float[Tensor, "*axes gates"], state: Float[Tensor, "*axes hidden"]
    ) -> Float[Tensor, "*axes hidden"]:
        """One step from inputs that `self.input` has projected."""
        reset_x, update_x, new_x = projected.chunk(3, -1)
        reset_h, update_h, new_h = self.state(state).chunk(3, -1)
        update = torch.sigmoid(update_x + update_h)
        new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
        return new + update * (state - new)

    def over(
        self, projected: Float[Tensor, "*axes time gates"], mask: Bool[Tensor, "*axes time"]
    ) -> Float[Tensor, "*axes time hidden"]:
        """Runs through a sequence from a zero state; where the mask is false the state stays."""
        state = projected.new_zeros(*projected.shape[:-2], projected.shape[-1] // 3, dtype=self.state.weight.dtype)
        states = []
        for gates, told in zip(projected.unbind(-2), mask.unbind(-1), strict=True):
            state = torch.where(told.unsqueeze(-1), self(gates, state), state)
            states.append(state)
        return torch.stack(states, -2)


MIX_PLACE = -7046029254386353131
_PLACES = (MIX_PLACE, 0x2545F4914F6CDD1D, -3750763034362895579, 0x5851F42D4C957F2D)
_MIX_1, _MIX_2, _STREAM = -4658895280553007687, -7723592293110705685, 0x9E3779B1


def mix(x: Int[Tensor, "*axes"]) -> Int[Tensor, "*axes"]:
    """Numbers that look random and depend on the given ones alone: the mixer of splitmix64, but for its last shift."""
    x = (x ^ ((x >> 30) & ((1 << 34) - 1))) * _MIX_1
    return (x ^ ((x >> 27) & ((1 << 37) - 1))) * _MIX_2


def uniform(key: Int[Tensor, ""], shape: tuple[int, ...], stream: int) -> Float[Tensor, "*shape"]:
    """Uniform numbers in (0, 1) that depend on the key, the stream and the place alone.

    A hash of the place replaces a generator's hidden state: a model draws the same numbers in a fleet or alone, however
    much padding there is, on any device; a resumed run needs only its step number.
    """
    x = key * _MIX_2 + stream * _STREAM
    for axis, (size, factor) in enumerate(zip(shape, _PLACES, strict=False)):
        place = torch.arange(1, size + 1, device=key.device) * factor
        x = x + place.view(-1, *(1 for _ in shape[axis + 1 :]))
    x = mix(x)
    x = x ^ ((x >> 31) & ((1 << 33) - 1))
    bits = (x >> 41) & ((1 << 23) - 1)
    return (bits.float() + 0.5) / (1 << 23)


def logistic_noise(key: Int[Tensor, ""], shape: tuple[int, ...], stream: int) -> Float[Tensor, "*shape"]:
    """Noise that turns `logit + noise > 0` into a draw from Bernoulli(sigmoid(logit))."""
    u = uniform(key, shape, stream)
    return torch.log(u) - torch.log1p(-u)


def straight_through(soft: Float[Tensor, "*axes"], threshold: float = 0.5) -> Float[Tensor, "*axes"]:
    """A hard 0 or 1 whose gradient is that of the soft value."""
    return (soft > threshold).to(soft.dtype) + soft - soft.detach()


def where_told(told: Bool[Tensor, " batch"], new: _State, old: _State) -> _State:
    """The new state of the stories that have a sentence at this place; stories that are over keep the old one."""
    return pytree.tree_map(lambda a, b: torch.where(told.view(-1, *[1] * (a.dim() - 1)), a, b), new, old)


def rows_of(
    table: Float[Tensor, "batch slot hidden"], rows: Int[Tensor, "batch row"]
) -> Float[Tensor, "batch row hidden"]:
    """Some rows of each story's table."""
    return table.gather(1, rows.unsqueeze(-1).expand(-1, -1, table.shape[-1]))


def put_rows(
    table: Float[Tensor, "batch slot hidden"], rows: Int[Tensor, "batch row"], values: Float[Tensor, "batch row hidden"]
) -> Float[Tensor, "batch slot hidden"]:
    """Each story's table with some rows replaced."""
    return table.scatter(1, rows.unsqueeze(-1).expand_as(values), values)


def split_heads(values: Float[Tensor, "batch row hidden"], heads: int) -> Float[Tensor, "batch head row part"]:
    """States as one part for each head."""
    return values.unflatten(-1, (heads, -1)).transpose(1, 2)
