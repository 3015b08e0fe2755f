"""Rows of words as numbers, of any lengths, and what is done to them in training."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from amn.data.vocabulary import UNKNOWN

_MIX = (-7046029254386353131, -4658895280553007687, -7723592293110705685)


class Rows:
    """Some rows of numbers, kept in one piece.

    Args:
        rows: of any lengths.
    """

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.lengths = np.array([len(row) for row in rows], np.int64)
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._numbers = np.array([number for row in rows for number in row], np.int64)

    def __len__(self) -> int:
        return len(self.lengths)

    def padded(self, chosen: Int[np.ndarray, " row"]) -> Int[Tensor, "row word"]:
        """Some rows, with zeros behind the shorter ones."""
        lengths = self.lengths[chosen]
        places = np.arange(max(1, lengths.max(initial=1)))
        told = places < lengths[:, None]
        found = np.zeros(told.shape, np.int64)
        found[told] = self._numbers[(self._starts[chosen][:, None] + places)[told]]
        return torch.from_numpy(found)


def shuffled_words(
    rows: Int[Tensor, "row word"],
    key: Int[Tensor, "row one"],
    names: Int[Tensor, " name"],
    touched: Float[Tensor, "row one"],
    exchanged: Float[Tensor, "row one"],
    hidden: Float[Tensor, "row one"],
) -> Int[Tensor, "row word"]:
    """Rows with some of their words hidden or exchanged; rows of the same key have the same words changed alike.

    Args:
        rows: numbers of words.
        key: any numbers.
        names: the words that are names.
        touched: how many of the names become another name or unknown.
        exchanged: how many of these become another name.
        hidden: how many of the other words become unknown.
    """
    mixed = _mixed(rows, key)
    first, second = ((mixed >> shift & 0xFFFFF).float() / (1 << 20) for shift in (40, 20))
    others = torch.where(second < exchanged, names[(mixed & 0xFFFFF) % len(names)], UNKNOWN)
    is_name = torch.isin(rows, names) & (rows > UNKNOWN)
    changed = torch.where(is_name & (first < touched), others, rows)
    unknown = ~is_name & (first < hidden) & (rows > UNKNOWN)
    return torch.where(unknown, UNKNOWN, changed)


def _mixed(rows: Int[Tensor, "row word"], key: Int[Tensor, "row one"]) -> Int[Tensor, "row word"]:
    """Numbers that look random and depend on the word and the key alone (the mixer of splitmix64)."""
    mixed = rows * _MIX[0] ^ key
    mixed = (mixed ^ (mixed >> 30 & (1 << 34) - 1)) * _MIX[1]
    return (mixed ^ (mixed >> 27 & (1 << 37) - 1)) * _MIX[2]
