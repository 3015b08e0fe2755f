"""The default model without one of its deviations from the paper each: what a result loses, the deviation was worth.

Where the paper has a way of its own, that takes the place of what is left out. `docs/paper.md` lists the deviations.
"""

from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from amn.data.batches import Batch
from amn.data.graph import AFTER, BEFORE, CURRENT, NO_EDGE, PAST, SELF
from amn.models.amn import AMN, AMNConfig, Memory, Sentence, Told
from amn.models.base import Reading
from amn.models.encoder import Encoding
from amn.models.losses import bernoulli_divergence, creation_prior
from amn.models.paper.word_graph import path_edges

_POWERS = 3  # of A, as many as profile `paper` has


class Without(AMN):
    """The default model but for one thing, which a subclass leaves out."""

    in_core = False


class WithoutQuestionAMN(Without):
    """All entities start from zero, also those that a question names."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(config)
        del self.from_question

    def start(self, batch: Batch, encoding: Encoding) -> Memory:
        """An empty memory that knows nothing of the questions."""
        states = encoding.questions.new_zeros(*batch.slot_words.shape, self.config.hidden)
        nothing = states[..., 0]
        return Memory(states, nothing, nothing, nothing - 1, nothing[:, 0] + 1)


class WithoutJoiningAMN(Without):
    """Edges join words that have stood side by side, and not all words of a sentence."""

    def begin(self, batch: Batch, progress: Float[Tensor, ""] | float) -> tuple[Told, list[Sentence]]:
        """Begins without the edges that no path has drawn."""
        drawn = (paths(batch).cumsum(1) > 0).flatten(-2)
        slots, rows = batch.slot_words.shape[1], torch.cat((batch.members, batch.context), -1)
        pairs = batch.members.unsqueeze(-1) * slots + rows.unsqueeze(-2)
        kept = drawn.gather(-1, pairs.flatten(-2)).view_as(batch.edges) | (batch.edges == SELF)
        return super().begin(replace(batch, edges=batch.edges * kept), progress)


class WithoutAttentionAMN(Without):
    """Messages are sums over the edges, all alike but for those of the sentence, for the powers 1 to 3 of A."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(config)
        del self.ask, self.tell, self.edge_bias
        self.recency = nn.Parameter(torch.zeros(1))

    def propagate(
        self, states: Float[Tensor, "batch row hidden"], edges: Int[Tensor, "batch member row"]
    ) -> Float[Tensor, "batch member hidden"]:
        """For each power r: a = A^r w, then w = GRU(a, w). Neighbours outside the members are heard and stay."""
        members, graph = edges.shape[1], self.graph(edges)
        power = graph
        for r in range(_POWERS):
            power = power @ graph if r else graph
            heard = self.propagate_gru.input((power @ self.norm(states))[:, :members])
            changed = self.propagate_gru(heard, states[:, :members])
            states = torch.cat((changed, states[:, members:]), 1)
        return states[:, :members]

    def graph(self, edges: Int[Tensor, "batch member row"]) -> Float[Tensor, "batch row row"]:
        """A over all rows, what a row hears summing to 1; whom a member reads reads the member."""
        members, rows = edges.shape[1:]
        joined = ((edges != NO_EDGE) & (edges != SELF)).to(self.recency.dtype)
        now = ((edges == CURRENT) | (edges == BEFORE) | (edges == AFTER)).to(joined.dtype)
        heard = joined + F.softplus(self.recency) * now
        back = F.pad(heard[..., members:].transpose(-1, -2), (0, rows - members))
        whole = torch.cat((heard, back), 1)
        return whole / whole.sum(-1, keepdim=True).clamp(min=1)


class WithoutNormAMN(Without):
    """No RMS norm anywhere."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(config)
        self.norm = self.decoder.norm = nn.Identity()


class WithoutNeighboursAMN(Without):
    """Members read each other, and no recent neighbours besides."""

    def begin(self, batch: Batch, progress: Float[Tensor, ""] | float) -> tuple[Told, list[Sentence]]:
        """Begins with no neighbours."""
        members = batch.members.shape[-1]
        inside = torch.arange(batch.edges.shape[-1], device=batch.edges.device) < members
        alone = replace(batch, context=torch.zeros_like(batch.context), edges=batch.edges * inside)
        return super().begin(alone, progress)


class WithoutMembersAMN(Without):
    """A sentence changes all entities told so far, along all edges of the word graph."""

    def begin(self, batch: Batch, progress: Float[Tensor, ""] | float) -> tuple[Told, list[Sentence]]:
        """Begins with all entities as members, and so with no neighbours outside."""
        slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device)
        edges = all_edges(batch)
        members = slots * ((edges != NO_EDGE).any(-1) & batch.sentence_mask.unsqueeze(-1))
        none = batch.context[..., :0]
        return super().begin(replace(batch, members=members, context=none, edges=edges), progress)


class WithoutGradientAMN(Without):
    """Moves as the paper has them: drawn by strengths, and no gradient goes through a decision."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(config)
        del self.move_state, self.move_question

    def relevance(
        self,
        states: Float[Tensor, "batch member hidden"],
        strengths: Float[Tensor, "batch member"],
        questions: Float[Tensor, "batch question hidden"],
    ) -> Float[Tensor, "batch member"]:
        """The logit of the strength, so that p = s."""
        del states, questions
        return torch.logit(strengths.detach(), eps=1e-4)

    @staticmethod
    def decide(soft: Float[Tensor, "*axes"], threshold: float = 0.5) -> Float[Tensor, "*axes"]:
        """A hard 0 or 1, cut off from the gradient."""
        return (soft > threshold).to(soft.dtype)


class WithoutBudgetAMN(Without):
    """Nothing is paid for entities read."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(replace(config, budget=0.0))


class WithoutDelayAMN(Without):
    """The budget, and the noise on moves, are whole from the first step."""

    def ramp(self, progress: Float[Tensor, ""] | float) -> float:
        """All of it at any time."""
        del progress
        return 1.0


@dataclass(frozen=True)
class NumberedSentence(Sentence):
    """A sentence that knows its place in the story, from 1."""

    number: Float[Tensor, " batch"]


torch.export.register_dataclass(NumberedSentence)


class WithoutLoadAMN(Without):
    """The creation prior counts sentences, as the paper's does, and not how full the memory is."""

    def sentences(self, batch: Batch, encoding: Encoding, ramp: Float[Tensor, ""] | float) -> list[Sentence]:
        """The sentences with their numbers."""
        told = super().sentences(batch, encoding, ramp)
        return [
            NumberedSentence(
                **{field.name: getattr(one, field.name) for field in fields(one)},
                number=torch.full_like(one.create_noise, place),
            )
            for place, one in enumerate(told, 1)
        ]

    def create_bank(
        self, memory: Memory, sentence: Sentence, told: Bool[Tensor, " batch"]
    ) -> tuple[Memory, Float[Tensor, " batch"]]:
        """A bank is created as ever; what it is held to is p-hat^(1 / (beta t))."""
        assert isinstance(sentence, NumberedSentence)
        logit, _ = self.creation_logit(memory)
        prior = creation_prior(sentence.number, self.config.prior, self.config.information)
        return super().create_bank(memory, sentence, told)[0], bernoulli_divergence(logit, prior) * told


class WithoutLastBankAMN(Without):
    """Training reads all banks, as the paper does; an answer is still read from the last one alone."""

    def finish(self, batch: Batch, told: Told, progress: Float[Tensor, ""] | float, banks: int = 1) -> Reading:
        """Answers; in training from all banks, and from these alone."""
        reading = super().finish(batch, told, progress, banks)
        return reading if reading.further is None else replace(reading, logits=reading.further, further=None)


def paths(batch: Batch) -> Float[Tensor, "batch sentence slot slot"]:
    """1 where two words stand side by side in a sentence, in either order."""
    ahead = path_edges(batch.sentences, batch.slot_words.shape[1], batch.weights.dtype)
    return torch.maximum(ahead, ahead.transpose(-1, -2))


def all_edges(batch: Batch) -> Int[Tensor, "batch sentence slot slot"]:
    """The kind of edge between all entities told so far, without a limit on how many neighbours are remembered."""
    slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device)
    spoken = ((batch.sentences.unsqueeze(-1) == slots) & (slots > 0)).any(-2)
    together = spoken.unsqueeze(-1) & spoken.unsqueeze(-2)
    before = together.long().cumsum(1) - together.long() > 0
    ahead = path_edges(batch.sentences, len(slots), batch.weights.dtype) > 0
    kinds = torch.where(together, CURRENT, torch.where(before, PAST, NO_EDGE))
    kinds = torch.where(ahead, AFTER, kinds)
    kinds = torch.where(ahead.transpose(-1, -2), BEFORE, kinds)
    alone = (slots.unsqueeze(-1) == slots) & (kinds != NO_EDGE)
    return torch.where(alone, SELF, kinds)
