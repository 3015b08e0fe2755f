"""The verb that scores a model."""

import json as json_module
from pathlib import Path
from typing import Any, Literal

from amn.cli.output import note, print_json, print_pairs, print_rows
from amn.data.rows import Columns
from amn.errors import ConfigError

SHOWN_ROWS = 40  # of a table; --json prints all


def evaluate(
    model: str,
    /,
    *,
    task: str | None = None,
    data: Path | None = None,
    split: str = "valid",
    banks: str = "1",
    rename: bool = False,
    questions: int | None = None,
    story_column: str | None = None,
    question_column: str | None = None,
    answer_column: str | None = None,
    details: Path | None = None,
    engine: Literal["auto", "torch"] = "auto",
    json: bool = False,
) -> None:
    """Score a model: its error, its calibration and how much it reads, in all and by kind of question.

    Example: amn evaluate qa1 --task 1 --data babi/en-valid-10k

    Args:
        model: a shipped model, a model directory, or a run directory for its best weights.
        task: 1 to 20, scaled, multi, short, joint for all twenty, or a board such as stepgame; by default your own
            stories in --data, or those that a run on your own stories held out.
        data: a folder of bAbI files, or your own stories: a file in any format, - for standard input, or a folder, of
            which the files named for the split are read, or else those named for none; by default the stories of a
            task are generated.
        split: train, valid or test.
        banks: how many banks are read for the error, the most relevant first, or all.
        rename: replace the names of people, places and things by names that are not in any training data.
        questions: ask only the first so many.
        story_column: the column of the story, if it is not named story, context, passage or text.
        question_column: the column of the question, if it is not named question or query.
        answer_column: the column of the answer, if it is not named answer, label or target.
        details: write statistics of the stories (banks created, sizes of banks) to this file as JSON.
        engine: auto for the implementation that answers users, torch for the torch model.
        json: print the result as JSON.
    """
    from amn.data.boards import ONE_MODEL, find_board
    from amn.evaluation.metrics import by_kind
    from amn.evaluation.metrics import evaluate as judge
    from amn.evaluation.score import Ask, board_scores, examples_for, report_of
    from amn.store.find import find_model
    from amn.store.model_directory import load_model

    found_at = find_model(model)
    chosen, where = _source(model, task, data, split)
    columns = Columns(story=story_column, question=question_column, answer=answer_column)
    ask = Ask(task=chosen, split=split, data=where, rename=rename, questions=questions, columns=columns)
    read = _banks(banks)
    trained = load_model(found_at)
    asked = examples_for(trained, ask)
    tally = judge(trained, asked, engine)
    found = report_of(model, trained, ask, tally, read) | {"by_kind": by_kind(asked, tally, read)}
    board = find_board(chosen)
    if board is not None and board[1] in (None, ONE_MODEL):
        found |= board_scores(trained, board[0], ask, engine)
    if details is not None:
        details.write_text(json_module.dumps(found | {"details": tally.spread()}, indent=1) + "\n", encoding="utf-8")
        note(f"details: {details}")
    if json:
        print_json(found)
    else:
        _show(found)


def _source(model: str, task: str | None, data: Path | None, split: str) -> tuple[int | str, str | None]:
    """The task, and the path of its stories."""
    from amn.store.card import OWN
    from amn.store.run_directory import STORY_FILES
    from amn.training.sweep import parse_task

    if task is not None:
        return parse_task(task), None if data is None else str(data)
    if data is None and split in STORY_FILES:
        data = Path(model) / STORY_FILES[split]
        if not data.is_file():
            raise ConfigError(f"{model} has no stories of its own to ask about: give --task, or a file as --data")
    if data is None:
        raise ConfigError(f"--split {split}: give the file or folder of stories too, as --data")
    return OWN, str(data)


def _banks(text: str) -> int:
    if text == "all":
        return 0
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise ConfigError(f"--banks: expected a number above 0 or all, found {text!r}")


def _show(found: dict[str, Any]) -> None:
    """Prints the result: names and values, then tables by banks, by kind, and by part of a board."""
    from amn.evaluation.metrics import PASS_PERCENT

    lists = ("by_banks", "by_kind", "seconds", "parts", "means")
    pairs = {name.replace("_", " "): value for name, value in found.items() if name not in lists}
    print_pairs(pairs | {f"seconds, {name.replace('_', ' ')}": value for name, value in found["seconds"].items()})
    if all(row["error_percent"] >= PASS_PERCENT for row in found["by_banks"]):
        print(f"\nNo number of banks has an error under {PASS_PERCENT:g} %, so required banks, entities read and ratio")
        print("are those of all banks, and an entity counts once for each bank that holds it.")
    for name in ("by_banks", "by_kind", "parts", "means"):
        if name in found:
            print()
            print_rows(found[name][:SHOWN_ROWS])
    if len(found["by_kind"]) > SHOWN_ROWS:
        print(f"and {len(found['by_kind']) - SHOWN_ROWS} more kinds; --json prints all")
