"""The paper's secondary losses (section 4.4), as functions of what they compare."""

from math import sqrt

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

_MARGIN = 1e-4  # keeps probabilities away from 0 and 1, where a divergence is infinite
_CONNECTED_MEAN, _CONNECTED_VARIANCE = 0.75, 0.05  # expected strengths of words connected to the answer (section 5.1)
_OTHER_MEAN, _OTHER_VARIANCE = 0.3, 0.1  # and of all others


def phase_in(progress: Float[Tensor, ""] | float, start: float, full: float) -> Float[Tensor, ""] | float:
    """How much of a loss counts: nothing until `start` of the training is done, all of it from `full` on."""
    share = (progress - start) / (full - start)
    return share.clamp(0, 1) if isinstance(share, Tensor) else min(max(share, 0.0), 1.0)


def creation_prior(information: Float[Tensor, "*axes"], prior: float, beta: float) -> Float[Tensor, "*axes"]:
    """The expected probability of a new bank, p-hat ^ (1 / (beta * information)).

    The paper measures information by the number of sentences read.
    """
    exponent = 1 / (beta * information.clamp(min=1e-2))
    return torch.pow(torch.full_like(exponent, prior), exponent).clamp(_MARGIN, 1 - _MARGIN)


def bernoulli_divergence(logit: Float[Tensor, "*axes"], prior: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """KL(p || prior) for p = sigmoid(logit): zero exactly where they agree."""
    p = torch.sigmoid(logit)
    yes = p * (F.logsigmoid(logit) - torch.log(prior))
    no = (1 - p) * (F.logsigmoid(-logit) - torch.log1p(-prior))
    return yes + no


def expected_strengths(connected: Bool[Tensor, "*axes"], chance: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """The strengths E[s] that the paper aims at (section 5.1).

    A Gaussian around 0.75 with variance 0.05 for words connected to the answer, around 0.3 with variance 0.1 for the
    others. The paper caps the one at 1 and the other at 0; a probability needs both caps for both.

    Args:
        connected: which words share a connected component of A with the answer.
        chance: uniform numbers, which make the draw.
    """
    normal = sqrt(2) * torch.erfinv(2 * chance - 1)
    drawn = torch.where(
        connected, _CONNECTED_MEAN + sqrt(_CONNECTED_VARIANCE) * normal, _OTHER_MEAN + sqrt(_OTHER_VARIANCE) * normal
    )
    return drawn.clamp(_MARGIN, 1 - _MARGIN)


def strength_divergence(strengths: Float[Tensor, "*axes"], expected: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """KL(s || E[s]) of each entity, its strength taken as a probability: zero exactly where they agree."""
    s = strengths.clamp(_MARGIN, 1 - _MARGIN)
    return s * torch.log(s / expected) + (1 - s) * torch.log((1 - s) / (1 - expected))
