"""What a live memory does with its time: it reads on while another reading fits, and keeps its most certain answer."""

from collections.abc import Callable, Sequence

import pytest

from amn.answers import Answer
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.models import build_model
from random_stories import VOCABULARY

QUESTION = "Where is Mary?"
SCORES = {1: 0.5, 2: 0.7, 3: 0.6, 4: 0.65}  # of the answers from so many banks, in a memory of four
READING_SECONDS = 1.0


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> LiveMemory:
    """A memory whose every reading takes a second of a clock that stands still otherwise."""
    model = build_model("amn", VOCABULARY, {"hidden": 8, "heads": 2}).eval()
    memory = LiveMemory(TrainedModel.of("amn", model, VOCABULARY), QUESTION)
    now = [0.0]

    def read(banks: int, asked: Sequence[int]) -> list[Answer]:
        now[0] += READING_SECONDS
        return [
            Answer(question=QUESTION, answer=f"from {banks}", score=SCORES[banks], banks_read=banks, banks_created=4)
            for _ in asked
        ]

    clock: Callable[[], float] = lambda: now[0]  # noqa: E731 (a clock is what it is)
    monkeypatch.setattr("amn.memory.live.perf_counter", clock)
    monkeypatch.setattr(memory, "_read", read)
    return memory


def test_the_most_certain_reading_is_the_answer_and_not_the_latest(memory: LiveMemory) -> None:
    (answer,) = memory.ask(deadline=100.0)
    assert (answer.answer, answer.score) == ("from 2", 0.7)
    assert answer.banks_read == 4 and not answer.stopped_for_deadline


def test_a_reading_that_would_end_too_late_is_not_begun(memory: LiveMemory) -> None:
    (answer,) = memory.ask(deadline=2.5)  # two readings have taken two seconds, and a third would take one more
    assert answer.banks_read == 2 and answer.stopped_for_deadline
    assert answer.milliseconds == 2000.0


def test_a_reading_that_ends_in_time_is_begun(memory: LiveMemory) -> None:
    assert memory.ask(deadline=3.5)[0].banks_read == 3
