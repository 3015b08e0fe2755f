"""Tellings that wait together are committed together: one flush of the disk serves all of them."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from amn.store.memories import Record
from amn.store.sqlite import SqliteStore

CLIENTS = 20
PATIENCE = 60.0  # seconds after which something hangs


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memories.db")
    yield opened
    opened.close()


def test_tellings_of_many_clients_are_one_commit(store: SqliteStore) -> None:
    for number in range(CLIENTS):
        store.create(Record(id=f"m{number}", owner="", model="qa1", questions=("Where is Mary?",)), most=100, now=0.0)
    statements: list[str] = []
    busy, gate = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> bool:
        busy.set()
        return gate.wait()

    store._writer.run(lambda db: db.set_trace_callback(statements.append))
    held = store._writer.start(hold)
    assert busy.wait(PATIENCE)  # from now on what is told has to wait
    with ThreadPoolExecutor(CLIENTS) as clients:
        tellings = [clients.submit(store.append, f"m{number}", ["Mary moved."], most=10) for number in range(CLIENTS)]
        end = time.monotonic() + PATIENCE
        while len(store._writer._jobs) < CLIENTS and time.monotonic() < end:
            pass
        statements.clear()
        gate.set()
        assert [telling.result() for telling in tellings] == [0] * CLIENTS and held.result()
    assert statements.count("COMMIT") == 2  # of what held them up, and of all of them
    assert all(store.sentences(f"m{number}", 0, 9) == ["Mary moved."] for number in range(CLIENTS))
