"""Algorithm 1 of the paper, story by story and loop by loop, with the weights of a `PaperAMN`.

Written from the equations for reading and for judging the batched model; slow, and shares no tensor code with it. A
bank is a dictionary from entity to a pair of state and strength. The graph is a set of pairs of words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from statistics import NormalDist

import torch
from torch import Tensor

from amn.data.batches import Batch
from amn.models.layers import GRU, uniform
from amn.models.paper.model import PaperAMN

MARGIN = 1e-4
Bank = dict[int, tuple[Tensor, Tensor]]
Edges = set[tuple[int, int]]


@dataclass
class Draws:
    """The uniform numbers that decide in training; 0.5 for every decision without a key."""

    batch: Batch
    max_banks: int
    tables: dict[int, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stories, sentences = self.batch.sentences.shape[:2]
        slots = self.batch.slot_words.shape[1]
        shapes = {1: (self.max_banks, slots), 2: (), 3: (slots,), 4: (slots,)}
        if self.batch.key is not None:
            for stream, rest in shapes.items():
                self.tables[stream] = uniform(self.batch.key, (stories, sentences, *rest), stream)

    def number(self, stream: int, *place: int) -> float:
        return float(self.tables[stream][place]) if self.tables else 0.5


@dataclass
class Told:
    """What the reference says about one story."""

    logits: Tensor
    banks: list[Bank]
    entities_read: int
    losses: dict[str, Tensor]


def read(model: PaperAMN, batch: Batch, banks: int = 0) -> list[Told]:
    """Reads every story of a batch on its own."""
    return [Reader(model, batch, story).read(banks) for story in range(batch.sentences.shape[0])]


class Reader:
    def __init__(self, model: PaperAMN, batch: Batch, story: int) -> None:
        self.model, self.story = model, story
        self.draws = Draws(batch, model.config.max_banks)
        self.words = batch.slot_words[story].tolist()
        self.sentences = [_words(row) for row in batch.sentences[story].tolist() if _words(row)]
        self.questions = [_words(row) for row in batch.questions[story].tolist() if _words(row)]
        self.answers = batch.answer_slots[story].tolist()
        self.asked = [self.encode(model.encoder.question_gru, question)[-1] for question in self.questions]

    def read(self, num_banks: int) -> Told:
        zero = torch.zeros((), dtype=self.asked[0].dtype)
        losses = {"relevance": zero, "creation": zero}
        memory: list[Bank] = [{}]
        edges: Edges = set()
        for t, sentence in enumerate(self.sentences):
            edges |= set(_path(sentence))
            memory, p = self.tell(memory, edges, sentence, t)
            expected = self.expected(edges, t)
            pairs = [(s, expected[e]) for bank in memory for e, (_, s) in bank.items()]
            losses["relevance"] = losses["relevance"] + sum(_divergence(s, q) for s, q in pairs) / len(pairs)
            prior = self.model.config.prior ** (1 / (self.model.config.information * (t + 1)))
            losses["creation"] = losses["creation"] + _divergence(p, _inside(prior), clamp=False)
        shown = memory[-num_banks:] if num_banks else memory
        logits = torch.stack([self.decode(shown, question) for question in self.asked])
        return Told(logits, memory, sum(len(bank) for bank in shown), losses)

    def encode(self, cell: GRU, sentence: Sequence[int]) -> list[Tensor]:
        """Eqs. 1, 2, 4."""
        state = torch.zeros_like(cell.state.weight[0])
        outputs = []
        for slot in sentence:
            state = _gru(cell, self.model.encoder.embedding.weight[self.words[slot]], state)
            outputs.append(state)
        return outputs

    def tell(self, memory: list[Bank], edges: Edges, sentence: list[int], t: int) -> tuple[list[Bank], Tensor]:
        """Lines 3 to 16."""
        memory = [dict(bank) for bank in memory]
        outputs = self.encode(self.model.encoder.word_gru, sentence)
        d: dict[int, Tensor] = {}
        for slot, output in zip(sentence, outputs, strict=True):
            d[slot] = d[slot] + output if slot in d else output  # eq. 3
        fresh = {}
        for slot in d:  # line 6
            for bank in memory:
                if slot in bank:
                    state, strength = bank[slot]
                    bank[slot] = state, self.sgru(d[slot], strength)
            if slot not in memory[0]:
                fresh[slot] = d[slot], self.sgru(d[slot], torch.zeros_like(d[slot][0]))
        heard, now = outputs[-1], set(_path(sentence))
        for i, bank in enumerate(list(memory)):
            following = memory[i + 1] if i + 1 < len(memory) else None
            chances = [self.draws.number(1, self.story, t, i, slot) for slot in range(len(self.words))]
            self.visit(bank, following, edges, now, list(d), heard, fresh if i == 0 else {}, chances)
        p = self.creation(memory[-1])
        if len(memory) < self.model.config.max_banks and p.item() > self.draws.number(2, self.story, t):
            memory.append({})
            chances = [self.draws.number(3, self.story, t, slot) for slot in range(len(self.words))]
            self.visit(memory[-2], memory[-1], edges, now, list(d), heard, {}, chances)
        return memory, p

    def visit(
        self,
        bank: Bank,
        following: Bank | None,
        edges: Edges,
        now: Edges,
        spoken: list[int],
        heard: Tensor,
        fresh: Bank,
        chances: list[float],
    ) -> None:
        """Lines 8 to 11, changing the banks in place."""
        for entity in spoken:  # eq. 13
            if entity in bank:
                bank[entity] = _gru(self.model.update, heard, bank[entity][0]), bank[entity][1]
        bank.update(fresh)
        self.propagate(bank, edges, now)
        for entity, (state, strength) in bank.items():  # eq. 12
            if following is not None and entity not in following and strength.item() > chances[entity]:
                following[entity] = strength * state, strength
        for entity, (state, strength) in bank.items():  # line 11
            bank[entity] = state, self.sgru(state, strength)

    def propagate(self, bank: Bank, edges: Edges, now: Edges) -> None:
        """Eqs. 14, 15."""
        if not bank:
            return
        emphasis = torch.log1p(torch.exp(self.model.recency[0]))
        direct, recent = _closed(edges, set(bank)), _closed(now, set(bank))
        order = sorted(bank)
        adjacency = torch.stack([self._column(order, j, direct, recent, emphasis) for j in order], 1)
        for r in range(1, self.model.config.powers + 1):
            states = torch.stack([bank[entity][0] for entity in order])
            a = torch.linalg.matrix_power(adjacency, r).T @ states
            for j, entity in enumerate(order):
                bank[entity] = _gru(self.model.propagate_gru, a[j], states[j]), bank[entity][1]

    @staticmethod
    def _column(order: list[int], j: int, direct: Edges, recent: Edges, emphasis: Tensor) -> Tensor:
        """The shares of the incoming edges of one entity."""
        weights = torch.stack([((i, j) in direct) + ((i, j) in recent) * emphasis for i in order])
        return weights / weights.sum() if weights.any() else weights

    def sgru(self, state: Tensor, strength: Tensor) -> Tensor:
        """Eqs. 5 to 8, the greatest over the questions."""
        cell = self.model.strength
        rated = []
        for question in self.asked:
            z = cell.update_state.weight[0] @ state + cell.update_state.bias[0]
            z = torch.sigmoid(z + cell.update_question.weight[0] @ question + cell.update_strength[0] * strength)
            r = 1 - torch.sigmoid(cell.reset[0] * strength * (state @ question) / sqrt(len(state)))
            new = cell.candidate_state.weight[0] @ state + cell.candidate_state.bias[0]
            new = torch.sigmoid(new + cell.candidate_strength[0] * r * strength)
            rated.append(z * strength + (1 - z) * new)
        return torch.stack(rated).max()

    def creation(self, bank: Bank) -> Tensor:
        """Eq. 9 for creation."""
        hidden = self.model.config.hidden
        logit = self.model.create.bias[0]
        for entity, (state, _) in bank.items():
            if entity <= self.model.config.capacity:
                logit = logit + self.model.create.weight[0, (entity - 1) * hidden : entity * hidden] @ state
        return torch.sigmoid(logit)

    def decode(self, banks: list[Bank], question: Tensor) -> Tensor:
        """Eqs. 16 to 19."""
        total = sum(2**k for k in range(len(banks)))
        g = torch.zeros_like(question)
        for k, bank in enumerate(banks):
            contents = [strength * state for state, strength in bank.values()]
            if contents:
                scores = torch.softmax(torch.stack([content @ question for content in contents]), 0)
                for score, content in zip(scores, contents, strict=True):
                    g = g + 2**k / total * score * content
        decoder = self.model.decoder
        summary = decoder.hidden.weight @ g + decoder.hidden.bias + question
        summary = torch.where(summary > 0, summary, decoder.prelu.weight[0] * summary)
        return decoder.answer.weight @ summary + decoder.answer.bias

    def expected(self, edges: Edges, t: int) -> dict[int, float]:
        """E[s] after a sentence (section 5.1)."""
        connected: set[int] = set()
        for question, answer in zip(self.questions, self.answers, strict=False):
            connected |= _component(edges, [answer] if answer else question)
        found = {}
        for entity in range(1, len(self.words)):
            mean, variance = (0.75, 0.05) if entity in connected else (0.3, 0.1)
            normal = NormalDist().inv_cdf(self.draws.number(4, self.story, t, entity))
            found[entity] = _inside(mean + sqrt(variance) * normal)
        return found


def _words(row: Iterable[int]) -> list[int]:
    return [slot for slot in row if slot]


def _path(sentence: list[int]) -> list[tuple[int, int]]:
    return list(zip(sentence, sentence[1:], strict=False))


def _closed(edges: Edges, held: set[int]) -> Edges:
    """Edges inside a bank, and one wherever missing words alone lie between two of its entities."""
    closed: Edges = set()
    for start in held:
        passed: set[int] = set()
        open_ends = [target for source, target in edges if source == start]
        while open_ends:
            end = open_ends.pop()
            if end in held:
                closed.add((start, end))
            elif end not in passed:
                passed.add(end)
                open_ends += [target for source, target in edges if source == end]
    return closed


def _component(edges: Edges, seeds: Iterable[int]) -> set[int]:
    """All words that a chain of edges joins with a seed, whichever way the edges point."""
    found, open_ends = set(seeds), list(seeds)
    while open_ends:
        end = open_ends.pop()
        for source, target in edges:
            for near, far in ((source, target), (target, source)):
                if near == end and far not in found:
                    found.add(far)
                    open_ends.append(far)
    return found


def _gru(cell: GRU, heard: Tensor, state: Tensor) -> Tensor:
    width = len(state)
    of_input = [cell.input.weight[k : k + width] @ heard + cell.input.bias[k : k + width] for k in _thirds(width)]
    of_state = [cell.state.weight[k : k + width] @ state + cell.state.bias[k : k + width] for k in _thirds(width)]
    reset = torch.sigmoid(of_input[0] + of_state[0])
    update = torch.sigmoid(of_input[1] + of_state[1])
    new = torch.tanh(of_input[2] + reset * of_state[2])
    return (1 - update) * new + update * state


def _thirds(width: int) -> tuple[int, int, int]:
    return 0, width, 2 * width


def _inside(probability: float) -> float:
    return min(max(probability, MARGIN), 1 - MARGIN)


def _divergence(p: Tensor, prior: float, *, clamp: bool = True) -> Tensor:
    p = p.clamp(MARGIN, 1 - MARGIN) if clamp else p
    return p * (torch.log(p) - log(prior)) + (1 - p) * (torch.log(1 - p) - log(1 - prior))
