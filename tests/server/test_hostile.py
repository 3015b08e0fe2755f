"""Whatever one client does, the server refuses it in 4xx or lets it go, and keeps answering the others."""

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from amn.server.limits import Limits
from server.serving import QUESTION, STORY, WAIT_SECONDS, running, still_answers

LIMITS = Limits(memories=20, send_seconds=0.3)
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    with running(model, LIMITS) as found:
        yield found


@pytest.fixture
def http(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=WAIT_SECONDS) as client:
        yield client
    assert still_answers(address)


def connect(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=WAIT_SECONDS)


def head(path: str, length: int) -> bytes:
    lines = (
        f"POST {path} HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        f"content-length: {length}",
        "",
        "",
    )
    return "\r\n".join(lines).encode()


def test_a_hundred_megabytes_are_refused(http: httpx.Client) -> None:
    reply = http.post("/answer", content=b" " * 100_000_000, headers=JSON)
    assert reply.status_code == 413 and "at most" in reply.json()["detail"]


def test_a_hundred_megabytes_without_a_length_are_refused(http: httpx.Client) -> None:
    chunks = (b" " * 1_000_000 for _ in range(100))
    assert http.post("/answer", content=chunks, headers=JSON).status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00",
        b'{"story": "\xc3(", "question": "a"}',
        b"{",
        b"",
        b"null",
        b"[" * 100_000,
        b'{"story": "a", "question": "\\ud800"}',
        b'{"story": ["\\udfff"], "question": "a"}',
        b'{"story": "a", "question": "a", "deadline_ms": NaN}',
        b'{"story": "a", "question": "a", "deadline_ms": 1e999}',
        b'{"story": "a", "question": "a", "banks": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_proper_json_is_refused(http: httpx.Client, body: bytes) -> None:
    reply = http.post("/answer", content=body, headers=JSON)
    assert reply.status_code in (400, 422)
    assert len(reply.json()["detail"]) < 300


@pytest.mark.parametrize("path", ["/answer", "/history", "/memories", "/memories/{id}/sentences", "/memories/{id}/ask"])
@pytest.mark.parametrize("body", [b"", b"{", b"nul", b'{"a": 1,}', b"\xff\xfe", b'{"a": NaN}', b'{"a": -Infinity}'])
def test_malformed_json_is_refused_alike_everywhere(http: httpx.Client, path: str, body: bytes) -> None:
    id = http.post("/memories", json={"questions": [QUESTION]}).json()["id"]
    reply = http.post(path.format(id=id), content=body, headers=JSON)
    http.delete(f"/memories/{id}")
    assert (reply.status_code, reply.headers["content-type"]) == (400, "application/problem+json")
    assert reply.json()["detail"].startswith("The body ")


@pytest.mark.parametrize(
    "body",
    [
        {"story": [1] * 300_000, "question": QUESTION},
        {"story": [{}] * 200_000, "question": QUESTION},
        {"story": STORY, "question": ["a"] * 100_000},
        {"story": STORY, "question": QUESTION, **{f"k{i}": 1 for i in range(50_000)}},
    ],
)
def test_what_is_wrong_many_times_is_refused_once(http: httpx.Client, body: Any) -> None:
    """A list of all that is wrong would be longer than what was sent."""
    reply = http.post("/answer", json=body)
    assert reply.status_code == 422 and len(reply.content) < 1000
    assert reply.json()["field"] in ("story", "question", "k0")


def test_another_content_type_is_refused(http: httpx.Client) -> None:
    body = json.dumps({"story": STORY, "question": QUESTION}).encode()
    assert http.post("/answer", content=body, headers={"content-type": "text/plain"}).status_code == 422


@pytest.mark.parametrize(
    "text", ["\0\a\x1b[31m red", "<script>alert(1)</script>", "\u202e\u2028\ufeff", "🦊 e\u0301", "' OR 1=1 --"]
)
def test_odd_characters_are_only_text(http: httpx.Client, text: str) -> None:
    question = f"Where is {text}?"
    reply = http.post("/answer", json={"story": [*STORY, f"Mary got {text} there."], "question": question})
    assert reply.status_code == 200 and reply.headers["content-type"] == "application/json"
    assert reply.json()["answers"][0]["question"] == question
    path = http.post("/memories", json={"questions": [question]}).headers["location"]
    traces = http.post(f"{path}/sentences", json={"sentences": [f"Mary got {text} there."]}).json()["sentences"]
    assert traces[0]["text"] == f"Mary got {text} there."
    http.delete(path)


def test_a_hundred_thousand_sentences_are_refused(http: httpx.Client) -> None:
    path = http.post("/memories", json={"questions": [QUESTION]}).headers["location"]
    for sentences in (["a"] * 100_000, ["Mary moved."] * 100_000):
        reply = http.post(f"{path}/sentences", json={"sentences": sentences})
        assert reply.status_code in (413, 422) and "in parts" in reply.json()["detail"]
    assert http.post("/answer", json={"story": "a. " * 50_000, "question": QUESTION}).status_code == 422
    http.delete(path)


def test_thousands_of_memories_are_refused(http: httpx.Client) -> None:
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda _: http.post("/memories", json={"questions": [QUESTION]}), range(400)))
    opened = [reply.headers["location"] for reply in replies if reply.status_code == 201]
    assert len(opened) == LIMITS.memories
    assert {reply.status_code for reply in replies} == {201, 429}
    assert http.get(opened[0]).status_code == 200  # nobody's memory was taken away
    for path in opened:
        assert http.delete(path).status_code == 204


def test_a_client_that_sends_half_a_body_is_let_go(model: Path) -> None:
    with running(model, Limits(receive_seconds=0.3)) as address, connect(address) as client:
        client.sendall(head("/answer", 100) + b"{")
        assert client.recv(100).startswith(b"HTTP/1.1 408 ")
        assert httpx.get(f"{address}/healthz", timeout=WAIT_SECONDS).status_code == 200  # which has no body to wait for


def test_clients_that_disconnect_are_forgotten(http: httpx.Client, address: str) -> None:
    body = json.dumps({"story": STORY * 20, "question": QUESTION}).encode()
    for sent in (
        b"POST",
        head("/answer", 100),
        head("/answer", len(body)) + body[:10],
        head("/answer", len(body)) + body,
    ):
        for _ in range(20):
            connection = connect(address)
            connection.sendall(sent)
            connection.close()
    assert http.get("/healthz").status_code == 200
    assert http.post("/answer", json={"story": STORY, "question": QUESTION}).status_code == 200


def stream_without_reading(address: str, path: str) -> None:
    """Starts a stream and reads nothing of it until the server gives up."""
    body = json.dumps({"sentences": STORY * 250}).encode()
    accepting = b"host: localhost\r\naccept: application/x-ndjson"
    request = head(f"{path}/sentences", len(body)).replace(b"host: localhost", accepting)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(WAIT_SECONDS)
        host, port = address.removeprefix("http://").split(":")
        client.connect((host, int(port)))
        client.sendall(request + body)
        assert client.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200"
        wait_until_told(address, path)


def wait_until_told(address: str, path: str) -> Any:
    """Asks until the memory can be told again: whoever told it before has finished or was let go."""
    with httpx.Client(base_url=address, timeout=WAIT_SECONDS) as client:
        return client.post(f"{path}/sentences", json={"sentences": STORY}).raise_for_status()


def test_a_client_that_stops_reading_holds_up_nobody(http: httpx.Client, address: str) -> None:
    path = http.post("/memories", json={"questions": [QUESTION]}).headers["location"]
    stream_without_reading(address, path)
    assert http.post(f"{path}/ask", json={}).status_code == 200
    http.delete(path)
