"""Every generated label follows from the statements, by a solver that shares nothing with the generator."""

from collections.abc import Iterable
from typing import Literal

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from amn.data.story import Question, Story
from amn.data.tasks import PRESETS, TASKS, GeneratorConfig, Task, generate, generate_preset, rename
from amn.errors import ConfigError
from solver import RULES, Unanswerable, solve

NUMBERS = sorted(RULES)
RENAMED = (1, 2, 3, 11, 12, 13)
# The supports of task 3 leave out how the thing came to its holder, so they alone do not settle its questions.
SETTLED_BY_SUPPORT = [task for task in NUMBERS if task != 3]
# Enough for crowds and counts that no released story holds, and stories stay short enough to solve by the thousand.
MOST_NAMES = 14
MOST_SENTENCES = 30
FEW_SENTENCES = 12
# Little is left to tell or ask under these: either a story is found all the same or the settings are refused.
AT_ODDS = [
    (3, GeneratorConfig(sentences=4)),
    (14, GeneratorConfig(people=3, reach=1)),
    (14, GeneratorConfig(people=1, together=True)),
    (14, GeneratorConfig(questions=8, reach=3, wording="lua")),
    (19, GeneratorConfig(sentences=6)),
    (20, GeneratorConfig(sentences=12)),
]


def solved(task: int, sentences: Iterable[str], question: Question) -> str:
    """The solver's answer, or why it has none."""
    try:
        return solve(task, tuple(sentences), question.text)
    except Unanswerable as reason:
        return f"unanswerable: {reason}"


def agree(answer: str, label: str | None, *, any_order: bool = False) -> bool:
    """Whether two labels are the same, or lists of the same things."""
    if any_order and label is not None:
        return sorted(answer.split(",")) == sorted(label.split(","))
    return answer == label


def check(task: int, stories: Iterable[Story], *, questions: int, any_order: bool = False) -> None:
    """Fails with the first story whose label the solver does not give."""
    asked = 0
    for story in stories:
        for question in story.questions:
            asked += 1
            told = story.sentences[: question.after]
            answer = solved(task, told, question)
            right = agree(answer, question.answer, any_order=any_order)
            assert right, f"{' '.join(told)} {question.text} {question.answer} (solver: {answer})"
    assert asked == questions


def order_is_free(task: int, wording: str) -> bool:
    """The Lua generator lists what a person holds in no stated order."""
    return task == 8 and wording == "lua"


def a_number(fewest: int, available: bool) -> st.SearchStrategy[int | None]:
    """How many names to use; none may be chosen where the task has no such names."""
    return st.none() | st.integers(max(fewest, 1), MOST_NAMES) if available else st.none()


def a_length(task: Task) -> st.SearchStrategy[int | None]:
    """How many sentences to tell: an even number, which every task takes that takes any; often few."""
    if task.lengths is None:
        return st.none()
    pairs = st.integers(1, FEW_SENTENCES // 2) | st.integers(1, MOST_SENTENCES // 2)
    return st.none() | pairs.map(lambda count: 2 * count)


@st.composite
def configs(draw: st.DrawFn, task: Task) -> GeneratorConfig:
    """Settings that the task can follow, but for odd ones that leave nothing to ask."""
    people, places, objects = task.fewest
    return GeneratorConfig(
        people=draw(a_number(people, bool(task.people))),
        places=draw(a_number(places, bool(task.places))),
        objects=draw(a_number(objects, bool(task.objects))),
        questions=draw(st.none() | st.integers(1, 6)) if task.counts_questions else None,
        sentences=draw(a_length(task)),
        distractors=draw(st.integers(0, 6)),
        reach=draw(st.none() | st.integers(1, 10)),
        together=draw(st.booleans()) if task.in_turn else False,
        wording=draw(st.sampled_from(["released", "lua"])),
    )


def test_the_solver_knows_every_task_of_the_generator() -> None:
    assert sorted(TASKS) == NUMBERS


@pytest.mark.parametrize("wording", ["released", "lua"])
@pytest.mark.parametrize("task", NUMBERS)
def test_labels_follow_from_the_story(task: int, wording: Literal["released", "lua"]) -> None:
    config = GeneratorConfig(wording=wording)
    for seed in range(20):
        stories = generate(task, questions=50, seed=seed, config=config)
        check(task, stories, questions=50, any_order=order_is_free(task, wording))


@pytest.mark.parametrize("wording", ["released", "lua"])
@pytest.mark.parametrize("task", SETTLED_BY_SUPPORT)
def test_the_supporting_sentences_alone_settle_the_question(task: int, wording: Literal["released", "lua"]) -> None:
    for story in generate(task, questions=300, seed=3, config=GeneratorConfig(wording=wording, distractors=2)):
        for question in story.questions:
            support = [story.sentences[at] for at in sorted(question.support)]
            answer = solved(task, support, question)
            assert agree(answer, question.answer, any_order=order_is_free(task, wording))


@pytest.mark.parametrize("task", NUMBERS)
@settings(max_examples=50, deadline=None, derandomize=True)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_labels_follow_from_the_story_under_other_settings(task: int, data: st.DataObject, seed: int) -> None:
    config = data.draw(configs(TASKS[task]))
    try:
        stories = list(generate(task, questions=12, seed=seed, config=config))
    except ConfigError:
        reject()
    check(task, stories, questions=12, any_order=order_is_free(task, config.wording))


@pytest.mark.parametrize(("task", "config"), AT_ODDS)
def test_settings_at_odds_are_refused_or_followed(task: int, config: GeneratorConfig) -> None:
    for seed in range(40):
        try:
            stories = list(generate(task, questions=20, seed=seed, config=config))
        except ConfigError:
            continue
        check(task, stories, questions=20)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_labels_of_presets_follow_from_the_story(name: str) -> None:
    for seed in range(5):
        check(PRESETS[name].task, generate_preset(name, questions=60, seed=seed), questions=60)


@pytest.mark.parametrize("wording", ["released", "lua"])
@pytest.mark.parametrize("task", RENAMED)
def test_labels_follow_from_renamed_stories(task: int, wording: Literal["released", "lua"]) -> None:
    stories = list(generate(task, questions=100, seed=7, config=GeneratorConfig(wording=wording, distractors=1)))
    renamed = list(rename(stories, seed=8))
    assert all(old.sentences != new.sentences for old, new in zip(stories, renamed, strict=True))
    check(task, renamed, questions=100)
