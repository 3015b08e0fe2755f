"""Where stories come from: files in the formats that people have, folders of them, Python objects, or the generator."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any, TextIO

from amn.data.babi import find_task_file, read_babi, write_babi
from amn.data.files import STANDARD_INPUT, BadLines
from amn.data.formats import read_csv, read_json, read_jsonl, read_parquet, write_jsonl
from amn.data.rows import ANY, Columns, story_of
from amn.data.story import Story
from amn.errors import ConfigError, DataError, did_you_mean

SPLITS = {"train": 10_000, "valid": 1_000, "test": 1_000}  # questions of a generated split, as many as were released
WRITERS: dict[str, Callable[[Iterable[Story], str | Path | TextIO], int]] = {"babi": write_babi, "jsonl": write_jsonl}
FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
}
_SHEETS = frozenset((".xlsx", ".xls", ".ods", ".numbers"))  # what people have tables in, and we do not read
VALIDATION_SHARE = 0.1  # of stories that come without validation stories
_FEWEST_STORIES = 2
_SPLIT_NAMES = {"train": "train|training", "valid": "valid|validation|val|dev", "test": "test|testing"}
_PEEKED = 4096


READERS: dict[str, Callable[..., Iterator[Story]]] = {  # each takes a path, `skip_bad` and `columns`
    "babi": lambda path, *, skip_bad, columns: read_babi(path, skip_bad=skip_bad),  # noqa: ARG005 (it has no columns)
    "csv": read_csv,
    "json": read_json,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
}


def format_of(path: str | Path) -> str:
    """The name of a file's format, by its suffix; without one that is known it is bAbI text."""
    path = Path(path)
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix != ".gz"]
    return FORMATS.get(suffixes[-1], "babi") if suffixes else "babi"


def read_stories(
    path: str | Path, *, skip_bad: BadLines | None = None, columns: Columns = ANY, format: str | None = None
) -> Iterator[Story]:
    """The stories of a file, one at a time.

    Args:
        path: a file in the format that its suffix names (bAbI text under any other name), or `-` for standard input,
            whose format is told by how it begins.
        skip_bad: where given, bad lines are noted in it and left out instead of raising.
        columns: what the columns are called, where not by one of the usual names.
        format: a key of `READERS`, where the name does not say it.
    """
    path = Path(path)
    if path.suffix.lower() in _SHEETS and path.is_file():
        raise DataError(path, None, "a table as text: save the sheet as .csv", "a spreadsheet")
    found = format or (_format_of_input() if path in STANDARD_INPUT else format_of(path))
    return READERS[found](path, skip_bad=skip_bad, columns=columns)


def _format_of_input() -> str:
    """The format of standard input: JSON starts with a bracket, bAbI with the number of its first sentence."""
    peek = getattr(sys.stdin.buffer, "peek", None)
    start = bytes(peek(_PEEKED) if peek else b"").decode("utf-8", errors="replace").lstrip("\ufeff \r\n")
    if start.startswith("PAR1"):
        return "parquet"
    if start[:1] in "{[":
        return "json" if start.startswith("[") else "jsonl"
    return "babi" if start.startswith("1 ") else "csv"


def data_files(path: str | Path) -> list[Path]:
    """The data files that a path means: itself, or those in the folder, at any depth."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    files = {*path.rglob("qa*.txt"), *(file for file in path.rglob("*") if format_of(file) != "babi")}
    if not files:
        found = ", ".join(sorted(entry.name for entry in path.iterdir())[:10]) or "an empty folder"
        raise DataError(path, None, f"bAbI files (qa*.txt) or files that end in {', '.join(FORMATS)}", found)
    return sorted(files)


def split_of(path: Path) -> str | None:
    """The split that the name of a file ends in ("qa1_train.txt", "dev.csv"), if any."""
    stem = path.name.partition(".")[0].lower()
    return next((s for s, names in _SPLIT_NAMES.items() if re.fullmatch(rf"(?:.*[_.-])?(?:{names})", stem)), None)


@dataclass(frozen=True, kw_only=True)
class OwnStories:
    """A user's own stories."""

    training: list[Story]  # to learn from
    # To select a model and to score it; None where they have to be taken from the training stories.
    validation: list[Story] | None = None
    name: str = "own"  # what to call them: the name of their file or folder, without its ending

    def judged_by(self, other: "OwnStories") -> "OwnStories":
        """The same with all of the other's stories to validate with."""
        return replace(self, validation=[*other.training, *(other.validation or [])])


def own_stories(data: object, *, columns: Columns = ANY) -> OwnStories:
    """The stories that anything which may hold stories holds.

    Args:
        data: the path of a file or folder, or `-`; or rows: an iterable of `Story` objects or of dicts, a data frame, a
            Hugging Face data set, or a mapping of "train" and maybe "validation" to such rows. Files of a folder whose
            names end in valid, dev or the like hold validation stories, and those that end in test are left alone.
        columns: what the columns are called, where not by one of the usual names.

    Raises:
        DataError: where something cannot be read, with its place.
    """
    if isinstance(data, str | Path):
        return _in_files(Path(data), columns)
    if isinstance(data, Mapping) and "train" in data:
        kept = next((data[name] for name in ("validation", "valid", "dev") if name in data), None)
        validation = None if kept is None else stories_of(kept, "validation", columns)
        return OwnStories(training=stories_of(data["train"], "train", columns), validation=validation)
    return OwnStories(training=stories_of(data, "stories", columns))


def _in_files(path: Path, columns: Columns) -> OwnStories:
    files = data_files(path)
    splits = {file: split_of(file) if path.is_dir() else None for file in files}
    told = {split: [file for file in files if splits[file] == split] for split in (None, "train", "valid")}
    training = _read_all([*told[None], *told["train"]], columns)
    return OwnStories(training=training, validation=_read_all(told["valid"], columns) or None, name=name_of(path))


def read_split(path: str | Path, split: str, columns: Columns = ANY) -> list[Story]:
    """The stories of a file; of a folder those of the files that are named for the split, or else for none."""
    files = data_files(path)
    splits = {file: split_of(file) for file in files} if Path(path).is_dir() else {}
    chosen = [file for file in files if splits.get(file, split) == split] or [
        file for file in files if not splits[file]
    ]
    if not chosen:
        raise DataError(path, None, f"files of split {split}", ", ".join(file.name for file in files[:10]))
    return _read_all(chosen, columns)


def name_of(path: str | Path) -> str:
    """What to call the data at a path: the name of its file or folder, without its ending."""
    path = Path(path)
    return "stdin" if path in STANDARD_INPUT else (path.resolve().name.partition(".")[0] or "own")


def _read_all(files: Iterable[Path], columns: Columns) -> list[Story]:
    return [story for file in files for story in read_stories(file, columns=columns)]


def stories_of(rows: Any, name: str, columns: Columns = ANY) -> list[Story]:
    """The stories of rows in Python; `name` is what to call them where something is wrong."""
    if hasattr(rows, "to_dicts"):  # a frame of polars
        rows = rows.to_dicts()
    elif hasattr(rows, "to_dict") and hasattr(rows, "columns"):  # one of pandas
        rows = rows.to_dict("records")
    if isinstance(rows, Mapping):
        found = f"one mapping of {', '.join(map(str, rows))}"
        raise DataError(name, None, 'a list of rows, or {"train": rows, "validation": rows}', found)
    if not isinstance(rows, Iterable):
        raise DataError(name, None, "a path, rows, or a data frame", type(rows).__name__)
    return [
        row if isinstance(row, Story) else story_of(row, f"{name}[{i}]", None, columns) for i, row in enumerate(rows)
    ]


def one_each(stories: Iterable[Story]) -> list[Story]:
    """Stories with the same sentences as one, with all their questions, so that none is held out in part."""
    found: dict[tuple[str, ...], Story] = {}
    for story in stories:
        held = found.get(story.sentences)
        questions = story.questions if held is None else held.questions + story.questions
        found[story.sentences] = replace(held or story, questions=questions)
    return list(found.values())


def in_one(stories: Iterable[Story]) -> Iterator[Story]:
    """Stories that follow one another with the same sentences as one, one at a time: as rows of a table have them."""
    for _, alike in groupby(stories, key=lambda story: story.sentences):
        told = list(alike)
        yield replace(told[0], questions=tuple(question for story in told for question in story.questions))


def hold_out(stories: list[Story], seed: int, name: str = "stories") -> tuple[list[Story], list[Story]]:
    """Divides stories into those to train on and a tenth, chosen by the seed, to validate with."""
    if len(stories) < _FEWEST_STORIES:
        expected = "at least two different stories with answers, or validation stories as well"
        raise DataError(name, None, expected, str(len(stories)))
    shuffled = Random(seed).sample(stories, len(stories))
    count = max(1, round(VALIDATION_SHARE * len(shuffled)))
    return shuffled[count:], shuffled[:count]


def check_split(split: str) -> None:
    """Raises a ConfigError for an unknown split."""
    if split not in SPLITS:
        raise ConfigError(f"unknown split {split!r}: {did_you_mean(split, SPLITS)}")


def load_task(
    data: str | Path | None, task: int, split: str, *, seed: int = 0, skip_bad: BadLines | None = None
) -> list[Story]:
    """All stories of one split of a task, read or generated.

    `data` is a folder of released files, one file (then task and split are not looked at), or None to generate; each
    split of each seed has generated stories of its own. Bad lines are noted in `skip_bad` and left out, or raise.
    """
    check_split(split)
    if data is None:
        from amn.data.tasks import generate  # late: reading files should not wait for the twenty tasks

        return list(generate(task, questions=SPLITS[split], seed=len(SPLITS) * seed + list(SPLITS).index(split)))
    path = Path(data)
    return list(read_stories(find_task_file(path, task, split) if path.is_dir() else path, skip_bad=skip_bad))
