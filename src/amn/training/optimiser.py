"""Adam over rows of weights, each row with its own learning rate and clipping; and the learning-rate schedules."""

from dataclasses import dataclass
from math import cos, pi

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from amn.config import TrainConfig

_BETA_1, _EPSILON = 0.9, 1e-8
_FINAL_RATE = 0.01  # what is left of the learning rate at the end of the cosine schedule


@dataclass(frozen=True)
class Adam:
    """The state of the optimiser, changed in place so that a captured graph can replay the update."""

    mean: Float[Tensor, "model parameter"]  # running mean of the gradient
    square: Float[Tensor, "model parameter"]  # running mean of its square
    steps: Float[Tensor, "model one"]  # updates made so far, for each model

    @classmethod
    def for_weights(cls, weights: Float[Tensor, "model parameter"]) -> "Adam":
        """A fresh state."""
        zeros = torch.zeros_like(weights)
        return cls(zeros, zeros.clone(), zeros.new_zeros(len(weights), 1))

    @torch.no_grad()
    def update(
        self,
        weights: Float[Tensor, "model parameter"],
        gradient: Float[Tensor, "model parameter"],
        rate: Float[Tensor, "model one"],
        clip: Float[Tensor, "model one"],
        active: Bool[Tensor, "model one"],
        decay: Float[Tensor, "model parameter"] | float = 0.0,
        plain: Bool[Tensor, "model one"] | None = None,
        beta_2: Float[Tensor, "model one"] | float = 0.999,
    ) -> None:
        """One step for each active model; the others stay as they are.

        Args:
            weights: changed in place.
            gradient: of each model's loss.
            rate: learning rates.
            clip: greatest norm of each model's gradient.
            active: which models take part.
            decay: how much of each weight is taken away, times the learning rate; apart from the gradient, as in AdamW.
            plain: which models go along the clipped gradient itself; None for none.
            beta_2: how much of the running mean of squares is kept. It decides how soon steps are small again after
                gradients have grown, as they do when a loss sets in.
        """
        norm = gradient.norm(dim=1, keepdim=True)
        gradient = gradient * (clip / (norm + 1e-6)).clamp(max=1)
        active_ = active.to(weights.dtype)
        self.steps.add_(active_)
        self.mean.lerp_(gradient, (1 - _BETA_1) * active_)
        self.square.lerp_(gradient * gradient, (1 - beta_2) * active_)
        steps = self.steps.clamp(min=1)
        mean = self.mean / (1 - _BETA_1**steps)
        square = self.square / (1 - beta_2**steps)
        step = mean / (square.sqrt() + _EPSILON)
        step = step if plain is None else torch.where(plain, gradient, step)
        weights.sub_(active_ * rate * (step + decay * weights))


def learning_rate(config: TrainConfig, step: int, steps_per_epoch: int) -> float:
    """The learning rate of a step."""
    warm = min(1.0, (step + 1) / max(1, config.warmup_steps))
    if config.schedule == "halving":
        counted = max(0, step // steps_per_epoch - config.halve_after)
        return config.learning_rate * warm * 0.5 ** (counted // config.halve_every)
    done = step / (config.epochs * steps_per_epoch)
    fall = max(0.0, 2 * done - 1)
    return config.learning_rate * warm * (_FINAL_RATE + (1 - _FINAL_RATE) * (1 + cos(pi * fall)) / 2)
