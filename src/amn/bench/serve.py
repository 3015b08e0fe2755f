"""How many requests a server answers, and how long each waits: a real server in its own process, and many clients.

The clients are coroutines over plain sockets, so that they take little of the machine from the server they measure.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice, repeat
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from amn.bench.timing import report
from amn.data.tasks import generate
from amn.errors import AMNError, ConfigError

CLIENTS = (1, 8, 64)
MAX_CLIENTS = 512  # each is an open connection
SECONDS, MAX_REQUESTS = 5.0, 50_000  # a row ends with whichever comes first
START_SECONDS, STOP_SECONDS, REPLY_SECONDS = 120.0, 10.0, 30.0
_NUM_BODIES = 64  # different requests, which the clients send in turn
_FAILURES = (OSError, EOFError, ValueError, TimeoutError, asyncio.LimitOverrunError)


@dataclass(slots=True)
class Load:
    """What some clients share while they ask: what to send, how much is left, and what became of it."""

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


def bench_serve(
    model: str,
    *,
    task: int = 1,
    clients: Sequence[int] = CLIENTS,
    seconds: float = SECONDS,
    requests: int = MAX_REQUESTS,
    threads: int = 1,
) -> dict[str, Any]:
    """Measures a server with batching and one without; both run all the time, and are asked in turns.

    Args:
        model: a shipped name, or a directory.
        task: whose generated stories are asked about.
        clients: how many ask at once, a row for each; every client sends its next request when it has its answer.
        seconds: the longest that a row may take.
        requests: the most that a row may send.
        threads: of the model.
    """
    check(clients, seconds, requests)
    bodies = request_bodies(task)
    rows = []
    with ExitStack() as stack:
        sizes = {True: None, False: 1}
        servers = {on: stack.enter_context(serving(model, batch=size, threads=threads)) for on, size in sizes.items()}
        for count in clients:
            for batching, address in servers.items():
                row = asyncio.run(drive(address, count, Load(bodies, requests), seconds))
                rows.append({"clients": count, "batching": batching, **row})
    return report("serve", rows)


def check(clients: Sequence[int], seconds: float, requests: int) -> None:
    """Refuses what cannot be measured, before a server starts."""
    if not clients or not all(1 <= count <= MAX_CLIENTS for count in clients):
        raise ConfigError(f"clients must be from 1 to {MAX_CLIENTS}, not {', '.join(map(str, clients)) or 'none'}")
    if not seconds > 0 or requests < 1:
        raise ConfigError(f"seconds and requests must be above 0, not {seconds} and {requests}")


def request_bodies(task: int) -> list[bytes]:
    """Requests of a task, each with a story of its own and one question."""
    asked = (
        (story, question) for story in generate(task, questions=_NUM_BODIES, seed=0) for question in story.questions
    )
    return [
        json.dumps({"story": story.sentences[: question.after], "question": question.text}).encode()
        for story, question in islice(asked, _NUM_BODIES)
    ]


@contextmanager
def serving(model: str, *, batch: int | None = None, threads: int = 1, store: str = "memory:") -> Iterator[str]:
    """The address of `amn serve` in a process of its own, on a free port of this machine alone.

    Args:
        model: a shipped name, or a directory.
        batch: stories that it answers together; None for as many as it does by default.
        threads: of the model.
        store: where it keeps live memories.
    """
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
    return _figures(load, time.monotonic() - started)


def _figures(load: Load, seconds: float) -> dict[str, Any]:
    taken = sorted(load.taken)
    return {
        "requests": len(taken),
        "failed": load.failed,
        "requests_per_second": len(taken) / seconds if seconds else 0.0,
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
