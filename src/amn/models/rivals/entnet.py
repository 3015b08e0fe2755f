"""EntNet: Recurrent Entity Networks (arXiv 1612.03969). A fixed number of gated slots, each with a key.

With the details of the code that the authors published after the paper: separate position masks for statements and
questions, of which those for statements start at random, so that the order of words is seen from the first step; one
set of PReLU slopes for the whole network; a gate bias for each slot, and a bias of U; memories that start as their
keys; and gradients of losses summed over a batch of 32 clipped at 40, which is 1.25 for their mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from amn.data.batches import Batch
from amn.models.base import Model, ModelConfig, PerQuestion, Reading, Scalar
from amn.models.layers import Linear
from amn.models.rivals.baseline import look_up, reading_of


@dataclass(frozen=True, kw_only=True)
class EntNetConfig(ModelConfig):
    """Settings of EntNet."""

    hidden: int = 100  # width of embeddings, keys and memories
    num_slots: int = 20  # number of memory slots with free keys
    # Vocabulary numbers of the words that keys are tied to, one slot each; none: keys are free.
    key_words: Sequence[int] = ()
    max_words: int = 20  # number of places in a sentence that the masks tell apart
    ordered: bool = True  # masks of statements start at random; or else at one, so that a statement is a bag of words
    unit_start: bool = False  # memories start as their keys on the unit sphere, where all later ones are

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "key_words", tuple(self.key_words))  # JSON gives a list


@dataclass(frozen=True)
class Statement:
    """One sentence of each story: its encoding (s_t), and whether there is one."""

    vector: Float[Tensor, "batch hidden"]
    told: Bool[Tensor, " batch"]


@dataclass(frozen=True)
class DynamicMemory:
    """The memories (h_j) of a story, and their keys (w_j)."""

    memories: Float[Tensor, "batch key hidden"]
    keys: Float[Tensor, "key hidden"]


for _kind in (Statement, DynamicMemory):
    torch.export.register_dataclass(_kind)


class EntNet(Model):
    """Recurrent entity network."""

    Config = EntNetConfig
    config: EntNetConfig
    key_words: Int[Tensor, " key"]
    num_slots: int
    deviation = 0.1
    recipe = {"learning_rate": 1e-2, "batch_size": 32, "epochs": 200, "clip": 1.25, "schedule": "halving", "window": 70}

    def __init__(self, config: EntNetConfig) -> None:
        super().__init__()
        self.config = config
        self.constants = {"question_mask": 1.0, "slopes": 1.0} | ({} if config.ordered else {"statement_mask": 1.0})
        hidden = config.hidden
        self.num_slots = len(config.key_words) or config.num_slots
        self.embedding = nn.Embedding(config.vocabulary_size, hidden)
        self.statement_mask = nn.Parameter(torch.ones(config.max_words, hidden))  # f
        self.question_mask = nn.Parameter(torch.ones(config.max_words, hidden))
        self.register_buffer("key_words", torch.tensor(config.key_words, dtype=torch.long), persistent=False)
        self.free_keys = None if config.key_words else nn.Parameter(torch.zeros(config.num_slots, hidden))
        self.gate_bias = nn.Parameter(torch.zeros(self.num_slots))
        self.slopes = nn.Parameter(torch.ones(hidden))  # of every phi
        self.of_memory = Linear(hidden, hidden)  # U
        self.of_key = Linear(hidden, hidden, bias=False)  # V
        self.of_statement = Linear(hidden, hidden, bias=False)  # W
        self.of_read = Linear(hidden, hidden, bias=False)  # H
        self.answer = Linear(hidden, config.num_answers, bias=False)  # R

    def begin(self, batch: Batch, progress: Scalar) -> tuple[DynamicMemory, list[Statement]]:
        """The memories start as their keys."""
        del progress
        statements = self.encode(batch.story_words, self.statement_mask)
        keys = self.keys()
        memories = (F.normalize(keys, dim=-1) if self.config.unit_start else keys).repeat(len(statements), 1, 1)
        told = zip(statements.unbind(1), batch.sentence_mask.unbind(1), strict=True)
        return DynamicMemory(memories, keys), [Statement(*one) for one in told]

    def advance(self, carry: DynamicMemory, sentence: Statement) -> DynamicMemory:
        """Reads one sentence; padding closes the gate."""
        updated = self.step(carry.memories, carry.keys, sentence.vector)
        return replace(carry, memories=torch.where(sentence.told[:, None, None], updated, carry.memories))

    def finish(self, batch: Batch, carry: DynamicMemory, progress: Scalar, banks: int = 1) -> Reading:
        """Answers from all slots."""
        del progress, banks
        logits = self.decode(carry.memories, self.encode(batch.question_words, self.question_mask))
        return reading_of(logits, torch.full_like(batch.weights[:, 0], self.num_slots))

    def keys(self) -> Float[Tensor, "key hidden"]:
        """w_j: free, or the embeddings of the words that they are tied to."""
        if self.free_keys is not None:
            return self.free_keys
        return F.embedding(self.key_words, self.embedding.weight)

    def encode(
        self, words: Int[Tensor, "*axes word"], mask: Float[Tensor, "place hidden"]
    ) -> Float[Tensor, "*axes hidden"]:
        """Section 2.1 of arXiv 1612.03969: s_t = sum_i f_i * e_i."""
        place = torch.arange(words.shape[-1], device=words.device).clamp(max=self.config.max_words - 1)
        return (look_up(self.embedding.weight, words) * mask[place]).sum(-2)

    def step(
        self,
        memories: Float[Tensor, "batch key hidden"],
        keys: Float[Tensor, "key hidden"],
        statement: Float[Tensor, "batch hidden"],
    ) -> Float[Tensor, "batch key hidden"]:
        """Section 2.2 of arXiv 1612.03969: h_j = h_j + g_j * h~_j, brought back to the unit sphere."""
        gate = self.gate(memories, keys, statement)
        candidate = self.candidate(memories, keys, statement)
        return F.normalize(memories + gate.unsqueeze(-1) * candidate, dim=-1)

    def gate(self, memories: Tensor, keys: Tensor, statement: Tensor) -> Float[Tensor, "batch key"]:
        """Section 2.2 of arXiv 1612.03969: g_j = sigmoid(s_t . h_j + s_t . w_j), with a bias for each slot."""
        match = ((memories + keys) @ statement.unsqueeze(-1)).squeeze(-1)
        return torch.sigmoid(match + self.gate_bias)

    def candidate(self, memories: Tensor, keys: Tensor, statement: Tensor) -> Float[Tensor, "batch key hidden"]:
        """Section 2.2 of arXiv 1612.03969: h~_j = phi(U h_j + V w_j + W s_t)."""
        return self.phi(self.of_memory(memories) + self.of_key(keys) + self.of_statement(statement).unsqueeze(1))

    def decode(
        self, memories: Float[Tensor, "batch key hidden"], questions: PerQuestion
    ) -> Float[Tensor, "batch question answer"]:
        """Section 2.3 of arXiv 1612.03969: p_j = softmax(q . h_j), u = sum_j p_j h_j, y = R phi(q + H u)."""
        attention = torch.softmax(questions @ memories.transpose(1, 2), -1)
        return self.answer(self.phi(questions + self.of_read(attention @ memories)))

    def phi(self, values: Float[Tensor, "*axes hidden"]) -> Float[Tensor, "*axes hidden"]:
        """PReLU with the slopes that the whole network shares."""
        return torch.where(values > 0, values, self.slopes * values)
