"""MemN2N: End-to-End Memory Networks (arXiv 1503.08895). Every sentence is a memory; the question hops over them.

The paper has two ways to share weights. Layer-wise, as in an RNN: all hops look up with one table (A) and read with
another (C), a matrix (H) leads the state from one hop to the next, and questions have a table of their own (B).
Adjacent: what a hop reads with is what the next one looks up with (A_(k+1) = C_k), and questions share the first table
(B = A_1). There the paper also ties the answer matrix to the last table, with answers as words of one dictionary; here
an answer is a class of its own, so that matrix is free.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from amn.data.batches import Batch
from amn.models.base import Model, ModelConfig, PerQuestion, Reading, Scalar
from amn.models.layers import Linear, masked_softmax, uniform
from amn.models.rivals.baseline import look_up, position_encoding, reading_of


@dataclass(frozen=True, kw_only=True)
class MemN2NConfig(ModelConfig):
    """Settings of MemN2N: those of the larger model that the paper trained on 10 000 examples of a task."""

    hidden: int = 100  # width of embeddings (d)
    hops: int = 3  # how often the memories are read (K)
    memory_size: int = 50  # number of places in time that are told apart; anything older is as old as the last
    empty: float = 0.1  # random noise: up to this share of empty memories is put between the sentences in training
    linear_until: float = 1 / 6  # linear start: the share of the training (20 of 120 epochs) without softmax in hops
    relu: bool = True  # a ReLU on the state after each hop
    layerwise: bool = True  # hops share their weights as those of an RNN do; or else adjacent hops share a table


class MemN2N(Model):
    """End-to-end memory network with position encoding, temporal encoding, random noise and linear start."""

    Config = MemN2NConfig
    config: MemN2NConfig
    reads_by_sentence = False
    deviation = 0.1
    # The paper's rate of 0.005 and norm of 40 are of gradients that are summed over a batch of 32; ours are means. It
    # trains 20 epochs with linear start and then 100, the rate halved after every 25 of these.
    recipe = {
        "optimiser": "sgd",
        "learning_rate": 0.16,
        "clip": 1.25,
        "warmup_steps": 0,
        "batch_size": 32,
        "epochs": 120,
        "schedule": "halving",
        "halve_after": 20,
    }

    def __init__(self, config: MemN2NConfig) -> None:
        super().__init__()
        self.config = config
        tables = range(2 if config.layerwise else config.hops + 1)  # A and C; adjacent: table k is A_(k+1) and C_k
        self.words = nn.ParameterList(torch.zeros(config.vocabulary_size, config.hidden) for _ in tables)
        self.times = nn.ParameterList(torch.zeros(config.memory_size, config.hidden) for _ in tables)
        self.questions = nn.Embedding(config.vocabulary_size, config.hidden) if config.layerwise else None  # B
        self.between = Linear(config.hidden, config.hidden, bias=False) if config.layerwise else None  # H
        self.answer = Linear(config.hidden, config.num_answers, bias=False)  # W

    def begin(self, batch: Batch, progress: Scalar) -> tuple[list[Tensor], list[Any]]:
        """The memories of every table."""
        del progress
        when = self.when(batch)
        return [self.memories(batch.story_words, when, table) for table in range(len(self.words))], []

    def finish(self, batch: Batch, memories: list[Tensor], progress: Scalar, banks: int = 1) -> Reading:
        """Hops over the sentences and answers."""
        del banks
        told = batch.sentence_mask
        table = self.words[0] if self.questions is None else self.questions.weight
        state = self.bag(batch.question_words, table)  # u = sum_j l_j * B q_j
        for hop in range(self.config.hops):
            first = 0 if self.config.layerwise else hop
            attention = self.attend(state, memories[first], told, progress)
            state = self.hop(state, attention @ memories[first + 1])
        return reading_of(self.answer(state), told.sum(-1).to(state.dtype))  # softmax(W (o + u))

    def bag(
        self, words: Int[Tensor, "*axes word"], table: Float[Tensor, "vocabulary hidden"]
    ) -> Float[Tensor, "*axes hidden"]:
        """Section 4.1 of arXiv 1503.08895: m_i = sum_j l_j * A x_ij; the authors' code has l twice as large."""
        return (look_up(table, words) * 2 * position_encoding(words > 0, self.config.hidden)).sum(-2)

    def memories(
        self, words: Int[Tensor, "batch sentence word"], when: Int[Tensor, "batch sentence"], table: int
    ) -> Float[Tensor, "batch sentence hidden"]:
        """Section 4.1 of arXiv 1503.08895, temporal encoding: m_i = sum_j l_j * A x_ij + T_A(i)."""
        return self.bag(words, self.words[table]) + self.times[table][when]

    def attend(
        self,
        state: PerQuestion,
        memories: Float[Tensor, "batch sentence hidden"],
        told: Bool[Tensor, "batch sentence"],
        progress: Scalar,
    ) -> Float[Tensor, "batch question sentence"]:
        """Section 2.1 of arXiv 1503.08895: p_i = softmax(u . m_i); without the softmax while training starts."""
        scores = state @ memories.transpose(1, 2)
        mask = told.unsqueeze(1).expand_as(scores)
        linear, soft = scores * mask, masked_softmax(scores, mask)
        if isinstance(progress, Tensor):
            return torch.where(progress < self.config.linear_until, linear, soft)
        return linear if progress < self.config.linear_until else soft

    def hop(self, state: PerQuestion, read: PerQuestion) -> PerQuestion:
        """Section 2.2 of arXiv 1503.08895: u_(k+1) = H u_k + o_k, where o = sum_i p_i c_i is what was read."""
        state = state + read if self.between is None else self.between(state) + read
        return torch.relu(state) if self.config.relu else state

    def when(self, batch: Batch) -> Int[Tensor, "batch sentence"]:
        """How many places before the question each sentence stands: 0 for the last one."""
        told = batch.sentence_mask
        back = told.sum(-1, keepdim=True) - told.long().cumsum(-1)
        if batch.key is not None:
            back = back + self.gaps(batch.key, back, told.sum(-1, keepdim=True))
        return back.clamp(max=self.config.memory_size - 1)

    def gaps(
        self, key: Int[Tensor, ""], back: Int[Tensor, "batch sentence"], told: Int[Tensor, "batch one"]
    ) -> Int[Tensor, "batch sentence"]:
        """Section 4.1 of arXiv 1503.08895, random noise: how many empty memories come after each sentence.

        A story of n sentences gets 0 to ceil(n / 10) of them, each at a random place.
        """
        batch, most = back.shape[0], ceil(self.config.empty * back.shape[1])
        count = (uniform(key, (batch, 1), stream=1) * (torch.ceil(self.config.empty * told) + 1)).floor()
        place = (uniform(key, (batch, most), stream=2) * (told + 1)).floor()
        used = torch.arange(most, device=back.device) < count
        return ((place.unsqueeze(1) <= back.unsqueeze(-1)) & used.unsqueeze(1)).sum(-1)
