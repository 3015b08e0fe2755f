"""The default model's weights as arrays, scaled and joined once so that a sentence takes few operations.

For small arrays the time goes into starting operations, and numpy starts them several times faster than torch.
"""

from itertools import filterfalse
from math import sqrt
from operator import attrgetter
from weakref import WeakKeyDictionary

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from amn.core.loader import packed
from amn.models.amn import AMN
from amn.models.base import GRU

Array = np.ndarray

_SMALL = 1 << 18  # multiplications from which numpy's library would start threads of its own; torch's are the user's
_FEW = 4096  # numbers that numpy sums before torch has started
_TILES = 16  # rows up to which a bias is kept once for each
_NARROW = 16  # columns for which torch is slow
_version = attrgetter("_version")
_FORBIDDEN = -1e30  # the score of reading along no edge
_SAFE_EXPONENT = 75.0  # so large a score may be raised to a power, and many of these summed, without an overflow
EPSILON = 1e-6  # of `rms_norm`


def product(
    rows: Float[Array, "row inputs"],
    weight: Float[Array, "inputs outputs"],
    out: Float[Array, "row outputs"] | None = None,
) -> Float[Array, "row outputs"]:
    """Rows times a weight: by numpy where it is small or narrow, by torch where it is large."""
    if rows.shape[0] * weight.size <= _SMALL:
        return np.dot(rows, weight, out)
    if weight.shape[1] < _NARROW:
        step = max(1, _SMALL // weight.size)
        return np.concatenate([np.dot(rows[i : i + step], weight) for i in range(0, len(rows), step)], out=out)
    given = None if out is None else torch.from_numpy(out)
    return torch.mm(torch.from_numpy(rows), torch.from_numpy(weight), out=given).numpy()


def products(
    rows: Float[Array, "row inputs"],
    weights: Float[Array, "part inputs outputs"],
    out: Float[Array, "part row outputs"] | None = None,
) -> Float[Array, "part row outputs"]:
    """Rows times several weights, each product in one piece, which is what makes the operations after it fast."""
    if len(rows) * weights.size <= _SMALL * len(weights):
        return np.matmul(rows, weights, out=out)
    found = np.empty((len(weights), len(rows), weights.shape[2]), rows.dtype) if out is None else out
    for part, weight in zip(found, weights, strict=True):
        product(rows, weight, out=part)
    return found


def scale_of(states: Float[Array, "*axes hidden"]) -> Float[Array, "*axes"]:
    """What `rms_norm` multiplies each state by."""
    return 1 / _root_of(states)


def _root_of(states: Float[Array, "*axes hidden"]) -> Float[Array, "*axes"]:
    total = np.vecdot(states, states)
    total *= 1 / states.shape[-1]
    total += EPSILON
    return np.sqrt(total, out=total)


def row_sums(values: Float[Array, "*axes column"]) -> Float[Array, "*axes 1"]:
    """Sums over a short axis: by torch where there are many, because numpy takes its time for each."""
    if values.size <= _FEW:
        return np.add.reduce(values, -1, keepdims=True)
    return torch.from_numpy(values).sum(-1, keepdim=True).numpy()


def divide(values: Float[Array, "*axes column"], sums: Float[Array, "*axes 1"]) -> None:
    """Divides short rows in place, likewise."""
    if values.size <= _FEW:
        values /= sums
    else:
        torch.from_numpy(values).div_(torch.from_numpy(sums))


def normalise(states: Float[Array, "*axes hidden"]) -> Float[Array, "*axes hidden"]:
    """`rms_norm`."""
    return states / _root_of(states)[..., None]


def sigmoid(values: Float[Array, "*axes"]) -> Float[Array, "*axes"]:
    """1 / (1 + exp(-x)), as a tanh that cannot overflow; changes the values in place."""
    values *= 0.5
    np.tanh(values, out=values)
    values += 1
    values *= 0.5
    return values


class Cell:
    """`GRU` in arrays. Gates are kept at half their size, so that sigmoid(2x) = (1 + tanh(x)) / 2 needs no scaling.

    Args:
        gru: whose weights to take.
    """

    def __init__(self, gru: GRU) -> None:
        self.hidden = gru.state.in_features
        half = np.array([0.5, 0.5, 1.0], array(gru.state.bias).dtype)[:, None]
        biases = array(gru.state.bias).reshape(3, -1) * half[0]
        self.input = _by_gate(gru.input.weight) * half[:, None]
        self.state = _by_gate(gru.state.weight) * half[0]
        self.bias = (array(gru.input.bias).reshape(3, -1) * half)[:, None]
        self.bias[:2, 0] += biases[:2]
        self.new_bias = biases[2].copy()
        self._new_biases = np.tile(self.new_bias, (_TILES, 1))  # as many as rows are added sooner than one to each
        self._one, self._half = (
            np.ones((), biases.dtype),
            np.full((), 0.5, biases.dtype),
        )  # arrays are added sooner than numbers

    def project(self, inputs: Float[Array, "row inputs"]) -> Float[Array, "3 row hidden"]:
        """What the gates are told."""
        gates = products(inputs, self.input)
        gates += self.bias
        return gates

    def __call__(
        self, gates: Float[Array, "3 row hidden"], states: Float[Array, "row hidden"]
    ) -> Float[Array, "row hidden"]:
        """One step. It uses up the gates."""
        return self.step(gates, products(states, self.state), states)

    def step(
        self,
        gates: Float[Array, "3 row hidden"],
        parts: Float[Array, "3 row hidden"],
        states: Float[Array, "row hidden"],
    ) -> Float[Array, "row hidden"]:
        """One step from U h, its parts: n = tanh(W x + r * U h), h' = n + z * (h - n). It uses up gates and parts."""
        opened, new = parts[:2], parts[2]
        opened += gates[:2]
        np.tanh(opened, out=opened)
        opened += self._one
        new += self._new_biases[: len(new)] if len(new) <= _TILES else self.new_bias
        new *= opened[0]
        new += gates[2]
        np.tanh(new, out=new)
        kept = np.subtract(states, new, out=gates[2])
        kept *= opened[1]
        kept *= self._half
        kept += new
        return kept


class Reader:
    """A GRU over words, with what depends on a word alone computed for all vectors that a word may have.

    Args:
        gru: whose weights to take.
        words: the vectors that a word may have.
    """

    def __init__(self, gru: GRU, words: Float[Array, "vector hidden"]) -> None:
        self.cell = Cell(gru)
        self.gates = self.cell.project(words)  # what each word tells the gates
        # The state after each word, where it is the first.
        self.first = self.cell(self.gates.copy(), np.zeros_like(words))
        self._state = np.concatenate(self.cell.state, 1)
        arrays = (self.gates, self.first, self._state, self.cell.new_bias)
        self.packed = packed(self.cell.hidden, len(words), *arrays)  # for the kernels


class Weights:
    """All weights of a model, ready for use.

    Args:
        model: whose weights to take; later changes of them are not seen.
    """

    def __init__(self, model: AMN) -> None:
        config, root = model.config, sqrt(model.config.hidden)
        self.config, self.dtype = config, array(model.from_question.bias).dtype
        words = array(model.encoder.vectors())
        self.word, self.question = Reader(model.encoder.word_gru, words), Reader(model.encoder.question_gru, words)
        self.from_question, self.from_question_bias = linear(model.from_question)
        self.update, self.propagate = Cell(model.update), Cell(model.propagate_gru)
        self.of_word = self.update.input[:, : config.hidden].copy()
        self.of_sentence = self.update.input[:, config.hidden :].copy()
        self.ask = linear(model.ask)[0] / np.asarray(sqrt(config.hidden / config.heads), self.dtype)
        self.tell = linear(model.tell)[0]
        # For states of length 1, where `rms_norm` makes them as long as the root of their width.
        self.ask_and_tell = np.concatenate((self.ask, self.tell), 1) * np.asarray(root, self.dtype)
        self.least = np.asarray(EPSILON * config.hidden, self.dtype)
        self.ones = np.ones((2 * _TILES, config.hidden // config.heads), self.dtype)
        self.edge_bias = array(model.edge_bias).T.copy()
        self.edge_bias[:, 0] = _FORBIDDEN
        self.steep = self.largest_score() > _SAFE_EXPONENT
        self._take_strength(model, root)
        self._take_decoder(model, root)

    def largest_score(self) -> float:
        """A bound on what any two normalised states can score: they are as long as the root of their width."""
        width = self.config.hidden // self.config.heads
        largest = 0.0
        for head in range(0, self.config.hidden, width):
            match = self.ask[:, head : head + width] @ self.tell[:, head : head + width].T
            largest = max(largest, float(np.linalg.norm(match, 2)) * self.config.hidden)
        return largest + float(np.abs(self.edge_bias[:, 1:]).max())

    def _take_strength(self, model: AMN, root: float) -> None:
        """Everything that is a product with an entity's state becomes one matrix; the questions add columns to it."""
        gru = model.strength
        of_state = (gru.update_state, gru.candidate_state, model.move_state)
        vote = array(model.create.weight)[0]
        self.of_state = np.stack([*(array(layer.weight)[0] for layer in of_state), vote[:-1]], -1)
        self.half_of_state = self.of_state * np.array([0.5, 0.5, 1, 1], self.dtype)  # for sigmoids that are a tanh
        self.update_bias, self.candidate_bias, self.move_bias = (number(layer.bias) for layer in of_state)
        self.load, self.create_bias = float(vote[-1]), number(model.create.bias)
        self.of_question = array(gru.update_question.weight)[0]
        self.update_strength, self.candidate_strength = number(gru.update_strength), number(gru.candidate_strength)
        self.similarity = number(gru.reset) * gru.scale
        self.move_question = linear(model.move_question)[0] / np.asarray(root, self.dtype)

    def _take_decoder(self, model: AMN, root: float) -> None:
        decoder = model.decoder
        match = linear(decoder.match)[0] / np.asarray(root, self.dtype)
        self.asked = np.concatenate((self.move_question, match, self.of_question[:, None]), 1)
        self.nothing, self.growth = number(decoder.nothing), number(decoder.growth)
        self.hidden, self.hidden_bias = linear(decoder.hidden)
        self.slope = number(decoder.prelu.weight)
        answer, bias = decoder.over(model.encoder.vectors())  # classes, then all words that a story may tell
        self.answer, self.answer_bias = array(answer).T.copy(), array(bias)


_prepared: WeakKeyDictionary[AMN, tuple["_Stamps", list[int], Weights]] = WeakKeyDictionary()


def weights_of(model: AMN) -> Weights:
    """The weights of a model; prepared again where they have changed since."""
    found = _prepared.get(model)
    if found is not None:
        stamps, before, weights = found
        if before == stamps():
            return weights
    stamps, weights = _Stamps(list(model.parameters())), Weights(model)
    _prepared[model] = stamps, stamps(), weights
    return weights


class _Stamps:
    """What differs once weights were changed in place, moved, or turned into other numbers."""

    def __init__(self, parameters: list[Tensor]) -> None:
        self._parameters = parameters
        self._counted = [*filterfalse(Tensor.is_inference, parameters)]  # one of inference mode counts no changes

    def __call__(self) -> list[int]:
        return [*map(_version, self._counted), *map(Tensor.data_ptr, self._parameters)]


def array(values: Tensor) -> Array:
    """A tensor as an array of its own."""
    return values.detach().cpu().numpy().copy()


def number(values: Tensor) -> float:
    """A tensor of one number."""
    return float(values.detach())


def _by_gate(weight: Tensor) -> Array:
    """The weight of three gates, for `products`."""
    return array(weight).reshape(3, -1, weight.shape[1]).swapaxes(1, 2).copy()


def linear(layer: torch.nn.Linear) -> tuple[Array, Array]:
    """Weight and bias of a layer, for `product`."""
    bias = np.zeros(0) if layer.bias is None else array(layer.bias)
    return array(layer.weight).T.copy(), bias
