"""How serving grows: with the number of servers, and with the number of live memories."""

import asyncio
import os
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
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
_WRITERS = 32  # threads that fill a store: what waits together is committed together


def bench_servers(
    model: str, *, servers: Sequence[int], clients: Sequence[int], seconds: float, requests: int, task: int = 1
) -> dict[str, Any]:
    """Measures ever more servers that share one store and their clients; else as `bench_serve`."""
    check([*servers, *clients], seconds, requests)
    rows = []
    for number in servers:
        with TemporaryDirectory() as folder, ExitStack() as stack:
            store = f"sqlite:///{Path(folder) / 'memories.db'}"
            running = [stack.enter_context(serving(model, store=store)) for _ in range(number)]
            for count in clients:
                row = asyncio.run(drive(running, count, Load(request_bodies(task), requests), seconds))
                rows.append({"servers": number, "cores": os.cpu_count(), "clients": count, **row})
    return report("serve", rows)


def bench_memories(
    model: str, *, memories: int, clients: Sequence[int], seconds: float, requests: int
) -> dict[str, Any]:
    """Measures a server whose store holds many memories, asked at random: most of them are not in RAM."""
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


def _fill(store: MemoryStore, memories: int, model: str) -> None:
    def add(number: int) -> None:
        store.create(Record(id=f"bench-{number}", owner="", model=model, questions=(QUESTION,)), memories, time.time())
        store.append(f"bench-{number}", SENTENCES, most=len(SENTENCES))

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(add, range(memories)))


def _paths(memories: int) -> Iterator[str]:
    draws = random.Random(0)
    while True:
        yield f"/memories/bench-{draws.randrange(memories)}/ask"
