"""Files of rows with a story each: JSON lines, a JSON document, a table with a header, Parquet.

`amn.data.rows` says what a row may be. Readers take a path, `skip_bad` and `columns` as `amn.data.source.read_stories`.
"""

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from amn.data.files import BadLines, numbered_lines, opened, refuse, shown, written
from amn.data.rows import ANY, Columns, story_of
from amn.data.story import Question, Story
from amn.errors import DataError, MissingExtraError

MAX_LINE_BYTES = 1 << 26  # a line may hold a whole story
_DELIMITERS = ",;\t|"


def read_jsonl(
    path: str | Path,
    *,
    skip_bad: BadLines | None = None,
    columns: Columns = ANY,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[Story]:
    """The stories of a JSONL file, one at a time."""
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
    """The JSON value of a text.

    Raises:
        DataError: where it is none.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if number is not None else f"line {error.lineno}"
        wrong = error.msg.removesuffix(" at")  # "Unterminated string starting at"
        raise DataError(path, number, "a JSON object", f"{shown(text)} ({wrong} at {place})") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or as many brackets
        raise DataError(path, number, "a JSON object of sane size", shown(text)) from error


def write_jsonl(stories: Iterable[Story], target: str | Path | TextIO) -> int:
    """Writes stories as JSON lines, one at a time, and says how many questions; a file appears when all is written."""
    count = 0
    with written(Path(target) if isinstance(target, str) else target) as stream:
        for story in stories:
            asked = [_entry(question, len(story.sentences)) for question in story.questions]
            row = {"story": list(story.sentences)} | (asked[0] if len(asked) == 1 else {"questions": asked})
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += len(asked)
    return count


def _entry(question: Question, num_sentences: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"question": question.text, "answer": question.answer}
    if question.after != num_sentences:
        entry["after"] = question.after
    if question.support:
        entry["support"] = list(question.support)
    if question.kind:
        entry["kind"] = question.kind
    return entry


def read_csv(path: str | Path, *, skip_bad: BadLines | None = None, columns: Columns = ANY) -> Iterator[Story]:
    """The stories of a table; its header says what separates the columns."""
    path = Path(path)
    lines = (line + "\n" for _, line in numbered_lines(path, limit=MAX_LINE_BYTES))
    header = next(lines, "")
    separator = max(_DELIMITERS, key=header.count)
    names = next(csv.reader([header], delimiter=separator), [])
    if columns.find("story", dict.fromkeys(names)) is None and any(map(_is_sentence, names)):
        raise DataError(
            path, 1, "a header that names the columns, such as story,question,answer", shown(header.strip())
        )
    rows, found = csv.reader(lines, delimiter=separator), False
    for fields in _fields(rows, path, skip_bad):
        found, line = True, rows.line_num + 1
        try:
            yield story_of(_row(names, fields, path, line), path, line, columns)
        except DataError as error:
            refuse(error, skip_bad)
    if not found:
        refuse(DataError(path, None, "a header and at least one row", shown(header.strip())), skip_bad)


def _is_sentence(name: str) -> bool:
    """Whether a heading is none but the sentence of a row; "No." and "Solved?" are headings."""
    return name.endswith((".", "?")) and " " in name.strip()


def _fields(rows: Any, path: Path, skip_bad: BadLines | None) -> Iterator[list[str]]:
    """The rows that hold something."""
    while True:
        try:
            fields = next(rows, None)
        except csv.Error as error:
            refuse(DataError(path, rows.line_num + 1, "a row of separated fields", str(error)), skip_bad)
            continue
        if fields is None:
            return
        if any(map(str.strip, fields)):  # spreadsheets write rows of separators only
            yield fields


def _row(names: list[str], fields: list[str], path: Path, line: int) -> dict[str, str | None]:
    """A row by the names of its columns; an empty field holds nothing."""
    if len(fields) != len(names):
        expected = f"{len(names)} fields, as the header has"
        quoted = "; text that holds the separator goes in quotes" if len(fields) > len(names) else ""
        raise DataError(path, line, expected, f"{len(fields)} in {shown(fields[0])}{quoted}")
    return {name: field.strip() or None for name, field in zip(names, fields, strict=True)}


def read_json(path: str | Path, *, skip_bad: BadLines | None = None, columns: Columns = ANY) -> Iterator[Story]:
    """The stories of a JSON document: a list of rows, alone or under a key; paragraphs of a row are rows too.

    A file of JSON lines may be called so as well.
    """
    path = Path(path)
    with opened(path) as stream:
        try:
            text = stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(path, None, "UTF-8 text", f"byte 0x{error.object[error.start]:02x}") from error
    first, _, rest = text.strip().partition("\n")
    if first[:1] == "{" and first.rstrip()[-1:] == "}" and rest.lstrip()[:1] == "{":
        yield from read_jsonl(path, skip_bad=skip_bad, columns=columns)
        return
    document = parsed(path, None, text)
    rows = _listed(document) if isinstance(document, dict) else document
    if not isinstance(rows, list) or not rows:
        raise DataError(path, None, "a list of stories, or one under the key data", shown(text))
    yield from _stories(_flat(rows), path, skip_bad, columns)


def _listed(document: dict[str, Any]) -> Any:
    """The list of rows that a document holds under "data", or else under whatever key holds the only one."""
    lists = [value for value in document.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
    return document.get("data", lists[0] if len(lists) == 1 and "questions" not in document else document)


def _flat(rows: Iterable[Any]) -> Iterator[Any]:
    for row in rows:
        paragraphs = row.get("paragraphs") if isinstance(row, dict) else None
        yield from paragraphs if isinstance(paragraphs, list) else [row]


def read_parquet(path: str | Path, *, skip_bad: BadLines | None = None, columns: Columns = ANY) -> Iterator[Story]:
    """The stories of a Parquet file, one row each."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("parquet", "reading .parquet") from error
    path = Path(path)
    with opened(path) as stream:
        try:
            rows = (row for part in ParquetFile(stream).iter_batches() for row in part.to_pylist())
            yield from _stories(rows, path, skip_bad, columns)
        except (ArrowException, OSError) as error:
            raise DataError(path, None, "a Parquet file", str(error)) from error


def _stories(rows: Iterable[Any], path: Path, skip_bad: BadLines | None, columns: Columns) -> Iterator[Story]:
    for number, row in enumerate(rows, 1):
        try:
            yield story_of(row, f"{path}, row {number}", columns=columns)
        except DataError as error:
            refuse(error, skip_bad)
