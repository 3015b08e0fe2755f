"""How serving grows: with the number of servers, and with the number of live memories."""

import asyncio
import os
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from amn.bench.serve import Load, check, drive, request_bodies, serving
from amn.bench.timing import report
from amn.store.memories import MemoryStore, Record, open_store

SENTENCES = (
    "Mary moved to the bathroom.",
    "John went to the hallway.",
    "Mary went to the garden.",
    "John got the milk.",
)
QUESTION = "Where is Mary?"
_SHARED = 1_000  # memories that several servers share
_WRITERS = 32  # threads that fill a store: what waits together is committed together


def bench_servers(
    model: str,
    *,
    servers: Sequence[int],
    clients: Sequence[int],
    seconds: float,
    requests: int,
    task: int = 1,
    store: str = "",
) -> dict[str, Any]:
    """Measures ever more servers that share one store and their clients; else as `bench_serve`.

    Args:
        model: a shipped name, or a directory.
        servers: how many of them, a row for each and each number of clients.
        clients: how many ask at once.
        seconds: the longest that a row may take.
        requests: the most that a row may send.
        task: whose generated stories are asked about.
        store: the URL of a store, for questions to live memories in it, by any of the servers; the memories are
            removed at the end. Without it, stories are asked about.
    """
    check([*servers, *clients], seconds, requests)
    rows = []
    for number in servers:
        with TemporaryDirectory() as folder, ExitStack() as stack:
            url = store or f"sqlite:///{Path(folder) / 'memories.db'}"
            running = [stack.enter_context(serving(model, store=url)) for _ in range(number)]
            if store:
                stack.enter_context(_filled(store, Path(model).name))
            for count in clients:
                load = Load([b"{}"], requests, paths=_paths(_SHARED)) if store else Load(request_bodies(task), requests)
                row = asyncio.run(drive(running, count, load, seconds))
                rows.append({"servers": number, "cores": os.cpu_count(), "clients": count, **row})
    return report("serve", rows)


@contextmanager
def _filled(url: str, model: str) -> Iterator[None]:
    """A store with some memories while it is measured."""
    store = open_store(url)
    try:
        _fill(store, _SHARED, model)
        yield
    finally:
        for number in range(_SHARED):
            store.delete(_record(number, model))
        store.close()


def bench_memories(
    model: str, *, memories: int, clients: Sequence[int], seconds: float, requests: int
) -> dict[str, Any]:
    """Measures a server whose store holds many memories, asked at random: most of them are not in RAM.

    Args:
        model: a shipped name, or a directory.
        memories: how many there are.
        clients: how many ask at once.
        seconds: the longest that a row may take.
        requests: the most that a row may send.
    """
    check(clients, seconds, requests)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memories.db"
        store = open_store(f"sqlite:///{path}")
        started = time.perf_counter()
        _fill(store, memories, Path(model).name)
        filled = memories * len(SENTENCES) / (time.perf_counter() - started)
        store.close()
        rows = []
        with serving(model, store=f"sqlite:///{path}") as address:
            for count in clients:
                load = Load([b"{}"], requests, paths=_paths(memories))
                row = asyncio.run(drive(address, count, load, seconds))
                sizes = {"store_bytes": path.stat().st_size, "sentences_per_second_into_store": filled}
                rows.append({"memories": memories, "clients": count, **row, **sizes})
    return report("serve", rows)


def _record(number: int, model: str) -> Record:
    return Record(id=f"bench-{number}", owner="", model=model, questions=(QUESTION,))


def _fill(store: MemoryStore, memories: int, model: str) -> None:
    def add(number: int) -> None:
        store.create(_record(number, model), 2**53, time.time())
        store.append(f"bench-{number}", SENTENCES, most=len(SENTENCES))

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(add, range(memories)))


def _paths(memories: int) -> Iterator[str]:
    draws = random.Random(0)
    while True:
        yield f"/memories/bench-{draws.randrange(memories)}/ask"
