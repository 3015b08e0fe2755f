"""Variants of both profiles, each a few lines: ablations of the default, additions to the paper's, and controls.

`docs/paper.md` lists how the default profile deviates from the paper. An ablation (`amn-without-...`) does as the paper
does in one of these points; what it answers worse is what the deviation is worth. Profile `paper` gets some of them
added, each variant (`amn-paper-with-...`) one more than the one before. Controls see only a part of the data: what they
still answer, the data gives away.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from amn.data.batches import Batch
from amn.data.graph import AFTER, BEFORE, CURRENT, NO_EDGE, PAST, SELF
from amn.models.amn import AMN, AMNConfig, Memory, Sentence, StoryState
from amn.models.base import PerStory, Reading, Scalar
from amn.models.encoder import Encoding, question_states
from amn.models.layers import Linear, masked_softmax, split_heads
from amn.models.losses import bernoulli_divergence, creation_prior, phase_in
from amn.models.paper.banks import PaperBank, PaperMemory
from amn.models.paper.model import LIKELIER, Lesson, PaperAMN, PaperConfig, PaperSentence, PaperState
from amn.models.paper.word_graph import path_edges

_POWERS = 3  # of A, as many as profile `paper` has
_HEADS = 4  # of attention, as many as the default profile has


class Variant(AMN):
    """The default model with one change, which a subclass makes."""

    in_core = False


class WithoutQuestionAMN(Variant):
    """All entities start from zero, also those that a question names."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(config)
        del self.from_question

    def start(self, batch: Batch, encoding: Encoding) -> Memory:
        """An empty memory that knows nothing of the questions."""
        return Memory.empty(encoding.questions.new_zeros(*batch.slot_words.shape, self.config.hidden))


class WithoutJoiningAMN(Variant):
    """Edges join words that have stood side by side, and not all words of a sentence."""

    def begin(self, batch: Batch, progress: Scalar) -> tuple[StoryState, list[Sentence]]:
        """Removes the edges between words that were never neighbours."""
        drawn = (paths(batch).cumsum(1) > 0).flatten(-2)
        slots, rows = batch.slot_words.shape[1], torch.cat((batch.members, batch.context), -1)
        pairs = batch.members.unsqueeze(-1) * slots + rows.unsqueeze(-2)
        kept = drawn.gather(-1, pairs.flatten(-2)).view_as(batch.edges) | (batch.edges == SELF)
        return super().begin(replace(batch, edges=batch.edges * kept), progress)


class WithoutAttentionAMN(Variant):
    """Messages are sums over the edges for the powers 1 to 3 of A; edges of the current sentence weigh more."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(config)
        del self.ask, self.tell, self.edge_bias
        self.recency = nn.Parameter(torch.zeros(1))

    def propagate(
        self, states: Float[Tensor, "batch row hidden"], edges: Int[Tensor, "batch member row"]
    ) -> Float[Tensor, "batch member hidden"]:
        """For each power r: a = A^r w, then w = GRU(a, w). Rows of the context send messages and stay as they are."""
        members, graph = edges.shape[1], self.graph(edges)
        power = graph
        for r in range(_POWERS):
            power = power @ graph if r else graph
            message = self.propagate_gru.input((power @ self.norm(states))[:, :members])
            changed = self.propagate_gru(message, states[:, :members])
            states = torch.cat((changed, states[:, members:]), 1)
        return states[:, :members]

    def graph(self, edges: Int[Tensor, "batch member row"]) -> Float[Tensor, "batch row row"]:
        """A over all rows, made symmetric; the weights of a row sum to 1."""
        members, rows = edges.shape[1:]
        joined = ((edges != NO_EDGE) & (edges != SELF)).to(self.recency.dtype)
        now = ((edges == CURRENT) | (edges == BEFORE) | (edges == AFTER)).to(joined.dtype)
        incoming = joined + F.softplus(self.recency) * now
        back = F.pad(incoming[..., members:].transpose(-1, -2), (0, rows - members))
        whole = torch.cat((incoming, back), 1)
        return whole / whole.sum(-1, keepdim=True).clamp(min=1)


class WithoutNormAMN(Variant):
    """No RMS norm anywhere."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(config)
        self.norm = self.decoder.norm = nn.Identity()


class WithoutNeighboursAMN(Variant):
    """Members read each other, and no recent neighbours besides."""

    def begin(self, batch: Batch, progress: Scalar) -> tuple[StoryState, list[Sentence]]:
        """Removes the context of every sentence."""
        inside = torch.arange(batch.edges.shape[-1], device=batch.edges.device) < batch.members.shape[-1]
        alone = replace(batch, context=torch.zeros_like(batch.context), edges=batch.edges * inside)
        return super().begin(alone, progress)


class WithoutMembersAMN(Variant):
    """A sentence changes all entities of the story so far, along all edges of the word graph."""

    def begin(self, batch: Batch, progress: Scalar) -> tuple[StoryState, list[Sentence]]:
        """Makes all entities members, so that there is no context."""
        slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device)
        edges = all_edges(batch)
        members = slots * ((edges != NO_EDGE).any(-1) & batch.sentence_mask.unsqueeze(-1))
        return super().begin(replace(batch, members=members, context=batch.context[..., :0], edges=edges), progress)


class WithoutGradientAMN(Variant):
    """Moves as the paper has them: drawn by strengths, and no gradient goes through a decision."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(config)
        del self.move_state, self.move_question

    def relevance(self, states: Tensor, strengths: Tensor, questions: Tensor) -> Float[Tensor, "batch member"]:
        """The logit of the strength, so that p = s."""
        del states, questions
        return torch.logit(strengths.detach(), eps=1e-4)

    @staticmethod
    def decide(soft: Float[Tensor, "*axes"], threshold: float = 0.5) -> Float[Tensor, "*axes"]:
        """A hard 0 or 1, cut off from the gradient."""
        return (soft > threshold).to(soft.dtype)


class WithoutBudgetAMN(Variant):
    """Nothing is paid for entities read."""

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(replace(config, budget=0.0))


class WithoutDelayAMN(Variant):
    """The budget, and the noise on moves, count in full from the first step."""

    def ramp(self, progress: Scalar) -> float:
        """All of it at any time."""
        del progress
        return 1.0


@dataclass(frozen=True)
class NumberedSentence(Sentence):
    """A sentence that knows its place in the story, from 1."""

    number: PerStory


torch.export.register_dataclass(NumberedSentence)


class WithoutLoadAMN(Variant):
    """The creation prior counts sentences, as the paper's does, and not how full the memory is."""

    def sentences(self, batch: Batch, encoding: Encoding, ramp: Scalar) -> list[Sentence]:
        """The sentences with their numbers."""
        plain = enumerate(super().sentences(batch, encoding, ramp), 1)
        return [NumberedSentence(**vars(one), number=torch.full_like(one.create_noise, t)) for t, one in plain]

    def create_bank(self, memory: Memory, sentence: Sentence, told: Bool[Tensor, " batch"]) -> tuple[Memory, PerStory]:
        """A bank is created as in the default model; the prior is p-hat^(1 / (beta t))."""
        assert isinstance(sentence, NumberedSentence)
        logit, _ = self.creation_logit(memory)
        prior = creation_prior(sentence.number, self.config.prior, self.config.information)
        return super().create_bank(memory, sentence, told)[0], bernoulli_divergence(logit, prior) * told


class WithoutLastBankAMN(Variant):
    """Training reads all banks, as the paper does; an answer is still read from the last one alone."""

    def finish(self, batch: Batch, carry: StoryState, progress: Scalar, banks: int = 1) -> Reading:
        """Answers; in training from all banks, and from these alone."""
        reading = super().finish(batch, carry, progress, banks)
        return reading if reading.further is None else replace(reading, logits=reading.further, further=None)


class FilledBankAMN(Variant):
    """Reads the deepest banks that hold anything, as if empty ones had not been created."""

    def bank_members(self, memory: Memory, banks: int) -> Float[Tensor, "batch bank slot"]:
        """As without empty banks."""
        return super().bank_members(_without_empty(memory), banks)

    def bank_weights(self, memory: Memory, banks: int) -> Float[Tensor, "batch bank"]:
        """As without empty banks."""
        return super().bank_weights(_without_empty(memory), banks)


def _without_empty(memory: Memory) -> Memory:
    filled = memory.depth.detach().amax(-1).clamp(min=0) + 1
    return replace(memory, banks=torch.minimum(memory.banks, filled))


class BlindAMN(Variant):
    """A control that does not see a part of the data, and does not point at words of the story."""

    unseen: tuple[str, ...]  # the fields of a batch that are zeros to it

    def __init__(self, config: AMNConfig) -> None:
        super().__init__(replace(config, pointer=False))

    def begin(self, batch: Batch, progress: Scalar) -> tuple[StoryState, list[Sentence]]:
        """Begins without what is not seen."""
        blank = {name: torch.zeros_like(getattr(batch, name)) for name in self.unseen}
        return super().begin(replace(batch, **blank), progress)

    def finish(self, batch: Batch, carry: StoryState, progress: Scalar, banks: int = 1) -> Reading:
        """Answers; entities are counted as for other models: the words of the story, which have the first slots."""
        reading = super().finish(batch, carry, progress, banks)
        return replace(reading, entities=batch.sentences.flatten(1).amax(-1).to(reading.entities.dtype))


class QuestionBlindAMN(BlindAMN):
    """Sees the story alone, and gives the answer that is likely after such a story."""

    sees_questions = False  # members and context do not depend on the questions either
    unseen = ("questions",)


class StoryBlindAMN(BlindAMN):
    """Sees the question alone, and gives the answer that is likely to such a question."""

    unseen = ("sentences", "members", "context", "edges")


class PaperWithQuestionAMN(PaperAMN):
    """An entity that a question names starts from the question, too."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__(config)
        self.from_question = Linear(config.hidden, config.hidden)

    def sentences(self, batch: Batch, encoding: Encoding) -> Iterator[PaperSentence]:
        """The sentences, with what the questions say of their words added to these."""
        states, named = question_states(batch, encoding)
        asked = torch.tanh(self.from_question(states)) * named.unsqueeze(-1)
        for sentence in super().sentences(batch, encoding):
            yield replace(sentence, words=sentence.words + asked * sentence.spoken.unsqueeze(-1))


class PaperWithJoiningAMN(PaperWithQuestionAMN):
    """Besides, edges join all words of a sentence."""

    def sentences(self, batch: Batch, encoding: Encoding) -> Iterator[PaperSentence]:
        """The sentences with an edge from each word to each other."""
        for sentence in super().sentences(batch, encoding):
            pairs = sentence.spoken.unsqueeze(-1) & sentence.spoken.unsqueeze(-2)
            alone = torch.eye(pairs.shape[-1], dtype=torch.bool, device=pairs.device)
            yield replace(sentence, edges=(pairs & ~alone).to(sentence.edges.dtype))


class PaperWithAttentionAMN(PaperWithJoiningAMN):
    """Besides, one round of attention over the edges, in place of sums over powers of A."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__(config)
        del self.recency
        self.ask = Linear(config.hidden, config.hidden, bias=False)  # W_query
        self.tell = Linear(config.hidden, 2 * config.hidden, bias=False)  # W_key and W_value
        self.edge_bias = nn.Parameter(torch.zeros(_HEADS))  # of edges of the current sentence, for each head

    def along(self, inside: Tensor, current: Tensor, bank: PaperBank) -> Float[Tensor, "batch slot hidden"]:
        """Each entity gets a message from those whose edges lead to it; then w = GRU(a, w), once."""
        queries = split_heads(self.ask(bank.states), _HEADS)
        keys, values = (split_heads(part, _HEADS) for part in self.tell(bank.states).chunk(2, -1))
        scores = queries @ keys.transpose(-1, -2) / sqrt(queries.shape[-1])
        scores = scores + current.transpose(-1, -2).unsqueeze(1) * self.edge_bias.view(-1, 1, 1)
        incoming = (inside > 0).transpose(-1, -2).unsqueeze(1)
        message = masked_softmax(scores, incoming.expand_as(scores)) @ values
        return self.propagate_gru(self.propagate_gru.input(message.transpose(1, 2).flatten(2)), bank.states)


@dataclass(frozen=True, kw_only=True)
class PaperBudgetConfig(PaperConfig):
    """Settings of the paper profile with a budget."""

    budget: float = 0.2  # weight of the loss on strengths
    budget_from: float = 0.4  # share of the training after which it starts to grow
    budget_to: float = 0.55  # and at which it is whole
    all_banks: float = 0.1  # weight of the answer loss when all banks are read


@dataclass(frozen=True)
class BudgetLesson(Lesson):
    """What training needs besides the memory, with what strengths cost."""

    paid: PerStory  # the mean strength after each sentence, summed up


torch.export.register_dataclass(BudgetLesson)


class PaperWithBudgetAMN(PaperWithAttentionAMN):
    """Besides, training reads the last bank, strengths are paid for, and moves are decided as at inference, not drawn.

    The budget grows in the place of the paper's target for strengths, which makes nearly everything move.
    """

    Config = PaperBudgetConfig
    config: PaperBudgetConfig

    def __init__(self, config: PaperBudgetConfig) -> None:
        super().__init__(config)
        self.further_weight, self.chosen_from = config.all_banks, config.budget_to

    def chances(self, batch: Batch, dtype: torch.dtype) -> dict[str, Float[Tensor, "batch sentence *axes"]]:
        """Creation and expected strengths are drawn; moves are the likelier decision."""
        drawn = super().chances(batch, dtype)
        return drawn | {name: torch.full_like(drawn[name], LIKELIER) for name in ("move_chance", "repeat_chance")}

    def lesson(self, batch: Batch, memory: PaperMemory) -> BudgetLesson:
        """Nothing is paid before the first sentence."""
        return BudgetLesson(**vars(super().lesson(batch, memory)), paid=torch.zeros_like(memory.banks))

    def learn(self, lesson: Lesson, memory: PaperMemory, sentence: PaperSentence, logit: PerStory) -> Lesson:
        """Adds the mean strength of what the banks hold after a sentence."""
        assert isinstance(lesson, BudgetLesson)
        held = memory.held.to(memory.strengths.dtype)
        mean = (memory.strengths * held).sum((1, 2)) / held.sum((1, 2)).clamp(min=1)
        paid = lesson.paid + mean * sentence.spoken.any(-1)
        return replace(lesson, **vars(super().learn(lesson, memory, sentence, logit)) | {"paid": paid})

    def finish(self, batch: Batch, told: PaperState, progress: Scalar, banks: int = 1) -> Reading:
        """Line 18; in training from the last bank, too."""
        reading = super().finish(batch, told, progress, banks)
        if not isinstance(told.lesson, BudgetLesson):
            return reading
        ramp = phase_in(progress, self.config.budget_from, self.config.budget_to)
        paid = told.lesson.paid / batch.sentence_mask.sum(-1).clamp(min=1)
        losses = {"relevance": told.lesson.relevance * (1 - ramp), "budget": paid * (self.config.budget * ramp)}
        last = self.decode(told.memory, told.questions, banks=1)
        return replace(last, losses=reading.losses | losses, further=reading.logits)


def paths(batch: Batch) -> Float[Tensor, "batch sentence slot slot"]:
    """1 where two words stand side by side in a sentence, in either order."""
    ahead = path_edges(batch.sentences, batch.slot_words.shape[1], batch.weights.dtype)
    return torch.maximum(ahead, ahead.transpose(-1, -2))


def all_edges(batch: Batch) -> Int[Tensor, "batch sentence slot slot"]:
    """The kind of edge between all entities so far, however many neighbours an entity has."""
    slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device)
    spoken = ((batch.sentences.unsqueeze(-1) == slots) & (slots > 0)).any(-2)
    together = spoken.unsqueeze(-1) & spoken.unsqueeze(-2)
    before = together.long().cumsum(1) - together.long() > 0
    ahead = path_edges(batch.sentences, len(slots), batch.weights.dtype) > 0
    kinds = torch.where(together, CURRENT, torch.where(before, PAST, NO_EDGE))
    kinds = torch.where(ahead, AFTER, kinds)
    kinds = torch.where(ahead.transpose(-1, -2), BEFORE, kinds)
    alone = (slots.unsqueeze(-1) == slots) & (kinds != NO_EDGE)
    return torch.where(alone, SELF, kinds)
