"""Stories from rows of named values, as JSON lines, tables and Python have them.

    {"story": ["Mary went home."], "question": "Where is Mary?", "answer": "home"}
    {"context": "Mary went home. John left.", "questions": [{"question": "Where is Mary?", "answer": "home"}]}

A column goes by any of the names that people use, or by the one that the user gives. A story is a list of sentences,
or one text. An answer is text, a number, true or false (yes or no), a list (joined by commas), or null where it is
unknown. `after` (how many sentences the question sees), `support` (0-based indices of sentences) and `kind` (what the
question asks for, by which `amn evaluate` groups) may be left out; other columns are ignored.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from amn.data.files import shown
from amn.data.sentences import split_sentences
from amn.data.story import Question, Story
from amn.errors import ColumnError, ConfigError, DataError, SupportError, did_you_mean

NAMES = {
    "story": ("story", "context", "passage", "text", "sentences", "document"),
    "question": ("question", "query"),
    "answer": ("answer", "label", "target", "answers"),
}
SEVERAL = ("questions", "qas")  # a list of rows with a question and an answer each
_HALF_LETTER = re.compile("[\ud800-\udfff]")  # JSON can escape half a surrogate pair, which no file can hold


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The names of the columns where they are not among those that people use; None for what is found."""

    story: str | None = None
    question: str | None = None
    answer: str | None = None

    def find(self, kind: str, row: Mapping[str, Any]) -> str | None:
        """The name of a row's column of a kind: the one given, or the first that the row has; case does not count."""
        given = getattr(self, kind)
        wanted = NAMES[kind] if given is None else (given.lower(),)
        held = {str(name).strip().lower(): name for name in row}
        return next((held[name] for name in wanted if name in held), None)

    @classmethod
    def of(cls, given: "Columns | Mapping[str, str] | None") -> "Columns":
        """The names that are given as a mapping of story, question and answer, or as they are.

        Raises:
            ConfigError: for anything else that is mapped.
        """
        if isinstance(given, Columns):
            return given
        for kind in given or ():
            if kind not in NAMES:
                raise ConfigError(f"columns: {did_you_mean(kind, NAMES)}")
        return cls(**(given or {}))


ANY = Columns()


def story_of(row: object, source: str | Path, line: int | None = None, columns: Columns = ANY) -> Story:
    """The story that a row holds; `source` and `line` say where it is from, where something is wrong with it.

    Raises:
        DataError: where the row has another shape.
    """
    return _Row(source, line, columns).story(row)


class _Row:
    """One row being read; its methods know where they are when something is wrong."""

    def __init__(self, source: str | Path, line: int | None, columns: Columns) -> None:
        self.source, self.line, self.columns = source, line, columns

    def bad(self, expected: str, found: object) -> DataError:
        if found is None:
            return DataError(self.source, self.line, expected, "nothing")
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, default=repr)
        return DataError(self.source, self.line, expected, shown(text))

    def missing(self, kind: str, row: Mapping[str, Any], expected: str) -> ColumnError:
        """The error for a column that is not there, with the columns that are and what to do."""
        found = ", ".join(map(str, row)) or "nothing"
        proposed = self._proposed(kind, row)
        flags = " ".join(f"--{name}-column {shlex.quote(column)}" for name, column in proposed.items())
        if str(self.source).endswith("]"):  # rows of Python, which have no file
            flags = f"columns={proposed}"
        names = "column" if len(proposed) == 1 else "columns"
        return ColumnError(self.source, self.line, expected, f"only {found}; name the {names} with {flags}")

    def _proposed(self, kind: str, row: Mapping[str, Any]) -> dict[str, str]:
        """A column for each kind that is not found, from the missing one on.

        It is found by what it holds, by its name, or as the last one left; or it is NAME.
        """
        columns = {name: self.columns.find(name, row) for name in NAMES}
        kinds = [name for name in NAMES if columns[name] is None]
        if kind == "story" and any(name in row for name in SEVERAL):
            kinds = ["story"]
        free = {str(name): value for name, value in row.items() if name not in columns.values()}
        proposed = {}
        for name in kinds[kinds.index(kind) :]:
            near = get_close_matches(getattr(self.columns, name) or name, free, n=1, cutoff=0.5)
            left = [*free] if len(free) == 1 and name == "answer" else []
            proposed[name] = (_held(name, free) or near or left or ["NAME"])[0]
            free.pop(proposed[name], None)
        return proposed

    def story(self, row: object) -> Story:
        if not isinstance(row, Mapping):
            raise self.bad("a JSON object", row)
        name = self.columns.find("story", row)
        if name is None:
            raise self.missing("story", row, '"story": a list of sentences, or one text')
        told = self._sentences(name, _listed(row[name]))
        questions = tuple(self._question(entry, len(told)) for entry in self._asked(row))
        return Story(sentences=told, questions=questions)

    def _sentences(self, name: str, value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            value = split_sentences(self._text(value, f'"{name}": sentences'))
        if not isinstance(value, list) or not value:
            raise self.bad(f'"{name}": a list of sentences, or one text', value)
        return tuple(self._text(sentence, f'"{name}": sentences as text') for sentence in value)

    def _asked(self, row: Mapping[str, Any]) -> list[Any]:
        """The rows of the questions: the row itself, or those of a list."""
        several = next((name for name in SEVERAL if name in row), None)
        one = self.columns.find("question", row)
        if several is None and one is None:
            raise self.missing("question", row, 'either "question" and "answer" or "questions"')
        if several is not None and one is not None:
            raise self.bad('either "question" and "answer" or "questions"', row)
        if several is None:
            return [row]
        asked = _listed(row[several])
        if not isinstance(asked, list):
            raise self.bad(f'"{several}": a list of objects with "question" and "answer"', asked)
        return asked

    def _question(self, entry: object, num_sentences: int) -> Question:
        if not isinstance(entry, Mapping):
            raise self.bad('"questions": a list of objects with "question" and "answer"', entry)
        name, answer = self.columns.find("question", entry), self.columns.find("answer", entry)
        if answer is None:
            raise self.missing("answer", entry, '"answer": text, or null where it is unknown')
        after = entry.get("after", num_sentences)
        if not _is_index(after) or not 1 <= after <= num_sentences:
            raise self.bad(f'"after": a number of sentences from 1 to {num_sentences}', after)
        return Question(
            text=self._text(entry.get(name or "question"), f'"{name or "question"}": text'),
            answer=self._answer(answer, _listed(entry[answer])),
            after=after,
            support=self._support(_listed(entry.get("support", [])), after),
            kind=kind if isinstance(kind := entry.get("kind"), str) else "",
        )

    def _answer(self, name: str, value: object) -> str | None:
        expected = f'"{name}": text, or null where it is unknown'
        if value is None or (
            isinstance(value, float) and value != value
        ):  # or the not-a-number that tables have for it
            return None
        if isinstance(value, list) and value and isinstance(value[0], Mapping):  # wordings of one answer: the first
            value = value[0]
        if isinstance(value, Mapping) and "text" in value:
            texts = _listed(value["text"])
            value = texts[0] if isinstance(texts, list) and texts else texts
        if isinstance(value, list) and value:
            return ",".join(self._text(_written(item), expected) for item in value)
        return self._text(_written(value), expected)

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
            raise SupportError(self.source, self.line, f'"support": numbers from 0 to {after - 1}', str(support))
        return tuple(support)


def _held(kind: str, columns: Mapping[str, Any]) -> list[str]:
    """The columns that hold what a kind does: questions end in a question mark, stories have several sentences."""
    texts = {name: value.strip() for name, value in columns.items() if isinstance(value, str)}
    asking = [name for name, text in texts.items() if text.endswith("?")]
    if kind == "question":
        return asking
    told = [name for name, text in texts.items() if name not in asking and split_sentences(text)[1:]]
    return sorted(told, key=lambda name: -len(texts[name])) if kind == "story" else []


def _listed(value: Any) -> Any:
    """Arrays and tuples as lists, which is what a row of JSON has."""
    if isinstance(value, tuple):
        return list(value)
    return value.tolist() if type(value).__module__ == "numpy" else value


def _written(value: object) -> object:
    """A truth value or a number as people write it; a whole number without a point."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int | float) else value


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
