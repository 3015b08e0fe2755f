"""Controls: the default model with its eyes shut. What it still answers, the data gives away.

One control never sees the question, another never sees the story; neither points at story words. A third sees all, but
no bank that is empty: what it answers worse, an empty bank has said.
"""

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from amn.data.batches import Batch
from amn.models.amn import AMN, AMNConfig, Memory, Sentence, Told
from amn.models.base import Reading
from amn.models.decoder import Names


class Blind(AMN):
    """The default model behind a blindfold, which a subclass gives."""

    in_core = False
    unseen: tuple[str, ...]  # the parts of a batch that it does not see

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(replace(config, pointer=False))

    def begin(self, batch: Batch, progress: Float[Tensor, ""] | float) -> tuple[Told, list[Sentence]]:
        """Begins with what the blindfold leaves."""
        blank = {name: torch.zeros_like(getattr(batch, name)) for name in self.unseen}
        return super().begin(replace(batch, **blank), progress)

    def finish(self, batch: Batch, told: Told, progress: Float[Tensor, ""] | float, banks: int = 1) -> Reading:
        """Answers; the story still has the entities that it has: its words, which have the first slots."""
        reading = super().finish(batch, told, progress, banks)
        return replace(reading, entities=batch.sentences.flatten(1).amax(-1).to(reading.entities.dtype))


class QuestionBlindAMN(Blind):
    """Sees the story alone: answers what is likely after such a story, whatever was asked."""

    sees_questions = False  # nor may they have a say in what a sentence touches
    unseen = ("questions",)


class StoryBlindAMN(Blind):
    """Sees the question alone: answers what is likely to such a question, whatever was told."""

    unseen = ("sentences", "members", "context", "edges")


class FilledBankAMN(AMN):
    """Reads the deepest banks that hold anything, in training and after it."""

    in_core = False

    def decode(
        self,
        memory: Memory,
        questions: Float[Tensor, "batch question hidden"],
        banks: int = 1,
        names: Names | None = None,
        tokens: Int[Tensor, "batch question token"] | None = None,
    ) -> Reading:
        """Reads as if empty banks had not been created."""
        filled = memory.depth.detach().amax(-1).clamp(min=0) + 1
        reading = super().decode(
            replace(memory, banks=torch.minimum(memory.banks, filled)), questions, banks, names, tokens
        )
        return replace(reading, banks=memory.banks)
