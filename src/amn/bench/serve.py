"""How many requests a server answers, and how long each takes: a real server in another process, and many clients.

The clients are coroutines over plain sockets, so that they take little of the machine from the server they measure.
"""

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, islice, repeat
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from amn.bench.timing import report
from amn.data.tasks import generate
from amn.errors import AMNError, ConfigError
from amn.store.memories import MemoryStore, Record, open_store

MAX_CLIENTS = 512  # each is an open connection
START_SECONDS, STOP_SECONDS, REPLY_SECONDS = 120.0, 10.0, 30.0
TOLD = ("Mary moved to the bathroom.", "John went to the hallway.", "Mary went to the garden.", "John got the milk.")
QUESTION = "Where is Mary?"
_SHARED = 1_000  # memories that several servers share
_WRITERS = 32  # threads that fill a store: what waits together is committed together
_NUM_BODIES = 64  # different requests, which the clients send in turn
_FAILURES = (OSError, EOFError, ValueError, TimeoutError, asyncio.LimitOverrunError)


@dataclass(slots=True)
class Load:
    """What some clients share while they ask: what to send, how much is left, and the outcomes."""

    bodies: Sequence[bytes]  # the requests, as JSON
    requests: int  # how many may still be sent
    ends: float = float("inf")  # when to stop, by the monotonic clock
    taken: list[float] = field(default_factory=list)  # seconds of every request that was answered
    failed: int = 0  # how many were not
    paths: Iterator[str] = field(default_factory=lambda: repeat("/answer"))  # where to send them, in turn

    def next_body(self) -> bytes | None:
        """What to send next, or None when it is time to stop."""
        if self.requests <= 0 or time.monotonic() >= self.ends:
            return None
        self.requests -= 1
        return self.bodies[self.requests % len(self.bodies)]


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """How servers are measured: a row for each number of clients, who ask again whenever they are answered."""

    clients: Sequence[int]  # how many ask at once
    seconds: float  # the longest that a row may take
    requests: int  # the most that it may send

    def __post_init__(self) -> None:
        _check_counts("clients", self.clients)
        if not self.seconds > 0 or self.requests < 1:
            raise ConfigError(f"seconds and requests must be above 0, not {self.seconds} and {self.requests}")

    def row(self, addresses: Sequence[str], clients: int, load: Load) -> dict[str, Any]:
        """The figures of so many clients; several servers share them evenly."""
        return {"clients": clients, **asyncio.run(drive(addresses, clients, load, self.seconds))}


def _check_counts(what: str, counts: Sequence[int]) -> None:
    """Refuses what cannot be measured, before a server starts."""
    if not counts or not all(1 <= number <= MAX_CLIENTS for number in counts):
        raise ConfigError(f"{what} must be from 1 to {MAX_CLIENTS}, not {', '.join(map(str, counts)) or 'none'}")


def bench_serve(model: str, rounds: Rounds, *, task: int = 1, threads: int = 1) -> dict[str, Any]:
    """Measures a server with batching and one without, about stories of a task; both run, and are asked in turns."""
    bodies, rows = request_bodies(task), []
    with ExitStack() as stack:
        sizes = {True: None, False: 1}
        servers = {on: stack.enter_context(serving(model, batch=size, threads=threads)) for on, size in sizes.items()}
        for clients in rounds.clients:
            for batching, address in servers.items():
                row = rounds.row([address], clients, Load(bodies, rounds.requests))
                rows.append({"clients": clients, "batching": batching, **row})
    return report("serve", rows)


def bench_servers(
    model: str, rounds: Rounds, *, servers: Sequence[int], task: int = 1, store: str = ""
) -> dict[str, Any]:
    """Measures ever more servers that share one store and their clients.

    Args:
        model: a shipped name, or a directory.
        rounds: how each number of servers is measured.
        servers: how many of them.
        task: whose generated stories are asked about.
        store: the URL of a store, for questions to live memories in it, by any of the servers; the memories are
            removed at the end. Without it, stories are asked about.
    """
    _check_counts("servers", servers)
    rows = []
    for number in servers:
        with TemporaryDirectory() as folder, ExitStack() as stack:
            url = store or f"sqlite:///{Path(folder) / 'memories.db'}"
            running = [stack.enter_context(serving(model, store=url)) for _ in range(number)]
            if store:
                stack.enter_context(_filled(store, Path(model).name))
            for clients in rounds.clients:
                load = _asking(_SHARED, rounds) if store else Load(request_bodies(task), rounds.requests)
                row = rounds.row(running, clients, load)
                rows.append({"servers": number, "cores": os.cpu_count(), **row})
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


def bench_memories(model: str, rounds: Rounds, *, memories: int) -> dict[str, Any]:
    """Measures a server whose store holds many memories, asked at random: most of them are not in RAM."""
    rows = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memories.db"
        store, started = open_store(f"sqlite:///{path}"), time.perf_counter()
        _fill(store, memories, Path(model).name)
        filled = memories * len(TOLD) / (time.perf_counter() - started)
        store.close()
        with serving(model, store=f"sqlite:///{path}") as address:
            for clients in rounds.clients:
                row = rounds.row([address], clients, _asking(memories, rounds))
                sizes = {"store_bytes": path.stat().st_size, "sentences_per_second_into_store": filled}
                rows.append({"memories": memories, **row, **sizes})
    return report("serve", rows)


def _record(number: int, model: str) -> Record:
    return Record(id=f"bench-{number}", owner="", model=model, questions=(QUESTION,))


def _fill(store: MemoryStore, memories: int, model: str) -> None:
    def add(number: int) -> None:
        store.create(_record(number, model), 2**53, time.time())
        store.append(f"bench-{number}", TOLD, most=len(TOLD))

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(add, range(memories)))


def _asking(memories: int, rounds: Rounds) -> Load:
    """Questions to memories that are drawn at random."""
    draws = random.Random(0)
    paths = (f"/memories/bench-{draws.randrange(memories)}/ask" for _ in count())
    return Load([b"{}"], rounds.requests, paths=paths)


def request_bodies(task: int) -> list[bytes]:
    """Requests of a task, each with another story and one question."""
    asked = (
        {"story": story.sentences[: question.after], "question": question.text}
        for story in generate(task, questions=_NUM_BODIES, seed=0)
        for question in story.questions
    )
    return [json.dumps(one).encode() for one in islice(asked, _NUM_BODIES)]


@contextmanager
def serving(model: str, *, batch: int | None = None, threads: int = 1, store: str = "memory:") -> Iterator[str]:
    """The address of `amn serve` in another process, on a free local port."""
    words = ["serve", "--port", "0", "--model", model, "--threads", str(threads), "--store", store]
    words += [] if batch is None else ["--batch", str(batch)]
    with TemporaryDirectory() as folder:
        said = Path(folder) / "said.txt"
        with said.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, "-m", "amn", *words], stdout=stream, stderr=stream, env=_environment()
            )
        try:
            yield _address(process, said)
        finally:
            _stop(process)


def _environment() -> dict[str, str]:
    """That of this process, in which the same package is found, and in which no token is asked for."""
    package = str(Path(__file__).parents[2])
    kept = {name: value for name, value in os.environ.items() if name != "AMN_TOKEN"}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))}


def _address(process: "subprocess.Popen[bytes]", said: Path) -> str:
    """What the server says when it listens."""
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends:
        ended = process.poll() is not None  # asked first, so that its last words are read
        text = said.read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"http://[\w.:]+(?=\s)", text):
            return found[0]
        if ended:
            raise AMNError(f"the server did not start: {(text.strip() or 'it said nothing').splitlines()[-1]}")
        time.sleep(0.05)
    raise AMNError(f"the server did not start within {START_SECONDS:.0f} seconds")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


async def drive(addresses: str | Sequence[str], clients: int, load: Load, seconds: float) -> dict[str, Any]:
    """Lets clients ask until the time is up or all is sent, and gives the figures of a row.

    Several servers share the clients evenly. Before it starts, each client was connected and answered once.
    """
    servers = [urlsplit(one) for one in ([addresses] if isinstance(addresses, str) else addresses)]
    chosen = [servers[i % len(servers)] for i in range(clients)]
    opened = await asyncio.gather(*(_Client.connected(one.hostname or "", one.port or 0, load) for one in chosen))
    ready = [client for client in opened if client is not None]
    started = time.monotonic()
    load.ends = started + seconds
    await asyncio.gather(*(client.ask_on() for client in ready))
    lasted, taken = time.monotonic() - started, sorted(load.taken)
    return {
        "requests": len(taken),
        "failed": load.failed,
        "requests_per_second": len(taken) / lasted if lasted else 0.0,
        "p50_ms": percentile(taken, 50),
        "p99_ms": percentile(taken, 99),
    }


def percentile(ordered: Sequence[float], percent: int) -> float | None:
    """The least of the times, in milliseconds, that so many percent of them do not exceed."""
    return 1000 * ordered[max(0, ceil(len(ordered) * percent / 100) - 1)] if ordered else None


class _Client:
    """One connection that asks, waits for the answer, and asks again."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, load: Load) -> None:
        self._reader, self._writer, self._load = reader, writer, load

    @classmethod
    async def connected(cls, host: str, port: int, load: Load) -> "_Client | None":
        """A client that was answered once, so that whatever is done once is done; None where it was not."""
        client = None
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                client = cls(*await asyncio.open_connection(host, port), load)
                await client._exchange(load.bodies[0])
        except _FAILURES:
            load.failed += 1
            if client is not None:
                await client._close()
            return None
        return client

    async def ask_on(self) -> None:
        """Asks until it is time to stop, or until a request fails."""
        try:
            while (body := self._load.next_body()) is not None:
                started = time.perf_counter()
                async with asyncio.timeout(REPLY_SECONDS):
                    await self._exchange(body)
                self._load.taken.append(time.perf_counter() - started)
        except _FAILURES:
            self._load.failed += 1
        finally:
            await self._close()

    async def _close(self) -> None:
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _exchange(self, body: bytes) -> None:
        """Sends a request and reads its reply to the end; anything but answers is a ValueError."""
        lines = (f"POST {next(self._load.paths)} HTTP/1.1", "host: localhost", "content-type: application/json")
        self._writer.write("\r\n".join((*lines, f"content-length: {len(body)}", "", "")).encode() + body)
        await self._writer.drain()
        status, *headers = (await self._reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        named = [line.partition(b":") for line in headers]
        length = next((int(value) for name, _, value in named if name == b"content-length"), -1)  # -1 is refused
        reply = await self._reader.readexactly(length)
        if b" 200 " not in status or b'"answers"' not in reply:
            raise ValueError(f"expected answers, found {reply[:200]!r}")
