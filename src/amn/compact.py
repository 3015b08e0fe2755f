"""The memory of one story, told sentence by sentence: it touches the rows of a sentence and reads those of a bank.

What the batched path gets by looking at every entity is kept up to date instead: which entities each bank holds, how
many there are, and the sum of the last bank's votes. So a sentence costs the same however much is stored, and an answer
costs what the banks read hold; where any word that was told may be the answer, one product more with the vectors that
the model has for words, however many words share them. States are rows of an array; the few numbers beside them are
plain numbers, because for half a dozen members these are faster than arrays.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import ceil, log, tanh
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from amn.data.examples import Words
from amn.data.graph import View, WordGraph, places_of
from amn.data.vocabulary import Vocabulary
from amn.fast.decode import Found, attend, banks_of, decode
from amn.fast.encode import encode_questions, encode_sentences, first_states
from amn.fast.spelling import Spelling, choose
from amn.fast.step import ABSENT, DEPTH, STRENGTH, read_sentence
from amn.fast.weights import Array, product, scale_of, weights_of
from amn.models.amn import AMN

CHUNK_SENTENCES = 64  # how many sentences are encoded together when many are told at once
FIRST_CAPACITY = 64  # rows of a new memory; doubled whenever they are full

# What a member is judged by: what its state adds to its relevance, its update gate and its candidate, these two at half
# their size; what its strength is multiplied with, its vote, and half its likeness to each question.
Judged = tuple[float, float, float, float, float, list[float]]


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
    """The memory of one story, for the default model. It is on the CPU, wherever the model is.

    Args:
        model: the model.
        vocabulary: the words that it knows.
        questions: what the memory is built for.
    """

    def __init__(self, model: AMN, vocabulary: Vocabulary, questions: Sequence[Words]) -> None:
        self.weights, self.vocabulary = weights_of(model), vocabulary
        self._spelling = Spelling(vocabulary, pointer=model.config.pointer)
        self.words = ["", *dict.fromkeys(chain.from_iterable(questions))]
        self.slots = {word: slot for slot, word in enumerate(self.words)}
        self.vectors = array("l", [0, *map(self._spelling.number, self.words[1:])])  # which vector each word has
        self.told: dict[int, int] = {}  # which slot a vector stands for as an answer: the one that was told last
        named = [self.slots[word] for word in chain.from_iterable(questions)]
        self.graph = WordGraph(named)
        self.states: Float[Array, "slot hidden"] = np.zeros(
            (max(len(self.words), FIRST_CAPACITY), model.config.hidden), self.weights.dtype
        )
        self.strengths, self.relevance, self.votes = (array("d", bytes(8 * len(self.words))) for _ in range(3))
        self.depth = [ABSENT] * len(self.words)
        self.levels: list[dict[int, None]] = [{}]  # the entities whose deepest bank this is, in the order they came
        self.last: dict[int, None] = {}  # the entities of the last bank
        self.entities, self.vote = 0, 0.0  # how many entities there are; the sum of the last bank's votes
        self._ask(questions, named)

    def _ask(self, questions: Sequence[Words], named: list[int]) -> None:
        asked, outputs = encode_questions(self.weights, [[self._spell(question) for question in questions]])
        entities, states = first_states(self.weights, outputs, named)
        self.states[entities] = states
        self.asked = asked
        columns = (self.weights.half_of_state, 0.5 * asked.likeness[0].T, asked.move[0].T)
        self._columns, self._update = np.concatenate(columns, 1), [0.5 * update for update in asked.update[0].tolist()]

    def _spell(self, words: Words) -> tuple[int, ...]:
        return tuple([self.vectors[self.slots[word]] for word in words])

    @property
    def banks(self) -> int:
        """How many banks there are."""
        return len(self.levels)

    def bank(self, index: int) -> list[int]:
        """The entities of a bank."""
        return list(self.last) if index == self.banks - 1 else self._deep(index)

    def _deep(self, index: int) -> list[int]:
        return list(chain.from_iterable(self.levels[index:]))

    def tell(self, sentences: Sequence[Words]) -> list[Change]:
        """Reads sentences and gives what each of them did."""
        return [self._change(view, found) for view, found in self._read(sentences)]

    def hear(self, sentences: Sequence[Words]) -> None:
        """Reads sentences."""
        for view, found in self._read(sentences):
            self._judge(view, found)

    def _read(self, sentences: Sequence[Words]) -> Iterator[tuple[View, list[Judged]]]:
        """What each sentence touches, and what its members are judged by.

        States do not depend on strengths or banks, so they come first, for some sentences at once.
        """
        for start in range(0, len(sentences), CHUNK_SENTENCES):
            chunk = sentences[start : start + CHUNK_SENTENCES]
            self._meet(chain.from_iterable(chunk))
            tellings = [(self._spell(told), places_of(told)) for told in chunk]
            gates = encode_sentences(self.weights, tellings)
            views = [self._follow(told, places) for told, (_, places) in zip(chunk, tellings, strict=True)]
            states = []
            for view, first in zip(views, gates.starts.tolist(), strict=True):
                states.append(self._step(view, gates.rows[:, first : first + view.spoken]))
            found = iter(self._judged_by(np.concatenate(states)))
            for view in views:
                yield view, list(islice(found, len(view.members)))

    def _meet(self, words: Iterable[str]) -> None:
        """Gives words their slots."""
        new = [word for word in dict.fromkeys(words) if word not in self.slots]
        self.slots.update(zip(new, range(len(self.words), len(self.words) + len(new)), strict=True))
        self.words += new
        self.vectors.extend(map(self._spelling.number, new))
        self.depth += [ABSENT] * len(new)
        for numbers in (self.strengths, self.relevance, self.votes):
            numbers.frombytes(bytes(8 * len(new)))
        self._make_room(len(self.words))

    def _follow(self, sentence: Words, places: tuple[int, ...]) -> View:
        """Adds a sentence to the word graph, and its words to those that may be answers."""
        slots = [self.slots[word] for word in sentence]
        if self.weights.config.pointer:
            self.told.update((self.vectors[slot], slot) for slot in slots)
        return self.graph.tell(slots, places)

    def _make_room(self, needed: int) -> None:
        capacity = len(self.states)
        if needed > capacity:
            more = np.zeros((max(needed, 2 * capacity) - capacity, self.states.shape[1]), self.states.dtype)
            self.states = np.concatenate((self.states, more))

    def _step(self, view: View, gates: Float[Array, "3 spoken hidden"]) -> Float[Array, "member hidden"]:
        """The new states of a sentence's members."""
        rows = np.array(view.members + view.context)
        new = read_sentence(self.weights, self.states.take(rows, 0), gates, view.edges)
        self.states[rows[: len(new)]] = new
        return new

    def _judged_by(self, states: Float[Array, "member hidden"]) -> list[Judged]:
        """What members are judged by, for `_judge`: what it needs of their states and the questions."""
        weights, asked = self.weights, len(self._update)
        scores, scale = product(states, self._columns), scale_of(states)
        moves = scores[:, 4 + asked :].max(1)
        moves *= scale
        moves += weights.move_bias
        scores[:, 2] *= scale
        scores[:, 1] += 0.5 * weights.candidate_bias
        likeness = scores[:, 4 : 4 + asked].tolist()
        return [*zip(moves.tolist(), *scores[:, :4].T.tolist(), likeness, strict=True)]

    def _change(self, view: View, found: list[Judged]) -> Change:
        """What a sentence does, which is done."""
        before = {slot: self.depth[slot] for slot in view.members}
        promoted = self._judge(view, found)
        before |= {slot: self.banks - 2 for slot in promoted or () if slot not in before}
        after = {slot: self.depth[slot] for slot in before}
        strengths = {slot: self.strengths[slot] for slot in view.members}
        return Change(before, after, strengths, self.banks, promoted is not None)

    def _judge(self, view: View, found: list[Judged]) -> list[int] | None:
        """Eqs. (5-8) and (9) for the members of a sentence: `amn.fast.step.judge` in plain numbers.

        sigmoid(2x) is written (1 + tanh(x)) / 2. Gives what `_create_bank` does.
        """
        strengths, from_update = self.strengths, 0.5 * self.weights.update_strength
        from_kept = 0.25 * self.weights.candidate_strength
        updates, relevances, votes = self._update, self.relevance, self.votes
        inside, depths, last = self.last, self.depth, len(self.levels) - 1
        for slot, (of_move, of_update, of_candidate, of_strength, vote, likeness) in zip(
            view.members, found, strict=True
        ):
            previous, strength = strengths[slot], 0.0
            of_update += from_update * previous
            of_kept = from_kept * previous
            for of_question, alike in zip(updates, likeness, strict=True):
                candidate = 0.5 + 0.5 * tanh(of_candidate + of_kept * (1 - tanh(previous * alike)))
                asked = candidate + 0.5 * (1 + tanh(of_update + of_question)) * (previous - candidate)
                if asked > strength:
                    strength = asked
            strengths[slot] = strength
            relevances[slot] = relevance = strength * of_strength + of_move
            if slot in inside:
                self.vote += vote - votes[slot]
            elif relevance > 0 or not last:
                inside[slot] = None
                self.vote += vote
            votes[slot] = vote
            if depths[slot] < last or depths[slot] < 0:
                self._move(slot, relevance)
        return self._create_bank()

    def _move(self, slot: int, relevance: float) -> None:
        """Eq. (10), eq. (12): a member goes as far as its relevance reaches, and is never taken back."""
        last = len(self.levels) - 1
        reach = min(max(last + ceil(relevance / self.weights.config.bank_gap) - 1, 0), last)
        if reach > self.depth[slot]:
            self._place(slot, reach)

    def _place(self, slot: int, depth: int) -> None:
        before = self.depth[slot]
        if before == ABSENT:
            self.entities += 1
        else:
            del self.levels[before][slot]
        self.levels[depth][slot] = None
        self.depth[slot] = depth

    def _create_bank(self) -> list[int] | None:
        """`AMN.create_bank`: the entities that went on to a new bank, None where there is no new bank."""
        weights = self.weights
        load = log(max(self.entities * 2.0 ** (1 - self.banks), 0.1))
        logit = self.vote / max(1, len(self.last)) + load * weights.load + weights.create_bias
        if self.banks >= weights.config.max_banks or logit <= 0:
            return None
        promoted = [slot for slot in self.last if self.relevance[slot] > 0]
        self.levels.append({})
        self.last = dict.fromkeys(promoted)
        self.vote = sum(self.votes[slot] for slot in promoted)
        for slot in promoted:
            self._place(slot, self.banks - 1)
        return promoted

    def read(self, banks: int) -> Found:
        """`AMN.decode` over the entities of the banks that are read, the most relevant first; 0 for all."""
        slots = self._slots(banks)
        logits = decode(self.weights, *self._rows(slots), self.asked, np.array([float(self.banks)]), banks)[0]
        logits = choose(logits, self.vocabulary, self.told)
        first = self.banks - 1 if banks == 1 else self._first(banks)
        read = len(slots) if banks == 1 else sum(self.depth[slot] - first + 1 for slot in slots)
        words = [self.words[slot] for slot in self.told.values()]
        return Found(logits, words, self.entities, [read] * len(logits), self.banks)

    def _slots(self, banks: int) -> list[int]:
        """The entities of the banks that are read: banks are nested, so those of the most general one."""
        return list(self.last) if banks == 1 else self._deep(self._first(banks))

    def _first(self, banks: int) -> int:
        return max(0, self.banks - banks) if banks else 0

    def _rows(self, slots: Sequence[int]) -> tuple[Array, Array, Array]:
        """States and marks of some entities, all of which are present, as a story of its own."""
        marks = np.zeros((1, len(slots), 5), self.states.dtype)
        marks[0, :, STRENGTH] = [self.strengths[slot] for slot in slots]
        marks[0, :, DEPTH] = [self.depth[slot] for slot in slots]
        rows = np.array(slots, dtype=np.intp)
        return self.states[None, rows], marks, np.ones((1, len(slots)), bool)

    def attention(self, banks: int, asked: int) -> dict[int, dict[int, float]]:
        """How much the answer to a question rests on each entity of each bank that is read, by bank and slot."""
        slots = self._slots(banks)
        states, marks, present = self._rows(slots)
        held, counts = banks_of(self.weights, marks, present, np.array([float(self.banks)]), banks)
        strengths = marks[:, :, STRENGTH] * scale_of(states)
        alone = np.ones_like(counts)
        match = self.asked.match[:, [asked]]
        shares = attend(self.weights, states, strengths, match, held, alone)[0, 0].tolist()
        first = self.banks - 1 if banks == 1 else 0
        return {first + i: dict(zip(slots, share, strict=True)) for i, share in enumerate(shares)}

    def most_relevant(self, slots: Sequence[int], count: int) -> list[tuple[int, float, float]]:
        """The most relevant of some entities, each with its strength and relevance."""
        chosen = sorted(slots, key=lambda slot: -self.relevance[slot])[:count]
        return [(slot, self.strengths[slot], self.relevance[slot]) for slot in chosen]

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The tables by name, without their spare rows."""
        yield "states", torch.from_numpy(self.states[: len(self.words)].copy())
        for name in ("strengths", "relevance"):
            yield name, torch.tensor(getattr(self, name), dtype=torch.float64)

    def layout(self) -> dict[str, list[int] | int]:
        """Where each entity is, in JSON."""
        return {"banks": self.banks, "depth": self.depth, "last": list(self.last)}

    def resume(self, told: Sequence[Words], tensors: dict[str, Tensor], layout: dict[str, Any]) -> None:
        """Puts back what `tensors` and `layout` gave after these sentences, into a new memory of the same questions."""
        for sentence in told:
            self._meet(sentence)
            self._follow(sentence, places_of(sentence))
        self.states[: len(self.words)] = tensors["states"].numpy()
        self.strengths, self.relevance = (array("d", tensors[name].tolist()) for name in ("strengths", "relevance"))
        self.votes = array("d", (self.states[: len(self.words)] @ self.weights.of_state[:, 3]).tolist())
        self.levels = [{} for _ in range(layout["banks"])]
        self.last = dict.fromkeys(layout["last"])
        self.vote = sum(self.votes[slot] for slot in self.last)
        for slot, depth in enumerate(layout["depth"]):
            if depth != ABSENT:
                self._place(slot, depth)
