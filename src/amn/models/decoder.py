"""The decoder of the paper (section 4.3): from the entities of the banks that are read to an answer."""

from math import log, sqrt

import torch
from jaxtyping import Float
from torch import Tensor, nn

from amn.models.base import Linear, rms_norm

_NOT_READ = -60.0  # what makes an entity that the banks read do not hold impossible to choose
_GREATEST = 10.0  # bounds the pointer's scores, so that no entity that was read falls below one that was not


class Decoder(nn.Module):
    """Attention over the entities of each bank that is read, and the answer.

    Args:
        hidden: width of states and questions.
        num_answers: number of answer classes.
        pointer: let answers also point at an entity that was read.
    """

    def __init__(self, hidden: int, num_answers: int, *, pointer: bool) -> None:
        super().__init__()
        self.match = Linear(hidden, hidden, bias=False)
        self.nothing = nn.Parameter(torch.zeros(1))  # the score of reading nothing, so that an empty bank is harmless
        self.growth = nn.Parameter(torch.full((1,), log(2)))
        self.hidden = Linear(hidden, hidden)  # h
        self.prelu = nn.PReLU()
        self.answer = Linear(hidden, num_answers)  # r
        self.pointer = Pointer(hidden) if pointer else None

    def forward(
        self,
        states: Float[Tensor, "batch slot hidden"],
        strengths: Float[Tensor, "batch slot"],
        members: Float[Tensor, "batch bank slot"],
        weights: Float[Tensor, "batch bank"],
        questions: Float[Tensor, "batch question hidden"],
        relevance: Float[Tensor, "batch slot"],
    ) -> Float[Tensor, "batch question answer"]:
        """Logits for each question."""
        content = strengths.unsqueeze(-1) * rms_norm(states)  # Eq. (16): C_m = s_m * w
        attention = self.attend(content, members, questions)
        read = (attention * weights.unsqueeze(1).unsqueeze(-1)).sum(2) @ content  # Eq. (18): g += d(<C_m, ps>)
        summary = self.prelu(self.hidden(read) + questions)  # Eq. (19): r(PReLU(h(g) + w_Nq))
        logits: Tensor = self.answer(summary)
        if self.pointer is None:
            return logits
        return torch.cat((logits, self.pointer(states, summary, members.amax(1), relevance)), -1)

    def attend(
        self,
        content: Float[Tensor, "batch slot hidden"],
        members: Float[Tensor, "batch bank slot"],
        questions: Float[Tensor, "batch question hidden"],
    ) -> Float[Tensor, "batch question bank slot"]:
        """Eq. (17): ps = softmax(<C_m, w_Nq>) within each bank."""
        scores = self.match(questions) @ content.transpose(1, 2) / sqrt(content.shape[-1])
        read = (members > 0).any(1, keepdim=True)
        top = scores.detach().masked_fill(~read, -torch.inf).amax(-1, keepdim=True)
        top = torch.maximum(top, self.nothing.detach())
        mass = members.unsqueeze(1) * torch.exp((scores - top).clamp(max=0)).unsqueeze(2)
        return mass / (mass.sum(-1, keepdim=True) + torch.exp(self.nothing - top).unsqueeze(2))


class Pointer(nn.Module):
    """Answers that are entities of the story: a score for each entity that was read."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.of_entity = Linear(hidden, hidden)
        self.of_summary = Linear(hidden, hidden, bias=False)
        self.score = Linear(hidden, 1)

    def forward(
        self,
        states: Float[Tensor, "batch slot hidden"],
        summary: Float[Tensor, "batch question hidden"],
        read: Float[Tensor, "batch slot"],
        relevance: Float[Tensor, "batch slot"],
    ) -> Float[Tensor, "batch question slot"]:
        """Logits of the slots; one that was not read cannot be chosen, but hears when it should have been read.

        What it hears is the gradient of log sigmoid(relevance), as if its score counted by the chance of being read:
        unlike that of the decision itself it does not vanish for an entity that is far from the last bank.
        """
        joined = self.of_entity(rms_norm(states)).unsqueeze(1) + self.of_summary(summary).unsqueeze(2)
        scores = _GREATEST * torch.tanh(self.score(torch.tanh(joined)).squeeze(-1) / _GREATEST)
        pull = nn.functional.logsigmoid(relevance)
        return scores + (_NOT_READ * (1 - read.detach()) + pull - pull.detach()).unsqueeze(1)
