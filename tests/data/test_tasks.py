"""What the story generator promises for every task: counts, chance, supports, spelling and the Lua wording."""

import hashlib
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from amn.data.names import ROOMS
from amn.data.story import Story, words
from amn.data.tasks import TASKS, GeneratorConfig, generate

NUMBERS = sorted(TASKS)
PINNED = "2cc91aae5dcd297b0d3403643a707605e4de9f0a94361f908cb6f2b4352c8d8e"
DIGEST_CODE = """
import hashlib
from amn.data.tasks import TASKS, generate
text = repr([list(generate(task, questions=40, seed=3)) for task in TASKS])
print(hashlib.sha256(text.encode()).hexdigest())
"""


def make(task: int, total: int = 200, seed: int = 0, **knobs: Any) -> list[Story]:
    return list(generate(task, questions=total, seed=seed, config=GeneratorConfig(**knobs)))


def text_of(stories: list[Story]) -> str:
    return " ".join(text for story in stories for text in (*story.sentences, *(q.text for q in story.questions)))


def test_the_table_holds_tasks_1_to_20() -> None:
    assert NUMBERS == list(range(1, 21))
    assert all(TASKS[number].number == number for number in NUMBERS)


@pytest.mark.parametrize("task", NUMBERS)
@pytest.mark.parametrize("questions", [0, 1, 7, 101])
def test_exactly_the_asked_questions_are_given(task: int, questions: int) -> None:
    stories = make(task, questions)
    assert sum(len(story.questions) for story in stories) == questions
    assert all(story.questions for story in stories)


@pytest.mark.parametrize("task", NUMBERS)
def test_fewer_questions_are_a_beginning_of_more(task: int) -> None:
    many, few = make(task, 60), make(task, 7)
    assert few[:-1] == many[: len(few) - 1]
    last, whole = few[-1], many[len(few) - 1]
    assert last.questions == whole.questions[: len(last.questions)]
    assert last.sentences == whole.sentences[: len(last.sentences)]


@pytest.mark.parametrize("task", NUMBERS)
def test_the_same_seed_gives_the_same_stories_and_another_others(task: int) -> None:
    assert make(task, 50, seed=5) == make(task, 50, seed=5)
    assert make(task, 50, seed=5) != make(task, 50, seed=6)
    first = make(task, 50, seed=5)
    assert len(set(first)) > len(first) // 2


def test_stories_do_not_hang_on_the_order_of_sets() -> None:
    digests = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run([sys.executable, "-c", DIGEST_CODE], env=environment, capture_output=True, check=True)
        digests.add(ran.stdout)
    assert len(digests) == 1


def test_stories_of_a_seed_stay_as_they_are() -> None:
    """Runs are named by their seed: a change of the stories must be meant, and changes this digest."""
    text = repr([make(task, 40, seed=3) for task in NUMBERS])
    assert hashlib.sha256(text.encode()).hexdigest() == PINNED


@pytest.mark.parametrize("task", NUMBERS)
def test_questions_rest_on_earlier_sentences(task: int) -> None:
    for story in make(task, 300):
        assert [q.after for q in story.questions] == sorted(q.after for q in story.questions)
        for question in story.questions:
            assert question.support
            assert all(0 <= line < question.after <= len(story.sentences) for line in question.support)
            assert len(set(question.support)) == len(question.support)


@pytest.mark.parametrize("task", [1, 2, 4, 11, 12, 13])
def test_the_answer_stands_in_a_support(task: int) -> None:
    for story in make(task, 300):
        for question in story.questions:
            assert question.answer in words(" ".join(story.sentences[line] for line in question.support))


@pytest.mark.parametrize("task", [2, 3])
def test_supports_are_the_handling_and_then_the_moves(task: int) -> None:
    for story in make(task, 300):
        for question in story.questions:
            handling, *moves = (story.sentences[line] for line in question.support)
            (asked,) = re.findall(r"the (\w+)", question.text)[:1]
            assert len(moves) == task - 1
            assert asked in words(handling)
            assert all(move.split()[0] == handling.split()[0] for move in moves)
            answer = moves[-1].rstrip(".").split()[-1]
            assert question.answer == answer


@pytest.mark.parametrize("task", NUMBERS)
def test_sentences_and_questions_are_written_as_released(task: int) -> None:
    for story in make(task, 100):
        assert all(re.fullmatch(r"[A-Z][A-Za-z ]*[a-z]\.", sentence) for sentence in story.sentences)
        assert all(re.fullmatch(r"[A-Z][A-Za-z ]*[a-z]\?", question.text) for question in story.questions)


@pytest.mark.parametrize("task", NUMBERS)
def test_lua_wording_is_its_own(task: int) -> None:
    text = text_of(make(task, 400, wording="lua"))
    for phrase in ("went back", " there.", "carrying", "discarded", "Afterwards", "fits inside", "How do you go"):
        assert phrase not in text


@pytest.mark.parametrize(
    ("task", "phrase"),
    [
        (5, "last give"),
        (7, "How many objects is"),
        (8, "holding"),
        (10, "or in the"),
        (11, "After that"),
        (19, "What is the path from the"),
    ],
)
def test_lua_phrases_appear(task: int, phrase: str) -> None:
    assert phrase in text_of(make(task, 200, wording="lua"))


def test_lua_rules() -> None:
    assert {q.answer for s in make(7, wording="lua") for q in s.questions} >= {"zero", "one"}
    assert {len(story.sentences) for story in make(19, wording="lua")} == {4}
    assert {len(story.sentences) for story in make(20, 240, wording="lua")} == {12}
    for story in make(15, wording="lua"):
        assert len({question.text for question in story.questions}) == len(story.questions)
    for story in make(16, wording="lua"):
        told = [sentence.rstrip(".").split() for sentence in story.sentences]
        kind_of = {line[0]: line[3] for line in told if line[2] == "a"}
        pairs = {(kind_of[line[0]], line[2]) for line in told if line[2] != "a"}
        assert len({kind for kind, _ in pairs}) == len(pairs) == len({colour for _, colour in pairs})


def test_world_places_are_those_of_the_list() -> None:
    told = {sentence.rstrip(".").split()[-1] for story in make(1, 500) for sentence in story.sentences}
    assert told == set(ROOMS)
