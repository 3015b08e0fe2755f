"""Chooses the best run of each task on validation and puts its model into the package.

    python scripts/ship.py RUNS [RUNS ...]

Best is the lowest validation error, then the fewest entities read, then the lowest seed. A joint run becomes `babi`,
the run of task N becomes `qaN`, that of an extended set keeps its name; other architectures are not shipped.
"""

import shutil
import sys
from pathlib import Path

from amn.training.run_directory import RunDirectory

PRETRAINED = Path(__file__).resolve().parents[1] / "src" / "amn" / "pretrained"


def name_of(task: int | str) -> str:
    """The name that a model of a task is shipped under."""
    if isinstance(task, int):
        return f"qa{task}"
    return "babi" if task == "joint" else task


def rank(run: RunDirectory) -> tuple[float, float, int]:
    """What runs are ordered by."""
    valid = run.result()["validation"]
    return valid["error_percent"], valid["entities_read"], run.spec().seed


def main(folders: list[str]) -> None:
    """Ships the best finished run of each task."""
    found: dict[str, list[RunDirectory]] = {}
    for folder in folders:
        for path in sorted(Path(folder).glob("amn-*")):
            run = RunDirectory(path)
            if run.finished and run.spec().architecture == "amn":
                found.setdefault(name_of(run.spec().task), []).append(run)
    for name, runs in sorted(found.items(), key=lambda item: (len(item[0]), item[0])):
        best = min(runs, key=rank)
        shutil.rmtree(PRETRAINED / name, ignore_errors=True)
        shutil.copytree(best.best, PRETRAINED / name)
        error, read, seed = rank(best)
        print(f"{name}: {best.path.name} of {len(runs)} runs, error {error} %, {read} entities read, seed {seed}")


if __name__ == "__main__":
    main(sys.argv[1:])
