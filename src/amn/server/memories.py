"""The live memories of a server: the store has them all, and those that were used lately are in RAM as well."""

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

STORE_THREADS = 32  # that wait for the store at once; what waits together is committed together
_STALE = 0.05  # of its time to live: by how much a memory lives longer before the store is told so


@dataclass(slots=True)
class Resident:
    """A memory in RAM. It may lag behind the store; whoever needs it now tells it the rest."""

    memory: LiveMemory  # the memory; only the thread of the model touches it
    # Held by whoever tells it, so that each gets what its own sentences did.
    telling: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def position(self) -> int:
        """How many sentences it was told."""
        return len(self.memory.sentences)

    @property
    def weight(self) -> int:
        """How much RAM it takes: each question has what it made of each sentence."""
        return self.position * len(self.memory.questions)


class News:
    """Wakes those who wait for a memory to be told something by this server."""

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Event] = {}

    def of(self, id: str) -> asyncio.Event:
        """What is set when the memory is told something next."""
        return self._events.setdefault(id, asyncio.Event())

    def tell(self, id: str) -> None:
        """Wakes those who follow a memory."""
        if (event := self._events.pop(id, None)) is not None:
            event.set()


class Memories:
    """The memories of a store, of which no owner may take more than its part, and the RAM that they take."""

    def __init__(
        self, store: MemoryStore, limits: Limits, owners: int = 1, clock: Callable[[], float] = time.time
    ) -> None:
        self.store, self._limits, self._clock = store, limits, clock
        self._share = max(1, limits.memories // max(1, owners))
        self._resident: OrderedDict[str, Resident] = OrderedDict()
        self._weights: dict[str, int] = {}  # of these, when they were used last
        self._weight = 0  # all of them
        self.news = News()
        self._threads = ThreadPoolExecutor(STORE_THREADS, thread_name_prefix="amn-store-wait")

    async def run(self, method: Callable[..., T], *given: Any, **named: Any) -> T:
        """What a method of the store gives; others have their turn meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(method, *given, **named))

    async def count(self) -> int:
        """How many there are."""
        return await self.run(self.store.count, self._clock())

    async def create(self, owner: str, model: str, memory: LiveMemory) -> Record:
        """Keeps a new memory."""
        now = self._clock()
        expires = now + self._limits.memory_seconds
        record = Record(id=new_id(), owner=owner, model=model, questions=tuple(memory.questions), expires_at=expires)
        await self.run(self.store.create, record, self._share, now)
        self.put(record.id, Resident(memory))
        return record

    async def get(self, id: str, owner: str) -> Record:
        """What is known of a memory, which now counts as used.

        Raises:
            MissingMemoryError: where the owner has none of that name.
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
        """Tells the store sentences; gives the number of the first."""
        most = self._limits.memory_sentences
        first = await self.run(self.store.append, record.id, sentences, most=most, after=after)
        self.news.tell(record.id)
        return first

    async def remove(self, record: Record) -> None:
        """Forgets a memory."""
        await self.run(self.store.delete, record)
        self._drop(record.id)
        self.news.tell(record.id)

    def resident(self, id: str) -> Resident | None:
        """A memory, where it is in RAM; it was used now."""
        if id in self._resident:
            self._resident.move_to_end(id)
        return self._resident.get(id)

    def put(self, id: str, resident: Resident) -> None:
        """Takes a memory into RAM; those that were not used for longest go out of it."""
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
        """Finishes what was begun."""
        self._threads.shutdown()
        self.store.close()
