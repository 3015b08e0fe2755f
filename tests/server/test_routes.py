"""Every route says what the Python interface says for the same input."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from amn.answers import Answer
from amn.api import QA
from server.serving import QUESTION, STORY

QUESTIONS = [QUESTION, "Where is John?"]


def told(answer: Answer) -> dict[str, Any]:
    return json.loads(json.dumps(answer.to_dict()))


def assert_same(got: Any, expected: Any) -> None:
    """Equal up to the time it took and the last bits of numbers."""
    if isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for key in expected.keys() - {"milliseconds"}:
            assert_same(got[key], expected[key])
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for mine, theirs in zip(got, expected, strict=True):
            assert_same(mine, theirs)
    else:
        assert got == (pytest.approx(expected, abs=1e-5) if isinstance(expected, float) else expected)


@pytest.mark.parametrize("settings", [{}, {"banks": 0}, {"banks": 2}, {"explain": True}])
@pytest.mark.parametrize("story", [STORY, " ".join(STORY), [STORY[0], "..."]])
def test_answer_agrees_with_python(client: TestClient, qa: QA, story: Any, settings: dict[str, Any]) -> None:
    reply = client.post("/answer", json={"story": story, "question": QUESTION, **settings})
    assert reply.status_code == 200
    assert_same(reply.json()["answers"], [told(qa(story, QUESTION, **settings))])
    num_sentences = 1 if "..." in story else len(STORY)
    assert (reply.json()["sentences_read"], reply.json()["sentences"]) == (num_sentences, num_sentences)


def test_several_questions_share_one_memory(client: TestClient, qa: QA) -> None:
    answers = client.post("/answer", json={"story": STORY, "question": QUESTIONS}).json()["answers"]
    given = qa(STORY, QUESTIONS)
    assert isinstance(given, list)
    assert_same(answers, [told(answer) for answer in given])


def test_a_deadline_is_met_with_an_answer(client: TestClient) -> None:
    reply = client.post("/answer", json={"story": STORY, "question": QUESTION, "deadline_ms": 0.001})
    [answer] = reply.json()["answers"]
    assert answer["answer"] and answer["banks_read"] == 1


def test_a_memory_does_what_it_does_in_python(client: TestClient, qa: QA) -> None:
    memory = qa.memory(QUESTIONS)
    opened = client.post("/memories", json={"questions": QUESTIONS})
    assert opened.status_code == 201
    path = opened.headers["location"]
    assert path == f"/memories/{opened.json()['id']}" and opened.json()["expires_at"].endswith("+00:00")
    asked: list[dict[str, Any]] = [{}, {"banks": 0}, {"explain": True}]
    for part in (STORY[:1], STORY[1:]):
        expected = [trace.to_dict() for trace in memory.tell(part)]
        assert_same(client.post(f"{path}/sentences", json={"sentences": part}).json(), {"sentences": expected})
        for settings in asked:
            answers = [told(answer) for answer in memory.ask(**settings)]
            assert_same(client.post(f"{path}/ask", json=settings).json()["answers"], answers)
    snapshot = client.get(path).json()
    assert_same(snapshot["banks"], [bank.to_dict() for bank in memory.snapshot()])
    assert (snapshot["questions"], snapshot["sentences"], snapshot["model"]) == (QUESTIONS, len(STORY), "small")


def test_a_stream_has_a_line_for_each_sentence(client: TestClient) -> None:
    first, second = (client.post("/memories", json={"questions": QUESTIONS}).headers["location"] for _ in range(2))
    body = {"sentences": STORY * 10}
    whole = client.post(f"{first}/sentences", json=body).json()["sentences"]
    with client.stream("POST", f"{second}/sentences", json=body, headers={"accept": "application/x-ndjson"}) as reply:
        assert reply.headers["content-type"] == "application/x-ndjson"
        assert_same([json.loads(line) for line in reply.iter_lines()], whole)
    assert [trace["sentence"] for trace in whole] == list(range(40))


def test_an_empty_stream_is_empty(client: TestClient) -> None:
    path = client.post("/memories", json={"questions": QUESTIONS}).headers["location"]
    reply = client.post(f"{path}/sentences", json={"sentences": []}, headers={"accept": "application/x-ndjson"})
    assert reply.status_code == 200 and reply.content == b""


def test_a_forgotten_memory_is_gone(client: TestClient) -> None:
    path = client.post("/memories", json={"questions": QUESTIONS}).headers["location"]
    assert client.delete(path).status_code == 204
    for reply in (client.get(path), client.delete(path), client.post(f"{path}/ask", json={})):
        assert reply.status_code == 404
        assert "POST /memories" in reply.json()["detail"]


def test_models_and_health(client: TestClient) -> None:
    models = client.get("/models").json()
    assert models["default"] == "small" and "small" in models["models"]
    assert client.get("/healthz").json()["status"] == "ok"


def test_only_served_models_can_be_named(client: TestClient) -> None:
    for name in ("smal", "../small", "/etc", "organisation/name"):
        reply = client.post("/answer", json={"story": STORY, "question": QUESTION, "model": name})
        assert reply.status_code == 404
        assert "small" in reply.json()["detail"]


def test_metrics_count_what_was_read(client: TestClient) -> None:
    client.post("/answer", json={"story": STORY, "question": QUESTION})
    client.post("/memories", json={"questions": QUESTIONS})
    text = client.get("/metrics").text
    for line in (
        'amn_requests_total{route="/answer",status="200"} 1.0',
        "amn_entities_read_count 1.0",
        "amn_banks_created_count 1.0",
        "amn_answer_seconds_count 1.0",
        "amn_batch_size_sum 1.0",
        "amn_memories 1.0",
    ):
        assert line in text


@pytest.mark.parametrize("task", range(1, 21))
def test_stories_of_every_task_are_generated(client: TestClient, task: int) -> None:
    first, again, other = (client.get(f"/generate?task={task}&seed={seed}").json() for seed in (5, 5, 6))
    assert first == again and first["sentences"] != other["sentences"]
    for asked in first["questions"]:
        assert asked["question"].endswith("?") and asked["answer"] and asked["after"] <= len(first["sentences"])


def test_pages_load_nothing_from_elsewhere(client: TestClient) -> None:
    for path in ("/", "/docs"):
        reply = client.get(path)
        assert reply.status_code == 200 and "default-src 'none'" in reply.headers["content-security-policy"]
        assert 'src="http' not in reply.text and 'href="http' not in reply.text
    for name in ("app.js", "banks.js", "style.css", "docs.js"):
        assert client.get(f"/static/{name}").status_code == 200
    assert client.get("/static/../app.py").status_code == 404


def test_what_is_not_there_is_said_in_json(client: TestClient) -> None:
    assert client.get("/nothing").status_code == 404
    assert client.get("/answer").status_code == 405
    for reply in (client.get("/nothing"), client.get("/answer")):
        assert "/docs" in reply.json()["detail"]
    assert client.put("/memories/x").headers["allow"] == "GET, DELETE"
    assert client.post("/").headers["allow"] == "GET, HEAD"
