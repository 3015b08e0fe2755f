"""bAbI in English from the first 1 000 training questions of a task, as most papers before 2017 have it."""

from dataclasses import replace
from pathlib import Path

from amn.data.babi import find_task_file, read_babi
from amn.data.boards.board import Board
from amn.data.story import Story

TASKS = tuple(str(task) for task in range(1, 21))
QUESTIONS = 1_000


def read(folder: Path, split: str, part: str | None) -> list[Story]:
    """The stories of a task; of a training file those with the first 1 000 questions."""
    tasks = TASKS if part is None else (part,)
    return [story for task in tasks for story in _of_task(folder, int(task), split)]


def _of_task(folder: Path, task: int, split: str) -> list[Story]:
    stories = list(read_babi(find_task_file(folder, task, split)))
    return first_questions(stories, QUESTIONS) if split == "train" else stories


def first_questions(stories: list[Story], count: int) -> list[Story]:
    """The first stories, with so many questions together."""
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
    read=read,
    each=True,
    means={"20 tasks": TASKS},
    notes="One model a task; the mean of the best seeds by validation, and the mean of all seeds.",
)
