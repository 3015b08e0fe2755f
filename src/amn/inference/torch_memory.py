"""Story memories in torch: of the default model where there is no compiled core, and of any other model."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from amn.data.batches import Batch
from amn.data.examples import Example, Words
from amn.data.graph import CONTEXT, View, WordGraph
from amn.inference.clauses import clauses
from amn.inference.phrasing import Strangeness
from amn.inference.spelling import Spelling
from amn.inference.story_memory import Arrays, Change, HeldEntity, Prediction, graph_tables, merged
from amn.inference.torch_batches import choices, on_cpu, read_by_torch
from amn.inference.trained import TrainedModel
from amn.models.amn import AMN, Memory


class TorchMemory:
    """The memory of one story in the default model. The cost of a sentence grows with how much is stored."""

    @torch.inference_mode()
    def __init__(self, trained: TrainedModel, questions: Sequence[Words]) -> None:
        model = trained.model
        assert isinstance(model, AMN)
        self._model, self._vocabulary = model, trained.vocabulary
        self._classes = len(trained.vocabulary.answers)
        self._spelling, self._vectors = Spelling(trained.vocabulary, trained.anonymous, questions), [0]
        self._phrasing, self._strangeness = trained.phrasing, Strangeness(trained.phrasing, questions)
        self._asked = [self._numbers(question) for question in questions]
        self._graph = WordGraph(list(chain.from_iterable(self._asked)))
        self._told: dict[int, int] = {}  # the slot that a vector stands for as an answer: the last one told
        self._pairs = set[tuple[int, int]]() if model.config.items > 1 else None  # adjacent vectors
        batch = self._batch((), None)
        encoding = model.encoder(batch)
        self._questions, self._memory = encoding.questions, model.start(batch, encoding)

    def _numbers(self, words: Words) -> list[int]:
        """The slots of some words; new words are assigned one."""
        slots, _, vectors = self._spelling.spell((words,))
        self._vectors += vectors
        return slots

    def _batch(self, sentence: Sequence[int], view: View | None) -> Batch:
        """A batch of one story with the questions, and one sentence or none."""
        known = [0, *(self._vocabulary.word_id(word) for word in self._spelling.words[1:])]
        longest = max(map(len, self._asked), default=1)
        questions = [question + [0] * (longest - len(question)) for question in self._asked]
        members = view.members if view else [0]
        context = [*(view.context if view else []), *[0] * CONTEXT][:CONTEXT]
        edges = torch.zeros(len(members), len(members) + CONTEXT, dtype=torch.long)
        if view:
            kinds = torch.from_numpy(view.edges.astype(np.int64))
            edges[:, : kinds.shape[1]] = kinds
        device = self._model.edge_bias.device
        nothing = torch.zeros(1, len(questions), dtype=torch.long)
        return Batch(
            slot_words=torch.tensor([known]),
            sentences=torch.tensor([[list(sentence) or [0]]]),
            members=torch.tensor([[members]]),
            context=torch.tensor([[context]]),
            edges=edges[None, None],
            questions=torch.tensor([questions]),
            answers=nothing,
            answer_slots=nothing,
            weights=self._model.edge_bias.new_zeros(1, len(questions)).cpu(),
        ).to(device)

    @property
    def words(self) -> list[str]:
        return self._spelling.words[1:]

    @property
    def banks(self) -> int:
        return int(self._memory.banks[0])

    @property
    def entities(self) -> int:
        return int(self._memory.entities[0])

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in vars(self._memory).values())

    def ingest(self, sentences: Sequence[Words]) -> None:
        for sentence in sentences:
            self.tell(sentence)

    def tell(self, sentence: Words) -> Change:
        return merged([self._tell(clause) for clause in clauses((sentence,), self._phrasing)])

    @torch.inference_mode()
    def _tell(self, clause: Words) -> Change:
        self._strangeness.tell((clause,))
        slots = self._numbers(self._spelling.coreference.link(clause))
        self._told |= {self._vectors[slot]: slot for slot in slots}
        if self._pairs is not None:
            vectors = [self._vectors[slot] for slot in slots]
            self._pairs.update(zip(vectors, vectors[1:], strict=False))
        view, before = self._graph.tell(slots), self._grown()
        batch = self._batch(slots, view)
        (read,) = self._model.sentences(batch, self._model.encoder(batch), 1.0)
        self._memory, _ = self._model.step(before, read, self._questions)
        return self._change(view, before)

    def _grown(self) -> Memory:
        """The memory, extended for new words."""
        more = len(self._spelling.words) - self._memory.depth.shape[1]
        memory = self._memory
        return replace(
            memory,
            states=pad(memory.states, (0, 0, 0, more)),
            **{name: pad(getattr(memory, name), (0, more)) for name in ("strengths", "relevance")},
            depth=pad(memory.depth, (0, more), value=-1.0),
        )

    def _change(self, view: View, before: Memory) -> Change:
        old, new, spelled = before.depth[0].tolist(), self._memory.depth[0].tolist(), self._spelling.words
        touched = list(dict.fromkeys([*view.members, *(slot for slot in range(len(old)) if old[slot] != new[slot])]))
        strengths = self._memory.strengths[0].tolist()
        return Change(
            {spelled[slot]: None if old[slot] < 0 else int(old[slot]) for slot in touched},
            {spelled[slot]: int(new[slot]) for slot in touched},
            {spelled[slot]: strengths[slot] for slot in view.members},
            self.banks,
            self.banks > int(before.banks[0]),
        )

    @torch.inference_mode()
    def read(self, banks: int) -> Prediction:
        model = self._model
        names = model.names(self._batch((), None), self._memory)
        if names is not None:
            pairs = [torch.from_numpy(value).to(names.numbers).unsqueeze(0) for value in self._pair_table().values()]
            names = replace(names, pairs=pairs[0] if pairs else None)
        reading = model.decode(self._memory, self._questions, banks, names)
        told = list(self._told.values()) if names is not None else []
        chosen = [*range(self._classes), *(self._classes + slot for slot in told)]
        words = [self._spelling.words[slot] for slot in told]
        read = [round(read) for read in reading.entities_read[0].tolist()]
        chose = choices(on_cpu(reading), 0, len(self._asked), chosen)
        return Prediction(*chose, words, self.entities, read, self.banks, self._strangeness.counts)

    def _pair_table(self) -> Arrays:
        """The pairs of adjacent vectors; empty if unknown."""
        return {} if self._pairs is None else {"pairs": np.array(sorted(self._pairs), np.int32).reshape(-1, 2)}

    def bank(self, index: int) -> list[HeldEntity]:
        tables = (self._memory.depth, self._memory.strengths, self._memory.relevance)
        depth, strengths, relevance = (table[0].tolist() for table in tables)
        slots = [slot for slot, deepest in enumerate(depth) if deepest >= index]
        return [HeldEntity(self._spelling.words[slot], strengths[slot], relevance[slot]) for slot in slots]

    @torch.inference_mode()
    def attention(self, banks: int, question: int) -> list[dict[str, float]]:
        memory, shares = self._memory, [dict[str, float]() for _ in range(self.banks)]
        read = range(self.banks - (min(banks, self.banks) or self.banks), self.banks)
        members = torch.stack([memory.depth >= index for index in read], 1).to(memory.states.dtype)
        content = self._model.decoder.content(memory.states, memory.strengths)
        found = self._model.decoder.attend(content, members, self._questions)[0, question].tolist()
        for index, row in zip(read, found, strict=True):
            shares[index] = {one.word: row[self._spelling.slots[one.word]] for one in self.bank(index)}
        return shares

    @torch.inference_mode()
    def arrays(self) -> Arrays:
        memory, grown = self._memory, self._grown()
        first = len(self._vocabulary.words)
        anonymous = np.zeros(self._spelling.anonymous, np.int32)
        for vector, slot in self._told.items():
            if vector >= first:
                anonymous[vector - first] = slot
        votes = memory.states[0] @ self._model.create.weight[0, :-1]
        tables = graph_tables(grown.depth[0].cpu().numpy().astype(np.int32), self._graph)
        besides = self._pair_table() | self._spelling.recalled() | self._strangeness.arrays() | tables
        return besides | {
            "states": _floats(grown.states),
            "strengths": _floats(grown.strengths),
            "relevance": _floats(grown.relevance),
            "last_anonymous": anonymous,
            "banks": np.array([self.banks], np.int32),
            "vote": np.array([float((votes * memory.in_last[0]).sum())]),
        }

    def resume(self, words: Sequence[str], arrays: Arrays) -> None:
        self._numbers(tuple(words))
        _check(arrays, len(self._spelling.words), self._model.config.max_banks)
        device = self._model.edge_bias.device

        def tensor(name: str) -> Tensor:
            return torch.from_numpy(arrays[name].astype(np.float32)).to(device).unsqueeze(0)

        depth, banks = tensor("depth"), tensor("banks")[0]
        self._memory = Memory(tensor("states"), tensor("strengths"), tensor("relevance"), depth, banks)
        first = len(self._vocabulary.words)
        told = [slot for slot, deepest in enumerate(arrays["depth"].tolist()) if deepest >= 0]
        for slot in told:
            self._graph.meet(slot, arrays["neighbours"][slot, : arrays["neighbour_counts"][slot]].tolist())
        self._told = {self._vectors[slot]: slot for slot in told if self._vectors[slot] < first}
        self._told |= {first + i: slot for i, slot in enumerate(arrays["last_anonymous"].tolist()) if slot}
        self._spelling.resume(told, arrays)
        self._strangeness.resume(arrays)
        self._pairs = {(before, after) for before, after in arrays["pairs"].tolist()} if "pairs" in arrays else None


def _check(arrays: Arrays, slots: int, max_banks: int) -> None:
    """Checks tables: what they refer to must exist."""
    most = {"neighbours": slots - 1, "neighbour_counts": arrays["neighbours"].shape[-1], "last_anonymous": slots - 1}
    most |= {"banks": max_banks, "depth": int(arrays["banks"][0]) - 1}
    for name, last in most.items():
        value, first = arrays[name], {"depth": -1, "banks": 1}.get(name, 0)
        if value.dtype.kind != "i" or (value.size and not first <= value.min() <= value.max() <= last):
            raise ValueError(f"{name}: expected integers from {first} to {last}")
    for name in ("states", "strengths", "relevance"):
        if len(arrays[name]) != slots or not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name}: expected a finite row for each of {slots} words")
    if len(arrays["depth"]) != slots or len(arrays["neighbours"]) != slots:
        raise ValueError(f"depth, neighbours: expected a row for each of {slots} words")


def _floats(values: Tensor) -> np.ndarray:
    return values[0].detach().cpu().numpy().astype(np.float32)


class WholeMemory:
    """The memory of a model that reads whole stories: it keeps the sentences, and reads all of them when asked.

    It has no tables to save: its sentences are saved as text, and told again.
    """

    words: Sequence[str] = ()
    banks = nbytes = 0

    def __init__(self, trained: TrainedModel, questions: Sequence[Words]) -> None:
        self._trained, self._questions = trained, tuple(questions)
        self._told: list[Words] = []

    @property
    def entities(self) -> int:
        return len(set(chain.from_iterable(self._told)))

    def ingest(self, sentences: Sequence[Words]) -> None:
        self._told += sentences

    def tell(self, sentence: Words) -> Change:
        self._told.append(sentence)
        return Change()

    def read(self, banks: int) -> Prediction:
        answers = (None,) * len(self._questions)
        example = Example(sentences=tuple(self._told), questions=self._questions, answers=answers)
        return read_by_torch(self._trained, [example], banks)[0]

    def bank(self, index: int) -> list[HeldEntity]:
        raise IndexError(index)

    def attention(self, banks: int, question: int) -> list[dict[str, float]]:  # noqa: ARG002
        return []

    def arrays(self) -> Arrays:
        return {}

    def resume(self, words: Sequence[str], arrays: Arrays) -> None: ...
