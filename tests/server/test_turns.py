"""Who has the thread of the model next: deadlines come first, long work takes turns, and nobody starves."""

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from amn.server import batching
from amn.server.batching import Inference
from amn.server.limits import Limits
from amn.store.stepwise import Steps


def wait_for(started: threading.Event, gate: threading.Event) -> None:
    started.set()
    gate.wait()


def test_the_most_urgent_comes_first() -> None:
    done: list[str] = []

    async def run() -> None:
        inference, gate, started = Inference(Limits()), threading.Event(), threading.Event()
        held = inference.run(partial(wait_for, started, gate))
        await asyncio.to_thread(started.wait)
        jobs = [inference.run(partial(done.append, f"plain {i}")) for i in range(2)]
        far = time.monotonic() + 100
        jobs += [inference.run(partial(done.append, f"by {end}"), ends=far + end) for end in (30.0, 10.0, 20.0)]
        gate.set()
        await asyncio.gather(held, *jobs)
        await asyncio.to_thread(inference.close)

    asyncio.run(run())
    assert done == ["by 10.0", "by 20.0", "plain 0", "by 30.0", "plain 1"]  # in turns, so that neither starves


def test_a_deadline_that_is_near_waits_for_nobody_for_a_while() -> None:
    done: list[str] = []

    async def run() -> None:
        inference, gate, started = Inference(Limits()), threading.Event(), threading.Event()
        held = inference.run(partial(wait_for, started, gate))
        await asyncio.to_thread(started.wait)
        jobs = [inference.run(partial(done.append, "plain")) for _ in range(2)]
        jobs += [inference.run(partial(done.append, "now"), ends=time.monotonic()) for _ in range(20)]
        gate.set()
        await asyncio.gather(held, *jobs)
        await asyncio.to_thread(inference.close)

    asyncio.run(run())
    assert done[:8] == ["now"] * 8
    assert done.index("plain") < 12 and done.count("plain") == 2  # and yet nobody starves


def stepping(done: list[str], name: str, count: int, then: Callable[[], object] = lambda: None) -> Steps[str]:
    for number in range(count):
        done.append(name)
        if number == 0:
            then()
        yield
    return f"{name} is done"


def held_up(inference: Inference, jobs: Callable[[], list["asyncio.Future[Any]"]]) -> list[Any]:
    """What jobs give that all wait when the thread of the model gets free."""

    async def run() -> list[Any]:
        gate, started = threading.Event(), threading.Event()
        held = inference.run(partial(wait_for, started, gate))
        await asyncio.to_thread(started.wait)
        waiting = jobs()
        gate.set()
        await held
        found = await asyncio.gather(*waiting)
        await asyncio.to_thread(inference.close)
        return found

    return asyncio.run(run())


def test_long_work_takes_turns_with_other_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "SLICE_SECONDS", 0.0)
    inference, done = Inference(Limits()), list[str]()
    found = held_up(inference, lambda: [inference.run_steps(stepping(done, name, 3)) for name in ("one", "two")])
    assert found == ["one is done", "two is done"] and done == ["one", "two"] * 3


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, ["long", "now", "long"]), (100.0, ["long", "long", "now"])])
def test_a_deadline_that_is_near_ends_the_moment_of_another(
    seconds: float, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "SLICE_SECONDS", 100.0)
    monkeypatch.setattr(batching, "_LEAST_SECONDS", 0.0)
    inference, done = Inference(Limits()), list[str]()

    async def run() -> None:
        loop, asked = asyncio.get_running_loop(), list[asyncio.Future[None]]()

        def ask() -> None:
            asked.append(inference.run(partial(done.append, "now"), ends=time.monotonic() + seconds))

        def ask_from_the_loop() -> None:
            came = threading.Event()
            loop.call_soon_threadsafe(ask)
            loop.call_soon_threadsafe(came.set)
            came.wait()

        await inference.run_steps(stepping(done, "long", 2, ask_from_the_loop))
        await asyncio.gather(*asked)
        await asyncio.to_thread(inference.close)

    asyncio.run(run())
    assert done == expected


def test_steps_that_fail_say_so_and_hold_up_nobody() -> None:
    inference = Inference(Limits())

    def failing() -> Steps[None]:
        yield
        raise ValueError("no")

    async def run() -> str:
        with pytest.raises(ValueError, match="no"):
            await inference.run_steps(failing())
        return await inference.run(lambda: "yes")

    assert asyncio.run(run()) == "yes"
    inference.close()


def test_steps_that_nobody_waits_for_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "SLICE_SECONDS", 0.0)
    inference, done = Inference(Limits()), list[str]()

    async def run() -> None:
        long = inference.run_steps(stepping(done, "long", 10**9))
        while not done:
            await asyncio.sleep(0)
        long.cancel()
        await asyncio.to_thread(inference.close)  # which finishes what was taken

    asyncio.run(run())
    assert done
