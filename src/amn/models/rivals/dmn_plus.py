"""DMN+: Dynamic Memory Networks, improved (arXiv 1603.01417). Sentences are facts; episodes of attention read them.

As the paper writes it, it overfits some tasks (`docs/paper.md`). `OneGRUDMNPlus` shares one GRU, and follows public
code in some details.
"""

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
    dropout: float = 0.1  # share of facts' and answer's features dropped in training
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
    """Dynamic memory network with input fusion, an attention GRU and untied episodes."""

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
        self.forwards = GRU(hidden, hidden)
        self.backwards = GRU(hidden, hidden)
        self.question_gru = GRU(hidden, hidden)
        self.interact = Linear(4 * hidden, hidden)  # W(1)
        self.score = Linear(hidden, 1)  # W(2)
        self.attention_gru = AttentionGRU(hidden, hidden)
        self.updates = nn.ModuleList(Linear(3 * hidden, hidden) for _ in range(config.episodes))  # W^t
        self.answer = Linear(2 * hidden, config.num_answers)

    def begin(self, batch: Batch, progress: Scalar) -> tuple[Tensor, list[Any]]:
        """Fuses the sentences into facts."""
        del progress
        return self.fuse(self.sentences(batch), batch.sentence_mask), []

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
        logits = self.answer(self.features(memory, questions, batch))
        reading = reading_of(logits, told.sum(-1).to(facts.dtype))
        return reading if batch.key is None else replace(reading, losses={"decay": self.decay(reading.entities)})

    def sentences(self, batch: Batch) -> Float[Tensor, "batch sentence hidden"]:
        """Section 3.1 of arXiv 1603.01417: f_i = sum_j l_j * w_j, with the position encoding l."""
        words = batch.story_words
        bags = (look_up(self.embedding.weight, words) * position_encoding(words > 0, self.config.hidden)).sum(-2)
        return dropout(bags, self.config.dropout, batch.key, stream=1)

    def fuse(
        self, sentences: Float[Tensor, "batch sentence hidden"], told: Bool[Tensor, "batch sentence"]
    ) -> Float[Tensor, "batch sentence hidden"]:
        """Section 3.1 of arXiv 1603.01417, input fusion: GRU(f_i, f_(i-1)) + GRU(f_i, f_(i+1))."""
        ahead = self.forwards.over(self.forwards.input(sentences), told)
        back = self.backwards.over(self.backwards.input(sentences).flip(1), told.flip(1)).flip(1)
        return ahead + back

    def questions(self, words: Int[Tensor, "batch question word_q"]) -> PerQuestion:
        """The last state of a GRU over the words of each question."""
        projected = self.question_gru.input(look_up(self.embedding.weight, words))
        return self.question_gru.over(projected, words > 0)[..., -1, :]

    def attend(
        self,
        facts: Float[Tensor, "batch sentence hidden"],
        questions: PerQuestion,
        memory: PerQuestion,
        told: Bool[Tensor, "batch sentence"],
    ) -> Float[Tensor, "batch question sentence"]:
        """Section 3.3 of arXiv 1603.01417: g = softmax(W(2) tanh(W(1) z)).

        z = [f * q; f * m; |f - q|; |f - m|]
        """
        fact, question, last = facts.unsqueeze(1), questions.unsqueeze(2), memory.unsqueeze(2)
        parts = (fact * question, fact * last, (fact - question).abs(), (fact - last).abs())
        scores = self.score(torch.tanh(self.interact(torch.cat(parts, -1)))).squeeze(-1)
        return masked_softmax(scores, told.unsqueeze(1).expand_as(scores))

    def read(
        self, facts: Float[Tensor, "batch sentence hidden"], attention: Float[Tensor, "batch question sentence"]
    ) -> PerQuestion:
        """The contextual vector c^t: the last state of the attention GRU."""
        projected = self.attention_gru.input(facts).unsqueeze(1)
        state = attention.new_zeros(*attention.shape[:2], facts.shape[-1])
        for fact, weight in zip(projected.unbind(2), attention.unsqueeze(-1).unbind(2), strict=True):
            state = self.attention_gru(fact, weight, state)
        return state

    def features(
        self, memory: PerQuestion, questions: PerQuestion, batch: Batch
    ) -> Float[Tensor, "batch question features"]:
        """What an answer is given from: the last memory and the question, some of them dropped in training."""
        return dropout(torch.cat((memory, questions), -1), self.config.dropout, batch.key, stream=2)

    def decay(self, like: PerStory) -> PerStory:
        """Half the squared weights without biases, each story its share.

        Beside a mean over stories the whole of it would count as often more as there are stories in a batch.
        """
        matrices = [parameter for name, parameter in self.named_parameters() if not name.endswith("bias")]
        squares = torch.stack([matrix.square().sum() for matrix in matrices])
        return (squares.sum() * self.config.decay / (2 * len(like))).expand_as(like)


@dataclass(frozen=True, kw_only=True)
class OneGRUConfig(DMNPlusConfig):
    """Settings of DMN+ with one GRU."""

    max_words: int = 6  # words that shorter sentences are filled up to: as many as the longest of a task has


class OneGRUDMNPlus(DMNPlus):
    """DMN+ with one GRU for questions and for sentences both ways, so that attention compares what is alike.

    The rest is as in public code, and not in the paper: short sentences are filled up with a word that has an embedding
    like any other, position encodings are twice as large, attention may go to an empty fact, of which nothing is read,
    and dropout is on facts, not on sentences, and on the last memory, not on the question.
    """

    Config = OneGRUConfig
    config: OneGRUConfig

    def __init__(self, config: OneGRUConfig) -> None:
        super().__init__(config)
        del self.backwards, self.question_gru

    def begin(self, batch: Batch, progress: Scalar) -> tuple[Tensor, list[Any]]:
        """Fuses the sentences into facts, some of whose features are dropped in training."""
        facts, _ = super().begin(batch, progress)
        return dropout(facts, self.config.dropout, batch.key, stream=1), []

    def sentences(self, batch: Batch) -> Float[Tensor, "batch sentence hidden"]:
        """Section 3.1 of arXiv 1603.01417 with padding that counts as a word: f_i = sum_j l_j * w_j."""
        words = F.pad(batch.story_words, (0, max(0, self.config.max_words - batch.story_words.shape[-1])))
        filled = (words > 0) | (torch.arange(words.shape[-1], device=words.device) < self.config.max_words)
        weights = 2 * position_encoding(filled, self.config.hidden)
        return (F.embedding(words, self.embedding.weight) * weights).sum(-2)

    def fuse(
        self, sentences: Float[Tensor, "batch sentence hidden"], told: Bool[Tensor, "batch sentence"]
    ) -> Float[Tensor, "batch sentence hidden"]:
        """Input fusion with the same GRU both ways."""
        projected = self.forwards.input(sentences)
        back = self.forwards.over(projected.flip(1), told.flip(1)).flip(1)
        return self.forwards.over(projected, told) + back

    def questions(self, words: Int[Tensor, "batch question word_q"]) -> PerQuestion:
        """The last state of that GRU over the words of each question."""
        projected = self.forwards.input(look_up(self.embedding.weight, words))
        return self.forwards.over(projected, words > 0)[..., -1, :]

    def attend(
        self,
        facts: Float[Tensor, "batch sentence hidden"],
        questions: PerQuestion,
        memory: PerQuestion,
        told: Bool[Tensor, "batch sentence"],
    ) -> Float[Tensor, "batch question sentence"]:
        """The same with a fact of zeros among the facts; what it gets is not read."""
        with_empty, open_to = F.pad(facts, (0, 0, 0, 1)), F.pad(told, (0, 1), value=True)
        return super().attend(with_empty, questions, memory, open_to)[..., :-1]

    def features(
        self, memory: PerQuestion, questions: PerQuestion, batch: Batch
    ) -> Float[Tensor, "batch question features"]:
        """The last memory, some of it dropped in training, and the question."""
        return torch.cat((dropout(memory, self.config.dropout, batch.key, stream=2), questions), -1)
