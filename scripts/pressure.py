"""Whether deadlines are kept and others notice nothing, while some clients ask for much and others are slow.

`python scripts/pressure.py deadlines`, `live` and `slow` print a row of JSON for each measurement.
A deadline is kept where its reply is there within 20 ms of it, or within half its length, whichever is more. Of each
that is missed a row also says what is no fault of the server: how long its threads, and this client, were ready to run
and got no processor, and by how much a program overslept that does nothing but sleep, a millisecond at a time.
"""

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from amn.bench.serve import Load, drive, percentile, request_bodies, serving  # noqa: E402

DEADLINES = (10, 20, 50, 100, 200, 500)
SLACK_MS = 20.0
STORY = [f"{who} went to the {where}." for who in ("Mary", "John") for where in ("garden", "office", "kitchen", "hall")]
LONG = (STORY * 250)[:2000]
SHORT_QUESTION = "Where is Mary?"
LONG_QUESTIONS = ["Where is " + " ".join(f"q{i}w{j}" for j in range(62)) + "?" for i in range(32)]
PROBES: dict[str, dict[str, Any]] = {
    "short story": {"story": STORY, "question": SHORT_QUESTION},
    "long story": {"story": LONG, "question": SHORT_QUESTION},
    "long story, 32 long questions": {"story": LONG, "question": LONG_QUESTIONS},
    "explained": {"story": LONG[:400], "question": SHORT_QUESTION, "explain": True},
}
LIVE_PROBES: dict[str, dict[str, Any]] = {"live memory": {}, "live memory, explained": {"explain": True}}
HEAVY: dict[str, dict[str, Any]] = {
    "long": {"story": LONG, "question": LONG_QUESTIONS},
    "hurried": {"story": LONG, "question": SHORT_QUESTION, "deadline_ms": 100},
    "explained": {"story": LONG, "question": SHORT_QUESTION, "explain": True},
}
OTHERS = (("nobody", 0), ("long", 1), ("long", 4), ("hurried", 4), ("explained", 2))
SLOW_HEAD = b"POST /answer HTTP/1.1\r\nhost: localhost\r\n" + b"x-padding: 1\r\n" * 1000
SLOW_BODY = b"POST /answer HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10000\r\n\r\n"
SLOW_READING = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def exchange(streams: Streams, body: bytes, path: str = "/answer") -> tuple[int, dict[str, Any]]:
    """Sends a request and reads its reply."""
    reader, writer = streams
    lines = (f"POST {path} HTTP/1.1", "host: localhost", "content-type: application/json")
    writer.write("\r\n".join((*lines, f"content-length: {len(body)}", "", "")).encode() + body)
    status, *headers = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
    length = next(int(line.partition(b":")[2]) for line in headers if line.startswith(b"content-length"))
    return int(status.split()[1]), json.loads(await reader.readexactly(length))


class Machine:
    """What is no fault of a server: its threads get no processor, and whoever sleeps oversleeps."""

    def __init__(self) -> None:
        self._overslept = multiprocessing.Value("d", 0.0)
        multiprocessing.Process(target=self._sleep, daemon=True).start()
        self._waited: dict[Path, float] = {}

    def _sleep(self) -> None:
        while True:
            started = time.perf_counter()
            time.sleep(0.001)
            self._overslept.value = max(self._overslept.value, 1000 * (time.perf_counter() - started) - 1)

    def begin(self) -> None:
        """Counts from now."""
        self._overslept.value, self._waited = 0.0, _waited_ms()

    def faults(self) -> dict[str, Any]:
        """What it did since, in milliseconds: of the threads of the server, the two that waited longest."""
        waited = {thread: round(ms - self._waited.get(thread, 0.0), 1) for thread, ms in _waited_ms().items()}
        client = waited.pop(_OWN, 0.0)
        return {
            "server_waited_ms": sorted(waited.values())[-2:],
            "client_waited_ms": client,
            "overslept_ms": round(self._overslept.value, 1),
        }


_OWN = Path(f"/proc/{os.getpid()}/schedstat")


def _waited_ms() -> dict[Path, float]:
    """How long this process and each thread of the servers was ready to run, and did not."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    servers = [child for child in children if b"\0serve\0" in Path(f"/proc/{child}/cmdline").read_bytes()]
    threads = [thread for server in servers for thread in Path(f"/proc/{server}/task").glob("*/schedstat")]
    return {thread: int(thread.read_text().split()[1]) / 1e6 for thread in (_OWN, *threads)}


async def probe(
    machine: Machine, address: str, name: str, deadline: int, times: int, path: str = "/answer"
) -> dict[str, Any]:
    """Asks by a deadline, again and again; says by how much each reply was late."""
    place, allowed = urlsplit(address), max(SLACK_MS, deadline / 2)
    body = json.dumps({**(PROBES | LIVE_PROBES)[name], "deadline_ms": deadline}).encode()
    late, read, statuses, missed = [], [], set(), []
    for _ in range(times):
        streams = await asyncio.open_connection(place.hostname, place.port)
        machine.begin()
        started = time.perf_counter()
        status, reply = await exchange(streams, body, path)
        late.append(1000 * (time.perf_counter() - started) - deadline)
        read.append(reply.get("sentences_read", 0))
        statuses.add(status)
        streams[1].close()
        if late[-1] > allowed:
            missed.append({"late_ms": round(late[-1], 1), **machine.faults()})
    return {
        "asked": name,
        "deadline_ms": deadline,
        "statuses": sorted(statuses),
        "missed": len(missed),
        "of": times,
        "late_ms_median": round(sorted(late)[times // 2], 1),
        "late_ms_worst": round(max(late), 1),
        "sentences_read_median": sorted(read)[times // 2],
        **({"missed_ones": missed} if missed else {}),
    }


async def told_memory(address: str, sentences: Sequence[str]) -> str:
    """The path of a new memory that was told some sentences."""
    place = urlsplit(address)
    streams = await asyncio.open_connection(place.hostname, place.port)
    _, opened = await exchange(streams, json.dumps({"questions": [SHORT_QUESTION]}).encode(), "/memories")
    path = f"/memories/{opened['id']}"
    await exchange(streams, json.dumps({"sentences": sentences}).encode(), f"{path}/sentences")
    streams[1].close()
    return path


async def _tell_much(address: str, clients: int) -> None:
    async def tell() -> None:
        while True:
            await told_memory(address, LONG)

    await asyncio.gather(*(tell() for _ in range(clients)))


async def _ask_much(address: str, kind: str, clients: int) -> None:
    place, body = urlsplit(address), json.dumps(HEAVY[kind]).encode()

    async def ask() -> None:
        while True:
            streams = await asyncio.open_connection(place.hostname, place.port)
            await exchange(streams, body)
            streams[1].close()

    await asyncio.gather(*(ask() for _ in range(clients)))


async def _be_slow(address: str, clients: int) -> None:
    """A third sends heads, a third sends bodies, and a third reads replies, all of them a byte at a time."""
    place = urlsplit(address)

    async def trickle(sent: bytes, slowly: bytes) -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection(place.hostname, place.port, limit=1)
                writer.write(sent)
                for byte in slowly:
                    writer.write(bytes([byte]) if byte else b"")
                    await asyncio.sleep(0.1)
                    if byte == 0 and not await reader.read(1):
                        break
                    if writer.is_closing() or reader.at_eof():
                        break
                writer.close()
            except OSError:
                await asyncio.sleep(0.1)

    kinds = ((b"", SLOW_HEAD), (SLOW_BODY, b" " * 10_000), (SLOW_READING, bytes(10_000)))
    await asyncio.gather(*(trickle(*kinds[number % len(kinds)]) for number in range(clients)))


def _run_clients(kind: str, address: str, clients: int) -> None:
    if kind in HEAVY:
        asyncio.run(_ask_much(address, kind, clients))
    else:
        asyncio.run((_be_slow if kind == "slow" else _tell_much)(address, clients))


@contextmanager
def others(kind: str, address: str, clients: int) -> Iterator[None]:
    """Other clients, in a process of their own."""
    process = multiprocessing.Process(target=_run_clients, args=(kind, address, clients), daemon=True)
    if clients:
        process.start()
        time.sleep(1.0)
    try:
        yield
    finally:
        if clients:
            process.kill()
            process.join()


def measure_deadlines(machine: Machine, address: str, deadlines: Sequence[int], times: int) -> None:
    """Deadlines while nobody else asks, and while others have long stories read."""
    asyncio.run(probe(machine, address, "explained", 1000, 3))  # what is done once is done
    for kind, clients in OTHERS:
        with others(kind, address, clients):
            for name in PROBES:
                for deadline in deadlines:
                    row = asyncio.run(probe(machine, address, name, deadline, times))
                    print(json.dumps({"others": f"{kind} {clients}", **row}), flush=True)


def measure_live(machine: Machine, address: str, deadlines: Sequence[int], times: int) -> None:
    """Deadlines of a live memory while three others are told 2 000 sentences each, again and again."""
    path = asyncio.run(told_memory(address, LONG[:200]))
    for clients in (0, 3):
        with others("telling", address, clients):
            for name in LIVE_PROBES:
                for deadline in deadlines:
                    row = asyncio.run(probe(machine, address, name, deadline, times, f"{path}/ask"))
                    print(json.dumps({"others": f"telling {clients}", **row}), flush=True)


def measure_slow(address: str, seconds: float, rounds: int) -> None:
    """How long eight clients wait while nobody, and while a hundred others send a byte at a time."""
    for number in range(rounds):
        for clients in (0, 100):
            with others("slow", address, clients):
                load = Load(request_bodies(1), 10**9)
                row = asyncio.run(drive(address, 8, load, seconds))
                worst = percentile(sorted(load.taken), 100)
                print(json.dumps({"round": number, "slow": clients, **row, "worst_ms": worst}), flush=True)


def main() -> None:
    """Measures one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("deadlines", "live", "slow"))
    parser.add_argument("--model", default="qa1")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--deadlines", type=int, nargs="+", default=DEADLINES)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", help="of live memories; by default a file that is new")
    given = parser.parse_args()
    gc.disable()  # to look through all that is loaded takes this client 100 ms, which are not the server's
    with (
        TemporaryDirectory() as folder,
        serving(given.model, store=given.store or f"sqlite:///{folder}/m.db") as address,
    ):
        if given.what == "deadlines":
            measure_deadlines(Machine(), address, given.deadlines, given.times)
        elif given.what == "live":
            measure_live(Machine(), address, given.deadlines, given.times)
        else:
            measure_slow(address, given.seconds, given.rounds)


if __name__ == "__main__":
    main()
