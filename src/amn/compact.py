"""The inference path of the default model: it touches the rows of a sentence and reads the rows of a bank, no others.

The step is the model's own, run on the few entities that a sentence may change or read, which are gathered from tables
and written back in place. What the batched path gets by looking at every entity is kept up to date instead: which
entities each bank holds, how many there are, and the sum of the last bank's states. So a sentence costs the same
however much is stored, and an answer costs what the banks read hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from amn.data.batches import Batch, encode
from amn.data.examples import Example, Words
from amn.data.graph import View, WordGraph
from amn.data.vocabulary import Vocabulary
from amn.models.amn import AMN, Memory, Sentence
from amn.models.base import Reading, rms_norm

CHUNK_SENTENCES = 64  # how many sentences are encoded together when many are told at once
CHUNK_PLACES = 4096  # and how much room they may take, sentences times the longest of them
FIRST_CAPACITY = 64  # rows of a new memory; doubled whenever they are full
_TABLES = ("states", "strengths", "relevance")
ABSENT = -1  # the depth of a word that no sentence has mentioned yet


@dataclass(frozen=True, slots=True)
class Change:
    """What one sentence did, in slots.

    Args:
        before: the depth that each touched entity had, ABSENT where it is new.
        after: the depth that it has.
        strengths: the strength of each entity that was updated.
        banks: how many banks there are now.
        created: whether one of them is new.
    """

    before: dict[int, int]
    after: dict[int, int]
    strengths: dict[int, float]
    banks: int
    created: bool


class CompactMemory:
    """The memory of one story, for the default model.

    Args:
        model: the model, on the device where the memory shall be.
        vocabulary: the words that it knows.
        questions: what the memory is built for.
    """

    @torch.inference_mode()
    def __init__(self, model: AMN, vocabulary: Vocabulary, questions: Sequence[Words]) -> None:
        self.model, self.vocabulary = model, vocabulary
        self.device = next(model.parameters()).device
        asked = Example(sentences=(), questions=tuple(questions), answers=(None,) * len(questions))
        batch = encode([asked], vocabulary).take(torch.tensor([0]), sentences=1).to(self.device)
        encoding = model.encoder(batch)
        self.questions: Float[Tensor, "batch question hidden"] = encoding.questions
        self.words = ["", *dict.fromkeys(chain.from_iterable(questions))]
        self.slots = {word: slot for slot, word in enumerate(self.words)}
        self.graph = WordGraph([self.slots[word] for word in chain.from_iterable(questions)])
        start = model.start(batch, encoding)
        self.states: Float[Tensor, "slot hidden"] = start.states[0]
        self.strengths: Float[Tensor, " slot"] = start.strengths[0].clone()
        self.relevance: Float[Tensor, " slot"] = start.relevance[0].clone()
        self.depth = [ABSENT] * len(self.words)
        self.levels: list[dict[int, None]] = [{}]  # the entities whose deepest bank this is, in the order they came
        self.last: dict[int, None] = {}  # the entities of the last bank
        self.pool = torch.zeros(model.config.hidden, dtype=torch.float64, device=self.device)
        self._make_room(FIRST_CAPACITY)

    @property
    def banks(self) -> int:
        """How many banks there are."""
        return len(self.levels)

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return sum(map(len, self.levels))

    def bank(self, index: int) -> list[int]:
        """The entities of a bank."""
        return list(self.last) if index == self.banks - 1 else self._deep(index)

    def _deep(self, index: int) -> list[int]:
        return list(chain.from_iterable(self.levels[index:]))

    @torch.inference_mode()
    def tell(self, sentences: Sequence[Words]) -> list[Change]:
        """Reads sentences and gives what each of them did."""
        changes: list[Change] = []
        for chunk in _chunks(sentences):
            changes += [self._step(view, sentence) for view, sentence in self._prepare(chunk)]
        return changes

    def follow(self, sentence: Words) -> View:
        """Gives the words of a sentence their slots and adds it to the word graph."""
        for word in sentence:
            if word not in self.slots:
                self.slots[word] = len(self.words)
                self.words.append(word)
                self.depth.append(ABSENT)
        self._make_room(len(self.words))
        return self.graph.tell([self.slots[word] for word in sentence])

    def _make_room(self, needed: int) -> None:
        capacity = len(self.states)
        if needed <= capacity:
            return
        more = max(needed, 2 * capacity) - capacity
        self.states = torch.cat((self.states, self.states.new_zeros(more, self.states.shape[1])))
        self.strengths = torch.cat((self.strengths, self.strengths.new_zeros(more)))
        self.relevance = torch.cat((self.relevance, self.relevance.new_zeros(more)))

    def _prepare(self, chunk: Sequence[Words]) -> list[tuple[View, Sentence]]:
        """All that does not depend on the memory, for a few sentences at once, in rows of each sentence's own."""
        views = [self.follow(sentence) for sentence in chunk]
        batch = self._batch(chunk, views)
        prepared = self.model.sentences(batch, self.model.encoder(batch), 1.0)
        return [(view, self._local(view, sentence)) for view, sentence in zip(views, prepared, strict=True)]

    def _batch(self, chunk: Sequence[Words], views: Sequence[View]) -> Batch:
        """The sentences as a batch of one story, whose slots are the entities that these sentences may change."""
        touched = dict.fromkeys(chain.from_iterable(view.members for view in views))
        local = {slot: number for number, slot in enumerate(touched, 1)}
        word_ids = [0, *(self.vocabulary.word_id(self.words[slot]) for slot in touched)]
        nothing = torch.zeros(1, 1, 1, dtype=torch.long, device=self.device)
        members = self._padded([[local[slot] for slot in view.members] for view in views])
        return Batch(
            slot_words=torch.tensor([word_ids], device=self.device),
            sentences=self._padded([[local[self.slots[word]] for word in sentence] for sentence in chunk]),
            members=members,
            context=members[..., :0],
            edges=members.unsqueeze(-1)[..., :0],
            questions=nothing,
            answers=nothing[0],
            answer_slots=nothing[0],
            weights=torch.zeros(1, 1, device=self.device),
        )

    def _padded(self, rows: list[list[int]]) -> Tensor:
        width = max(map(len, rows))
        return torch.tensor([[row + [0] * (width - len(row)) for row in rows]], device=self.device)

    def _local(self, view: View, sentence: Sentence) -> Sentence:
        """The sentence in the rows that `_rows` gathers for it: members first, then context."""
        members, rows = len(view.members), len(view.members) + len(view.context)
        return replace(
            sentence,
            members=torch.arange(members, device=self.device).unsqueeze(0),
            context=torch.arange(members, rows, device=self.device).unsqueeze(0),
            edges=torch.tensor([view.edges], device=self.device),
            update=sentence.update[:, :members],
            spoken=sentence.spoken[:, :members],
        )

    def _rows(self, slots: Sequence[int]) -> Memory:
        """A small memory of some entities only."""
        index = torch.tensor(slots, device=self.device)
        depth = torch.tensor([[self.depth[slot] for slot in slots]], dtype=self.states.dtype, device=self.device)
        return Memory(
            states=self.states[index].unsqueeze(0),
            strengths=self.strengths[index].unsqueeze(0),
            relevance=self.relevance[index].unsqueeze(0),
            in_last=depth.new_tensor([[slot in self.last for slot in slots]]),
            depth=depth,
            banks=depth.new_full((1,), self.banks),
        )

    def _step(self, view: View, sentence: Sentence) -> Change:
        """`AMN.step` on the rows of one sentence."""
        model, members = self.model, len(view.members)
        held = self._rows(view.members + view.context)
        states = model.add_or_update(held.states[:, :members], sentence)
        states = model.propagate(torch.cat((states, held.states[:, members:]), 1), sentence.edges)
        strengths = model.strength(states, self.questions, held.strengths[:, :members])
        relevance = model.relevance(states, strengths, self.questions)
        present = torch.ones_like(sentence.spoken)
        moved = model.move(held, sentence, states, strengths, relevance, present)
        before = {slot: self.depth[slot] for slot in view.members}
        self._write(view.members, held, moved)
        promoted = self._create_bank()
        before |= {slot: self.banks - 2 for slot in promoted or () if slot not in before}
        after = {slot: self.depth[slot] for slot in before}
        known = dict(zip(view.members, strengths[0].tolist(), strict=True))
        return Change(before, after, known, self.banks, promoted is not None)

    def _write(self, slots: list[int], held: Memory, moved: Memory) -> None:
        index = torch.tensor(slots, device=self.device)
        self.states[index] = moved.states[0, : len(slots)]
        self.strengths[index] = moved.strengths[0, : len(slots)]
        self.relevance[index] = moved.relevance[0, : len(slots)]
        self.pool += _sum_of_last(moved) - _sum_of_last(held)
        for slot, depth, inside in zip(slots, moved.depth[0].tolist(), moved.in_last[0].tolist(), strict=False):
            self._place(slot, int(depth))
            if inside > 0.5:
                self.last[slot] = None

    def _place(self, slot: int, depth: int) -> None:
        if self.depth[slot] != depth:
            if self.depth[slot] != ABSENT:
                del self.levels[self.depth[slot]][slot]
            self.levels[depth][slot] = None
            self.depth[slot] = depth

    def _create_bank(self) -> list[int] | None:
        """`AMN.create_bank`: the entities that went on to a new bank, None where there is no new bank."""
        if self.banks >= self.model.config.max_banks or self._creation_logit() <= 0:
            return None
        last = list(self.last)
        index = torch.tensor(last, dtype=torch.long, device=self.device)
        stays = torch.sigmoid(self.relevance[index]) > 0.5
        self.pool = self.states[index[stays]].double().sum(0)
        self.levels.append({})
        promoted = [slot for slot, stay in zip(last, stays.tolist(), strict=True) if stay]
        self.last = dict.fromkeys(promoted)
        for slot in promoted:
            self._place(slot, self.banks - 1)
        return promoted

    def _creation_logit(self) -> float:
        """`AMN.creation_logit` from the running sum and the counts."""
        pooled = (self.pool / max(1, len(self.last))).to(self.states.dtype)
        load = self.entities * 2.0 ** (1 - self.banks)
        features = torch.cat((pooled, pooled.new_tensor([log(max(load, 0.1))])))
        return float(self.model.create(features))

    @torch.inference_mode()
    def read(self, banks: int) -> tuple[Reading, list[int]]:
        """`AMN.decode` over the entities of the banks that are read; row 0 of what it sees is padding.

        Args:
            banks: how many banks to read, the most relevant first; 0 for all.

        Returns:
            The reading, with logits of these rows where the model can point; and the slots of the rows.
        """
        slots = self._slots(banks)
        reading = self.model.decode(self._rows(slots), self.questions, banks)
        return replace(reading, entities=reading.banks.new_full((1,), self.entities)), slots

    def _slots(self, banks: int) -> list[int]:
        """Padding, and the entities of the banks that are read: banks are nested, so those of the most general one."""
        return [0, *(self.last if banks == 1 else self._deep(self._first(banks)))]

    def _first(self, banks: int) -> int:
        return max(0, self.banks - banks) if banks else 0

    @torch.inference_mode()
    def attention(self, banks: int, asked: int) -> dict[int, dict[int, float]]:
        """How much the answer to a question rests on each entity of each bank that is read, by bank and slot."""
        slots = self._slots(banks)
        rows = self._rows(slots)
        content = rows.strengths.unsqueeze(-1) * rms_norm(rows.states)
        members = self.model.bank_members(rows, banks)
        shares = self.model.decoder.attend(content, members, self.questions[:, [asked]])[0, 0].tolist()
        first = self.banks - 1 if banks == 1 else 0
        return {first + i: dict(zip(slots, share, strict=True)) for i, share in enumerate(shares)}

    @torch.inference_mode()
    def most_relevant(self, slots: Sequence[int], count: int) -> list[tuple[int, float, float]]:
        """The most relevant of some entities, each with its strength and relevance."""
        index = torch.tensor(slots, dtype=torch.long, device=self.device)
        relevance, order = self.relevance[index].sort(descending=True, stable=True)
        chosen = index[order[:count]]
        return list(zip(chosen.tolist(), self.strengths[chosen].tolist(), relevance[:count].tolist(), strict=True))

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The tables by name, without their spare rows."""
        for name in _TABLES:
            yield name, getattr(self, name)[: len(self.words)].cpu()
        yield "pool", self.pool.cpu()

    def layout(self) -> dict[str, list[int] | int]:
        """Where each entity is, in JSON."""
        return {"banks": self.banks, "depth": self.depth, "last": list(self.last)}

    @torch.inference_mode()
    def resume(self, told: Sequence[Words], tensors: dict[str, Tensor], layout: dict[str, Any]) -> None:
        """Puts back what `tensors` and `layout` gave after these sentences, into a new memory of the same questions."""
        for sentence in told:
            self.follow(sentence)
        for name in _TABLES:
            getattr(self, name)[: len(self.words)] = tensors[name].to(self.device)
        self.pool = tensors["pool"].to(self.device).clone()
        self.levels = [{} for _ in range(layout["banks"])]
        self.last = dict.fromkeys(layout["last"])
        for slot, depth in enumerate(layout["depth"]):
            if depth != ABSENT:
                self._place(slot, depth)


def _sum_of_last(memory: Memory) -> Float[Tensor, " hidden"]:
    inside = memory.in_last[0] > 0.5
    return inside.double() @ memory.states[0].double()


def _chunks(sentences: Sequence[Words]) -> Iterator[list[Words]]:
    """Sentences in groups that can be encoded together without much padding."""
    chunk: list[Words] = []
    for sentence in sentences:
        longest = max(map(len, [*chunk, sentence]))
        if chunk and (len(chunk) == CHUNK_SENTENCES or longest * (len(chunk) + 1) > CHUNK_PLACES):
            yield chunk
            chunk = []
        chunk.append(sentence)
    if chunk:
        yield chunk
