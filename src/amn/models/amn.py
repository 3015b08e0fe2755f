"""Adaptive Memory Networks, profile `default`: the model behind our results. `paper/` has the equations as written.

The model is three pure functions over an immutable memory:

    encode(batch)                        all sentences and questions as vectors (encoder.py)
    step(memory, sentence)               one sentence of Algorithm 1
    decode(memory, questions, banks=k)   logits from the k most relevant banks, and from nothing else

An *entity* is a distinct word of the story and its questions; its number is its *slot*. A sentence changes only its
*members*: its own words, and the entities that the question names. Members read each other and their *context*, a few
recent neighbours in the word graph, along *edges* of several kinds (`amn.data.graph`). All other entities stay as they
are, so a sentence costs the same however much is stored.

Banks are nested: an entity of bank i is in all banks below it, so one number, its *depth*, says where it is. Each
entity has a *relevance* (a logit). With n banks it may enter the last where its relevance is above 0, the one before
where it is above -gap, and so on: the nearer the last bank, the stricter. A new bank takes what is still relevant in
the last.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import log, sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from amn.data.batches import Batch
from amn.data.graph import NUM_EDGE_KINDS
from amn.data.vocabulary import Vocabulary
from amn.errors import ConfigError
from amn.models.base import Model, ModelConfig, PerQuestion, PerStory, Reading, Scalar, Tokens, right_tokens
from amn.models.decoder import Decoder, Names
from amn.models.encoder import ANONYMOUS, Encoder, Encoding, accumulate, question_states
from amn.models.gate import Gate
from amn.models.layers import (
    GRU,
    Linear,
    linear,
    logistic_noise,
    masked_softmax,
    put_rows,
    rms_norm,
    rows_of,
    split_heads,
    straight_through,
)
from amn.models.losses import bernoulli_divergence, creation_prior, phase_in
from amn.models.strength import StrengthGRU


@dataclass(frozen=True, kw_only=True)
class AMNConfig(ModelConfig):
    """Settings of the default profile."""

    hidden: int = 64  # width of all states
    heads: int = 4  # attention heads of propagation
    max_banks: int = 8  # no more banks than this are created (l in the paper)
    bank_gap: float = 1.0  # how much more relevant an entity must be for each further bank
    norm_epsilon: float = 1e-6  # of the RMS norms; with 1, states that are small stay so, and say that little is known
    pointer: bool = False  # answers may also be words of the story, known or not; unknown words are told apart
    # The most tokens of an answer: words of its items, commas, an end. With one, it is a single choice.
    items: int = 1
    # Width of the gate in front of the memory; 0 for none. It is trained by itself.
    gate: int = 0
    needs: bool = False  # whether the gate also predicts what its questions need
    prior: float = 0.8  # p-hat of the creation prior
    information: float = 0.1  # beta of the creation prior; saved settings go by this name
    creation: float = 0.1  # weight of the loss that holds creation to its prior
    budget: float = 0.2  # weight of the loss on entities read
    budget_from: float = 0.4  # share of the training after which the budget starts to grow
    budget_to: float = 0.55  # and at which it is whole
    all_banks: float = 0.1  # weight of the answer loss when all banks are read

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heads < 1 or self.hidden % self.heads:
            raise ConfigError(f"hidden must be a multiple of heads, which {self.hidden} is not of {self.heads}")


@dataclass(frozen=True)
class Memory:
    """What is known after some sentences."""

    states: Float[Tensor, "batch slot hidden"]  # hidden state of each entity (w)
    strengths: Float[Tensor, "batch slot"]  # its relevance strength in [0, 1] (s)
    relevance: Float[Tensor, "batch slot"]  # the logit that decides how far it moves
    # The deepest bank that holds it; -1 before the story mentions it. Its gradient is that of the decisions.
    depth: Float[Tensor, "batch slot"]
    banks: PerStory  # number of banks of each story (l + 1)

    @classmethod
    def empty(cls, states: Float[Tensor, "batch slot hidden"]) -> "Memory":
        """The memory before the first sentence: one bank that holds nothing, and states to start from."""
        zeros = states.new_zeros(states.shape[:2])
        return cls(states, zeros, zeros, zeros - 1, zeros[:, 0] + 1)

    @property
    def in_last(self) -> Float[Tensor, "batch slot"]:
        """1 where the last bank holds an entity, 0 elsewhere."""
        inside = self.depth >= self.banks.unsqueeze(-1) - 1
        return inside.to(self.depth.dtype) + self.depth - self.depth.detach()

    @property
    def entities(self) -> PerStory:
        """How many entities each story has so far."""
        return (self.depth >= 0).to(self.states.dtype).sum(-1)


@dataclass(frozen=True)
class Sentence:
    """One sentence of each story, ready for a step."""

    members: Int[Tensor, "batch member"]  # entities that it may change
    context: Int[Tensor, "batch context"]  # entities that these may read besides
    edges: Int[Tensor, "batch member row"]  # the kind of edge from each member to each row (members, then context)
    # The input of the update GRU for each member, already projected to its gates.
    update: Float[Tensor, "batch member gates"]
    spoken: Bool[Tensor, "batch member"]  # which members are words of the sentence
    noise: Float[Tensor, "batch slot"]  # what is added to each entity's relevance before its move is decided
    create_noise: PerStory  # the same for the creation of a bank


@dataclass(frozen=True)
class StoryState:
    """What reading carries from sentence to sentence."""

    memory: Memory
    questions: PerQuestion
    creation: PerStory  # the divergence of bank creation from its prior, so far


for _kind in (Memory, Sentence, StoryState):
    torch.export.register_dataclass(_kind)


class AMN(Model):
    """The default profile."""

    Config = AMNConfig
    config: AMNConfig
    needs_graph = has_banks = in_core = True
    embeddings = ("encoder.embedding.weight", "encoder.anonymous", "decoder.classes.weight")
    constants = {
        "move_state.bias": 3.0,  # at first every entity moves on
        "decoder.growth": log(2),
        "decoder.prelu.weight": 0.25,
        "strength.reset": 1.0,
        "strength.candidate_strength": 1.0,
    }
    decide = staticmethod(straight_through)  # from the probability of a move

    def __init__(self, config: AMNConfig) -> None:
        super().__init__()
        self.config, self.points = config, config.pointer
        self.further_weight, self.chosen_from = config.all_banks, config.budget_to
        hidden = config.hidden
        self.norm: Callable[[Tensor], Tensor] = partial(rms_norm, epsilon=config.norm_epsilon)  # of what enters a layer
        self.encoder = Encoder(config.vocabulary_size, hidden, anonymous=ANONYMOUS if config.pointer else 0)
        self.from_question = Linear(hidden, hidden)
        self.update = GRU(2 * hidden, hidden)
        self.ask = Linear(hidden, hidden, bias=False)  # W_query; saved weights go by this name
        self.tell = Linear(hidden, 2 * hidden, bias=False)  # W_key and W_value; likewise
        self.edge_bias = nn.Parameter(torch.zeros(NUM_EDGE_KINDS, config.heads))
        self.propagate_gru = GRU(hidden, hidden)
        self.strength = StrengthGRU(hidden)
        self.move_state = Linear(hidden, 1)
        self.move_question = Linear(hidden, hidden, bias=False)
        self.create = Linear(hidden + 1, 1)
        self.decoder = Decoder(hidden, config.num_answers, self.norm, pointer=config.pointer, items=config.items)
        self.gate = Gate(config.vocabulary_size, config.gate, config.needs) if config.gate else None

    def begin(self, batch: Batch, progress: Scalar) -> tuple[StoryState, list[Sentence]]:
        """Encodes the whole batch; the memory is empty."""
        encoding = self.encoder(batch)
        memory = self.start(batch, encoding)
        state = StoryState(memory, encoding.questions, torch.zeros_like(memory.banks))
        return state, self.sentences(batch, encoding, self.ramp(progress))

    def advance(self, carry: StoryState, sentence: Sentence) -> StoryState:
        """Algorithm 1, lines 2 to 17, for one sentence of each story."""
        memory, divergence = self.step(carry.memory, sentence, carry.questions)
        return StoryState(memory, carry.questions, carry.creation + divergence)

    def finish(self, batch: Batch, carry: StoryState, progress: Scalar, banks: int = 1) -> Reading:
        """Algorithm 1, line 18; in training with the secondary losses."""
        memory, questions, names = carry.memory, carry.questions, self.names(batch, carry.memory)
        if batch.key is None:
            return self.decode(memory, questions, banks, names)
        tokens = right_tokens(batch, self.config.num_answers) if self.config.items > 1 else None
        return replace(
            self.decode(memory, questions, banks, names, tokens),
            losses=self.losses(carry, self.ramp(progress)),
            further=self.decode(memory, questions, 0, names, tokens).logits,
        )

    def names(self, batch: Batch, memory: Memory) -> Names | None:
        """The words that may be answers, where the model can point at words of the story."""
        return self.encoder.names(batch, memory.depth >= 0) if self.config.pointer else None

    def know(self, vocabulary: Vocabulary) -> None:
        """Tells the decoder which classes and which words of a story are the same word."""
        self.decoder.know(vocabulary)

    def ramp(self, progress: Scalar) -> Scalar:
        """How much of the budget counts: none at first, while the model learns to answer at all."""
        return phase_in(progress, self.config.budget_from, self.config.budget_to)

    def start(self, batch: Batch, encoding: Encoding) -> Memory:
        """An empty memory: an entity that a question names starts from the question, the others from zero."""
        asked, named = question_states(batch, encoding)
        states = torch.tanh(self.from_question(asked)).to(encoding.questions.dtype) * named.unsqueeze(-1)
        return Memory.empty(states)

    def sentences(self, batch: Batch, encoding: Encoding, ramp: Scalar) -> list[Sentence]:
        """Everything about the sentences that does not depend on the memory, for the whole story at once."""
        spoken = (batch.members.unsqueeze(-1) == batch.sentences.unsqueeze(-2)).any(-1) & (batch.members > 0)
        of_words = accumulate(encoding.words, batch.sentences, batch.members)
        weight, hidden = self.update.input.weight, self.config.hidden
        words = linear(self.norm(of_words), weight[:, :hidden], None)
        whole = linear(self.norm(encoding.sentences), weight[:, hidden:], self.update.input.bias)
        update = words + whole.unsqueeze(2)
        parts = (batch.members, batch.context, batch.edges, update, spoken, *self.noise(batch, ramp))
        return [Sentence(*of_one) for of_one in zip(*(part.unbind(1) for part in parts), strict=True)]

    def noise(self, batch: Batch, ramp: Scalar) -> tuple[Tensor, Tensor]:
        """What makes decisions random in training (eq. 10); zeros otherwise."""
        shape = (*batch.sentences.shape[:2], batch.slot_words.shape[1])
        if batch.key is None:
            zeros = batch.weights.new_zeros(shape)
            return zeros, zeros[..., 0]
        return logistic_noise(batch.key, shape, stream=1) * ramp, logistic_noise(batch.key, shape[:2], stream=2)

    def step(self, memory: Memory, sentence: Sentence, questions: PerQuestion) -> tuple[Memory, PerStory]:
        """One sentence of Algorithm 1: add and update, propagate, recompute strengths, move, perhaps create a bank.

        Returns the memory and the divergence of the creation decision from its prior.
        """
        rows = torch.cat((sentence.members, sentence.context), 1)
        held = rows_of(memory.states, rows)
        members = sentence.members.shape[1]
        present = sentence.members > 0
        states = self.add_or_update(held[:, :members], sentence)
        states = self.propagate(torch.cat((states, held[:, members:]), 1), sentence.edges)
        strengths = self.strength(states, questions, memory.strengths.gather(1, sentence.members))
        relevance = self.relevance(states, strengths, questions)
        memory = self.move(memory, sentence, states, strengths, relevance, present)
        return self.create_bank(memory, sentence, present.any(-1))

    def add_or_update(
        self, states: Float[Tensor, "batch member hidden"], sentence: Sentence
    ) -> Float[Tensor, "batch member hidden"]:
        """Eq. (13): w = GRU(w_N, w). A new entity goes through the same GRU; its word state is part of the input."""
        return torch.where(sentence.spoken.unsqueeze(-1), self.update(sentence.update, states), states)

    def propagate(
        self, states: Float[Tensor, "batch row hidden"], edges: Int[Tensor, "batch member row"]
    ) -> Float[Tensor, "batch member hidden"]:
        """Eq. (14), eq. (15): w = GRU(a, w), where a is attention over the rows that an edge of A leads to."""
        members = edges.shape[1]
        normed = self.norm(states)
        queries = split_heads(self.ask(normed[:, :members]), self.config.heads)
        keys, values = (split_heads(part, self.config.heads) for part in self.tell(normed).chunk(2, -1))
        scores = queries @ keys.transpose(-1, -2) / sqrt(queries.shape[-1])
        scores = scores + self.edge_biases(edges)
        gathered = masked_softmax(scores, (edges > 0).unsqueeze(1).expand_as(scores)) @ values
        message = gathered.transpose(1, 2).flatten(2)
        return self.propagate_gru(self.propagate_gru.input(message), states[:, :members])

    def edge_biases(self, edges: Int[Tensor, "batch member row"]) -> Float[Tensor, "batch head member row"]:
        """The bias of each edge, by its kind; a sum over kinds, since the gradient of a lookup is slow on a GPU."""
        kinds = torch.arange(NUM_EDGE_KINDS, device=edges.device).view(-1, 1, 1)
        is_kind = (edges.unsqueeze(1) == kinds).unsqueeze(2)
        return (is_kind * self.edge_bias.unsqueeze(-1).unsqueeze(-1)).sum(1)

    def relevance(self, states: Tensor, strengths: Tensor, questions: Tensor) -> Float[Tensor, "batch member"]:
        """Eq. (9) for moves: a learned score of s * w and of how w and the question go together."""
        normed = self.norm(states)
        alone = self.move_state(strengths.unsqueeze(-1) * normed).squeeze(-1)
        asked = normed @ self.move_question(questions).transpose(1, 2) / sqrt(normed.shape[-1])
        return (alone + asked.amax(-1)).to(states.dtype)

    def move(
        self, memory: Memory, sentence: Sentence, states: Tensor, strengths: Tensor, relevance: Tensor, present: Tensor
    ) -> Memory:
        """Eq. (10), eq. (12): each member moves as deep as its relevance allows, and never back."""
        last = memory.banks.unsqueeze(-1) - 1
        wish = relevance + sentence.noise.gather(1, sentence.members)
        enters = self.decide(torch.sigmoid(wish))
        enters = torch.where(last > 0, enters, torch.ones_like(enters))
        was_in = memory.in_last.gather(1, sentence.members)
        in_last = was_in + (1 - was_in) * enters
        reach = (last + torch.ceil(wish.detach() / self.config.bank_gap) - 1).clamp(min=0)
        depth = torch.maximum(memory.depth.detach().gather(1, sentence.members), torch.minimum(reach, last))
        depth = depth + in_last - in_last.detach()
        return replace(
            memory,
            states=put_rows(memory.states, sentence.members, states * present.unsqueeze(-1)),
            strengths=memory.strengths.scatter(1, sentence.members, strengths * present),
            relevance=memory.relevance.scatter(1, sentence.members, relevance * present),
            depth=memory.depth.scatter(1, sentence.members, torch.where(present, depth, -1.0)),
        )

    def create_bank(self, memory: Memory, sentence: Sentence, told: Bool[Tensor, " batch"]) -> tuple[Memory, PerStory]:
        """Eq. (11): a new bank where the controller says so; what is still relevant in the last one moves on to it."""
        logit, load = self.creation_logit(memory)
        divergence = bernoulli_divergence(logit, creation_prior(load, self.config.prior, self.config.information))
        created = told & (logit + sentence.create_noise > 0) & (memory.banks < self.config.max_banks)
        stays = self.decide(torch.sigmoid(memory.relevance + sentence.noise)) * memory.in_last
        deeper = memory.depth.detach() + (stays > 0.5).to(stays.dtype) + stays - stays.detach()
        depth = torch.where(created.unsqueeze(-1), deeper, memory.depth)
        return replace(memory, depth=depth, banks=memory.banks + created), divergence * told

    def creation_logit(self, memory: Memory) -> tuple[PerStory, PerStory]:
        """Eq. (9) for creation: from what the last bank holds and how full the memory is for its number of banks."""
        inside = memory.in_last.detach()
        pooled = (inside.unsqueeze(1) @ memory.states.detach()).squeeze(1)
        pooled = pooled / inside.sum(-1, keepdim=True).clamp(min=1)
        load = memory.entities * torch.exp2(1 - memory.banks)
        features = torch.cat((pooled, load.clamp(min=0.1).log().unsqueeze(-1)), -1)
        return self.create(features).squeeze(-1), load

    def decode(
        self,
        memory: Memory,
        questions: PerQuestion,
        banks: int = 1,
        names: Names | None = None,
        tokens: Tokens | None = None,
    ) -> Reading:
        """Eqs. (16-19) over the `banks` most relevant banks; 0 reads all.

        Names may be answers where given; tokens, in training, are followed instead of the best.
        """
        weights = self.bank_weights(memory, banks)
        members = self.bank_members(memory, banks)
        read = members.detach().sum((1, 2)).unsqueeze(-1).expand(-1, questions.shape[1])
        summary = self.decoder(memory.states, memory.strengths, members, weights, questions)
        logits, chosen = self.decoder.decide(summary, names, tokens)
        return Reading(logits, memory.entities, read, memory.banks, tokens=chosen)

    def bank_members(self, memory: Memory, banks: int) -> Float[Tensor, "batch bank slot"]:
        """Which entities each bank holds, among the banks that are read."""
        if banks == 1:
            return memory.in_last.unsqueeze(1)
        level = torch.arange(self.config.max_banks, device=memory.depth.device, dtype=memory.depth.dtype)
        held = memory.depth.unsqueeze(1) >= level.view(1, -1, 1)
        return (held & (self.bank_weights(memory, banks) > 0).unsqueeze(-1)).to(memory.states.dtype)

    def bank_weights(self, memory: Memory, banks: int) -> Float[Tensor, "batch bank"]:
        """The exponential weights d of eq. (18): each bank counts a learned factor more than the one before it."""
        if banks == 1:
            return torch.ones_like(memory.banks).unsqueeze(-1)
        level = torch.arange(self.config.max_banks, device=memory.depth.device, dtype=memory.depth.dtype)
        last = memory.banks.unsqueeze(-1) - 1
        first = last - banks + 1 if banks else torch.zeros_like(last)
        read = (level <= last) & (level >= first)
        growth = torch.exp((level - last) * self.decoder.growth) * read
        return growth / growth.sum(-1, keepdim=True)

    def losses(self, carry: StoryState, ramp: Scalar) -> dict[str, PerStory]:
        """The secondary losses: the prior of bank creation, and the budget on entities read."""
        share = carry.memory.in_last.sum(-1) / carry.memory.entities.clamp(min=1)
        return {"creation": carry.creation * self.config.creation, "budget": share * (self.config.budget * ramp)}
