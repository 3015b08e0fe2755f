"""How long data takes; prints timings and asserts none. Run with `make bench`."""

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from amn.data.babi import read_babi, write_babi
from amn.data.check import check_data
from amn.data.formats import read_jsonl, write_jsonl
from amn.data.source import load_task
from amn.data.tasks import TASKS, generate

pytestmark = pytest.mark.bench

QUESTIONS = 10_000


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "qa2_train.txt"
    write_babi(generate(2, questions=QUESTIONS, seed=0), path)
    return path


def test_read_10k_questions_of_babi_text(benchmark: BenchmarkFixture, file: Path) -> None:
    benchmark(lambda: sum(len(story.questions) for story in read_babi(file)))


def test_read_10k_questions_of_jsonl(benchmark: BenchmarkFixture, file: Path, tmp_path: Path) -> None:
    write_jsonl(read_babi(file), tmp_path / "all.jsonl")
    benchmark(lambda: sum(len(story.questions) for story in read_jsonl(tmp_path / "all.jsonl")))


def test_write_10k_questions_of_babi_text(benchmark: BenchmarkFixture, file: Path, tmp_path: Path) -> None:
    stories = load_task(file, 2, "train")
    benchmark(lambda: write_babi(stories, tmp_path / "out.txt"))


def test_check_10k_questions(benchmark: BenchmarkFixture, file: Path) -> None:
    benchmark(lambda: check_data(file))


@pytest.mark.parametrize("task", sorted(TASKS))
def test_generate_10k_questions(benchmark: BenchmarkFixture, task: int) -> None:
    benchmark.pedantic(lambda: sum(1 for _ in generate(task, questions=QUESTIONS, seed=0)), rounds=1)
