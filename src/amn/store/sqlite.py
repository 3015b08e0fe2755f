"""Live memories in an SQLite file: what is acknowledged is on disk, and writes that wait share one flush."""

import json
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from amn.data.files import flush_folder, make_folder
from amn.errors import AMNError
from amn.store.memories import (
    STORE_BYTES,
    ConflictError,
    MemoryFullError,
    MissingMemoryError,
    Record,
    StoreError,
    StoreFullError,
    TooManyMemoriesError,
)

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], Any]

APPLICATION = 0x616D6E  # "amn": the SQLite application id, which identifies our files
VERSION = 1
MAX_GROUP = 256  # jobs in one commit
ROWS = 500  # inserted by one statement: each statement has to wait for the interpreter lock
MAX_EXPIRED = 100  # memories deleted by one commit, so that none takes long
BUSY_SECONDS = 10.0  # to wait for another process that writes to the file

_SCHEMA = (
    """CREATE TABLE memories (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, model TEXT NOT NULL, questions TEXT NOT NULL,
        sentences INTEGER NOT NULL, expires_at REAL NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX memories_by_owner ON memories (owner, expires_at)",
    "CREATE INDEX memories_by_expiry ON memories (expires_at)",
    """CREATE TABLE sentences (
        memory TEXT NOT NULL REFERENCES memories ON DELETE CASCADE, number INTEGER NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (memory, number)
    ) WITHOUT ROWID""",
    """CREATE TABLE snapshots (
        memory TEXT PRIMARY KEY REFERENCES memories ON DELETE CASCADE, sentences INTEGER NOT NULL, data BLOB NOT NULL
    )""",
    "CREATE TABLE owners (owner TEXT PRIMARY KEY, memories INTEGER NOT NULL) WITHOUT ROWID",  # counting rows is slow
    """CREATE TRIGGER opened AFTER INSERT ON memories BEGIN
        INSERT INTO owners VALUES (NEW.owner, 1) ON CONFLICT (owner) DO UPDATE SET memories = memories + 1;
    END""",
    """CREATE TRIGGER closed AFTER DELETE ON memories BEGIN
        UPDATE owners SET memories = memories - 1 WHERE owner = OLD.owner;
    END""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
_COLUMNS = "id, owner, model, questions, sentences, expires_at"


class SqliteStore:
    """A store in a file, which several processes may share.

    Args:
        path: the file, which is created if needed; None for a store in RAM that ends with the process.
        most_bytes: how large it may grow.
    """

    def __init__(self, path: Path | None, most_bytes: int = STORE_BYTES) -> None:
        self.durable = path is not None
        self._writer = _DatabaseThread(path, most_bytes, begin="BEGIN IMMEDIATE")
        try:
            self._writer.run(_prepare)
        except BaseException:
            self._writer.close()
            raise
        self._reader = self._writer if path is None else _DatabaseThread(path, most_bytes, begin="BEGIN")
        if path is not None:
            flush_folder(path.parent)

    def create(self, record: Record, most: int, now: float) -> None:
        self._writer.run(partial(_create, record, most, now))

    def find(self, id: str, now: float) -> Record | None:
        asked = f"SELECT {_COLUMNS} FROM memories WHERE id = ? AND expires_at > ?"
        row = self._reader.run(lambda db: db.execute(asked, (id, now)).fetchone())
        return None if row is None else _record(row)

    def append(self, id: str, sentences: Sequence[str], *, most: int, after: int | None = None) -> int:
        return self._writer.run(partial(_append, id, sentences, most, after))

    def sentences(self, id: str, first: int, last: int) -> list[str]:
        asked = "SELECT json_group_object(number, text) FROM sentences WHERE memory = ? AND number >= ? AND number < ?"
        found = json.loads(self._reader.run(lambda db: db.execute(asked, (id, first, last)).fetchone()[0]))
        return [found[number] for number in sorted(found, key=int)]

    def keep(self, record: Record, expires_at: float) -> None:
        change = "UPDATE memories SET expires_at = max(expires_at, ?) WHERE id = ?"
        self._writer.start(lambda db: db.execute(change, (expires_at, record.id)).rowcount)

    def save_snapshot(self, id: str, sentences: int, data: bytes) -> None:
        change = """INSERT INTO snapshots SELECT id, ?, ? FROM memories WHERE id = ? AND true
            ON CONFLICT (memory) DO UPDATE SET sentences = excluded.sentences, data = excluded.data
            WHERE excluded.sentences > snapshots.sentences"""
        self._writer.start(lambda db: db.execute(change, (sentences, data, id)).rowcount)

    def snapshot(self, id: str) -> bytes | None:
        asked = "SELECT data FROM snapshots WHERE memory = ?"
        row = self._reader.run(lambda db: db.execute(asked, (id,)).fetchone())
        return None if row is None else bytes(row[0])

    def delete(self, record: Record) -> None:
        self._writer.run(lambda db: db.execute("DELETE FROM memories WHERE id = ?", (record.id,)).rowcount)

    def count(self, now: float) -> int:
        asked = "SELECT count(*) FROM memories WHERE expires_at > ?"
        return self._reader.run(lambda db: int(db.execute(asked, (now,)).fetchone()[0]))

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


def _prepare(db: sqlite3.Connection) -> None:
    """Creates the tables of a new file; checks that an existing one is ours."""
    if not db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
        for statement in _SCHEMA:  # executescript would commit, and two servers may start at once
            db.execute(statement)
        return
    found = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if found != [APPLICATION, VERSION]:
        raise StoreError(f"the file is not a store of memories of version {VERSION} (found {found}); choose another")


def _create(record: Record, most: int, now: float, db: sqlite3.Connection) -> None:
    over = "SELECT id FROM memories WHERE expires_at <= ? LIMIT ?"
    db.execute(f"DELETE FROM memories WHERE id IN ({over})", (now, MAX_EXPIRED))
    held = db.execute("SELECT memories FROM owners WHERE owner = ?", (record.owner,)).fetchone()
    if held is not None and held[0] >= most:  # some may have expired
        asked = "SELECT count(*), min(expires_at) FROM memories WHERE owner = ? AND expires_at > ?"
        found, first = db.execute(asked, (record.owner, now)).fetchone()
        if found >= most:
            raise TooManyMemoriesError(most, first - now)
    row = (record.id, record.owner, record.model, json.dumps(record.questions), record.sentences, record.expires_at)
    db.execute(f"INSERT INTO memories ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", row)


def _append(id: str, sentences: Sequence[str], most: int, after: int | None, db: sqlite3.Connection) -> int:
    row = db.execute("SELECT sentences FROM memories WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise MissingMemoryError
    first = int(row[0])
    if after not in (None, first):
        raise ConflictError(after or 0, first)
    if first + len(sentences) > most:
        raise MemoryFullError(most, first)
    for start in range(0, len(sentences), ROWS):
        part = sentences[start : start + ROWS]
        values = [value for number, text in enumerate(part, first + start) for value in (id, number, text)]
        db.execute(f"INSERT INTO sentences VALUES {', '.join(['(?, ?, ?)'] * len(part))}", values)
    db.execute("UPDATE memories SET sentences = ? WHERE id = ?", (first + len(sentences), id))
    return first


def _record(row: tuple[Any, ...]) -> Record:
    id, owner, model, questions, sentences, expires_at = row
    return Record(
        id=id,
        owner=owner,
        model=model,
        questions=tuple(json.loads(questions)),
        sentences=sentences,
        expires_at=expires_at,
    )


def _connect(path: Path | None, most_bytes: int) -> sqlite3.Connection:
    if path is not None:
        make_folder(path.parent)
        path.touch(mode=0o600)  # stories may be private
    db = sqlite3.connect(path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    page = db.execute("PRAGMA page_size").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {max(1, most_bytes // page)}")
    return db


class _DatabaseThread:
    """A connection and the thread that uses it. Jobs that wait at the same time share one commit and one flush."""

    def __init__(self, path: Path | None, most_bytes: int, begin: str) -> None:
        self._name, self._begin = str(path or "memory:"), begin
        self._jobs: deque[tuple[Job, Future[Any]]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        opened: Future[None] = Future()
        self._thread = threading.Thread(
            target=self._work, args=(path, most_bytes, opened), name="amn-store", daemon=True
        )
        self._thread.start()
        opened.result()

    def run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """The result of a job, once it is committed."""
        return self.start(job).result()

    def start(self, job: Callable[[sqlite3.Connection], T]) -> "Future[T]":
        """Starts a job; its future has the result once it is committed."""
        future: Future[T] = Future()
        with self._changed:
            if self._closed:
                raise StoreError("the store is closed")
            self._jobs.append((job, future))
            self._changed.notify()
        return future

    def close(self) -> None:
        """Finishes pending jobs and ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self, path: Path | None, most_bytes: int, opened: "Future[None]") -> None:
        try:
            db = _connect(path, most_bytes)
        except (sqlite3.Error, OSError) as error:
            opened.set_exception(StoreError(f"{self._name}: the store cannot be opened ({error})"))
            return
        opened.set_result(None)
        while group := self._next_group():
            results = self._commit(db, [job for job, _ in group])
            for (_, future), result in zip(group, results, strict=True):
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)
        db.close()

    def _next_group(self) -> list[tuple[Job, "Future[Any]"]]:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed)
            return [self._jobs.popleft() for _ in range(min(len(self._jobs), MAX_GROUP))]

    def _commit(self, db: sqlite3.Connection, jobs: Sequence[Job]) -> list[Any]:
        """Runs jobs in one transaction; returns the result or error of each.

        If the transaction fails as a whole, each job is tried alone: one that does not fit must not affect the others.
        """
        try:
            db.execute(self._begin)
            results = [_attempt(db, job) for job in jobs]
            db.execute("COMMIT")
        except sqlite3.Error as error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            if len(jobs) > 1:
                return [self._commit(db, [job])[0] for job in jobs]
            return [self._explained(error)]
        return results

    def _explained(self, error: sqlite3.Error) -> Exception:
        full = getattr(error, "sqlite_errorname", "") in ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
        return StoreFullError(error) if full else StoreError(f"{self._name}: the store failed ({error})")


def _attempt(db: sqlite3.Connection, job: Job) -> Any:
    """The result of a job, or its error, after which its changes are undone."""
    db.execute("SAVEPOINT job")
    try:
        return job(db)
    except AMNError as refusal:
        db.execute("ROLLBACK TO job")
        return refusal
    finally:
        if db.in_transaction:
            db.execute("RELEASE job")
