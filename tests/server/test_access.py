"""Which names a server goes by, which pages may change something, and who may reach it at all."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from amn.cli import main as cli
from amn.cli.serve import _kept, default_store
from amn.server.access import Hosts, is_loopback
from server.serving import QUESTION, STORY, running

BODY = {"story": STORY, "question": QUESTION}


@pytest.mark.parametrize(
    ("listening", "allowed", "host", "answers"),
    [
        ("127.0.0.1", [], "127.0.0.1:8000", True),
        ("127.0.0.1", [], "localhost", True),
        ("127.0.0.1", [], "LOCALHOST:1", True),
        ("127.0.0.1", [], "[::1]:8000", True),
        ("127.0.0.1", [], "evil.example", False),
        ("127.0.0.1", [], "localhost.evil.example", False),
        ("127.0.0.1", [], "10.0.0.1", False),
        ("127.0.0.1", [], "", False),
        ("127.0.0.1", [], "[::1", False),
        ("127.0.0.1", [], "evil.example@localhost", False),
        ("127.0.0.1", [], "localhost@evil.example", False),
        ("127.0.0.1", [], "localhost/evil.example", False),
        ("127.0.0.1", ["amn.example"], "amn.example", True),
        ("0.0.0.0", [], "10.0.0.1:8000", True),
        ("::", [], "[fe80::1]:8000", True),
        ("0.0.0.0", [], "evil.example", False),
        ("10.0.0.1", [], "10.0.0.1:8000", True),
        ("10.0.0.1", [], "10.0.0.2:8000", False),
        ("box.example", [], "box.example:80", True),
    ],
)
def test_a_server_answers_to_its_names(listening: str, allowed: list[str], host: str, answers: bool) -> None:
    assert Hosts(listening, allowed).answers_to(host) is answers


@pytest.mark.parametrize(
    ("origin", "trusted"),
    [
        ("http://localhost:8000", True),
        ("https://amn.example", True),
        ("http://localhost:3000", False),
        ("https://evil.example", False),
        ("https://evil.example:8000", False),
        ("null", False),
        ("", False),
    ],
)
def test_a_page_of_another_origin_changes_nothing(origin: str, trusted: bool) -> None:
    assert Hosts("127.0.0.1", ["amn.example"]).trusts(origin, "localhost:8000") is trusted


def test_another_name_is_refused(client: TestClient) -> None:
    for reply in (
        client.get("/", headers={"host": "evil"}),
        client.post("/answer", json=BODY, headers={"host": "evil"}),
    ):
        assert reply.status_code == 421 and "--allow-host" in reply.json()["detail"]


def test_another_origin_may_read_and_not_write(client: TestClient) -> None:
    evil = {"origin": "http://evil.example"}
    assert client.get("/healthz", headers=evil).status_code == 200
    path = client.post("/memories", json={"questions": [QUESTION]}, headers={"origin": "http://localhost"})
    assert path.status_code == 201
    for reply in (
        client.post("/answer", json=BODY, headers=evil),
        client.post("/memories", json={"questions": [QUESTION]}, headers=evil),
        client.delete(path.headers["location"], headers=evil),
        client.delete(path.headers["location"], headers={"origin": "null"}),
        client.delete(path.headers["location"], headers=[*evil.items(), ("origin", "http://localhost")]),
    ):
        assert reply.status_code == 403 and "origin" in reply.json()["detail"]
    assert client.get(path.headers["location"]).status_code == 200


@pytest.mark.parametrize("order", [0, 1])
def test_a_body_of_two_lengths_is_refused(model: Path, order: int) -> None:
    lengths = ["content-length: 5", "transfer-encoding: chunked"]
    head = ["POST /answer HTTP/1.1", "host: localhost", *(lengths[::-1] if order else lengths), "", "0", "", ""]
    with running(model) as address:
        port = int(address.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            client.sendall("\r\n".join(head).encode())
            assert client.recv(100).startswith(b"HTTP/1.1 400 ")


def test_the_whole_world_needs_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--host", "0.0.0.0", "--port", "0"]) == 2
    said = capsys.readouterr().err
    assert "--token" in said and "--insecure" in said
    assert is_loopback("127.0.0.2") and is_loopback("::1") and is_loopback("localhost")
    assert not is_loopback("0.0.0.0") and not is_loopback("example.org")


def test_memories_are_kept_where_the_user_keeps_such_things(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert default_store() == "sqlite:////state/amn/memories.db"
    assert default_store() in _kept(default_store(), durable=True)
    assert "end with the server" in _kept("memory:", durable=False)
    assert "appendfsync always" in _kept("redis://host", durable=False)
    assert "secret" not in _kept("redis://user:secret@host/0", durable=True)


def test_tokens_are_not_in_the_store(serve: Callable[..., TestClient], tmp_path: Path) -> None:
    client = serve(tokens=("the-token-itself",), store=f"sqlite:///{tmp_path / 'memories.db'}")
    headers = {"authorization": "Bearer the-token-itself"}
    assert client.post("/memories", json={"questions": [QUESTION]}, headers=headers).status_code == 201
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Where is Mary" in kept and b"the-token-itself" not in kept
