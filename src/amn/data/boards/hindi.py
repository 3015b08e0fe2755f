"""bAbI in Hindi (transliterated), 10 000 training questions a task, as released with bAbI v1.2 in the folder hn-10k."""

from pathlib import Path

from amn.data.babi import find_task_file, read_babi
from amn.data.boards.board import Board
from amn.data.source import hold_out
from amn.data.story import Story

TASKS = tuple(str(task) for task in range(1, 21) if task != 3)  # the archive has no task 3
_SEED = 0  # of the choice of the stories that are kept to validate with


def read(folder: Path, split: str, part: str | None) -> list[Story]:
    """The stories of a task: of its training file a tenth is kept to validate with; test files are read as they are."""
    tasks = TASKS if part is None else (part,)
    return [story for task in tasks for story in _of_task(folder, int(task), split)]


def _of_task(folder: Path, task: int, split: str) -> list[Story]:
    if split == "test":
        return list(read_babi(find_task_file(folder, task, "test")))
    training, validation = hold_out(list(read_babi(find_task_file(folder, task, "train"))), _SEED)
    return training if split == "train" else validation


BOARD = Board(
    name="hindi",
    title="bAbI in Hindi, 10k",
    parts=TASKS,
    source="bAbI tasks v1.2, CC BY 3.0 (Weston et al., 2015)",
    read=read,
    each=True,
    means={"19 tasks": TASKS},
    notes="One model a task, one set of hyper-parameters; the error in per cent, averaged over the 19 tasks.",
)
