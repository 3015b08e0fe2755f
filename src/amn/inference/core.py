"""The default model in the compiled core, for one story, for many, and for live memories."""

from array import array
from collections.abc import Iterable, Sequence
from ctypes import Array, byref, c_void_p
from itertools import accumulate
from threading import local
from typing import Any

import numpy as np

from amn.core import boundary
from amn.core.boundary import address
from amn.data.examples import Words
from amn.data.graph import RECENT_NEIGHBOURS
from amn.errors import AMNError
from amn.inference.clauses import clauses
from amn.inference.core_weights import core_weights
from amn.inference.phrasing import Strangeness
from amn.inference.spelling import Spelling
from amn.inference.story_memory import Arrays, Change, HeldEntity, Prediction, merged
from amn.inference.trained import TrainedModel

ARCHITECTURE = "amn"  # the one that the core implements
DESK_BYTES = 32 << 20  # of the cache of encoded sentences, in each thread
_CANNOT = "{}: the compiled core does not support a model with these settings and weights"


class Core:
    """A model in the compiled core; `core_of` gives it for a model that the core supports."""

    def __init__(self, trained: TrainedModel) -> None:
        code = boundary.library()
        assert code is not None
        self.code, self.vocabulary, self.numbers = code, trained.vocabulary, trained.numbers
        self.phrasing = trained.phrasing
        self.hidden = int(trained.config["hidden"])
        self.anonymous = trained.anonymous
        self.gate = int(trained.config.get("gate", 0))
        self.classes, self.items = len(trained.vocabulary.answers), int(trained.config.get("items", 1))
        try:
            weights, _kept = core_weights(trained)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise AMNError(f"{_CANNOT.format(trained.architecture)}: {error}") from error
        self.handle: int | None = code.amn_model_new(byref(weights))
        if not self.handle:
            raise AMNError(_CANNOT.format(trained.architecture))
        self._desks = local()

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.code.amn_model_free(self.handle)

    @property
    def desk(self) -> int:
        """The workspace of this thread."""
        found = getattr(self._desks, "own", None)
        if found is None:
            found = self._desks.own = _Desk(self)
        return found.handle

    def check(self, status: int) -> None:
        """Raises an error for the status of a function of the core."""
        if status == boundary.NO_ROOM:
            raise MemoryError("not enough memory to read this much")
        if status:
            raise ValueError("the compiled core was given invalid input")


class _Desk:
    def __init__(self, core: Core) -> None:
        self._core = core  # keeps the model alive
        self.handle: int = core.code.amn_desk_new(core.handle, DESK_BYTES)
        if not self.handle:
            raise MemoryError("not enough memory for a workspace")

    def __del__(self) -> None:
        self._core.code.amn_desk_free(self.handle)


def core_of(trained: TrainedModel) -> Core | None:
    """The compiled core of a model; None where there is no core, or it does not support the model."""
    if trained.architecture != ARCHITECTURE or boundary.library() is None:
        return None
    if any(value.dtype != np.float32 for value in trained.weights.values()):
        return None
    found = trained.__dict__.get("core")
    if found is None:
        found = trained.__dict__["core"] = Core(trained)
    return found


class CoreMemory:
    """The memory of one story for some questions. The cost of a sentence does not depend on how much is stored."""

    def __init__(self, core: Core, questions: Sequence[Words]) -> None:
        self._core, self._code = core, core.code
        self._spelling = Spelling(core.vocabulary, core.anonymous, questions)
        self.strangeness = Strangeness(core.phrasing, questions)
        self.handle: int = core.code.amn_memory_new(core.handle)
        if not self.handle:
            raise MemoryError("not enough memory for another story")
        self._give(core.code.amn_ask, questions)

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self._code.amn_memory_free(self.handle)

    def _give(self, function: Any, rows: Iterable[Words]) -> None:
        """Passes rows of words to the core, new words with their vectors."""
        words, begin, vectors = [array("i", numbers) for numbers in self._spelling.spell(rows)]
        given = boundary.words(words, begin, vectors)
        self._core.check(function(self.handle, self._core.desk, byref(given)))

    @property
    def words(self) -> list[str]:
        return self._spelling.words[1:]

    @property
    def banks(self) -> int:
        return self._count(1).banks

    @property
    def entities(self) -> int:
        return self._count(1).entities

    @property
    def nbytes(self) -> int:
        return self._count(1).bytes

    def _count(self, banks: int) -> boundary.CCount:
        count = boundary.CCount()
        self._code.amn_counted(self.handle, banks, byref(count))
        return count

    def ingest(self, sentences: Sequence[Words]) -> None:
        self._read(clauses(sentences, self._core.phrasing))

    def tell(self, sentence: Words) -> Change:
        return merged([self._tell(clause) for clause in clauses((sentence,), self._core.phrasing)])

    def _read(self, told: Sequence[Words]) -> None:
        self.strangeness.tell(told)
        self._give(self._code.amn_tell, map(self._spelling.coreference.link, told))

    def _tell(self, clause: Words) -> Change:
        self._read((clause,))
        change = boundary.CChange()
        self._code.amn_changed(self._core.desk, byref(change))
        count, members, spelled = change.count, change.members, self._spelling.words
        words = [spelled[slot] for slot in change.slots[:count]]
        before = [None if depth < 0 else depth for depth in change.before[:count]]
        return Change(
            dict(zip(words, before, strict=True)),
            dict(zip(words, change.after[:count], strict=True)),
            dict(zip(words[:members], change.strengths[:members], strict=True)),
            change.banks,
            bool(change.created),
        )

    def read(self, banks: int) -> Prediction:
        return Decoding(self._core, [self], banks).found()[0]

    def bank(self, index: int) -> list[HeldEntity]:
        slots = np.zeros(self.entities, np.int32)
        self._code.amn_bank(self.handle, index, slots.ctypes.data)
        slots = slots[slots > 0]
        strengths, relevance = np.zeros((2, len(slots)), np.float32)
        self._code.amn_of(self.handle, len(slots), slots.ctypes.data, strengths.ctypes.data, relevance.ctypes.data)
        rows = zip(slots.tolist(), strengths.tolist(), relevance.tolist(), strict=True)
        return [HeldEntity(self._spelling.words[slot], strength, far) for slot, strength, far in rows]

    def attention(self, banks: int, question: int) -> list[dict[str, float]]:
        count = self._count(banks)
        slots, mass = np.zeros(count.entities, np.int32), np.zeros(count.entities, np.float32)
        whole = np.zeros(count.banks, np.float32)
        found = boundary.CAttention(0, slots.ctypes.data, mass.ctypes.data, whole.ctypes.data)
        self._core.check(self._code.amn_attend(self.handle, self._core.desk, banks, question, byref(found)))
        masses = dict(zip(slots[: found.count].tolist(), mass[: found.count].tolist(), strict=True))
        shares: list[dict[str, float]] = []
        for index, total in enumerate(whole.tolist()):
            held = self.bank(index) if total else []
            shares.append({one.word: masses[self._spelling.slots[one.word]] / total for one in held})
        return shares

    def _tables(self, entities: int, pairs: int) -> dict[str, tuple[type, tuple[int, ...]]]:
        """The type and shape of each table of a memory; -1 pairs mean that it has no such table."""
        slots = len(self._spelling.words)
        known: dict[str, tuple[type, tuple[int, ...]]] = {"pairs": (np.int32, (pairs, 2))} if pairs >= 0 else {}
        return known | {
            "states": (np.float32, (slots, self._core.hidden)),
            "strengths": (np.float32, (slots,)),
            "relevance": (np.float32, (slots,)),
            "depth": (np.int32, (slots,)),
            "order": (np.int32, (entities,)),
            "neighbours": (np.int32, (slots, RECENT_NEIGHBOURS)),
            "neighbour_counts": (np.int32, (slots,)),
            "last_anonymous": (np.int32, (self._core.anonymous,)),
        }

    def _pointed(self, arrays: Arrays, banks: int, vote: float) -> boundary.CTables:
        pairs = len(arrays["pairs"]) if "pairs" in arrays else -1
        tables = self._tables(len(arrays["order"]), pairs)
        where = {name: address(arrays[name], kind, *shape) for name, (kind, shape) in tables.items()}
        return boundary.CTables(slots=len(self._spelling.words), banks=banks, pair_count=pairs, vote=vote, **where)

    def arrays(self) -> Arrays:
        count = self._count(1)
        shapes = self._tables(count.entities, count.pairs).items()
        arrays: Arrays = {name: np.zeros(shape, kind) for name, (kind, shape) in shapes}
        tables = self._pointed(arrays, 1, 0.0)
        self._code.amn_save(self.handle, byref(tables))
        counts = {"banks": np.array([tables.banks], np.int32), "vote": np.array([tables.vote])}
        return arrays | self._spelling.recalled() | self.strangeness.arrays() | counts

    def resume(self, words: Sequence[str], arrays: Arrays) -> None:
        vectors, none, begin = array("i", self._spelling.spell((tuple(words),))[2]), array("i"), array("i", (0,))
        given = boundary.words(none, begin, vectors)
        self._core.check(self._code.amn_tell(self.handle, self._core.desk, byref(given)))
        besides = ("banks", "vote", "recalled", "strange")
        kept = {name: np.ascontiguousarray(value) for name, value in arrays.items() if name not in besides}
        if kept.keys() | {"pairs"} != self._tables(0, 0).keys():  # pairs are missing in older memories
            raise ValueError(f"expected the tables {', '.join(sorted(self._tables(0, 0)))}")
        if len(kept["order"]) != int((kept["depth"] >= 0).sum()):
            raise ValueError("expected all entities in `order`")
        tables = self._pointed(kept, int(arrays["banks"][0]), float(arrays["vote"][0]))
        self._core.check(self._code.amn_restore(self.handle, byref(tables)))
        self._spelling.resume(np.flatnonzero(kept["depth"] >= 0).tolist(), arrays)
        self.strangeness.resume(arrays)


class Decoding:
    """Answers from the last banks (0 for all) of memories that do not change meanwhile; the buffers are reused."""

    def __init__(self, core: Core, memories: Sequence[CoreMemory], banks: int) -> None:
        self._core, self._memories, self._banks = core, memories, banks
        self._counts = [memory._count(banks) for memory in memories]
        questions = [0, *accumulate(count.questions for count in self._counts)]
        widths = (count.questions * (core.classes + count.names) for count in self._counts)
        self._ends = [0, *accumulate(core.items * width for width in widths)]
        self._logits = np.zeros(self._ends[-1], np.float32)
        self._tokens = np.zeros((questions[-1], core.items), np.int32)
        self._handles = (c_void_p * len(memories))(*[memory.handle for memory in memories])
        self._starts = _pointers(self._logits, self._ends[:-1])
        self._chosen = _pointers(self._tokens, [core.items * question for question in questions[:-1]])

    def run(self) -> None:
        """Computes only the logits, for benchmarks."""
        core, count = self._core, len(self._memories)
        core.check(core.code.amn_decode(self._handles, count, core.desk, self._banks, self._starts, self._chosen))

    def found(self) -> list[Prediction]:
        """Computes the predictions."""
        self.run()
        found, asked = [], 0
        for memory, count, start, end in zip(self._memories, self._counts, self._ends, self._ends[1:], strict=False):
            logits = self._logits[start:end].reshape(count.questions, self._core.items, -1).copy()
            if self._core.items == 1:
                tokens = logits.argmax(-1)
            else:
                tokens, asked = self._tokens[asked : asked + count.questions].copy(), asked + count.questions
            read = [count.read] * count.questions
            words, strange = _names(memory, count), memory.strangeness.counts
            found.append(Prediction(logits, tokens, words, count.entities, read, count.banks, strange))
        return found


def _pointers(values: np.ndarray, starts: Sequence[int]) -> "Array[c_void_p]":
    """Pointers to parts of an array of four-byte numbers."""
    first = values.ctypes.data
    return (c_void_p * len(starts))(*[first + 4 * start for start in starts])


def _names(memory: CoreMemory, count: boundary.CCount) -> list[str]:
    """The words that may be answers, in the order of their logits."""
    slots = array("i", bytes(4 * count.names))
    if count.names:
        memory._code.amn_names(memory.handle, slots.buffer_info()[0])
    return [memory._spelling.words[slot] for slot in slots]
