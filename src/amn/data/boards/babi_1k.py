"""bAbI in English from the first 1 000 training questions of a task, as most papers before 2017 have it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from amn.data.babi import find_task_file, read_babi
from amn.data.boards.board import ONE_MODEL, Board
from amn.data.story import Story
from amn.errors import DataError

TASKS = tuple(str(task) for task in range(1, 21))
QUESTIONS = 1_000


def read(folder: Path, split: str, part: str | None) -> list[Story]:
    """The stories of a task, or of all; of a training file the first 1 000 questions, less those of validation."""
    tasks = TASKS if part in (None, ONE_MODEL) else (part,)
    return [story for task in tasks for story in _of_task(folder, int(task), split)]


def _of_task(folder: Path, task: int, split: str) -> list[Story]:
    stories = list(read_babi(_file(folder, task, split)))
    if split != "train":
        return stories
    return without(first_questions(stories, QUESTIONS), read_babi(find_task_file(folder, task, "valid")))


def _file(folder: Path, task: int, split: str) -> Path:
    """The file of a task; a training file that is not there may be in the folder `en` of the release, beside it."""
    try:
        return find_task_file(folder, task, split)
    except DataError:
        if split != "train" or not (folder.parent / "en").is_dir():
            raise
        return find_task_file(folder.parent / "en", task, split)


def without(stories: Iterable[Story], others: Iterable[Story]) -> list[Story]:
    """The stories less the questions that are asked of the others, too: files of two releases share some."""
    known = {(other.sentences[: asked.after], asked.text) for other in others for asked in other.questions}
    found = []
    for story in stories:
        kept = tuple(asked for asked in story.questions if (story.sentences[: asked.after], asked.text) not in known)
        found.append(replace(story, questions=kept))
    return [story for story in found if story.questions]


def first_questions(stories: list[Story], count: int) -> list[Story]:
    """The first stories, up to `count` questions in all."""
    found: list[Story] = []
    for story in stories:
        if count <= 0:
            break
        found.append(replace(story, questions=story.questions[:count]))
        count -= len(story.questions)
    return found


BOARD = Board(
    name="babi1k",
    title="bAbI in English, 1k",
    parts=TASKS,
    source="bAbI tasks v1.2, CC BY 3.0 (Weston et al., 2015)",
    read=read,
    each=True,
    variants={ONE_MODEL: "released"},
    means={"20 tasks": TASKS},
    notes="One model a task, or babi1k-joint: one model that learns all of them from 1 000 questions each. The mean of "
    "the best seeds by validation, and the mean of all seeds; which of the two ways has to be said.",
)
