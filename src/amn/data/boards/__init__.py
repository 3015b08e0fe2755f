"""Leaderboards of published data: the table of all boards, each in its own file."""

from pathlib import Path

from amn.data.boards import babi_1k, hindi, stepgame
from amn.data.boards.board import ONE_MODEL as ONE_MODEL
from amn.data.boards.board import Board as Board
from amn.data.source import check_split
from amn.data.story import Story
from amn.errors import ConfigError, did_you_mean

BOARDS = {board.name: board for board in (stepgame.BOARD, hindi.BOARD, babi_1k.BOARD)}


def find_board(task: int | str) -> tuple[Board, str | None] | None:
    """The board that a task belongs to, and which part of it is meant (None for all); None where it is of no board."""
    if task in BOARDS:
        return BOARDS[str(task)], None
    for board in BOARDS.values():
        for part in (*board.parts, *board.variants):
            if task == board.task(part):
                return board, part
    return None


def tasks_of(name: str) -> list[str]:
    """The tasks that a name of a board means: all that a sweep over it trains, or the one that it names."""
    found = find_board(name)
    if found is None:
        return []
    board, part = found
    return board.tasks if part is None else [name]


def board_stories(task: str, data: str | Path | None, split: str) -> list[Story]:
    """The stories of a split of a board, or of a part of one (board-part), in the folder `data`.

    Raises:
        ConfigError: where there is no such board, part or split, or no folder is given.
    """
    found = find_board(task)
    if found is None:
        names = {name for board in BOARDS.values() for name in (board.name, *board.tasks)}
        raise ConfigError(f"no board is called {task!r}: {did_you_mean(task, names)}")
    if data is None:
        raise ConfigError(f"{found[0].title} cannot be generated: give the folder of its files with --data")
    check_split(split)
    board, part = found
    return board.read(Path(data), split, part)
