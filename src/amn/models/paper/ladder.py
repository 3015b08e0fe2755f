"""Profile `paper` with some of the default model's deviations, added one after another."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from amn.data.batches import Batch
from amn.models.base import Linear, rms_norm
from amn.models.encoder import Encoding, accumulate
from amn.models.paper.banks import PaperMemory
from amn.models.paper.model import PaperAMN, PaperConfig, PaperDecoder, PaperSentence


class PaperWithQuestionAMN(PaperAMN):
    """An entity that a question names starts from the question, too."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__(config)
        self.from_question = Linear(config.hidden, config.hidden)

    def sentences(self, batch: Batch, encoding: Encoding) -> Iterator[PaperSentence]:
        """The sentences, whose words hear what is asked of them."""
        asked = self.asked(batch, encoding)
        for sentence in super().sentences(batch, encoding):
            yield replace(sentence, words=sentence.words + asked * sentence.spoken.unsqueeze(-1))

    def asked(self, batch: Batch, encoding: Encoding) -> Float[Tensor, "batch slot hidden"]:
        """What the questions say of the words that they name; zero for all others."""
        slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device).expand_as(batch.slot_words)
        standing = batch.questions.flatten(1)
        named = (slots.unsqueeze(-1) == standing.unsqueeze(1)).any(-1, keepdim=True)
        heard = accumulate(encoding.question_words.flatten(1, 2), standing, slots)
        return torch.tanh(self.from_question(heard)) * named


class PaperWithJoiningAMN(PaperWithQuestionAMN):
    """Besides, edges join all words of a sentence."""

    def sentences(self, batch: Batch, encoding: Encoding) -> Iterator[PaperSentence]:
        """The sentences with an edge from each word to each other."""
        for sentence in super().sentences(batch, encoding):
            pairs = sentence.spoken.unsqueeze(-1) & sentence.spoken.unsqueeze(-2)
            alone = torch.eye(pairs.shape[-1], dtype=torch.bool, device=pairs.device)
            yield replace(sentence, edges=(pairs & ~alone).to(sentence.edges.dtype))


class PaperWithNormAMN(PaperWithJoiningAMN):
    """Besides, RMS norm of what the GRUs hear and of what is read."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__(config)
        self.update.input = NormedLinear(config.hidden, 3 * config.hidden)
        self.propagate_gru.input = NormedLinear(config.hidden, 3 * config.hidden)
        self.decoder = NormedPaperDecoder(config)


class NormedLinear(Linear):
    """A linear layer that hears values of one scale."""

    def forward(self, values: Float[Tensor, "*axes inputs"]) -> Float[Tensor, "*axes outputs"]:
        """W norm(values) + b."""
        return super().forward(rms_norm(values))


class NormedPaperDecoder(PaperDecoder):
    """The paper's decoder over states of one scale."""

    def content(self, memory: PaperMemory) -> Float[Tensor, "batch bank slot hidden"]:
        """C_m = s_m * norm(w)."""
        return memory.strengths.unsqueeze(-1) * rms_norm(memory.states)
