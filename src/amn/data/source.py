"""Where stories come from: a bAbI or JSONL file, a folder of released files, or the generator."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from amn.data.babi import find_task_file, read_babi, write_babi
from amn.data.files import BadLines
from amn.data.jsonl import read_jsonl, write_jsonl
from amn.data.story import Story
from amn.errors import ConfigError, did_you_mean

SPLITS = {"train": 10_000, "valid": 1_000, "test": 1_000}  # questions of a generated split, as many as were released
WRITERS: dict[str, Callable[[Iterable[Story], str | Path | TextIO], int]] = {"babi": write_babi, "jsonl": write_jsonl}


def format_of(path: str | Path) -> str:
    """The name of a file's format: "jsonl" by its suffix, else "babi"."""
    return "jsonl" if Path(path).suffix.lower() in {".jsonl", ".ndjson"} else "babi"


def read_stories(path: str | Path, *, skip_bad: BadLines | None = None) -> Iterator[Story]:
    """The stories of a file, one at a time, in the format that its suffix names.

    Args:
        path: a `.jsonl` file, or bAbI text under any other name.
        skip_bad: where given, bad lines are noted in it and left out instead of raising.
    """
    read = read_jsonl if format_of(path) == "jsonl" else read_babi
    return read(path, skip_bad=skip_bad)


def load_task(
    data: str | Path | None, task: int, split: str, *, seed: int = 0, skip_bad: BadLines | None = None
) -> list[Story]:
    """All stories of one split of a task.

    Args:
        data: a folder of released files, one file (then task and split are not looked at), or None to generate.
        task: the task's number.
        split: "train", "valid" or "test".
        seed: of the generator; each split of each seed has stories of its own.
        skip_bad: where given, bad lines are noted in it and left out instead of raising.
    """
    if split not in SPLITS:
        raise ConfigError(f"unknown split {split!r}: {did_you_mean(split, SPLITS)}")
    if data is None:
        return _generated(task, split, seed)
    path = Path(data)
    return list(read_stories(find_task_file(path, task, split) if path.is_dir() else path, skip_bad=skip_bad))


def _generated(task: int, split: str, seed: int) -> list[Story]:
    from amn.data.tasks import generate  # late: reading files should not wait for the twenty tasks

    return list(generate(task, questions=SPLITS[split], seed=len(SPLITS) * seed + list(SPLITS).index(split)))
