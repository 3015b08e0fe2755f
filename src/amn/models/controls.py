"""Controls: the default model with its eyes shut. What it still answers, the data gives away.

One control never sees the question, the other never sees the story. Neither points at story words.
"""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from amn.data.batches import Batch
from amn.models.amn import AMN, AMNConfig, Sentence, Told
from amn.models.base import Reading


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
