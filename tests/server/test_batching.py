"""Requests that wait together are answered together, and get what each would get alone."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from amn.answers import Answer
from amn.api import QA, Request
from amn.server.batching import BusyError, Inference
from amn.server.limits import Limits
from server.serving import QUESTION, STORY

STORIES = [STORY[: 1 + i % len(STORY)] * (1 + i % 3) for i in range(24)]


def answered(qa: QA, limits: Limits, stories: list[list[str]]) -> tuple[list[Answer], list[int]]:
    """The answers about stories that all wait when the model gets free, and the sizes of the batches."""
    sizes: list[int] = []

    async def ask_all() -> list[list[Answer]]:
        inference = Inference(limits, sizes.append)
        gate = threading.Event()
        held = inference.run(gate.wait)
        asked = [inference.answer(qa, Request(story=story, question=QUESTION), len(story)) for story in stories]
        gate.set()
        try:
            await held
            return await asyncio.gather(*asked)
        finally:
            await asyncio.to_thread(inference.close)

    return [answers[0] for answers in asyncio.run(ask_all())], sizes


def test_batching_on_and_off_give_the_same_answers(qa: QA) -> None:
    together, sizes = answered(qa, Limits(batch=16), STORIES)
    alone, ones = answered(qa, Limits(batch=1), STORIES)
    assert max(sizes) > 8 and sum(sizes) == len(STORIES) and ones == [1] * len(STORIES)
    for mine, theirs, story in zip(together, alone, STORIES, strict=True):
        expected = qa(story, QUESTION)
        assert mine.answer == theirs.answer == expected.answer
        assert mine.score == pytest.approx(theirs.score, abs=1e-5) == pytest.approx(expected.score, abs=1e-5)
        assert mine.entities_read == theirs.entities_read == expected.entities_read


def test_a_batch_keeps_within_its_sentences(qa: QA) -> None:
    _, sizes = answered(qa, Limits(batch=16, batch_sentences=12), [STORY] * 7)
    assert max(sizes) == 3 and sum(sizes) == 7


class Picky:
    """A model that refuses one story, and a batch with it."""

    def answer_batch(self, requests: list[Request]) -> list[list[str]]:
        if any(request.story == "bad" for request in requests):
            raise ValueError("no")
        return [[str(request.story)] for request in requests]


def test_a_bad_request_does_not_spoil_its_batch() -> None:
    async def ask_all() -> list[Any]:
        inference = Inference(Limits())
        qa: Any = Picky()
        jobs = [inference.answer(qa, Request(story=story, question="q"), 1) for story in ("good", "bad", "fine")]
        found = await asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.to_thread(inference.close)
        return found

    good, bad, fine = asyncio.run(ask_all())
    assert (good, fine) == (["good"], ["fine"]) and isinstance(bad, ValueError)


def with_blocked_queue(test: Callable[[Inference, threading.Event], Any]) -> Any:
    """Runs a test while the thread of the model is held up; at most two more requests may wait."""

    async def run() -> Any:
        inference, gate, started = Inference(Limits(waiting=2)), threading.Event(), threading.Event()

        def hold() -> None:
            started.set()
            gate.wait()

        held = inference.run(hold)
        await asyncio.to_thread(started.wait)
        try:
            return await test(inference, gate)
        finally:
            gate.set()
            await held
            await asyncio.to_thread(inference.close)

    return asyncio.run(run())


def test_a_full_queue_refuses() -> None:
    async def test(inference: Inference, gate: threading.Event) -> list[Any]:
        jobs = [inference.run(lambda: "done") for _ in range(2)]
        with pytest.raises(BusyError):
            inference.run(lambda: "refused")
        gate.set()
        return await asyncio.gather(*jobs)

    assert with_blocked_queue(test) == ["done", "done"]


def test_who_has_gone_is_not_answered() -> None:
    ran: list[int] = []

    async def test(inference: Inference, gate: threading.Event) -> None:
        inference.run(lambda: ran.append(1)).cancel()
        await asyncio.sleep(0)  # the cancellation reaches the queue
        gate.set()
        await inference.run(lambda: None)

    with_blocked_queue(test)
    assert ran == []


def test_closing_finishes_what_was_taken_and_takes_no_more() -> None:
    async def test(inference: Inference, gate: threading.Event) -> Any:
        job = inference.run(lambda: "done")
        closing = asyncio.create_task(asyncio.to_thread(inference.close))
        gate.set()
        found = await job
        await closing
        with pytest.raises(BusyError):
            inference.run(lambda: None)
        return found

    assert with_blocked_queue(test) == "done"
