"""Chooses the best run of each task on validation and puts its model into the package.

    python scripts/ship.py DATA RUNS [RUNS ...]

Best is the lowest validation error, then the fewest entities read, then the lowest seed. A joint run becomes `babi`,
the run of task N becomes `qaN`, that of an extended set keeps its name, and one of a board has the board's; other
architectures are not shipped. The record gets the figures that `amn evaluate` gives for the validation stories in DATA:
a GPU rounds otherwise than a CPU.
"""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from amn.data.boards import find_board
from amn.evaluation.score import Ask, score_trained
from amn.store.card import model_card
from amn.store.find import find_model
from amn.store.model_directory import load_model, save_model
from amn.store.run_directory import RunDirectory

PRETRAINED = Path(__file__).resolve().parents[1] / "src" / "amn" / "pretrained"


def name_of(task: int | str) -> str:
    """The name that a model of a task is shipped under."""
    if isinstance(task, int):
        return f"qa{task}"
    if board := find_board(task):
        return board[0].name
    return "babi" if task == "joint" else task


def rank(run: RunDirectory) -> tuple[float, float, int]:
    """What runs are ordered by."""
    valid = run.result()["validation"]
    return valid["error_percent"], valid["entities_read"], run.spec().seed


def ship(run: RunDirectory, directory: Path, data: str) -> None:
    """Puts the best model of a run into the package, with a record of what it does there."""
    trained, task = load_model(find_model(run.path)), run.spec().task
    generated = run.spec().data is None
    found = score_trained(trained, Ask(task=task, data=None if generated else data)).figures()
    measured = {name: found[name] for name in ("questions", "error_percent", "entities", "entities_read", "ratio")}
    validation = {**trained.record["validation"], **measured, "banks": found["created_banks"]}
    described = trained.record["run"] | ({"data": name_of(task)} if find_board(task) else {})
    trained = replace(trained, record={**trained.record, "run": described, "validation": validation})
    shutil.rmtree(directory, ignore_errors=True)
    save_model(directory, trained, model_card(trained))


def main(data: str, folders: list[str]) -> None:
    """Ships the best finished run of each task."""
    found: dict[str, list[RunDirectory]] = {}
    for folder in folders:
        for path in sorted(Path(folder).glob("amn-*")):
            run = RunDirectory(path)
            if run.finished and run.spec().architecture == "amn":
                found.setdefault(name_of(run.spec().task), []).append(run)
    for name, runs in sorted(found.items(), key=lambda item: (len(item[0]), item[0])):
        best = min(runs, key=rank)
        ship(best, PRETRAINED / name, data)
        error, read, seed = rank(best)
        print(f"{name}: {best.path.name} of {len(runs)} runs, error {error} %, {read} entities read, seed {seed}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
