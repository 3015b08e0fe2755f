"""The paper's secondary losses (section 4.4), as functions of what they compare."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

_MARGIN = 1e-4  # keeps probabilities away from 0 and 1, where a divergence is infinite


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
