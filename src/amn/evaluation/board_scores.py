"""Scores on a board: each of its parts apart, and the means that papers give."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from amn.data.boards import Board
from amn.evaluation.score import Ask, score_trained, stories_for
from amn.inference.engine import Engine
from amn.inference.trained import TrainedModel


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
