"""What is too much is refused with a sentence that helps."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from amn.errors import ConfigError
from amn.server.limits import Limits
from server.serving import QUESTION, STORY

Serve = Callable[..., TestClient]


def refusal(reply: Any, status: int) -> str:
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json().keys() - {"field"} == {"type", "title", "status", "detail"} and reply.json()["status"] == status
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
        ({"story_sentences": 3}, STORY, "at most 3 sentences"),
        ({"story_sentences": 3}, " ".join(STORY), "at most 3 sentences"),
        ({"sentence_characters": 20}, STORY, "sentence 1 is too long, at most 20 characters"),
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
    reply = client.post("/answer", json=body)
    assert refusal(reply, 422).startswith(f"{said}:") and reply.json()["field"] == said


@pytest.mark.parametrize(
    ("story", "said"),
    [
        ("", "expected text with a word in it, found none"),
        (" ... ", "expected text with a word in it, found none"),
        ([], "expected at least one, found none"),
        (["", "?!"], "expected at least one sentence with a word in it, found none"),
        (5, "expected text, or expected a list"),
    ],
)
@pytest.mark.parametrize("path", ["/answer", "/history"])
def test_an_empty_story_says_so_in_words(client: TestClient, path: str, story: Any, said: str) -> None:
    asked = {"question": QUESTION} if path == "/answer" else {"questions": [QUESTION]}
    assert refusal(client.post(path, json={"story": story, **asked}), 422) == f"story: {said}."


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
    client = serve(store_bytes=200_000)
    paths = [client.post("/memories", json={"questions": [QUESTION]}).headers["location"] for _ in range(2)]
    told = [0, 0]
    while (reply := client.post(f"{paths[0]}/sentences", json={"sentences": STORY * 40})).status_code == 200:
        told[0] += 160
    assert "delete a memory" in refusal(reply, 507) and reply.headers["retry-after"]
    assert client.get(paths[0]).json()["sentences"] == told[0] > 0  # what was acknowledged, and nothing else
    client.delete(paths[0])
    assert client.post(f"{paths[1]}/sentences", json={"sentences": STORY * 40}).status_code == 200


def test_the_number_of_memories_is_bounded(serve: Serve) -> None:
    client = serve(memories=2)
    first, _ = (client.post("/memories", json={"questions": [QUESTION]}).headers["location"] for _ in range(2))
    reply = client.post("/memories", json={"questions": [QUESTION]})
    assert "All 2 memories" in refusal(reply, 429) and int(reply.headers["retry-after"]) > 86_400
    client.delete(first)
    assert client.post("/memories", json={"questions": [QUESTION]}).status_code == 201


def test_a_limit_of_nothing_is_a_mistake() -> None:
    with pytest.raises(ConfigError, match="memories must be above 0"):
        Limits(memories=0)
