"""What a question costs that comes later, beside reading the story for the first time: `make bench` prints it."""

from threading import Thread

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import amn
from amn.api import QA
from amn.data.tasks.mixed import mixed_stories
from amn.memory import LiveMemory

SENTENCES = 300

pytestmark = pytest.mark.bench


@pytest.fixture(scope="module")
def qa() -> QA:
    return amn.load()


@pytest.fixture(scope="module")
def told() -> list[str]:
    stories = mixed_stories(questions=SENTENCES, seed=0)
    return [sentence for story in stories for sentence in story.sentences][:SENTENCES]


def test_a_first_reading(benchmark: BenchmarkFixture, qa: QA, told: list[str]) -> None:
    """In a thread of its own, which has read nothing before; so nothing is kept for it."""

    def read() -> None:
        memory = qa.memory("Where is Mary?")
        memory.tell(told)
        memory.ask()

    def run() -> None:
        thread = Thread(target=read)
        thread.start()
        thread.join()

    benchmark(run)


@pytest.fixture
def memory(qa: QA, told: list[str]) -> LiveMemory:
    memory = qa.memory("Where is Mary?")
    memory.tell(told)
    return memory


def test_a_question_of_its_own(benchmark: BenchmarkFixture, memory: LiveMemory) -> None:
    benchmark(memory.ask)


def test_another_question(benchmark: BenchmarkFixture, memory: LiveMemory) -> None:
    benchmark(memory.ask, "Where is John?")
