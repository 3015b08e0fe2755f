"""Stories as JSON lines, one story a line, for stories that people bring themselves.

    {"story": ["Mary went home."], "question": "Where is Mary?", "answer": "home"}
    {"story": ["Mary went home.", "John left."], "questions": [{"question": "Where is Mary?", "answer": "home",
                                                                "after": 1, "support": [0]}]}

An answer is null where it is unknown. `support` (0-based indices into the story) and `after` (how many sentences the
question sees; all of them where it is missing) may be left out. Other keys are ignored.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from amn.data.files import BadLines, numbered_lines, refuse, shown, written
from amn.data.story import Question, Story
from amn.errors import DataError, SupportError

MAX_LINE_BYTES = 1 << 26  # a line holds a whole story

_HALF_LETTER = re.compile("[\ud800-\udfff]")  # JSON can escape half a surrogate pair, which no file can hold


def read_jsonl(
    path: str | Path, *, skip_bad: BadLines | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[Story]:
    """The stories of a JSONL file, one at a time.

    Args:
        path: the file.
        skip_bad: where given, bad lines are noted in it and left out instead of raising.
        max_line_bytes: a longer line is refused without being read to its end.

    Raises:
        DataError: at the first bad line, naming the file, the line, what was expected and what was found.
    """
    path, number = Path(path), 0
    for number, line in numbered_lines(path, limit=max_line_bytes, skip_bad=skip_bad):
        try:
            if line and not line.isspace():
                yield _Line(path, number).story(line)
        except DataError as error:
            refuse(error, skip_bad)
    if number == 0:
        refuse(DataError(path, None, "at least one story", "no line that can be read"), skip_bad)


def story_of(row: object, source: str) -> Story:
    """The story that an object of the shape of a line holds.

    Args:
        row: the object.
        source: what to call it where something is wrong with it.

    Raises:
        DataError: where it has another shape.
    """
    return _Line(source).story_of(row)


class _Line:
    """One line being read; its methods know where they are when something is wrong."""

    def __init__(self, path: str | Path, number: int | None = None) -> None:
        self.path, self.number = path, number

    def bad(self, expected: str, found: object) -> DataError:
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, default=repr)
        return DataError(self.path, self.number, expected, shown(text))

    def story(self, line: str) -> Story:
        return self.story_of(self._json(line))

    def story_of(self, row: object) -> Story:
        if not isinstance(row, dict):
            raise self.bad("a JSON object", row)
        sentences = row.get("story")
        if not isinstance(sentences, list) or not sentences:
            raise self.bad('"story": a list of sentences', sentences)
        told = tuple(self._text(sentence, '"story": sentences as text') for sentence in sentences)
        if ("question" in row) == ("questions" in row):
            raise self.bad('either "question" and "answer" or "questions"', row)
        asked = row.get("questions", [row])
        if not isinstance(asked, list):
            raise self.bad('"questions": a list of objects', asked)
        return Story(sentences=told, questions=tuple(self._question(entry, len(told)) for entry in asked))

    def _json(self, line: str) -> object:
        try:
            return json.loads(line)
        except json.JSONDecodeError as error:
            found = f"{shown(line)} ({error.msg} at column {error.colno})"
            raise DataError(self.path, self.number, "a JSON object", found) from error
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, or as many brackets
            raise DataError(self.path, self.number, "a JSON object of sane size", shown(line)) from error

    def _question(self, entry: object, num_sentences: int) -> Question:
        if not isinstance(entry, dict):
            raise self.bad('"questions": a list of objects', entry)
        if "answer" not in entry:
            raise self.bad('"answer": text, or null where it is unknown', f"only {', '.join(entry)}")
        answer = entry["answer"]
        after = entry.get("after", num_sentences)
        if not _is_index(after) or not 1 <= after <= num_sentences:
            raise self.bad(f'"after": a number of sentences from 1 to {num_sentences}', after)
        return Question(
            text=self._text(entry.get("question"), '"question": text'),
            answer=None if answer is None else self._text(answer, '"answer": text, or null where it is unknown'),
            after=after,
            support=self._support(entry.get("support", []), after),
        )

    def _text(self, value: object, expected: str) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self.bad(expected, value)
        if _HALF_LETTER.search(value):
            raise self.bad(expected, value.encode("unicode-escape").decode())
        return value.strip()

    def _support(self, support: object, after: int) -> tuple[int, ...]:
        if not isinstance(support, list) or not all(_is_index(index) for index in support):
            raise self.bad('"support": a list of sentence numbers from 0', support)
        if not all(0 <= index < after for index in support):
            raise SupportError(self.path, self.number, f'"support": numbers from 0 to {after - 1}', str(support))
        return tuple(support)


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def write_jsonl(stories: Iterable[Story], target: str | Path | TextIO) -> int:
    """Write stories as JSON lines; a file appears under its name only when all of it is written.

    Args:
        stories: what to write, taken one at a time.
        target: a file, or an open text stream.

    Returns:
        How many questions were written.
    """
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
    return entry
