"""The decoder of the paper (section 4.3): from the entities of the banks that are read to an answer."""

from dataclasses import dataclass
from math import log, sqrt

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from amn.models.base import Linear, rms_norm


@dataclass(frozen=True)
class Names:
    """The words of stories, which may be answers besides the classes.

    Args:
        vectors: the embedding of each word.
        told: whether the story has told it; a word that it has not is no answer.
    """

    vectors: Float[Tensor, "batch name hidden"]
    told: Bool[Tensor, "batch name"]


torch.export.register_dataclass(Names)


class Decoder(nn.Module):
    """Attention over the entities of each bank that is read, and the answer.

    Args:
        hidden: width of states and questions.
        num_answers: number of answer classes.
        pointer: let answers also be words of the story.
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
        names: Names | None = None,
    ) -> Float[Tensor, "batch question answer"]:
        """Logits for each question: of the classes and, where names are given, of these."""
        content = self.content(states, strengths)
        attention = self.attend(content, members, questions)
        read = (attention * weights.unsqueeze(1).unsqueeze(-1)).sum(2) @ content  # Eq. (18): g += d(<C_m, ps>)
        summary = self.prelu(self.hidden(read) + questions)  # Eq. (19): r(PReLU(h(g) + w_Nq))
        logits: Tensor = self.answer(summary)
        if self.pointer is None or names is None:
            return logits
        return torch.cat((logits, self.pointer(summary, names)), -1)

    def content(
        self, states: Float[Tensor, "batch slot hidden"], strengths: Float[Tensor, "batch slot"]
    ) -> Float[Tensor, "batch slot hidden"]:
        """Eq. (16): C_m = s_m * w."""
        return strengths.unsqueeze(-1) * rms_norm(states)

    @torch.no_grad()
    def over(
        self, vectors: Float[Tensor, "vector hidden"]
    ) -> tuple[Float[Tensor, "answer hidden"], Float[Tensor, " answer"]]:
        """Weight and bias of the answer layer, with a class more for each of some words where the model can point.

        The pointer's scores as one product with the summary, for where all words that may be told are known ahead.
        """
        if self.pointer is None:
            return self.answer.weight, self.answer.bias
        layer, vectors = self.pointer.of_summary, vectors / sqrt(vectors.shape[-1])
        weight = torch.cat((self.answer.weight, vectors @ layer.weight))
        return weight, torch.cat((self.answer.bias, vectors @ layer.bias))

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
    """Answers that are words of the story: the summary of eq. (19) says which, by the word's embedding.

    It is a vocabulary of answers that the story brings along and not a further read of the memory. What is read stays
    the banks; the word of an answer need not be in them, for nobody can know that when it is last spoken of.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.of_summary = Linear(hidden, hidden)

    def forward(
        self, summary: Float[Tensor, "batch question hidden"], names: Names
    ) -> Float[Tensor, "batch question name"]:
        """The score <W y, u> / sqrt(hidden) for each word; the lowest there is for one that was not told."""
        scores = self.of_summary(summary) @ names.vectors.transpose(1, 2) / sqrt(summary.shape[-1])
        return scores.masked_fill(~names.told.unsqueeze(1), torch.finfo(scores.dtype).min)
