"""The strength GRU (section 4.1, eqs. 5-8): how relevant an entity is to the question, a number in [0, 1]."""

from math import sqrt

import torch
from jaxtyping import Float
from torch import Tensor, nn

from amn.models.base import PerQuestion
from amn.models.layers import Linear


class StrengthGRU(nn.Module):
    """SGRU of Algorithm 1, with a scalar strength.

    The paper writes eq. (6) with the dot product of strength and question and explains it as that of word state and
    question; we take the text's product and scale it by the strength, as the equation has it.

    Args:
        hidden: width of entity and question states.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.scale = 1 / sqrt(hidden)
        self.update_state = Linear(hidden, 1)  # U_z
        self.update_question = Linear(hidden, 1, bias=False)  # W_z
        self.update_strength = nn.Parameter(torch.zeros(1))  # X_z
        self.reset = nn.Parameter(torch.ones(1))  # U_r
        self.candidate_state = Linear(hidden, 1)  # W_h
        self.candidate_strength = nn.Parameter(torch.ones(1))  # U_h

    def forward(
        self,
        states: Float[Tensor, "batch entity hidden"],
        questions: PerQuestion,
        strengths: Float[Tensor, "batch entity"],
    ) -> Float[Tensor, "batch entity"]:
        """New strengths; several questions leave the greatest of theirs."""
        previous = strengths.unsqueeze(-1)
        update = self.update_gate(states, questions, previous)
        kept = self.reset_gate(states, questions, previous) * previous
        candidate = self.candidate(states, kept)
        mixed = update * previous + (1 - update) * candidate  # Eq. (8): s = z * s_(t-1) + (1 - z) * s~
        return mixed.amax(-1)

    def update_gate(
        self, states: Tensor, questions: Tensor, previous: Tensor
    ) -> Float[Tensor, "batch entity question"]:
        """Eq. (5): z = sigmoid(U_z w + W_z w_Nq + X_z s_(t-1))."""
        of_question = self.update_question(questions).transpose(1, 2)
        return torch.sigmoid(self.update_state(states) + of_question + self.update_strength * previous)

    def reset_gate(self, states: Tensor, questions: Tensor, previous: Tensor) -> Float[Tensor, "batch entity question"]:
        """Eq. (6): r = 1 - sigmoid(U_r <s_(t-1) w, w_Nq>)."""
        similarity = states @ questions.transpose(1, 2) * self.scale
        return 1 - torch.sigmoid(self.reset * previous * similarity)

    def candidate(self, states: Tensor, kept: Tensor) -> Float[Tensor, "batch entity question"]:
        """Eq. (7): s~ = sigmoid(W_h w + U_h (r * s_(t-1)))."""
        return torch.sigmoid(self.candidate_state(states) + self.candidate_strength * kept)
