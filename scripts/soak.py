"""A long test of what is promised: servers and their store are killed while many clients tell, ask and follow.

Counts what was acknowledged and what was found again at the end; they must be equal. `make soak` runs it for ten
minutes, and `python scripts/soak.py --seconds 120 --store redis` for two, on Redis.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
sys.path.insert(0, str(SOURCE))

import httpx  # noqa: E402

import amn  # noqa: E402
from amn.errors import AMNError  # noqa: E402
from amn.store.memories import open_store  # noqa: E402

QUESTIONS = ["Where is Mary?", "Where is John?"]
PEOPLE, PLACES = ("Mary", "John", "Sandra", "Daniel"), ("garden", "office", "kitchen", "hallway", "bedroom", "bathroom")
FAILURES = (httpx.TransportError, httpx.HTTPStatusError)
KILL_SECONDS = 4.0  # a server or the store dies about so often
START_SECONDS = 60.0


@dataclass
class Counts:
    """What happened."""

    acknowledged: int = 0  # sentences
    found: int = 0  # of these, at the end
    lost: int = 0
    doubled: int = 0  # sentences that are there twice
    torn: int = 0  # tellings of which only a part is there
    answers_checked: int = 0
    answers_wrong: int = 0
    requests: int = 0
    refused: int = 0  # with a status from 400 on, while something was down
    cut: int = 0  # connections that ended without a reply
    servers_killed: int = 0
    stores_killed: int = 0
    slow_clients: int = 0
    slow_let_go: int = 0
    events: int = 0
    events_missed: int = 0
    damaged_files: int = 0
    damaged_refused: int = 0
    damaged_harmless: int = 0  # 1e-05 is 1E-05


@dataclass
class Client:
    """A client that tells its own memory, one telling after another, and remembers what was acknowledged."""

    name: int
    path: str = ""
    acknowledged: list[list[str]] = field(default_factory=list)
    uncertain: list[list[str]] = field(default_factory=list)  # sent, and no reply came


class Servers:
    """Some servers, each in a process of its own and on a port that it keeps when it is started again."""

    def __init__(self, number: int, store: str, folder: Path) -> None:
        self._store, self._folder = store, folder
        self.ports = _free_ports(number)
        self._running = {port: self._started(port) for port in self.ports}

    def _started(self, port: int) -> "subprocess.Popen[bytes]":
        words = ["serve", "--port", str(port), "--model", "qa1", "--store", self._store, "--resident", "16"]
        said = (self._folder / f"server-{port}.log").open("ab")
        with said:
            environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
            return subprocess.Popen([sys.executable, "-m", "amn", *words], stderr=said, env=environment)

    def kill(self, port: int) -> None:
        """Ends a server without a word, and starts it again."""
        self._running[port].send_signal(signal.SIGKILL)
        self._running[port].wait()
        self._running[port] = self._started(port)

    def stop(self) -> None:
        """Ends all of them kindly."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            process.wait()


class Redis:
    """A server of Redis or Valkey that flushes before it acknowledges."""

    def __init__(self, folder: Path) -> None:
        program = shutil.which("valkey-server") or shutil.which("redis-server")
        if program is None:
            raise SystemExit("neither valkey-server nor redis-server is installed")
        (self.port,) = _free_ports(1)
        words = ["--port", str(self.port), "--dir", str(folder), "--save", "", "--appendonly", "yes"]
        self._line = [program, *words, "--appendfsync", "always"]
        self.start()

    def start(self) -> None:
        """Starts it."""
        self._process = subprocess.Popen(self._line, stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        """Ends it without a word."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def _free_ports(number: int) -> list[int]:
    """Ports that nobody uses; all are held until the last is found, so that they differ."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [int(one.getsockname()[1]) for one in held]


def telling(client: int, number: int, draws: random.Random) -> list[str]:
    """Two sentences that no other telling has: the last word says whose they are."""
    return [f"{draws.choice(PEOPLE)} went to the {draws.choice(PLACES)} c{client}t{number}{part}." for part in "ab"]


async def tell_on(client: Client, soak: "Soak") -> None:
    """Tells until the time is up; a telling without a reply may or may not be there, so another is told next."""
    draws, number = random.Random(client.name), 0
    while soak.going:
        sentences = telling(client.name, number, draws)
        number += 1
        try:
            if not client.path:
                reply = await soak.post("/memories", {"questions": QUESTIONS}, draws)
                client.path = reply.headers["location"]
            reply = await soak.post(f"{client.path}/sentences", {"sentences": sentences}, draws)
            client.acknowledged.append(sentences)
            soak.counts.acknowledged += len(sentences)
            if draws.random() < 0.2:
                await soak.post(f"{client.path}/ask", {"deadline_ms": 200}, draws)
        except httpx.HTTPStatusError:
            client.uncertain.append(sentences)  # a store that went down in the middle may have it
            soak.counts.refused += 1
            await asyncio.sleep(0.05)
        except httpx.TransportError:
            client.uncertain.append(sentences)
            soak.counts.cut += 1
            await asyncio.sleep(0.05)


async def follow_on(client: Client, soak: "Soak", seen: dict[int, str]) -> None:
    """Follows a memory through every kill: after each, it goes on where it was."""
    draws, last = random.Random(-client.name - 1), 0
    while soak.going or soak.settling:
        headers = {"last-event-id": str(last)}
        try:
            async with soak.http.stream("GET", f"{soak.server(draws)}{client.path}/events", headers=headers) as reply:
                reply.raise_for_status()
                async for line in reply.aiter_lines():
                    if line.startswith("id: "):
                        last = int(line.removeprefix("id: "))
                    if line.startswith("data: "):
                        seen[last] = json.loads(line.removeprefix("data: "))["text"]
                        soak.counts.events += 1
        except (*FAILURES, httpx.StreamError, httpx.UnsupportedProtocol):
            await asyncio.sleep(0.1)


async def be_slow(soak: "Soak", draws: random.Random) -> None:
    """Sends a request a byte at a time, until the server has enough of it."""
    while soak.going:
        soak.counts.slow_clients += 1
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", draws.choice(soak.servers.ports))
            for byte in b"POST /answer HTTP/1.1\r\nhost: localhost\r\n" + b"x-padding: 1\r\n" * 1000:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.5)
                if reader.at_eof() or not soak.going:
                    break
            soak.counts.slow_let_go += reader.at_eof()
            writer.close()
        except OSError:
            await asyncio.sleep(0.5)


async def kill_on(soak: "Soak", redis: Redis | None) -> None:
    """Kills a server or the store, again and again."""
    draws = random.Random(7)
    while soak.going:
        await asyncio.sleep(draws.uniform(0.5, 2) * KILL_SECONDS)
        if redis is not None and draws.random() < 0.3:
            redis.kill()
            await asyncio.sleep(draws.random())
            redis.start()
            soak.counts.stores_killed += 1
        else:
            await asyncio.to_thread(soak.servers.kill, draws.choice(soak.servers.ports))
            soak.counts.servers_killed += 1


async def damage_on(soak: "Soak", folder: Path) -> None:
    """Damages copies of a model and of a saved memory, and loads them: each must be refused."""
    draws, model = random.Random(9), SOURCE / "amn" / "pretrained" / "qa1"
    copy = Path(shutil.copytree(model, folder / "damaged"))
    qa = amn.load(copy)
    memory, saved = qa.memory(QUESTIONS), folder / "memory"
    memory.tell(telling(0, 0, draws))
    memory.save(saved)
    whole = {path: path.read_bytes() for path in (copy / "config.json", copy / "model.safetensors", saved)}
    while soak.going:
        path = draws.choice(list(whole))
        data, at = whole[path], draws.randrange(len(whole[path]))
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << draws.randrange(8)]) + data[at + 1 :])
        soak.counts.damaged_files += 1
        try:
            qa.restore(saved) if path == saved else amn.load(copy)
            soak.counts.damaged_harmless += path.suffix == ".json" and json.loads(path.read_bytes()) == json.loads(data)
        except AMNError:
            soak.counts.damaged_refused += 1
        path.write_bytes(data)
        await asyncio.sleep(0.2)


class Soak:
    """One run."""

    def __init__(self, http: httpx.AsyncClient, servers: Servers, counts: Counts, store: str) -> None:
        self.http, self.servers, self.counts, self.store = http, servers, counts, store
        self.going, self.settling = True, False

    def server(self, draws: random.Random) -> str:
        """The address of any server: each answers for every memory."""
        return f"http://127.0.0.1:{draws.choice(self.servers.ports)}"

    async def post(self, path: str, body: object, draws: random.Random) -> httpx.Response:
        """Sends a request to any server; whatever is refused is an error."""
        self.counts.requests += 1
        return (await self.http.post(self.server(draws) + path, json=body)).raise_for_status()

    async def wait_until_up(self) -> None:
        """Waits until every server answers, and its store too."""
        ends = time.monotonic() + START_SECONDS
        for port in self.servers.ports:
            while True:
                with suppress(*FAILURES):
                    (await self.http.get(f"http://127.0.0.1:{port}/metrics")).raise_for_status()
                    break
                if time.monotonic() > ends:
                    raise SystemExit(f"the server on port {port} does not come up")
                await asyncio.sleep(0.1)


async def run(seconds: float, clients: int, servers: Servers, redis: Redis | None, store: str, folder: Path) -> Counts:
    """The whole of it."""
    counts = Counts()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)  # a connection may be to a dead server
    async with httpx.AsyncClient(timeout=30.0, limits=limits) as http:
        soak = Soak(http, servers, counts, store)
        await soak.wait_until_up()
        everybody = [Client(name) for name in range(clients)]
        seen: dict[int, dict[int, str]] = {}
        jobs = [asyncio.create_task(tell_on(client, soak)) for client in everybody]
        jobs += [asyncio.create_task(be_slow(soak, random.Random(i))) for i in range(20)]
        jobs += [asyncio.create_task(kill_on(soak, redis)), asyncio.create_task(damage_on(soak, folder))]
        while not all(client.path for client in everybody[:4]):
            await asyncio.sleep(0.1)
        following = [
            asyncio.create_task(follow_on(client, soak, seen.setdefault(client.name, {}))) for client in everybody[:4]
        ]
        await asyncio.sleep(seconds)
        soak.going, soak.settling = False, True
        await asyncio.gather(*jobs)
        await soak.wait_until_up()
        await check_answers(soak, everybody)
        await asyncio.sleep(5)  # the streams catch up
        soak.settling = False
        for job in following:
            job.cancel()
        await asyncio.gather(*following, return_exceptions=True)
    check_store(store, everybody, seen, counts)
    return counts


async def check_answers(soak: Soak, everybody: list[Client]) -> None:
    """After all those kills, every server answers as a memory that was told the same in one go."""
    qa = amn.load("qa1")
    for client in filter(lambda client: client.path, everybody):
        for port in soak.servers.ports:
            reply = await soak.http.post(f"http://127.0.0.1:{port}{client.path}/ask", json={})
            found = [answer["answer"] for answer in reply.raise_for_status().json()["answers"]]
            memory = qa.memory(QUESTIONS)
            memory.tell(await asyncio.to_thread(sentences_of, soak.store, client))
            soak.counts.answers_checked += len(found)
            soak.counts.answers_wrong += sum(
                mine != answer.answer for mine, answer in zip(found, memory.ask(), strict=True)
            )


def sentences_of(url: str, client: Client) -> list[str]:
    """What the store has of a memory."""
    store = open_store(url)
    try:
        return store.sentences(client.path.rsplit("/", 1)[1], 0, 10**6)
    finally:
        store.close()


def check_store(url: str, everybody: list[Client], seen: dict[int, dict[int, str]], counts: Counts) -> None:
    """Compares what is in the store with what was acknowledged, and events with both."""
    qa = amn.load("qa1")
    for client in filter(lambda client: client.path, everybody):
        kept = sentences_of(url, client)
        there = set(kept)
        acknowledged = [text for pair in client.acknowledged for text in pair]
        counts.found += sum(text in there for text in acknowledged)
        counts.lost += sum(text not in there for text in acknowledged)
        counts.doubled += len(kept) - len(there)
        counts.torn += sum((pair[0] in there) != (pair[1] in there) for pair in client.acknowledged + client.uncertain)
        if client.name in seen:
            counts.events_missed += len(expected_events(qa, kept).items() - seen[client.name].items())


def expected_events(qa: "amn.QA", sentences: list[str]) -> dict[int, str]:
    """Which sentences change an answer."""
    memory, before, found = qa.memory(QUESTIONS), None, {}
    for number, text in enumerate(sentences, 1):
        memory.tell([text])
        now = [answer.answer for answer in memory.ask()]
        if now != before:
            found[number] = text
        before = now
    return found


@contextmanager
def stores(kind: str, folder: Path) -> Iterator[tuple[str, Redis | None]]:
    """The URL of a store of some kind, and what to kill of it."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'memories.db'}", None
        return
    redis = Redis(folder)
    try:
        yield f"redis://127.0.0.1:{redis.port}/0", redis
    finally:
        redis.kill()


def main() -> int:
    """Runs it, prints the counts as JSON, and fails where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--store", choices=("sqlite", "redis"), default="sqlite")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        store, redis = stack.enter_context(stores(given.store, folder))
        servers = Servers(given.servers, store, folder)
        stack.callback(servers.stop)
        counts = asyncio.run(run(given.seconds, given.clients, servers, redis, store, folder))
        logged = sum(path.stat().st_size for path in folder.glob("*.log"))
    print(json.dumps({**vars(given), **asdict(counts), "log_bytes": logged}, indent=1))
    broken = (counts.lost, counts.doubled, counts.torn, counts.answers_wrong, counts.events_missed)
    taken = counts.damaged_files - counts.damaged_refused - counts.damaged_harmless
    return 1 if any(broken) or taken or counts.found != counts.acknowledged else 0


if __name__ == "__main__":
    sys.exit(main())
