"""EncDec: the encoder-decoder baseline (arXiv 1409.3215), which keeps a whole story in one recurrent state.

The encoder reads the words of the story and then those of the question; the decoder takes one step from where it ends,
since every answer is one class.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from amn.data.batches import Batch
from amn.errors import ConfigError, did_you_mean
from amn.models.base import Model, ModelConfig, PerQuestion, Reading, Scalar
from amn.models.layers import GRU, Cell, Linear
from amn.models.rivals.baseline import look_up, reading_of


class LSTM(Cell):
    """A long short-term memory cell; its state is the hidden state and the cell, side by side.

    i, f, o = sigmoid(W x + U h), n = tanh(W_n x + U_n h), c' = f * c + i * n, h' = o * tanh(c')
    """

    gates = 4

    def forward(
        self, projected: Float[Tensor, "*axes gates"], state: Float[Tensor, "*axes both"]
    ) -> Float[Tensor, "*axes both"]:
        """One step from inputs that `self.input` has projected."""
        hidden, cell = state.chunk(2, -1)
        enter, keep, leave, new = (projected + self.state(hidden)).chunk(4, -1)
        cell = torch.sigmoid(keep) * cell + torch.sigmoid(enter) * torch.tanh(new)
        return torch.cat((torch.sigmoid(leave) * torch.tanh(cell), cell), -1)


_CELLS: dict[str, type[GRU] | type[LSTM]] = {"gru": GRU, "lstm": LSTM}


@dataclass(frozen=True, kw_only=True)
class EncDecConfig(ModelConfig):
    """Settings of the encoder-decoder."""

    hidden: int = 100  # width of embeddings and states
    cell: str = "lstm"  # "lstm" or "gru"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cell not in _CELLS:
            raise ConfigError(f"no cell is called {self.cell!r}; {did_you_mean(self.cell, _CELLS)}")


class EncDec(Model):
    """One state for the whole story: what a memory has to beat."""

    Config = EncDecConfig
    config: EncDecConfig
    reads_by_sentence = False
    recipe = {"learning_rate": 1e-3, "batch_size": 32, "epochs": 100}

    def __init__(self, config: EncDecConfig) -> None:
        super().__init__()
        self.config = config
        hidden = config.hidden
        self.embedding = nn.Embedding(config.vocabulary_size, hidden)
        self.encoder = _CELLS[config.cell](hidden, hidden)
        self.decoder = _CELLS[config.cell](hidden, hidden)
        self.first = nn.Parameter(torch.zeros(hidden))  # the decoder's first input
        self.answer = Linear(hidden, config.num_answers)

    def begin(self, batch: Batch, progress: Scalar) -> tuple[Tensor, list[Any]]:
        """Reads the story once."""
        del progress
        return self.read(batch.story_words.flatten(1), self.blank(batch)), []

    def finish(self, batch: Batch, story: Tensor, progress: Scalar, banks: int = 1) -> Reading:
        """Reads each question from where the story ends, and answers."""
        del progress, banks
        questions = self.read(batch.question_words, story.unsqueeze(1).expand(-1, batch.questions.shape[1], -1))
        return reading_of(self.answer(self.decode(questions)), torch.ones_like(batch.weights[:, 0]))

    def blank(self, batch: Batch) -> Float[Tensor, "batch state"]:
        """The state before the first word: zeros."""
        width = self.config.hidden * (2 if self.config.cell == "lstm" else 1)
        return batch.weights.new_zeros(batch.weights.shape[0], width)

    def read(
        self, words: Int[Tensor, "*axes word"], state: Float[Tensor, "*axes state"]
    ) -> Float[Tensor, "*axes state"]:
        """h_i = CELL(u_i, h_(i-1)) over the words; padding leaves the state as it is."""
        gates = self.encoder.input(self.embedding.weight)  # once for each word of the vocabulary
        projected = look_up(gates, words)
        for one, word in zip(projected.unbind(-2), words.unbind(-1), strict=True):
            state = torch.where((word > 0).unsqueeze(-1), self.encoder(one, state), state)
        return state

    def decode(self, state: Float[Tensor, "batch question state"]) -> PerQuestion:
        """One step of the decoder from the last state of the encoder."""
        first = self.decoder.input(self.first).expand(*state.shape[:-1], -1)
        return self.decoder(first, state)[..., : self.config.hidden]

    @torch.no_grad()
    def initialise_parameter(self, name: str, parameter: Tensor, generator: torch.Generator) -> None:
        """Xavier; an LSTM remembers at first (its forget gate starts at a bias of one)."""
        super().initialise_parameter(name, parameter, generator)
        if name == "first":
            parameter.normal_(0, 0.1, generator=generator)
        if self.config.cell == "lstm" and name.endswith("coder.input.bias"):
            hidden = self.config.hidden
            parameter[hidden : 2 * hidden] = 1.0
