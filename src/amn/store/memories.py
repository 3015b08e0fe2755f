"""Where live memories are kept: what each was built for, and what it was told, in the order in which it was told.

A memory is a function of its model, its questions and its sentences. So a store is a log: a telling is added to it as
one piece or not at all, and whoever wants the memory tells a new one what the log holds. Nothing is ever locked, so
nobody who dies holds anybody up. A snapshot saves time and decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from amn.errors import AMNError, ConfigError

FOREVER = 253402300799.0  # the last second of the year 9999: for memories without a time to live
STORE_BYTES = 8 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a store knows of a memory, apart from its sentences."""

    id: str  # its name
    owner: str  # whose it is
    model: str  # the name of its model
    questions: tuple[str, ...]  # what it was built for
    sentences: int = 0  # how many it was told
    expires_at: float = FOREVER  # when it goes if it is not used before, in seconds since 1970


class StoreError(AMNError):
    """A store that cannot be reached or read."""


class MissingMemoryError(AMNError):
    """A memory that the store does not have, or no longer."""

    def __init__(self) -> None:
        super().__init__("There is no such memory; it may have expired. Open a new one (POST /memories).")


class FullError(AMNError):
    """No further memory or sentence fits; the message says what to do, and `seconds` when, where waiting helps."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class StoreFullError(FullError):
    """The disk, or what the store may take of it, is used up; what was acknowledged is safe."""

    def __init__(self, why: object) -> None:
        super().__init__(f"The store of memories is full ({why}): delete a memory, or try again later.", 60.0)


class MemoryFullError(FullError):
    """A memory that holds as many sentences as it may."""

    def __init__(self, most: int, found: int) -> None:
        super().__init__(f"A memory holds at most {most} sentences, and this one has {found}: open another for more.")


class TooManyMemoriesError(FullError):
    """An owner that has as many memories as it may; the oldest goes after some seconds."""

    def __init__(self, most: int, seconds: float) -> None:
        wait = max(1.0, seconds)
        super().__init__(f"All {most} memories are in use: delete one, or try again in {wait:.0f} seconds.", wait)


class ConflictError(AMNError):
    """A telling that was to follow another number of sentences than there are."""

    def __init__(self, after: int, found: int) -> None:
        super().__init__(f"The memory has {found} sentences, not {after}: somebody told it more, or this came twice.")


class MemoryStore(Protocol):
    """A store. Its methods may be called from several threads; each returns when what it did will last."""

    durable: bool

    def create(self, record: Record, most: int, now: float) -> None:
        """Adds a memory, unless its owner has `most` already: then TooManyMemoriesError."""

    def find(self, id: str, now: float) -> Record | None:
        """What is known of a memory; None where there is none, or where its time is over."""

    def append(self, id: str, sentences: Sequence[str], *, most: int, after: int | None = None) -> int:
        """Tells a memory sentences, all in one piece or none; gives the number of the first.

        Args:
            id: the memory.
            sentences: what it is told.
            most: how many sentences a memory may have.
            after: how many it must have before, so that a telling that is sent twice is told once.

        Raises:
            MissingMemoryError: where there is no such memory.
            FullError: where they do not fit.
            ConflictError: where it does not have as many sentences as `after` says.
        """

    def sentences(self, id: str, first: int, last: int) -> list[str]:
        """The sentences from one number up to another, without the last."""

    def keep(self, record: Record, expires_at: float) -> None:
        """Lets a memory live longer; may return before that will last."""

    def save_snapshot(self, id: str, sentences: int, data: bytes) -> None:
        """Keeps the memory as it is after so many sentences; may return before that will last."""

    def snapshot(self, id: str) -> bytes | None:
        """The last snapshot."""

    def delete(self, record: Record) -> None:
        """Forgets a memory."""

    def count(self, now: float) -> int:
        """How many memories there are."""

    def close(self) -> None:
        """Finishes what was begun."""


def open_store(url: str, most_bytes: int = STORE_BYTES) -> MemoryStore:
    """The store behind a URL: `sqlite:///FILE`, `redis://HOST/DB`, or `memory:` for one that keeps nothing.

    A file may grow to `most_bytes`; Redis has a setting of its own for it.

    Raises:
        ConfigError: where the URL names no kind of store.
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
    """The file that sqlite:///relative or sqlite:////absolute names."""
    rest = url.removeprefix("sqlite:")
    if not rest.startswith("///") or len(rest) == 3:
        raise ConfigError(f"store: expected sqlite:///FILE, or sqlite:////FILE from the root, found {url!r}")
    return Path(rest.removeprefix("///")).expanduser()
