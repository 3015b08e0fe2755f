"""Controls: the default model with its eyes shut. What it still answers, the data gives away.

One control never sees the question, the other never sees the story. Neither points at story words.
"""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from amn.data.batches import Batch
from amn.data.graph import NO_EDGE, PAST
from amn.models.amn import AMN, AMNConfig, Sentence, Told
from amn.models.base import Reading


class Blind(AMN):
    """The default model behind a blindfold, which a subclass gives."""

    in_core = False

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(replace(config, pointer=False))

    def begin(self, batch: Batch, progress: Float[Tensor, ""] | float) -> tuple[Told, list[Sentence]]:
        """Begins with what the blindfold leaves."""
        return super().begin(self.blindfold(batch), progress)

    def finish(self, batch: Batch, told: Told, progress: Float[Tensor, ""] | float, banks: int = 1) -> Reading:
        """Answers; the story still counts the entities that it has."""
        reading = super().finish(batch, told, progress, banks)
        return replace(reading, entities=_spoken(batch).any(1).sum(-1).to(reading.entities.dtype))

    def blindfold(self, batch: Batch) -> Batch:
        """The batch without what must not be seen."""
        raise NotImplementedError


class QuestionBlindAMN(Blind):
    """Sees the story alone: answers what is likely after such a story, whatever was asked."""

    def blindfold(self, batch: Batch) -> Batch:
        """Without the questions' words, and with the views of the sentences as they are when nothing is named."""
        return without_questions(batch)


class StoryBlindAMN(Blind):
    """Sees the question alone: answers what is likely to such a question, whatever was told."""

    def blindfold(self, batch: Batch) -> Batch:
        """Without all sentences."""
        hidden = ("sentences", "members", "context", "edges")
        return replace(batch, **{name: torch.zeros_like(getattr(batch, name)) for name in hidden})


def without_questions(batch: Batch) -> Batch:
    """The batch with empty questions, and sentences that touch only their own words and these words' neighbours.

    The questions had a say in what a sentence touches and in which neighbours it may read, so both are worked out anew.
    """
    members = batch.members * _holds(batch.sentences, batch.members)
    seen = members > 0
    inside = batch.edges[..., : members.shape[-1]] * (seen.unsqueeze(-1) & seen.unsqueeze(-2))
    context, outside = _neighbours(batch, members)
    return replace(
        batch,
        questions=torch.zeros_like(batch.questions),
        members=members,
        context=context,
        edges=torch.cat((inside, outside), -1),
    )


def _neighbours(
    batch: Batch, members: Int[Tensor, "batch sentence member"]
) -> tuple[Int[Tensor, "batch sentence context"], Int[Tensor, "batch sentence member context"]]:
    """For each sentence the entities that last stood with its words, and the edges to them."""
    spoken = _spoken(batch)
    latest = spoken.new_zeros(spoken.shape[0], spoken.shape[2], spoken.shape[2], dtype=torch.long)
    contexts, edges = [], []
    for t in range(spoken.shape[1]):
        now = spoken[:, t]
        when = (latest * now.unsqueeze(-1)).amax(1).masked_fill(now, 0)
        context = _most_recent(when, batch.context.shape[-1])
        contexts.append(context)
        edges.append(_past_edges(latest, members[:, t], context))
        latest = torch.where(now.unsqueeze(1) & now.unsqueeze(2), t + 1, latest)
    return torch.stack(contexts, 1), torch.stack(edges, 1)


def _most_recent(when: Int[Tensor, "batch slot"], count: int) -> Int[Tensor, "batch context"]:
    """The entities with the latest times, lower slots first among equals; 0 where there are no more."""
    slots = when.shape[-1]
    order = when * slots + torch.arange(slots - 1, -1, -1, device=when.device)
    chosen = order.topk(min(count, slots), -1).indices
    chosen = chosen * (when.gather(-1, chosen) > 0)
    return F.pad(chosen, (0, count - chosen.shape[-1]))


def _past_edges(
    latest: Int[Tensor, "batch slot slot"], members: Int[Tensor, "batch member"], context: Int[Tensor, "batch context"]
) -> Int[Tensor, "batch member context"]:
    rows = latest.gather(1, members.unsqueeze(-1).expand(-1, -1, latest.shape[-1]))
    met = rows.gather(2, context.unsqueeze(1).expand(-1, members.shape[1], -1)) > 0
    return torch.where(met & (members > 0).unsqueeze(-1) & (context > 0).unsqueeze(1), PAST, NO_EDGE)


def _spoken(batch: Batch) -> Bool[Tensor, "batch sentence slot"]:
    """Which entities are words of each sentence."""
    slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device)
    return (batch.sentences.unsqueeze(-2) == slots.view(1, 1, -1, 1)).any(-1) & (slots > 0)


def _holds(
    sentences: Int[Tensor, "batch sentence word"], members: Int[Tensor, "batch sentence member"]
) -> Bool[Tensor, "batch sentence member"]:
    """Which members are words of their sentence."""
    return (members.unsqueeze(-1) == sentences.unsqueeze(-2)).any(-1) & (members > 0)
