"""Memory banks of profile `paper`: each holds its own copy of an entity's state and strength (section 4.2)."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from amn.models.base import PerStory


@dataclass(frozen=True)
class PaperBank:
    """One bank of each story. What a bank does not hold is zero."""

    states: Float[Tensor, "batch slot hidden"]  # hidden states of its entities (w)
    strengths: Float[Tensor, "batch slot"]  # their relevance strengths in [0, 1] (s)
    # Which entities it holds; a slot is there once or not at all, so that no bank has duplicates.
    held: Bool[Tensor, "batch slot"]


@dataclass(frozen=True)
class PaperMemory:
    """All banks of each story after some sentences (M in the paper)."""

    states: Float[Tensor, "batch bank slot hidden"]  # hidden states of the entities in each bank (w)
    strengths: Float[Tensor, "batch bank slot"]  # their relevance strengths in [0, 1] (s)
    held: Bool[Tensor, "batch bank slot"]  # which entities each bank holds
    edges: Float[Tensor, "batch slot slot"]  # the word graph (A)
    banks: PerStory  # number of banks of each story (|M|); those beyond it are empty

    @property
    def entities(self) -> PerStory:
        """How many entities each story has so far: the first bank holds them all."""
        return self.held[:, 0].sum(-1).to(self.states.dtype)

    @property
    def levels(self) -> Float[Tensor, "1 bank"]:
        """The numbers of the banks."""
        return torch.arange(self.held.shape[1], device=self.banks.device, dtype=self.banks.dtype).unsqueeze(0)

    def split(self) -> list[PaperBank]:
        """The banks one by one, from the most general."""
        return [PaperBank(self.states[:, i], self.strengths[:, i], self.held[:, i]) for i in range(self.held.shape[1])]

    def joined(self, banks: list[PaperBank]) -> "PaperMemory":
        """The same memory with other contents; the inverse of `split`."""
        return replace(
            self,
            states=torch.stack([bank.states for bank in banks], 1),
            strengths=torch.stack([bank.strengths for bank in banks], 1),
            held=torch.stack([bank.held for bank in banks], 1),
        )

    def last(self) -> PaperBank:
        """The last bank of each story."""
        number = (self.banks - 1).long()

        def of(part: Tensor) -> Tensor:
            return part.gather(1, number.view(-1, *[1] * (part.dim() - 1)).expand(-1, 1, *part.shape[2:])).squeeze(1)

        return PaperBank(of(self.states), of(self.strengths), of(self.held))

    def put(self, bank: PaperBank, level: PerStory, where: Bool[Tensor, " batch"]) -> "PaperMemory":
        """The memory with one bank of each story replaced, in the stories where this is wanted."""
        chosen = ((self.levels == level.unsqueeze(-1)) & where.unsqueeze(-1)).unsqueeze(-1)
        return replace(
            self,
            states=torch.where(chosen.unsqueeze(-1), bank.states.unsqueeze(1), self.states),
            strengths=torch.where(chosen, bank.strengths.unsqueeze(1), self.strengths),
            held=torch.where(chosen, bank.held.unsqueeze(1), self.held),
        )


def empty_memory(stories: int, banks: int, slots: int, like: Float[Tensor, "*axes hidden"]) -> PaperMemory:
    """Line 1 of Algorithm 1: one bank in each story, and nothing in it."""
    states = like.new_zeros(stories, banks, slots, like.shape[-1])
    return PaperMemory(
        states=states,
        strengths=states[..., 0],
        held=states[..., 0] > 0,
        edges=like.new_zeros(stories, slots, slots),
        banks=like.new_ones(stories),
    )


def empty_bank(like: PaperBank) -> PaperBank:
    """A bank that holds nothing."""
    return PaperBank(torch.zeros_like(like.states), torch.zeros_like(like.strengths), torch.zeros_like(like.held))


def realise(p: Float[Tensor, "*axes"], chance: Float[Tensor, "*axes"]) -> Bool[Tensor, "*axes"]:
    """Eq. (10): H = Bernoulli(p), cut off from the gradient.

    Args:
        p: how likely the decision is.
        chance: uniform numbers in training; 0.5 everywhere at inference, which makes H the likelier decision.
    """
    return p.detach() > chance


def move(
    bank: PaperBank, following: PaperBank, chance: Float[Tensor, "batch slot"], exists: Bool[Tensor, " batch"]
) -> PaperBank:
    """Eq. (12): m_(i+1).add(1(ctrl(s_i * w_i))) for all i in m.

    Here q of eq. (9) is the identity: p is the strength s. What the next bank gets is s * w, and it keeps what it has
    already: no duplicates. The entity stays where it was, too.

    Args:
        bank: m_i.
        following: m_(i+1).
        chance: what the decisions are drawn with.
        exists: the stories that have a bank m_(i+1).
    """
    enters = realise(bank.strengths, chance) & bank.held & ~following.held & exists.unsqueeze(-1)
    copies = bank.strengths.unsqueeze(-1) * bank.states
    return PaperBank(
        states=torch.where(enters.unsqueeze(-1), copies, following.states),
        strengths=torch.where(enters, bank.strengths, following.strengths),
        held=following.held | enters,
    )


def bank_weights(memory: PaperMemory, banks: int) -> Float[Tensor, "batch bank"]:
    """The exponential function d of eq. (18): 2^k for bank k among those read, made to sum to 1.

    Args:
        memory: the banks of each story.
        banks: how many to read, the last ones first; 0 for all.
    """
    last = memory.banks.unsqueeze(-1) - 1
    first = last - banks + 1 if banks else torch.zeros_like(last)
    read = (memory.levels <= last) & (memory.levels >= first)
    weights = torch.exp2(memory.levels - last) * read
    return weights / weights.sum(-1, keepdim=True)
