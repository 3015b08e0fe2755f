"""What is too much is refused with a sentence that helps."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from amn.errors import ConfigError
from amn.server.limits import Limits
from amn.server.memories import FullError, Memories
from server.serving import QUESTION, STORY

Serve = Callable[..., TestClient]


def refusal(reply: Any, status: int) -> str:
    assert reply.status_code == status, reply.text
    assert reply.json().keys() == {"detail"}
    detail: str = reply.json()["detail"]
    assert detail.endswith(".") and "Traceback" not in detail
    return detail


def test_a_body_of_a_known_size_is_refused_unread(serve: Serve) -> None:
    client = serve(body_bytes=1000)
    assert "1000 bytes" in refusal(client.post("/answer", json={"story": "a. " * 500, "question": QUESTION}), 413)


def test_a_body_of_unknown_size_is_refused_when_it_grows_too_big(serve: Serve) -> None:
    sent = []

    def endless() -> Iterator[bytes]:
        for _ in range(1000):
            sent.append(1)
            yield b" " * 100

    client = serve(body_bytes=1000)
    headers = {"content-type": "application/json"}
    assert "1000 bytes" in refusal(client.post("/answer", content=endless(), headers=headers), 413)


@pytest.mark.parametrize(
    ("limits", "story", "said"),
    [
        ({"story_sentences": 3}, STORY, "At most 3 sentences"),
        ({"story_sentences": 3}, " ".join(STORY), "At most 3 sentences"),
        ({"sentence_characters": 20}, STORY, "Sentence 1 is too long: at most 20 characters"),
        ({"story_characters": 30}, STORY, "at most 30 characters"),
    ],
)
def test_stories_are_bounded(serve: Serve, limits: dict[str, int], story: Any, said: str) -> None:
    client = serve(**limits)
    assert said in refusal(client.post("/answer", json={"story": story, "question": QUESTION}), 422)
    if isinstance(story, list):
        path = client.post("/memories", json={"questions": [QUESTION]}).headers["location"]
        assert said in refusal(client.post(f"{path}/sentences", json={"sentences": story}), 422)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "story"),
        ({"story": 5, "question": QUESTION}, "story"),
        ({"story": " ... ", "question": QUESTION}, "story"),
        ({"story": [], "question": QUESTION}, "story"),
        ({"story": ["", "?"], "question": QUESTION}, "story"),
        ({"story": STORY, "question": ""}, "question"),
        ({"story": STORY, "question": "?!"}, "question"),
        ({"story": STORY, "question": []}, "question"),
        ({"story": STORY, "question": [QUESTION] * 33}, "question"),
        ({"story": STORY, "question": "word " * 200}, "question"),
        ({"story": STORY, "question": QUESTION, "deadline_ms": -1}, "deadline_ms"),
        ({"story": STORY, "question": QUESTION, "banks": 2.5}, "banks"),
        ({"story": STORY, "question": QUESTION, "qestion": 1}, "qestion"),
        ([], "body"),
    ],
)
def test_a_wrong_field_is_named(client: TestClient, body: Any, said: str) -> None:
    assert refusal(client.post("/answer", json=body), 422).startswith(f"{said}:")


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_memory_is_bounded(serve: Serve, accept: str) -> None:
    client = serve(memory_sentences=6)
    path = client.post("/memories", json={"questions": [QUESTION]}).headers["location"]
    tell: dict[str, Any] = {"json": {"sentences": STORY}, "headers": {"accept": accept}}
    assert client.post(f"{path}/sentences", **tell).status_code == 200
    assert "at most 6 sentences" in refusal(client.post(f"{path}/sentences", **tell), 409)
    assert client.get(path).json()["sentences"] == 4
    assert client.post(f"{path}/ask", json={}).status_code == 200


def test_all_memories_together_are_bounded(serve: Serve) -> None:
    client = serve(all_sentences=6)
    paths = [client.post("/memories", json={"questions": [QUESTION]}).headers["location"] for _ in range(2)]
    assert client.post(f"{paths[0]}/sentences", json={"sentences": STORY}).status_code == 200
    reply = client.post(f"{paths[1]}/sentences", json={"sentences": STORY})
    assert "delete one" in refusal(reply, 429) and reply.headers["retry-after"]
    client.delete(paths[0])
    assert client.post(f"{paths[1]}/sentences", json={"sentences": STORY}).status_code == 200


def test_the_number_of_memories_is_bounded(serve: Serve) -> None:
    client = serve(memories=2)
    first, _ = (client.post("/memories", json={"questions": [QUESTION]}).headers["location"] for _ in range(2))
    reply = client.post("/memories", json={"questions": [QUESTION]})
    assert "All 2 memories" in refusal(reply, 429) and int(reply.headers["retry-after"]) > 800
    client.delete(first)
    assert client.post("/memories", json={"questions": [QUESTION]}).status_code == 201


def memories_at(clock: SimpleNamespace, owners: int = 1) -> Memories:
    return Memories(Limits(memories=2, memory_seconds=10), owners, lambda: clock.now)


def test_the_least_recently_used_memory_goes_after_its_time() -> None:
    clock = SimpleNamespace(now=0.0)
    memories = memories_at(clock)
    old, used = (memories.add("", "small", SimpleNamespace()) for _ in range(2))  # type: ignore[arg-type]
    clock.now = 9.0
    memories.get(used.id, "")
    with pytest.raises(FullError, match="in 1 seconds"):
        memories.check_room("")
    clock.now = 10.0
    memories.check_room("")
    with pytest.raises(KeyError):
        memories.get(old.id, "")
    assert memories.get(used.id, "") is used and len(memories) == 1


def test_no_owner_takes_the_share_of_another() -> None:
    memories = memories_at(SimpleNamespace(now=0.0), owners=2)
    memories.add("a", "small", SimpleNamespace())  # type: ignore[arg-type]
    with pytest.raises(FullError):
        memories.check_room("a")
    memories.check_room("b")


def test_a_limit_of_nothing_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="memories must be above 0"):
        Limits(memories=0)
