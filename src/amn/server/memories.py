"""The live memories of a server: all are in the store, and those used recently are in RAM as well."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from amn.memory import LiveMemory
from amn.memory.stored import new_id
from amn.server.limits import Limits
from amn.store.memories import MemoryStore, MissingMemoryError, Record

T = TypeVar("T")

STORE_THREADS = 32  # that wait for the store; writes that wait at the same time are committed together
_STALE = 0.05  # share of its time to live after which a used memory has its expiry renewed


@dataclass(slots=True)
class Resident:
    """A memory in RAM. It may lag behind the store; it is brought up to date when it is used."""

    memory: LiveMemory  # used by the thread of the model only
    # Held while it is told sentences, so that each client gets the traces of its own sentences.
    telling: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def position(self) -> int:
        """How many sentences it has."""
        return len(self.memory.sentences)

    @property
    def weight(self) -> int:
        """How much RAM it takes, roughly: each question has its own state of each sentence."""
        return self.position * len(self.memory.questions)


class Memories:
    """The memories of a store, of which every owner may have an equal share, and those of them in RAM."""

    def __init__(
        self, store: MemoryStore, limits: Limits, owners: int = 1, clock: Callable[[], float] = time.time
    ) -> None:
        self.store, self._limits, self._clock = store, limits, clock
        self._share = max(1, limits.memories // max(1, owners))
        self._resident: OrderedDict[str, Resident] = OrderedDict()
        self._weights: dict[str, int] = {}  # of these, when they were last used
        self._weight = 0  # their sum
        self._changes: dict[str, asyncio.Event] = {}  # for those who wait for a memory to change
        self._threads = ThreadPoolExecutor(STORE_THREADS, thread_name_prefix="amn-store-wait")

    async def run(self, method: Callable[..., T], *given: Any, **named: Any) -> T:
        """Runs a method of the store in a thread, without blocking other requests."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(method, *given, **named))

    async def count(self) -> int:
        """The number of memories."""
        return await self.run(self.store.count, self._clock())

    async def create(self, owner: str, model: str, memory: LiveMemory) -> Record:
        """Adds a new memory to the store."""
        now = self._clock()
        expires = now + self._limits.memory_seconds
        record = Record(id=new_id(), owner=owner, model=model, questions=tuple(memory.questions), expires_at=expires)
        await self.run(self.store.create, record, self._share, now)
        self.put(record.id, Resident(memory))
        return record

    async def get(self, id: str, owner: str) -> Record:
        """The record of a memory, which counts as used from now.

        Raises:
            MissingMemoryError: where the owner has no such memory.
        """
        now = self._clock()
        record = await self.run(self.store.find, id, now)
        if record is None or record.owner != owner:
            raise MissingMemoryError
        seconds = self._limits.memory_seconds
        if record.expires_at < now + (1 - _STALE) * seconds:
            await self.run(self.store.keep, record, now + seconds)
            record = replace(record, expires_at=now + seconds)
        return record

    async def append(self, record: Record, sentences: Sequence[str], after: int | None) -> int:
        """Adds sentences to the store; returns the number of the first."""
        most = self._limits.memory_sentences
        first = await self.run(self.store.append, record.id, sentences, most=most, after=after)
        self._announce_change(record.id)
        return first

    async def remove(self, record: Record) -> None:
        """Deletes a memory."""
        await self.run(self.store.delete, record)
        self._drop(record.id)
        self._announce_change(record.id)

    def next_change(self, id: str) -> asyncio.Event:
        """An event that is set when this server next changes a memory."""
        return self._changes.setdefault(id, asyncio.Event())

    def _announce_change(self, id: str) -> None:
        if (event := self._changes.pop(id, None)) is not None:
            event.set()

    def resident(self, id: str) -> Resident | None:
        """A memory if it is in RAM; it counts as used now."""
        if id in self._resident:
            self._resident.move_to_end(id)
        return self._resident.get(id)

    def put(self, id: str, resident: Resident) -> None:
        """Puts a memory into RAM; the least recently used ones make room for it."""
        self._drop(id)
        self._resident[id], self._weights[id] = resident, resident.weight
        self._weight += resident.weight
        while len(self._resident) > self._limits.resident or (
            self._weight > self._limits.resident_sentences and len(self._resident) > 1
        ):
            self._drop(next(iter(self._resident)))

    def _drop(self, id: str) -> None:
        self._resident.pop(id, None)
        self._weight -= self._weights.pop(id, 0)

    def close(self) -> None:
        """Finishes what was begun and closes the store."""
        self._threads.shutdown()
        self.store.close()
