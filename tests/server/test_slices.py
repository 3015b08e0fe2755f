"""Long work is done a moment at a time: deadlines come first, who has gone is left, and nothing is without bound."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from amn.answers import Answer
from amn.api import QA
from amn.data.sentences import split_sentences
from amn.server import batching
from amn.server.batching import Inference
from amn.server.limits import Limits
from amn.server.slices import AskSettings, Pace, Slices
from amn.server.story_parser import FieldError, StoryParser
from server.serving import QUESTION, STORY, WAIT_SECONDS, running

LONG = STORY * 300


def parsed(story: str | list[str], questions: int = 1, **limits: int) -> StoryParser:
    work = StoryParser(story, questions, Limits(**limits))
    while not work.complete:
        work.parse_next()
    return work


def test_costs_grow_with_questions_and_the_square_of_words() -> None:
    assert parsed(["one two", "one", "?!"]).cost == 18**2 + 17**2
    assert parsed(["one two"], 5).cost == 5 * 18**2
    assert parsed(["a b", "c d e"]).words == 5


def test_a_story_is_parsed_in_parts() -> None:
    work = StoryParser(["Mary moved."] * 1000, 1)
    assert (len(work), work.complete) == (0, False)
    work.parse_next()
    assert 0 < len(work) < 1000 and work.expected == 1000
    assert len(parsed(["Mary moved."] * 1000)) == 1000
    for short in (["Mary moved."], [], "Mary moved.", ""):
        work = StoryParser(short, 1)
        work.parse_next()
        assert work.complete  # in one go


@pytest.mark.parametrize("between", [" ", "\n", "   ", " ... "])
def test_a_text_in_parts_has_the_sentences_of_the_whole(between: str) -> None:
    text = between.join(f"{'Mary ' * (i % 40)}moved to room 3.{i} then." for i in range(900))
    work = parsed(text)
    assert work.sentences == split_sentences(text) and work.expected == len(work)


def test_what_is_expected_of_a_text_is_about_what_there_is() -> None:
    work = StoryParser("Mary moved to the garden. " * 1900, 1)
    work.parse_next()
    assert not work.complete and work.expected == pytest.approx(1900, rel=0.05)


@pytest.mark.parametrize(
    ("story", "said"),
    [(["a"] * 11, "at most 10 sentences"), (["b" * 41], "40 characters"), ("c. " * 300, "at most 500 characters")],
)
def test_what_is_too_much_is_refused(story: str | list[str], said: str) -> None:
    with pytest.raises(FieldError, match=said):
        parsed(story, story_sentences=10, sentence_characters=40, story_characters=500)


def test_a_pace_rather_expects_too_much() -> None:
    pace = Pace(0.0)
    pace.timed(1, lambda: sum(range(10_000)))
    slow = pace.seconds(1)
    pace.timed(1, lambda: None)
    assert 0 < slow / 2 < pace.seconds(1) < slow


def test_a_long_story_lets_others_have_their_turn(qa: QA, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one memory is told much, whoever comes later is served between its slices."""
    monkeypatch.setattr(batching, "SLICE_SECONDS", 0.0)
    order: list[str] = []

    async def run() -> None:
        inference = Inference(Limits())
        reader = Slices(inference, Limits())
        memory = qa.memory([QUESTION])

        async def tell() -> None:
            async for _ in reader.tell(memory, 0, StoryParser(LONG, 1)):
                order.append("slice")

        telling = asyncio.create_task(tell())
        while not order:
            await asyncio.sleep(0)
        await inference.run(lambda: order.append("other"))
        await telling
        await asyncio.to_thread(inference.close)

    asyncio.run(run())
    assert order.index("other") < len(order) // 2 and order.count("slice") > 10


def test_who_leaves_in_the_middle_of_a_slice_tells_nothing_twice(qa: QA) -> None:
    async def run() -> list[str]:
        inference = Inference(Limits())
        reader, memory = Slices(inference, Limits()), qa.memory([QUESTION])

        async def tell() -> None:
            async for _ in reader.tell(memory, 0, StoryParser(STORY * 20, 1)):
                pass

        for _ in range(5):
            telling = asyncio.create_task(tell())
            await asyncio.sleep(0)
            telling.cancel()
        await tell()
        await asyncio.to_thread(inference.close)
        return memory.sentences

    assert asyncio.run(run()) == STORY * 20


def test_a_deadline_answers_from_what_was_read(serve: Callable[..., TestClient], qa: QA) -> None:
    reply = serve().post("/answer", json={"story": LONG, "question": QUESTION, "deadline_ms": 1}).json()
    assert 1 <= reply["sentences_read"] < reply["sentences"] == len(LONG)
    [answer] = reply["answers"]
    assert answer["stopped_for_deadline"] and answer["answer"] == qa(LONG[: reply["sentences_read"]], QUESTION).answer


def test_without_a_deadline_a_long_story_is_read_to_its_end(serve: Callable[..., TestClient], qa: QA) -> None:
    story = STORY * 60
    reply = serve().post("/answer", json={"story": story, "question": QUESTION}).json()
    assert reply["sentences_read"] == reply["sentences"] == len(story)
    [answer] = reply["answers"]
    expected = qa(story, QUESTION)
    assert answer["answer"] == expected.answer and answer["score"] == pytest.approx(expected.score, abs=1e-4)


def test_a_memory_that_is_not_in_ram_keeps_a_deadline(serve: Callable[..., TestClient]) -> None:
    client = serve(resident=1)
    path, other = (client.post("/memories", json={"questions": [QUESTION]}).headers["location"] for _ in range(2))
    client.post(f"{path}/sentences", json={"sentences": LONG[:200]})
    client.post(f"{other}/sentences", json={"sentences": STORY})
    reply = client.post(f"{path}/ask", json={"deadline_ms": 1}).json()
    assert reply["sentences_read"] < reply["sentences"] == 200 and reply["answers"][0]["stopped_for_deadline"]
    reply = client.post(f"{path}/ask", json={}).json()
    assert reply["sentences_read"] == 200 and not reply["answers"][0]["stopped_for_deadline"]


LONG_QUESTIONS = [" ".join(f"q{i}w{j}" for j in range(64)) + "?" for i in range(32)]


def test_too_much_work_is_refused_before_it_is_begun(serve: Callable[..., TestClient]) -> None:
    client = serve(work=10_000_000)
    for path, body in (
        ("/answer", {"story": ["Mary got the milk there."] * 1990, "question": LONG_QUESTIONS}),
        ("/answer", {"story": ["word " * 190] * 20, "question": QUESTION, "explain": True}),
        ("/answer", {"story": ["Mary got it."] * 1990, "question": ["Where?"] * 8, "explain": True}),
    ):
        reply = client.post(path, json=body)
        assert reply.status_code == 422 and "at once" in reply.json()["detail"]
        assert reply.json()["field"] in ("story", "explain")
    opened = client.post("/memories", json={"questions": LONG_QUESTIONS}).headers["location"]
    reply = client.post(f"{opened}/sentences", json={"sentences": ["Mary got the milk there."] * 1990})
    assert reply.status_code == 422 and reply.json()["field"] == "sentences"
    assert client.get(opened).json()["sentences"] == 0


def test_a_deadline_bounds_what_is_too_much_otherwise(serve: Callable[..., TestClient]) -> None:
    story = ["Mary got the milk there."] * 2000
    body: dict[str, Any] = {"story": story, "question": LONG_QUESTIONS, "deadline_ms": 1}
    reply = serve(work=1).post("/answer", json=body).json()
    assert reply["sentences_read"] < reply["sentences"] == 2000
    assert all(answer["stopped_for_deadline"] for answer in reply["answers"]) and len(reply["answers"]) == 32


def test_questions_that_there_is_no_time_for_are_answered_by_unknown(qa: QA) -> None:
    """The first is asked in any case; the others would each make a late reply later."""
    questions = [f"Where is {name}?" for name in ("Mary", "John", "Sandra")]

    async def ask(asked: AskSettings) -> list[Answer]:
        inference, memory = Inference(Limits()), qa.memory(questions)
        memory.tell(STORY)
        reading = await Slices(inference, Limits()).ask(memory, asked, len(STORY))
        await asyncio.to_thread(inference.close)
        return reading.answers

    late = AskSettings(started=time.monotonic() - 1, ends=time.monotonic() - 0.999)
    first, *others = asyncio.run(ask(late))
    assert first.question == questions[0] and first.banks_read == 1
    assert [(one.question, one.answer, one.known, one.banks_read) for one in others] == [
        (question, "unknown", False, 0) for question in questions[1:]
    ]
    assert all(one.stopped_for_deadline for one in others)
    patient = asyncio.run(ask(AskSettings(started=time.monotonic())))
    assert all(one.banks_read == 1 and not one.stopped_for_deadline for one in patient)


def test_nothing_is_asked_of_a_memory_that_heard_nothing_by_its_deadline(qa: QA) -> None:
    async def ask() -> list[Answer]:
        inference = Inference(Limits())
        late = AskSettings(started=time.monotonic() - 1, ends=time.monotonic() - 0.999)
        reading = await Slices(inference, Limits()).ask(qa.memory([QUESTION, "Where is John?"]), late, 3)
        await asyncio.to_thread(inference.close)
        return reading.answers

    assert [(one.answer, one.banks_read, one.stopped_for_deadline) for one in asyncio.run(ask())] == [
        ("unknown", 0, True)
    ] * 2


def test_a_deadline_with_an_explanation_gives_the_answer_at_least(serve: Callable[..., TestClient]) -> None:
    body: dict[str, Any] = {"story": STORY * 100, "question": QUESTION, "explain": True}
    hurried = serve().post("/answer", json={**body, "deadline_ms": 1}).json()["answers"][0]
    assert hurried["answer"] and hurried["explanation"] is None
    patient = serve().post("/answer", json={**body, "deadline_ms": 60_000}).json()["answers"][0]
    assert patient["explanation"] and patient["answer"]


def test_a_long_story_is_explained_by_its_latest_sentences(serve: Callable[..., TestClient]) -> None:
    reply = serve().post("/answer", json={"story": STORY * 500, "question": QUESTION, "explain": True})
    assert reply.status_code == 200, reply.text
    traces = reply.json()["answers"][0]["explanation"]["sentences"]
    assert [traces[0]["sentence"], traces[-1]["sentence"]] == [1000, 1999]


def test_a_reply_has_an_end(serve: Callable[..., TestClient]) -> None:
    client = serve(reply_bytes=5000)
    body: dict[str, Any] = {"story": STORY * 20, "question": QUESTION, "explain": True}
    reply = client.post("/answer", json=body)
    assert reply.status_code == 422 and reply.json()["field"] == "explain"
    assert client.post("/answer", json={**body, "explain": False}).status_code == 200


def test_a_client_that_goes_leaves_its_work_behind(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it told is kept; it is read when somebody asks for it."""
    begun, tell = threading.Event(), Slices.tell

    async def first_waits(*told: Any) -> AsyncIterator[list[bytes]]:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()  # for ever, and nobody else may tell the memory, unless it is given up
        async for traces in tell(*told):
            yield traces

    monkeypatch.setattr(Slices, "tell", first_waits)
    with running(model) as address, httpx.Client(base_url=address, timeout=WAIT_SECONDS) as client:
        path = client.post("/memories", json={"questions": [QUESTION]}).headers["location"]
        with closing(HTTPConnection(address.removeprefix("http://"))) as leaving:
            body, kind = json.dumps({"sentences": LONG}), {"content-type": "application/json"}
            leaving.request("POST", f"{path}/sentences", body, kind)
            assert begun.wait(WAIT_SECONDS)
        assert client.get(path).json()["sentences"] == len(LONG)
        reply = client.post(f"{path}/ask", json={}).json()
        assert reply["sentences_read"] == reply["sentences"] == len(LONG)


def test_an_ask_by_a_deadline_does_not_wait_for_a_telling(qa: QA) -> None:
    """A deadline counts from when the request came: time spent in the queue is time spent."""
    asked = AskSettings(started=time.monotonic() - 1, ends=time.monotonic() - 0.5)
    assert asked.late()

    async def run() -> float:
        inference = Inference(Limits())
        reader, memory = Slices(inference, Limits()), qa.memory([QUESTION])
        memory.tell(STORY)
        await reader.before(asked, 1, asyncio.Event().wait())  # which never is
        reading = await reader.ask(memory, asked, 10)
        await asyncio.to_thread(inference.close)
        return reading.read + reading.sentences + sum(answer.stopped_for_deadline for answer in reading.answers)

    assert asyncio.run(run()) == 4 + 10 + 1
