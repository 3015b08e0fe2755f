"""Standing questions: an answer whenever it changes, with the sentence that changed it, from wherever one left."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from amn.api import QA
from amn.memory.stored import StoredMemory
from amn.server.limits import Limits
from server.serving import QUESTION, STORY, WAIT_SECONDS, running
from server.stores import redis_server

QUESTIONS = [QUESTION, "Where is John?"]
PLACES = ["bathroom", "garden", "kitchen", "office", "hallway", "bedroom"]
LONG = [f"{who} went to the {place}." for place in PLACES for who in ("Mary", "John")] * 4

Event = tuple[str, int, Any]


def expected_changes(qa: QA, sentences: list[str], since: int = 0) -> list[Event]:
    """What must come, by asking after every sentence."""
    memory, before, found = qa.memory(QUESTIONS), [None] * len(QUESTIONS), []
    for number, sentence in enumerate(sentences):
        memory.tell([sentence])
        now: list[Any] = [answer.answer for answer in memory.ask()]
        changed = [(i, old, new) for i, (old, new) in enumerate(zip(before, now, strict=True)) if old != new]
        if changed and number >= since:
            found.append(("change", number + 1, (sentence, changed)))
        before = now
    return found


@contextmanager
def stream(client: httpx.Client, path: str, since: int | None = None) -> Iterator[Iterator[Event]]:
    headers = {} if since is None else {"last-event-id": str(since)}
    with client.stream("GET", f"{path}/events", headers=headers) as reply:
        assert reply.status_code == 200, reply.read()
        assert reply.headers["content-type"].startswith("text/event-stream")
        yield events(reply)


def events(reply: httpx.Response) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in reply.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields["event"], int(fields["id"]), simple(json.loads(fields["data"]))
            fields = {}


def simple(data: Any) -> Any:
    """What an event says, without what an answer cost."""
    if "answers" in data:
        return [answer["answer"] for answer in data["answers"]]
    return data["text"], [(c["question"], c["before"], c["answer"]["answer"]) for c in data["changes"]]


def opened(client: httpx.Client) -> str:
    return client.post("/memories", json={"questions": QUESTIONS}).raise_for_status().headers["location"]


def tell(client: httpx.Client, path: str, sentences: list[str]) -> None:
    client.post(f"{path}/sentences", json={"sentences": sentences}).raise_for_status()


def client_of(address: str) -> httpx.Client:
    return httpx.Client(base_url=address, timeout=WAIT_SECONDS)


def test_changes_come_as_the_memory_is_told(model: Path, qa: QA) -> None:
    awaited = expected_changes(qa, STORY + LONG, since=len(STORY))
    assert len(awaited) > 3  # the model of the tests does change its mind
    with running(model) as address, client_of(address) as client, client_of(address) as teller:
        path = opened(client)
        tell(teller, path, STORY)
        with stream(client, path) as found:
            name, number, now = next(found)
            assert (name, number) == ("answers", len(STORY)) and len(now) == len(QUESTIONS)
            tell(teller, path, LONG)
            assert [next(found) for _ in awaited] == awaited


def test_a_stream_goes_on_where_it_was_left_also_after_a_restart(model: Path, qa: QA, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'memories.db'}"
    awaited = expected_changes(qa, LONG)
    with running(model, store=store) as address, client_of(address) as client:
        path = opened(client)
        tell(client, path, LONG[:30])
        with stream(client, path, since=0) as found:
            first = [next(found) for _ in range(2)]
    with running(model, store=store) as address, client_of(address) as client:
        tell(client, path, LONG[30:])
        with stream(client, path, since=first[-1][1]) as found:
            assert first + [next(found) for _ in awaited[2:]] == awaited


def test_what_another_server_was_told_comes_as_well(model: Path, qa: QA, tmp_path: Path) -> None:
    with redis_server(tmp_path) as redis:
        with running(model, store=redis.url) as first, running(model, store=redis.url) as second:
            with client_of(first) as listener, client_of(second) as teller:
                path = opened(listener)
                with stream(listener, path) as found:
                    assert next(found) == ("answers", 0, [])
                    tell(teller, path, LONG)
                    awaited = expected_changes(qa, LONG)
                    assert [next(found) for _ in awaited] == awaited


def test_a_stream_ends_with_its_memory(model: Path) -> None:
    with running(model) as address, client_of(address) as client, client_of(address) as other:
        path = opened(client)
        with stream(client, path) as found:
            next(found)
            other.delete(path)
            assert list(found) == []


def test_what_cannot_be_followed_is_refused(model: Path) -> None:
    with running(model, Limits(streams=1)) as address, client_of(address) as client, client_of(address) as other:
        path = opened(client)
        assert client.get("/memories/nothing/events").status_code == 404
        for wrong in ("5", "-1", "x"):
            assert client.get(f"{path}/events", headers={"last-event-id": wrong}).status_code == 422
        with stream(client, path) as found:
            next(found)
            assert other.get(f"{path}/events").status_code == 429


async def first_changes(changes: Any, count: int) -> list[Any]:
    found = []
    async for change in changes:
        found.append(change)
        if len(found) == count:
            break
    await changes.aclose()
    return found


def test_changes_in_python(qa: QA, tmp_path: Path) -> None:
    awaited = [
        (number - 1, text, question, before, after)
        for _, number, (text, changed) in expected_changes(qa, LONG)
        for question, before, after in changed
    ]
    memory = qa.memory(QUESTIONS)
    stored = StoredMemory.open(qa.trained, QUESTIONS, f"sqlite:///{tmp_path / 'memories.db'}")
    for told in (memory, stored):
        changes = told.changes()

        async def listen(told: Any = told, changes: Any = changes) -> list[Any]:
            listening = asyncio.create_task(first_changes(changes, len(awaited)))
            await asyncio.sleep(0)  # it listens before anything is told
            for sentence in LONG:
                told.tell([sentence])
            return await listening

        found = asyncio.run(listen())
        assert [(c.sentence, c.text, c.question, c.before, c.answer.answer) for c in found] == awaited


@pytest.mark.parametrize("since", [0, 10])
def test_changes_since_a_sentence(qa: QA, tmp_path: Path, since: int) -> None:
    stored = StoredMemory.open(qa.trained, QUESTIONS, f"sqlite:///{tmp_path / 'memories.db'}")
    stored.tell(LONG)
    numbers = [number for _, number, (_, changed) in expected_changes(qa, LONG, since) for _ in changed]
    found = asyncio.run(first_changes(stored.changes(since), len(numbers)))
    assert [change.sentence + 1 for change in found] == numbers and found[0].to_dict()["text"] == found[0].text


def test_every_sentence_is_told_of_where_that_is_wanted(model: Path, qa: QA) -> None:
    changed = {number: said for _, number, (_, said) in expected_changes(qa, LONG)}
    assert len(changed) < len(LONG)
    with running(model) as address, httpx.Client(base_url=address, timeout=WAIT_SECONDS) as client:
        path = f"/memories/{client.post('/memories', json={'questions': QUESTIONS}).json()['id']}"
        client.post(f"{path}/sentences", json={"sentences": LONG})
        headers = {"last-event-id": "0"}
        with client.stream("GET", f"{path}/events", params={"every": True}, headers=headers) as reply:
            found = list(islice(events(reply), len(LONG)))
    expected = [
        ("change" if n in changed else "sentence", n, (LONG[n - 1], changed.get(n, [])))
        for n in range(1, len(LONG) + 1)
    ]
    assert found == expected
