"""Adaptive Memory Networks, profile `paper`: the equations as written, gaps filled in the plainest way.

    encode(batch)                        eqs. 1-4: all sentences and questions as vectors (encoder.py)
    step(memory, sentence, questions)    lines 3-16 of Algorithm 1, one sentence
    decode(memory, questions, banks=k)   eqs. 16-19: logits from the k most relevant banks

Every bank holds its own state and strength of an entity (banks.py), and a sentence updates all entities of all banks
along the word graph (word_graph.py). Read it beside the paper; for use, `amn.py` is better in every respect.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from amn.data.batches import Batch
from amn.models.base import Model, ModelConfig, PerQuestion, PerStory, Reading, Scalar
from amn.models.encoder import Encoder, Encoding, accumulate
from amn.models.layers import GRU, masked_softmax, uniform, where_told
from amn.models.losses import bernoulli_divergence, creation_prior, expected_strengths, strength_divergence
from amn.models.paper.banks import PaperBank, PaperMemory, bank_weights, empty_bank, empty_memory, move, realise
from amn.models.paper.word_graph import close_over, merge_components, messages, path_edges, weigh
from amn.models.strength import StrengthGRU

_STREAMS = {"move_chance": 1, "create_chance": 2, "repeat_chance": 3, "expectation_chance": 4}  # of random numbers
_Rated = TypeVar("_Rated", PaperBank, PaperMemory)
LIKELIER = 0.5  # the chance that turns a draw into the likelier decision


@dataclass(frozen=True, kw_only=True)
class PaperConfig(ModelConfig):
    """Settings of the paper profile."""

    hidden: int = 64  # width of all states (the paper gives none)
    max_banks: int = 6  # no more banks than this are created (the paper saw 1 to 6)
    powers: int = 3  # A is raised to the powers 1 to this (r)
    capacity: int = 128  # how many entities the layer that decides on new banks can see
    prior: float = 0.8  # p-hat of the creation prior (0.2 for transitive tasks in the paper)
    information: float = 0.1  # beta of the creation prior (0.1 to 0.25 by story length in the paper)


@dataclass(frozen=True)
class PaperSentence:
    """One sentence of each story, ready for a step."""

    number: PerStory  # its place in the story, from 1
    spoken: Bool[Tensor, "batch slot"]  # which entities are words of it
    words: Float[Tensor, "batch slot hidden"]  # the accumulated outputs of the word GRU (D)
    last: Float[Tensor, "batch gates"]  # the last output of the word GRU (w_N), as the input part of eq. 13
    edges: Float[Tensor, "batch slot slot"]  # the path of its words
    # What its decisions are drawn with and, in training, the expected strengths after it.
    move_chance: Float[Tensor, "batch bank slot"]
    repeat_chance: Float[Tensor, "batch slot"]
    create_chance: PerStory
    expectation_chance: Float[Tensor, "batch slot"] | None = None


@dataclass(frozen=True)
class Lesson:
    """What training needs besides the memory."""

    seeds: Bool[Tensor, "batch slot"]  # words that make others relevant
    components: Bool[Tensor, "batch slot slot"]  # which words are connected by the sentences so far
    # The secondary losses of these.
    relevance: PerStory
    creation: PerStory


@dataclass(frozen=True)
class PaperState:
    """What reading carries from sentence to sentence: the memory, the questions and, in training, the losses."""

    memory: PaperMemory
    questions: PerQuestion
    lesson: Lesson | None = None


for _kind in (PaperMemory, PaperSentence, Lesson, PaperState):
    torch.export.register_dataclass(_kind)


class PaperAMN(Model):
    """The paper profile."""

    Config = PaperConfig
    config: PaperConfig
    has_banks = True
    embeddings = ("encoder.embedding.weight",)
    constants = {"decoder.prelu.weight": 0.25, "strength.reset": 1.0, "strength.candidate_strength": 1.0}

    def __init__(self, config: PaperConfig) -> None:
        super().__init__()
        self.config = config
        hidden = config.hidden
        self.encoder = Encoder(config.vocabulary_size, hidden)
        self.strength = StrengthGRU(hidden)
        self.update = GRU(hidden, hidden)
        self.recency = nn.Parameter(torch.zeros(1))
        self.propagate_gru = GRU(hidden, hidden)
        self.create = nn.Linear(config.capacity * hidden, 1)
        self.decoder = PaperDecoder(config)

    def begin(self, batch: Batch, progress: Scalar) -> tuple[PaperState, list[PaperSentence]]:
        """Everything is encoded at once; the memory is empty."""
        del progress
        encoding = self.encoder(batch)
        memory = self.start(batch, encoding)
        lesson = None if batch.key is None else self.lesson(batch, memory)
        return PaperState(memory, encoding.questions, lesson), list(self.sentences(batch, encoding))

    def advance(self, told: PaperState, sentence: PaperSentence) -> PaperState:
        """Lines 2-17 of Algorithm 1 for one sentence of each story."""
        memory, logit = self.step(told.memory, sentence, told.questions)
        lesson = None if told.lesson is None else self.learn(told.lesson, memory, sentence, logit)
        return PaperState(memory, told.questions, lesson)

    def finish(self, batch: Batch, told: PaperState, progress: Scalar, banks: int = 1) -> Reading:
        """Line 18. Training always reads all banks."""
        del batch, progress
        if told.lesson is None:
            return self.decode(told.memory, told.questions, banks)
        losses = {"relevance": told.lesson.relevance, "creation": told.lesson.creation}
        return replace(self.decode(told.memory, told.questions, banks=0), losses=losses)

    def start(self, batch: Batch, encoding: Encoding) -> PaperMemory:
        """The memory before the first sentence."""
        stories, slots = batch.slot_words.shape
        return empty_memory(stories, self.config.max_banks, slots, encoding.sentences)

    def sentences(self, batch: Batch, encoding: Encoding) -> Iterator[PaperSentence]:
        """The sentences of a batch in their order."""
        slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device)
        dtype = encoding.sentences.dtype
        chances, last = self.chances(batch, dtype), self.update.input(encoding.sentences)
        for t in range(batch.sentences.shape[1]):
            words = batch.sentences[:, t]
            yield PaperSentence(
                number=torch.full_like(batch.weights[:, 0], t + 1, dtype=dtype),
                spoken=(words.unsqueeze(1) == slots.view(1, -1, 1)).any(-1) & (slots > 0),
                words=accumulate(encoding.words[:, t], words, slots.expand(words.shape[0], -1)),
                last=last[:, t],
                edges=path_edges(words, slots.shape[0], dtype),
                **{name: chance[:, t] for name, chance in chances.items()},
            )

    def chances(self, batch: Batch, dtype: torch.dtype) -> dict[str, Float[Tensor, "batch sentence *axes"]]:
        """Uniform numbers to draw the decisions of each sentence with (eq. 10) and, in training, expected strengths."""
        sentences, slots = tuple(batch.sentences.shape[:2]), batch.slot_words.shape[1]
        shapes = {"move_chance": (*sentences, self.config.max_banks, slots)}
        shapes |= {"repeat_chance": (*sentences, slots), "create_chance": sentences}
        if batch.key is None:
            return {name: batch.weights.new_full(shape, LIKELIER, dtype=dtype) for name, shape in shapes.items()}
        shapes["expectation_chance"] = (*sentences, slots)
        return {name: uniform(batch.key, shape, _STREAMS[name]).to(dtype) for name, shape in shapes.items()}

    def step(
        self, memory: PaperMemory, sentence: PaperSentence, questions: PerQuestion
    ) -> tuple[PaperMemory, PerStory]:
        """Lines 3-16 of Algorithm 1. Stories that are over stay as they are.

        Returns the memory and the logit of the creation decision.
        """
        grown = replace(memory, edges=torch.maximum(memory.edges, sentence.edges))
        grown = self.rate_words(grown, sentence, questions)
        grown = self.visit_banks(grown, sentence, questions)
        grown, logit = self.create_bank(grown, sentence, questions)
        return where_told(sentence.spoken.any(-1), grown, memory), logit

    def rate_words(self, memory: PaperMemory, sentence: PaperSentence, questions: Tensor) -> PaperMemory:
        """Line 6, n = SGRU(D): the words of the sentence get strengths in the banks that hold or will hold them."""
        words = sentence.words.repeat(1, self.config.max_banks, 1)
        rated = self.strength(words, questions, memory.strengths.flatten(1)).view_as(memory.strengths)
        here = sentence.spoken.unsqueeze(1) & (memory.held | (memory.levels.unsqueeze(-1) == 0))
        return replace(memory, strengths=torch.where(here, rated, memory.strengths))

    def visit_banks(self, memory: PaperMemory, sentence: PaperSentence, questions: Tensor) -> PaperMemory:
        """Lines 7-11: visits each bank in turn; one that is not created yet is empty and stays so.

        Line 11 is done for all banks at the end: no bank's new strengths change another bank.
        """
        banks = memory.split()
        for i in range(self.config.max_banks):
            bank = self.add_or_update(banks[i], sentence, adds=i == 0)
            banks[i] = self.propagate(bank, memory.edges, sentence, whole=i == 0)
            if i + 1 < len(banks):
                exists = memory.banks > i + 1
                banks[i + 1] = move(banks[i], banks[i + 1], sentence.move_chance[:, i], exists)
        return self.rate(memory.joined(banks), questions)

    def create_bank(
        self, memory: PaperMemory, sentence: PaperSentence, questions: Tensor
    ) -> tuple[PaperMemory, PerStory]:
        """Eq. (11): M.new() if 1(ctrl([w_0 ... w_i])), for the last bank only; then lines 8-11 once more.

        The repeat visits the bank that was last again, now that there is one to move to.
        """
        last = memory.last()
        logit = self.creation_logit(last)
        created = realise(torch.sigmoid(logit), sentence.create_chance) & (memory.banks < self.config.max_banks)
        again = self.propagate(self.add_or_update(last, sentence, adds=False), memory.edges, sentence)
        fresh = move(again, empty_bank(last), sentence.repeat_chance, created)
        memory = memory.put(self.rate(again, questions), memory.banks - 1, created)
        memory = memory.put(fresh, memory.banks, created)
        return replace(memory, banks=memory.banks + created), logit

    def creation_logit(self, bank: PaperBank) -> PerStory:
        """Eq. (9) for creation: p = q([w_0 ... w_i]), q a layer over the states of the bank, each at its slot's place.

        Entities beyond the capacity are not seen.
        """
        states = bank.states[:, 1 : self.config.capacity + 1].flatten(1)
        return states @ self.create.weight[0, : states.shape[1]] + self.create.bias

    def add_or_update(self, bank: PaperBank, sentence: PaperSentence, *, adds: bool) -> PaperBank:
        """Eq. (13): m_0.add(e_w) where e_w is not in m_0, else w = GRU(w_N, w), in all banks that hold it.

        Args:
            bank: the bank to change.
            sentence: its words are added, with D as their states, or updated.
            adds: whether this is m_0.
        """
        inputs = sentence.last.unsqueeze(1).expand(-1, bank.held.shape[1], -1)
        known = (sentence.spoken & bank.held).unsqueeze(-1)
        states = torch.where(known, self.update(inputs, bank.states), bank.states)
        if not adds:
            return replace(bank, states=states)
        new = (sentence.spoken & ~bank.held).unsqueeze(-1)
        return replace(bank, states=torch.where(new, sentence.words, states), held=bank.held | sentence.spoken)

    def propagate(
        self, bank: PaperBank, edges: Float[Tensor, "batch slot slot"], sentence: PaperSentence, *, whole: bool = False
    ) -> PaperBank:
        """Messages inside a bank; one that holds the whole story, as m_0 does, needs no closure."""
        drawn = torch.stack((edges, sentence.edges)).detach()  # they are given: nothing is learned through them
        inside, current = drawn if whole else close_over(drawn, bank.held, longest=edges.shape[-1])
        states = self.along(inside, current, bank)
        return replace(bank, states=torch.where(bank.held.unsqueeze(-1), states, bank.states))

    def along(
        self, inside: Float[Tensor, "batch slot slot"], current: Float[Tensor, "batch slot slot"], bank: PaperBank
    ) -> Float[Tensor, "batch slot hidden"]:
        """Eq. (15): w = GRU(a, w), for the consecutive powers 1 to r of A, in which current edges count more."""
        joined = weigh(inside, current, F.softplus(self.recency))
        states, power = bank.states, joined
        for r in range(self.config.powers):
            power = power @ joined if r else joined
            states = self.propagate_gru(self.propagate_gru.input(messages(power, states)), states)
        return states

    def rate(self, held_in: _Rated, questions: PerQuestion) -> _Rated:
        """Line 11, n = SGRU(D, n): new strengths for all entities of a bank or of all banks, from their states."""
        states, strengths = held_in.states.flatten(1, -2), held_in.strengths
        rated = self.strength(states, questions, strengths.flatten(1)).view_as(strengths)
        return replace(held_in, strengths=torch.where(held_in.held, rated, strengths))

    def decode(self, memory: PaperMemory, questions: PerQuestion, banks: int = 1) -> Reading:
        """Line 18: the answers from the `banks` most relevant banks; 0 reads all."""
        weights = bank_weights(memory, banks)
        logits = self.decoder(memory, weights, questions)
        held = memory.held & (weights > 0).unsqueeze(-1)
        read = held.sum((1, 2)).to(logits.dtype).unsqueeze(-1).expand(-1, questions.shape[1])
        return Reading(logits, memory.entities, read, memory.banks)

    def lesson(self, batch: Batch, memory: PaperMemory) -> Lesson:
        """What training knows before the first sentence: every word is connected to itself alone."""
        alone = torch.eye(memory.edges.shape[-1], device=memory.edges.device).expand_as(memory.edges) > 0
        nothing = torch.zeros_like(memory.banks)
        return Lesson(answer_words(batch), alone, nothing, nothing)

    def learn(self, lesson: Lesson, memory: PaperMemory, sentence: PaperSentence, logit: PerStory) -> Lesson:
        """Adds the secondary losses of a sentence (section 4.4)."""
        assert sentence.expectation_chance is not None
        told = sentence.spoken.any(-1)
        components = merge_components(lesson.components, sentence.spoken)
        connected = (components & lesson.seeds.unsqueeze(1)).any(-1)
        expected = expected_strengths(connected, sentence.expectation_chance)
        return replace(
            lesson,
            components=components,
            relevance=lesson.relevance + relevance_loss(memory, expected) * told,
            creation=lesson.creation + self.creation_loss(logit, sentence.number) * told,
        )

    def creation_loss(self, logit: PerStory, number: PerStory) -> PerStory:
        """KL(p || p-hat^(1 / (beta * number))), with the number of sentences read so far."""
        return bernoulli_divergence(logit, creation_prior(number, self.config.prior, self.config.information))


class PaperDecoder(nn.Module):
    """Attention within each bank, the banks weighted and added up, and the answer (section 4.3)."""

    def __init__(self, config: PaperConfig) -> None:
        super().__init__()
        self.hidden = nn.Linear(config.hidden, config.hidden)  # h
        self.prelu = nn.PReLU()
        self.answer = nn.Linear(config.hidden, config.num_answers)  # r

    def forward(
        self, memory: PaperMemory, weights: Float[Tensor, "batch bank"], questions: PerQuestion
    ) -> Float[Tensor, "batch question answer"]:
        """Logits for each question from the banks whose weight is not zero."""
        content = self.content(memory)
        attention = self.attend(content, memory.held, questions)
        return self.predict(self.gather(content, attention, weights), questions)

    def content(self, memory: PaperMemory) -> Float[Tensor, "batch bank slot hidden"]:
        """Eq. (16): C_m = s_m * [w_0 ... w_i]."""
        return memory.strengths.unsqueeze(-1) * memory.states

    def attend(
        self,
        content: Float[Tensor, "batch bank slot hidden"],
        held: Bool[Tensor, "batch bank slot"],
        questions: PerQuestion,
    ) -> Float[Tensor, "batch question bank slot"]:
        """Eq. (17): ps = softmax(<C_m, w_Nq>) within each bank."""
        scores = torch.einsum("bmsh,bqh->bqms", content, questions)
        return masked_softmax(scores, held.unsqueeze(1).expand_as(scores))

    def gather(
        self,
        content: Float[Tensor, "batch bank slot hidden"],
        attention: Float[Tensor, "batch question bank slot"],
        weights: Float[Tensor, "batch bank"],
    ) -> PerQuestion:
        """Eq. (18): g += d(<C_m, ps>), summed over the banks."""
        return torch.einsum("bmsh,bqms,bm->bqh", content, attention, weights)

    def predict(self, gathered: PerQuestion, questions: PerQuestion) -> Float[Tensor, "batch question answer"]:
        """Eq. (19): L = r(PReLU(h(g) + w_Nq))."""
        logits: Tensor = self.answer(self.prelu(self.hidden(gathered) + questions))
        return logits


def relevance_loss(memory: PaperMemory, expected: Float[Tensor, "batch slot"]) -> PerStory:
    """KL(s || E[s]), averaged over what the banks hold."""
    divergence = strength_divergence(memory.strengths, expected.unsqueeze(1).expand_as(memory.strengths))
    held = memory.held.to(divergence.dtype)
    return (divergence * held).sum((1, 2)) / held.sum((1, 2)).clamp(min=1)


def answer_words(batch: Batch) -> Bool[Tensor, "batch slot"]:
    """Words that make others relevant: a question's answer, or its own words where the answer is no story word."""
    slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device).view(1, 1, -1)
    is_answer = batch.answer_slots.unsqueeze(-1) == slots
    is_asked = (batch.questions.unsqueeze(-1) == slots.unsqueeze(2)).any(2)
    chosen = torch.where((batch.answer_slots > 0).unsqueeze(-1), is_answer, is_asked)
    return (chosen & (slots > 0)).any(1)
