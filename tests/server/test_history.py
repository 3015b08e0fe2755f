"""The answers after each sentence are those that a memory gives at that time."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from amn.api import QA
from amn.server import service
from server.serving import STORY

QUESTIONS = ["Where is Mary?", "Where is John?"]


def test_answers_over_time_are_those_of_a_memory(client: TestClient, qa: QA) -> None:
    reply = client.post("/history", json={"story": " ".join(STORY), "questions": QUESTIONS})
    assert reply.status_code == 200
    memory = qa.memory(QUESTIONS)
    expected = []
    for sentence in STORY:
        memory.tell(sentence)
        expected.append([{"answer": a.answer, "score": a.score, "known": a.known} for a in memory.ask()])
    assert reply.json() == {"sentences": STORY, "history": expected}


def test_sentences_of_a_list_are_taken_as_they_are(client: TestClient) -> None:
    told = ["Mr. Smith moved to the garden.", "..."]
    reply = client.post("/history", json={"story": told, "questions": QUESTIONS})
    assert reply.json()["sentences"] == told[:1]
    assert len(reply.json()["history"]) == 1


@pytest.mark.parametrize(
    ("story", "field"), [([], "story"), ("...", "story"), (["no words " * 200], "story"), (None, "story")]
)
def test_what_cannot_be_told_is_refused_by_name(client: TestClient, story: object, field: str) -> None:
    reply = client.post("/history", json={"story": story, "questions": QUESTIONS})
    assert (reply.status_code, reply.json()["field"]) == (422, field)


def test_a_reply_has_an_end(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_HISTORY", 7)
    reply = client.post("/history", json={"story": STORY, "questions": QUESTIONS})
    assert reply.status_code == 422
    assert "at most 7 answers" in reply.json()["detail"]


def test_a_token_is_needed_where_one_is(serve: Callable[..., TestClient]) -> None:
    guarded = serve(tokens=("secret",))
    body = {"story": STORY, "questions": QUESTIONS}
    assert guarded.post("/history", json=body).status_code == 401
    assert guarded.post("/history", json=body, headers={"authorization": "Bearer secret"}).status_code == 200
