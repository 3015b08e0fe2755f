"""Stories as JSON lines, one row a line (`amn.data.rows` says what a row may be)."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from amn.data.files import BadLines, numbered_lines, refuse, shown, written
from amn.data.rows import ANY, Columns, story_of
from amn.data.story import Question, Story
from amn.errors import DataError

MAX_LINE_BYTES = 1 << 26  # a line holds a whole story


def read_jsonl(
    path: str | Path,
    *,
    skip_bad: BadLines | None = None,
    columns: Columns = ANY,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[Story]:
    """The stories of a JSONL file, one at a time; as `read_stories`."""
    path, number = Path(path), 0
    for number, line in numbered_lines(path, limit=max_line_bytes, skip_bad=skip_bad):
        try:
            if line and not line.isspace():
                yield story_of(parsed(path, number, line), path, number, columns)
        except DataError as error:
            refuse(error, skip_bad)
    if number == 0:
        refuse(DataError(path, None, "at least one story", "no line that can be read"), skip_bad)


def parsed(path: Path, number: int | None, text: str) -> object:
    """The JSON value that a text holds.

    Raises:
        DataError: where it is none.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if number is not None else f"line {error.lineno}"
        raise DataError(path, number, "a JSON object", f"{shown(text)} ({error.msg} at {place})") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or as many brackets
        raise DataError(path, number, "a JSON object of sane size", shown(text)) from error


def write_jsonl(stories: Iterable[Story], target: str | Path | TextIO) -> int:
    """Writes stories as JSON lines, one at a time, and says how many questions; a file appears when all is written."""
    count = 0
    with written(Path(target) if isinstance(target, str) else target) as stream:
        for story in stories:
            stream.write(json.dumps(_row(story), ensure_ascii=False) + "\n")
            count += len(story.questions)
    return count


def _row(story: Story) -> dict[str, Any]:
    asked = [_entry(question, len(story.sentences)) for question in story.questions]
    row: dict[str, Any] = {"story": list(story.sentences)}
    return row | (asked[0] if len(asked) == 1 else {"questions": asked})


def _entry(question: Question, num_sentences: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"question": question.text, "answer": question.answer}
    if question.after != num_sentences:
        entry["after"] = question.after
    if question.support:
        entry["support"] = list(question.support)
    if question.kind:
        entry["kind"] = question.kind
    return entry
