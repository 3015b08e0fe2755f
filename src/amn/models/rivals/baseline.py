"""What models without banks share: masked word embeddings, the position encoding, dropout, and their reading."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from amn.models.base import PerStory, Reading
from amn.models.layers import uniform


def look_up(
    table: Float[Tensor, "vocabulary hidden"], words: Int[Tensor, "*axes word"]
) -> Float[Tensor, "*axes word hidden"]:
    """The rows of a table for some words; zeros for padding."""
    return F.embedding(words, table) * (words > 0).unsqueeze(-1)


def position_encoding(mask: Bool[Tensor, "*axes word"], hidden: int) -> Float[Tensor, "*axes word hidden"]:
    """Section 4.1 of arXiv 1503.08895: l_kj = (1 - j/J) - (k/d)(1 - 2j/J).

    Word j of J (from 1) weighs l_kj in dimension k of d (from 1), so that a bag of words knows their order.

    Args:
        mask: which words are there; a sentence fills its row from the left.
        hidden: number of dimensions (d).
    """
    count = mask.sum(-1, keepdim=True).clamp(min=1)
    place = (torch.arange(1, mask.shape[-1] + 1, device=mask.device) / count).unsqueeze(-1)
    dimension = torch.arange(1, hidden + 1, device=mask.device) / hidden
    return ((1 - place) - dimension * (1 - 2 * place)) * mask.unsqueeze(-1)


def dropout(
    values: Float[Tensor, "*axes"], rate: float, key: Int[Tensor, ""] | None, stream: int
) -> Float[Tensor, "*axes"]:
    """Zeroes a share of the values and scales up the rest; without a key it leaves them alone."""
    if key is None or not rate:
        return values
    kept = uniform(key, tuple(values.shape), stream) >= rate
    return values * kept / (1 - rate)


def reading_of(logits: Float[Tensor, "batch question answer"], slots: PerStory) -> Reading:
    """What a model without banks reports: one bank, and all its memory slots read for each question."""
    read = slots.unsqueeze(-1).expand(-1, logits.shape[1])
    return Reading(logits, slots, read, torch.ones_like(slots))
