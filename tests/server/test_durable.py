"""A server that ends, however it ends, is the same server when it starts again; and several are one."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from amn.api import QA
from amn.memory.stored import StoredMemory
from amn.server.limits import Limits
from amn.store.memories import open_store
from server.serving import QUESTION, STORY, WAIT_SECONDS, command, running
from server.stores import RedisProcess, redis_server

QUESTIONS = [QUESTION, "Where is John?"]
LATER = ["John moved to the kitchen.", "Mary got the apple.", "Mary went to the office."]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisProcess]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'memories.db'}"


def client_of(address: str) -> httpx.Client:
    return httpx.Client(base_url=address, timeout=WAIT_SECONDS)


def opened(client: httpx.Client) -> str:
    return client.post("/memories", json={"questions": QUESTIONS}).raise_for_status().headers["location"]


def tell(client: httpx.Client, path: str, sentences: list[str], **further: Any) -> list[dict[str, Any]]:
    reply = client.post(f"{path}/sentences", json={"sentences": sentences, **further}).raise_for_status()
    return list(reply.json()["sentences"])


def answers(client: httpx.Client, path: str) -> list[tuple[str, Any]]:
    found = client.post(f"{path}/ask", json={}).raise_for_status().json()["answers"]
    return [(answer["answer"], pytest.approx(answer["score"], abs=1e-5)) for answer in found]


def expected(qa: QA, sentences: list[str]) -> list[tuple[str, Any]]:
    memory = qa.memory(QUESTIONS)
    memory.tell(sentences)
    return [(answer.answer, pytest.approx(answer.score, abs=1e-5)) for answer in memory.ask()]


def test_a_restart_forgets_nothing(model: Path, qa: QA, store: str) -> None:
    with running(model, store=store) as address, client_of(address) as client:
        path = opened(client)
        tell(client, path, STORY)
        before = client.get(path).json()
    with running(model, store=store) as address, client_of(address) as client:
        assert answers(client, path) == expected(qa, STORY)
        after = client.get(path).json()
        assert after["banks"] == before["banks"] and after["expires_at"] == before["expires_at"]
        traces = tell(client, path, LATER)
        assert [trace["sentence"] for trace in traces] == [4, 5, 6]
        assert answers(client, path) == expected(qa, STORY + LATER)
        assert client.get("/healthz").json()["store"] == "durable"


def test_memories_beyond_those_in_ram_answer_as_well(model: Path, qa: QA, store: str) -> None:
    with running(model, Limits(resident=2), store=store) as address, client_of(address) as client:
        paths = [opened(client) for _ in range(8)]
        for sentence in range(len(STORY)):
            for number, path in enumerate(paths):
                tell(client, path, [STORY[(sentence + number) % len(STORY)]])
        for number, path in enumerate(paths):
            assert answers(client, path) == expected(qa, STORY[number % 4 :] + STORY[: number % 4])


def test_a_long_memory_is_restored_by_its_snapshot_or_without(model: Path, qa: QA, store: str) -> None:
    story = (STORY + LATER) * 40
    with running(model, store=store) as address, client_of(address) as client:
        path = opened(client)
        for start in range(0, len(story), 100):
            tell(client, path, story[start : start + 100])
    kept = open_store(store)
    damaged = kept.snapshot(path.rsplit("/", 1)[1])
    kept.save_snapshot(path.rsplit("/", 1)[1], 10**6, (damaged or b"\0")[:-1] + b"?")
    kept.close()
    with running(model, store=store) as address, client_of(address) as client:
        assert answers(client, path) == expected(qa, story)


def test_a_request_that_is_sent_twice_is_told_once(model: Path) -> None:
    with running(model) as address, client_of(address) as client:
        path = opened(client)
        tell(client, path, STORY, after=0)
        again = client.post(f"{path}/sentences", json={"sentences": STORY, "after": 0})
        assert again.status_code == 409 and "has 4 sentences, not 0" in again.json()["detail"]
        assert client.get(path).json()["sentences"] == 4


def test_two_servers_are_one(model: Path, qa: QA, redis: RedisProcess) -> None:
    with running(model, store=redis.url) as first, running(model, store=redis.url) as second:
        with client_of(first) as left, client_of(second) as right:
            path = opened(left)
            told = [(client, [STORY[i % 4], LATER[i % 3]]) for i, client in enumerate([left, right] * 8)]
            threads = [threading.Thread(target=tell, args=(client, path, pair)) for client, pair in told]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            [kept] = [store.sentences(path.rsplit("/", 1)[1], 0, 100) for store in [open_store(redis.url)]]
            pairs = [kept[i : i + 2] for i in range(0, len(kept), 2)]
            assert sorted(pairs) == sorted(pair for _, pair in told)  # none is lost, and none is torn apart
            assert answers(left, path) == answers(right, path) == expected(qa, kept)
            right.delete(path)
            assert left.get(path).status_code == 404


def test_a_store_that_is_away_is_said_and_comes_back(model: Path, qa: QA, tmp_path: Path) -> None:
    with redis_server(tmp_path) as server, running(model, store=server.url) as address:
        with client_of(address) as client:
            path = opened(client)
            tell(client, path, STORY)
            server.kill()
            away = client.post(f"{path}/ask", json={})
            assert away.status_code == 503 and away.headers["retry-after"]
            assert client.post("/answer", json={"story": STORY, "question": QUESTION}).status_code == 200
            server.start()
            assert answers(client, path) == expected(qa, STORY)


def acknowledged_until_killed(process: Any, address: str, path: str) -> int:
    """Tells single sentences until the server is killed, which is while one of them is on its way."""
    told, enough = 0, 20
    with client_of(address) as client:
        try:
            while client.post(f"{path}/sentences", json={"sentences": [f"Mary got item{told}."]}).status_code == 200:
                told += 1
                if told == enough:
                    threading.Thread(target=os.kill, args=(process.pid, signal.SIGKILL)).start()
        except httpx.TransportError:
            return told
    raise AssertionError("the server was not killed")


def test_a_killed_server_has_all_that_it_acknowledged(model: Path, store: str) -> None:
    with command("--model", str(model), store=store) as (process, address):
        with client_of(address) as client:
            path = opened(client)
        told = acknowledged_until_killed(process, address, path)
    with running(model, store=store) as address, client_of(address) as client:
        found = client.get(path).json()["sentences"]
        assert told >= 20 and found in (told, told + 1)  # one more may have been committed as it died
        kept = open_store(store)
        assert kept.sentences(path.rsplit("/", 1)[1], 0, found) == [f"Mary got item{i}." for i in range(found)]
        kept.close()


def test_python_and_http_share_a_store(model: Path, qa: QA, store: str) -> None:
    mine = StoredMemory.open(qa.trained, QUESTIONS, store, id="ours")
    mine.tell(STORY)
    other = StoredMemory.open(qa.trained, QUESTIONS, store, id="ours")
    traces = other.tell(" ".join(LATER))
    assert [trace.sentence for trace in traces] == [4, 5, 6]
    assert mine.sentences == other.sentences == STORY + LATER
    assert [answer.answer for answer in mine.ask()] == [answer for answer, _ in expected(qa, STORY + LATER)]
    assert [bank.size for bank in mine.snapshot()] == [bank.size for bank in other.snapshot()]
    with pytest.raises(ValueError, match="built for other questions"):
        StoredMemory.open(qa.trained, ["Where is the milk?"], store, id="ours")
