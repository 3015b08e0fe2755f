"""Stores of live memories: the questions of each memory, and its sentences in order.

A memory is a function of its model, its questions and its sentences. So a store is a log: sentences are appended all
together or not at all, and a memory is restored by telling a new one what the log holds. Nothing is ever locked, so a
process that dies blocks nobody. A snapshot only saves time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from amn.errors import AMNError, ConfigError

FOREVER = 253402300799.0  # the last second of the year 9999: the expiry of memories without a time to live
STORE_BYTES = 8 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a store knows of a memory, besides its sentences."""

    id: str  # its name in the store
    owner: str  # who may use it
    model: str  # the name of its model
    questions: tuple[str, ...]  # what it was built for
    sentences: int = 0  # how many it was told
    expires_at: float = FOREVER  # when it expires if it is not used, in seconds since 1970


class StoreError(AMNError):
    """The store cannot be reached or read."""


class MissingMemoryError(AMNError):
    """The store does not have this memory, or no longer."""

    def __init__(self) -> None:
        super().__init__("There is no such memory; it may have expired. Open a new one (POST /memories).")


class FullError(AMNError):
    """There is no room for a memory or sentence; if waiting helps, `seconds` says how long."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class StoreFullError(FullError):
    """The disk, or the share of it that the store may use, is full; what was acknowledged is safe."""

    def __init__(self, why: object) -> None:
        super().__init__(f"The store of memories is full ({why}): delete a memory, or try again later.", 60.0)


class MemoryFullError(FullError):
    """A memory has as many sentences as it may."""

    def __init__(self, most: int, found: int) -> None:
        super().__init__(f"A memory holds at most {most} sentences, and this one has {found}: open another for more.")


class TooManyMemoriesError(FullError):
    """An owner has as many memories as it may; the first of them expires after some seconds."""

    def __init__(self, most: int, seconds: float) -> None:
        wait = max(1.0, seconds)
        super().__init__(f"All {most} memories are in use: delete one, or try again in {wait:.0f} seconds.", wait)


class ConflictError(AMNError):
    """A memory does not have the number of sentences that a client expected."""

    def __init__(self, after: int, found: int) -> None:
        super().__init__(f"The memory has {found} sentences, not {after}: it was told more, or this is a repeat.")


class MemoryStore(Protocol):
    """A store. Its methods are thread-safe, and return when their effect is durable."""

    durable: bool

    def create(self, record: Record, most: int, now: float) -> None:
        """Adds a memory, unless its owner has `most` already: then TooManyMemoriesError."""

    def find(self, id: str, now: float) -> Record | None:
        """The record of a memory; None if there is none, or it has expired."""

    def append(self, id: str, sentences: Sequence[str], *, most: int, after: int | None = None) -> int:
        """Adds sentences to a memory, all or none; returns the number of the first.

        Args:
            id: the memory.
            sentences: the sentences.
            most: how many sentences a memory may have.
            after: how many it must have before, so that a repeated request is applied once.

        Raises:
            MissingMemoryError: where there is no such memory.
            FullError: where they do not fit.
            ConflictError: where it does not have `after` sentences.
        """

    def sentences(self, id: str, first: int, last: int) -> list[str]:
        """The sentences with numbers from `first` up to, but not including, `last`."""

    def keep(self, record: Record, expires_at: float) -> None:
        """Extends the life of a memory; may return before that is durable."""

    def save_snapshot(self, id: str, sentences: int, data: bytes) -> None:
        """Saves a snapshot of the memory after so many sentences; may return before that is durable."""

    def snapshot(self, id: str) -> bytes | None:
        """The latest snapshot."""

    def delete(self, record: Record) -> None:
        """Deletes a memory."""

    def count(self, now: float) -> int:
        """The number of memories."""

    def close(self) -> None:
        """Finishes pending work and closes the store."""


def open_store(url: str, most_bytes: int = STORE_BYTES) -> MemoryStore:
    """Opens the store at a URL: `sqlite:///FILE`, `redis://HOST/DB`, or `memory:` for one in RAM.

    A file may grow to `most_bytes`; Redis has its own setting for that.

    Raises:
        ConfigError: where it is not the URL of a store.
        StoreError: where the store cannot be opened.
    """
    kind = urlsplit(url).scheme
    if kind in ("sqlite", "memory"):
        from amn.store.sqlite import SqliteStore

        return SqliteStore(_file_of(url) if kind == "sqlite" else None, most_bytes)
    if kind in ("redis", "rediss", "unix"):
        from amn.store.redis import RedisStore

        return RedisStore(url)
    raise ConfigError(f"store: expected sqlite:///FILE, redis://HOST/DB or memory:, found {url!r}")


def _file_of(url: str) -> Path:
    """The file of sqlite:///relative or sqlite:////absolute."""
    rest = url.removeprefix("sqlite:")
    if not rest.startswith("///") or len(rest) == 3:
        raise ConfigError(f"store: expected sqlite:///FILE, or sqlite:////FILE from the root, found {url!r}")
    return Path(rest.removeprefix("///")).expanduser()
