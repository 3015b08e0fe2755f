"""The live memories of a server: who may see them, how many there are, and when they go."""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from amn.memory import LiveMemory
from amn.server.limits import Limits

_ID_BYTES = 16


class FullError(Exception):
    """No further memory or sentence fits; the message says what to do.

    Args:
        message: one sentence for the client.
        seconds: when it is worth trying again; None where waiting does not help.
    """

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


@dataclass(slots=True)
class Held:
    """A memory that the server keeps.

    Args:
        id: how clients call it; long enough that nobody guesses it.
        owner: whose it is.
        model: the name of its model.
        memory: the memory itself; only the thread of the model touches it.
        used: when it was last used.
        sentences: how many it was told or is being told.
        telling: held by whoever tells it sentences, so that two tellings do not mix.
    """

    id: str
    owner: str
    model: str
    memory: LiveMemory
    used: float
    sentences: int = 0
    telling: asyncio.Lock = field(default_factory=asyncio.Lock)


class Memories:
    """Memories by their id, the least recently used first. A memory goes when it was not used for its time to live.

    Until then it is kept: where no further one fits, the new one is refused, and no old one is taken from its owner.

    Args:
        limits: how many memories and sentences there may be, and how long an unused memory lives.
        owners: how many owners share them; none may take more than its part.
        clock: the seconds now.
    """

    def __init__(self, limits: Limits, owners: int = 1, clock: Callable[[], float] = time.time) -> None:
        self._limits, self._clock = limits, clock
        self._share = max(1, limits.memories // max(1, owners))
        self._held: OrderedDict[str, Held] = OrderedDict()

    def __len__(self) -> int:
        self._expire()
        return len(self._held)

    def check_room(self, owner: str) -> None:
        """Refuses a further memory of an owner that has its share."""
        self._expire()
        own = [held for held in self._held.values() if held.owner == owner]
        if len(own) >= self._share:
            wait = max(1.0, self.expires_at(own[0]) - self._clock())
            text = f"All {self._share} memories are in use: delete one, or try again in {wait:.0f} seconds."
            raise FullError(text, wait)

    def add(self, owner: str, model: str, memory: LiveMemory) -> Held:
        """Keeps a new memory."""
        self.check_room(owner)
        held = Held(secrets.token_urlsafe(_ID_BYTES), owner, model, memory, self._clock())
        self._held[held.id] = held
        return held

    def get(self, id: str, owner: str) -> Held:
        """The memory of that name, which now counts as used.

        Raises:
            KeyError: where the owner has none of that name.
        """
        self._expire()
        held = self._held[id]
        if held.owner != owner:
            raise KeyError(id)
        held.used = self._clock()
        self._held.move_to_end(id)
        return held

    def remove(self, id: str, owner: str) -> None:
        """Forgets a memory.

        Raises:
            KeyError: where the owner has none of that name.
        """
        self.get(id, owner)
        del self._held[id]

    def take_sentences(self, held: Held, count: int) -> None:
        """Counts sentences that a memory is about to be told, or refuses them all."""
        if held.sentences + count > self._limits.memory_sentences:
            most = self._limits.memory_sentences
            raise FullError(
                f"A memory holds at most {most} sentences, and this one has {held.sentences}: open another for more."
            )
        if sum(other.sentences for other in self._held.values()) + count > self._limits.all_sentences:
            raise FullError("All memories together are full: delete one, or try again later.", 1.0)
        held.sentences += count

    def expires_at(self, held: Held) -> float:
        """When a memory goes if it is not used before, in seconds since 1970."""
        return held.used + self._limits.memory_seconds

    def _expire(self) -> None:
        now = self._clock()
        while self._held:
            oldest = next(iter(self._held.values()))
            if self.expires_at(oldest) > now:
                return
            del self._held[oldest.id]
