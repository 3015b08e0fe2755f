"""DMN+: Dynamic Memory Networks, improved (arXiv 1603.01417). Sentences are facts; episodes of attention read them."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from amn.data.batches import Batch
from amn.models.base import Model, ModelConfig, PerQuestion, PerStory, Reading, Scalar
from amn.models.layers import GRU, Cell, Linear, masked_softmax
from amn.models.rivals.baseline import dropout, look_up, position_encoding, reading_of


@dataclass(frozen=True, kw_only=True)
class DMNPlusConfig(ModelConfig):
    """Settings of DMN+."""

    hidden: int = 80  # width of embeddings and states
    episodes: int = 3  # number of passes over the facts (T)
    dropout: float = 0.1  # share of the features of facts and of the last memory that is dropped in training
    max_words: int = 6  # words that shorter sentences are filled up to: as many as the longest of a task has
    decay: float = 0.001  # weight of the squared weights in a training loss that is summed over a batch


class AttentionGRU(Cell):
    """A GRU whose update gate is the attention on each fact, so that order matters in what is read."""

    gates = 2

    def forward(
        self,
        projected: Float[Tensor, "*#axes gates"],
        attention: Float[Tensor, "*#axes one"],
        state: Float[Tensor, "*#axes hidden"],
    ) -> Float[Tensor, "*#axes hidden"]:
        """Section 3.3 of arXiv 1603.01417: h_i = g_i * h~_i + (1 - g_i) * h_(i-1)."""
        reset_x, new_x = projected.chunk(2, -1)
        reset_h, new_h = self.state(state).chunk(2, -1)
        new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
        return state + attention * (new - state)


class DMNPlus(Model):
    """Dynamic memory network with input fusion, an attention GRU and untied episodes.

    One GRU reads the questions and the sentences, these both ways, so that attention compares what is alike: with a GRU
    for each it learns the training stories of task 2 and overfits. The rest is as in public code, and not in the paper:
    short sentences are filled up with a word that has an embedding like any other; attention may go to an empty fact,
    of which nothing is read; and dropout is on the facts, where the paper has it on the sentences.
    """

    Config = DMNPlusConfig
    config: DMNPlusConfig
    reads_by_sentence = False
    embeddings = ("embedding.weight",)
    recipe = {
        "learning_rate": 1e-3,
        "batch_size": 100,
        "epochs": 256,
        "clip": 10.0,
        "schedule": "halving",
        "halve_every": 256,  # never
        "patience": 20,
        "window": 130,
    }

    def __init__(self, config: DMNPlusConfig) -> None:
        super().__init__()
        self.config = config
        hidden = config.hidden
        self.embedding = nn.Embedding(config.vocabulary_size, hidden)
        self.gru = GRU(hidden, hidden)  # of questions, and of sentences both ways
        self.interact = Linear(4 * hidden, hidden)  # W(1)
        self.score = Linear(hidden, 1)  # W(2)
        self.attention_gru = AttentionGRU(hidden, hidden)
        self.updates = nn.ModuleList(Linear(3 * hidden, hidden) for _ in range(config.episodes))  # W^t
        self.answer = Linear(2 * hidden, config.num_answers)

    def begin(self, batch: Batch, progress: Scalar) -> tuple[Tensor, list[Any]]:
        """Fuses the sentences into facts, some of whose features are dropped in training."""
        del progress
        facts = self.fuse(self.sentences(batch), batch.sentence_mask)
        return dropout(facts, self.config.dropout, batch.key, stream=1), []

    def finish(self, batch: Batch, facts: Tensor, progress: Scalar, banks: int = 1) -> Reading:
        """Reads the facts in episodes, and answers."""
        del progress, banks
        told = batch.sentence_mask
        questions = self.questions(batch.question_words)
        memory = questions
        for update in self.updates:
            attention = self.attend(facts, questions, memory, told)
            context = self.read(facts, attention)
            memory = torch.relu(update(torch.cat((memory, context, questions), -1)))  # ReLU(W^t [m; c; q] + b)
        memory = dropout(memory, self.config.dropout, batch.key, stream=2)
        logits = self.answer(torch.cat((memory, questions), -1))
        reading = reading_of(logits, told.sum(-1).to(facts.dtype))
        return reading if batch.key is None else replace(reading, losses={"decay": self.decay(reading.entities)})

    def sentences(self, batch: Batch) -> Float[Tensor, "batch sentence hidden"]:
        """Section 3.1 of arXiv 1603.01417: f_i = sum_j l_j * w_j, with the position encoding l.

        Short sentences are filled up with padding, which counts as a word. The encoding is twice that of the paper, as
        in the code of memory networks.
        """
        words = F.pad(batch.story_words, (0, max(0, self.config.max_words - batch.story_words.shape[-1])))
        filled = (words > 0) | (torch.arange(words.shape[-1], device=words.device) < self.config.max_words)
        weights = 2 * position_encoding(filled, self.config.hidden)
        return (F.embedding(words, self.embedding.weight) * weights).sum(-2)

    def fuse(
        self, sentences: Float[Tensor, "batch sentence hidden"], told: Bool[Tensor, "batch sentence"]
    ) -> Float[Tensor, "batch sentence hidden"]:
        """Section 3.1 of arXiv 1603.01417, input fusion: GRU(f_i, f_(i-1)) + GRU(f_i, f_(i+1))."""
        projected = self.gru.input(sentences)
        back = self.gru.over(projected.flip(1), told.flip(1)).flip(1)
        return self.gru.over(projected, told) + back

    def questions(self, words: Int[Tensor, "batch question word_q"]) -> PerQuestion:
        """The last state of the GRU over the words of each question."""
        projected = self.gru.input(look_up(self.embedding.weight, words))
        return self.gru.over(projected, words > 0)[..., -1, :]

    def attend(
        self,
        facts: Float[Tensor, "batch sentence hidden"],
        questions: PerQuestion,
        memory: PerQuestion,
        told: Bool[Tensor, "batch sentence"],
    ) -> Float[Tensor, "batch question sentence"]:
        """Section 3.3 of arXiv 1603.01417: g = softmax(W(2) tanh(W(1) z)), with an empty fact of zeros among the facts.

        z = [f * q; f * m; |f - q|; |f - m|]
        """
        fact, question, last = F.pad(facts, (0, 0, 0, 1)).unsqueeze(1), questions.unsqueeze(2), memory.unsqueeze(2)
        parts = (fact * question, fact * last, (fact - question).abs(), (fact - last).abs())
        scores = self.score(torch.tanh(self.interact(torch.cat(parts, -1)))).squeeze(-1)
        open_to = F.pad(told, (0, 1), value=True).unsqueeze(1)
        return masked_softmax(scores, open_to.expand_as(scores))[..., :-1]

    def read(
        self, facts: Float[Tensor, "batch sentence hidden"], attention: Float[Tensor, "batch question sentence"]
    ) -> PerQuestion:
        """The contextual vector c^t: the last state of the attention GRU."""
        projected = self.attention_gru.input(facts).unsqueeze(1)
        state = attention.new_zeros(*attention.shape[:2], facts.shape[-1])
        for fact, weight in zip(projected.unbind(2), attention.unsqueeze(-1).unbind(2), strict=True):
            state = self.attention_gru(fact, weight, state)
        return state

    def decay(self, like: PerStory) -> PerStory:
        """Half the squared weights without biases, each story its share.

        Beside a mean over stories the whole of it would count as often more as there are stories in a batch.
        """
        matrices = [parameter for name, parameter in self.named_parameters() if not name.endswith("bias")]
        squares = torch.stack([matrix.square().sum() for matrix in matrices])
        return (squares.sum() * self.config.decay / (2 * len(like))).expand_as(like)
