"""Tellings that wait together are committed together: one flush of the disk serves all of them."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from amn.store.memories import Record
from amn.store.sqlite import SqliteStore

CLIENTS = 20


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "memories.db")
    yield opened
    opened.close()


def test_tellings_of_many_clients_are_one_commit(store: SqliteStore) -> None:
    for number in range(CLIENTS):
        store.create(Record(id=f"m{number}", owner="", model="qa1", questions=("Where is Mary?",)), most=100, now=0.0)
    statements: list[str] = []
    gate = threading.Event()
    store._writer.run(lambda db: db.set_trace_callback(statements.append))
    held = store._writer.start(lambda _: gate.wait())
    with ThreadPoolExecutor(CLIENTS) as clients:
        tellings = [clients.submit(store.append, f"m{number}", ["Mary moved."], most=10) for number in range(CLIENTS)]
        while len(store._writer._jobs) < CLIENTS:
            pass
        statements.clear()
        gate.set()
        assert [telling.result() for telling in tellings] == [0] * CLIENTS and held.result()
    assert statements.count("COMMIT") == 2  # of what held them up, and of all of them
    assert all(store.sentences(f"m{number}", 0, 9) == ["Mary moved."] for number in range(CLIENTS))
