"""Scores of a model on the questions of a task, cut into examples as in its training; on a board, part by part."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from amn.data.boards import Board
from amn.data.examples import Example, examples
from amn.data.rows import ANY, Columns
from amn.data.source import check_split, load_task, read_split
from amn.data.story import Story
from amn.evaluation.metrics import DEFAULT_BANKS, Tally, evaluate
from amn.inference.engine import Engine, in_order
from amn.inference.trained import TrainedModel
from amn.store.card import OWN
from amn.training.prepare import ALL_TASKS, JOINT, task_stories

_RENAME_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Which questions to ask."""

    task: int | str  # 1 to 20, "scaled" or "multi", or "joint" for all twenty
    split: str = "valid"  # "train", "valid" or "test"
    data: str | None = None  # a folder of released files, or one file; None to generate the stories
    rename: bool = False  # give the people, places and things of the stories names that no training data holds
    questions: int | None = None  # ask only so many examples; None for all
    columns: Columns = ANY  # what the columns of a table are called, where not by one of the usual names


def score_trained(trained: TrainedModel, ask: Ask, engine: Engine = "auto") -> Tally:
    """Scores a model that is loaded already."""
    return evaluate(trained, examples_for(trained, ask), engine)


def report_of(
    name: str | Path, trained: TrainedModel, ask: Ask, tally: Tally, banks: int = DEFAULT_BANKS
) -> dict[str, Any]:
    """The one document of an evaluation."""
    about = {"model": str(name), "architecture": trained.architecture, "task": ask.task, "split": ask.split}
    return about | tally.figures(banks) | tally.confidence(banks)


def examples_for(trained: TrainedModel, ask: Ask) -> list[Example]:
    """The examples of a task as the model's training cut them: the same window, questions together or alone."""
    train = trained.training.train
    asked = examples(stories_for(ask), window=train.window, together=train.together)
    return [in_order(trained, one) for one in islice(asked, ask.questions)]


def stories_for(ask: Ask) -> Sequence[Story]:
    """The stories that are asked for."""
    check_split(ask.split)
    if ask.task == JOINT:
        stories = [_of_kind(story, f"task {task}") for task in ALL_TASKS for story in _stories(task, ask)]
    else:
        stories = _stories(ask.task, ask)
    if not ask.rename:
        return stories
    from amn.data.tasks.rename import rename  # late: it needs the generator's names

    return list(rename(stories, seed=_RENAME_SEED))


def _of_kind(story: Story, kind: str) -> Story:
    """The story with all its questions of one kind."""
    return replace(story, questions=tuple(replace(question, kind=kind) for question in story.questions))


def _stories(task: int | str, ask: Ask) -> list[Story]:
    """A file is read as it is, and so is a folder of a user's own stories; of a task only the asked split is read."""
    if ask.data is not None and (task == OWN or not Path(ask.data).is_dir()):
        return read_split(ask.data, ask.split, ask.columns)
    if isinstance(task, int):
        return load_task(ask.data, task, ask.split)
    return task_stories(task, ask.data, ask.split)[0]


def board_scores(trained: TrainedModel, board: Board, ask: Ask, engine: Engine = "auto") -> dict[str, Any]:
    """The figures of every part that the split has questions of, and the means over parts that are all there."""
    rows = []
    for part in board.parts:
        of_part = replace(ask, task=board.task(part))
        if stories_for(of_part):
            figures = score_trained(trained, of_part, engine).figures()
            rows.append({"part": part} | {name: figures[name] for name in ("questions", "error_percent")})
    return {"parts": rows, "means": means_of(board, rows)}


def means_of(board: Board, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The mean error, and how much is right, over the parts of each mean that papers give."""
    errors = {row["part"]: row["error_percent"] for row in rows}
    found = []
    for name, parts in board.means.items():
        if all(part in errors for part in parts):
            error = sum(errors[part] for part in parts) / len(parts)
            found.append({"mean": name, "error_percent": round(error, 4), "right_percent": round(100 - error, 4)})
    return found
