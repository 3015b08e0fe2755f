"""Who has no token gets nothing, and who has one sees nothing of the others."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from server.serving import QUESTION, STORY

MINE, YOURS = {"authorization": "Bearer mine"}, {"authorization": "Bearer yours"}


@pytest.fixture
def guarded(serve: Callable[..., TestClient]) -> TestClient:
    return serve(tokens=("mine", "yours"))


@pytest.mark.parametrize("header", [None, "mine", "Bearer", "Bearer other", "Basic mine", "Bearer mine2", "Bearer é"])
def test_a_token_is_needed(guarded: TestClient, header: str | None) -> None:
    headers: dict[bytes, bytes] = {} if header is None else {b"authorization": header.encode()}
    for reply in (
        guarded.post("/answer", json={"story": STORY, "question": QUESTION}, headers=headers),
        guarded.post("/memories", json={"questions": [QUESTION]}, headers=headers),
        guarded.get("/metrics", headers=headers),
        guarded.get("/models", headers=headers),
        guarded.get("/generate?task=1", headers=headers),
    ):
        assert reply.status_code == 401 and reply.headers["www-authenticate"] == "Bearer"
        assert "Authorization: Bearer" in reply.json()["detail"]


def test_the_page_and_the_health_are_open(guarded: TestClient) -> None:
    assert {guarded.get(path).status_code for path in ("/", "/docs", "/healthz", "/openapi.json")} == {200}


def test_a_token_lets_in(guarded: TestClient) -> None:
    for headers in (MINE, YOURS, {"authorization": "bearer mine"}):
        body = {"story": STORY, "question": QUESTION}
        assert guarded.post("/answer", json=body, headers=headers).status_code == 200


def test_memories_of_another_token_are_invisible(guarded: TestClient) -> None:
    path = guarded.post("/memories", json={"questions": [QUESTION]}, headers=MINE).headers["location"]
    nobodys = guarded.get("/memories/nothing", headers=YOURS)
    for reply in (
        guarded.get(path, headers=YOURS),
        guarded.delete(path, headers=YOURS),
        guarded.post(f"{path}/ask", json={}, headers=YOURS),
        guarded.post(f"{path}/sentences", json={"sentences": STORY}, headers=YOURS),
    ):
        assert reply.status_code == 404 and reply.json() == nobodys.json()
    assert guarded.get(path, headers=MINE).json()["sentences"] == 0
