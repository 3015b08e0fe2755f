"""The bAbI text format: `ID sentence` and `ID question<TAB>answer<TAB>supporting ids`, ids restarting with each story.

In a file, sentences and questions share one counter and supporting facts are named by it; in a `Question` they are
0-based indices of the story's sentences. A space before a tab means nothing and is not written.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from amn.data.files import BadLines, numbered_lines, refuse, shown, written
from amn.data.story import Question, Story
from amn.errors import DataError, SupportError

MAX_LINE_BYTES = 1 << 20  # the longest line of the released files has under 200 bytes

_TASK_FILE = re.compile(r"qa(?P<task>[0-9]+)(?:_.+)?_(?P<split>[a-z]+)\.(?:txt|jsonl)")
_OTHER_FORMATS = ", as bAbI text has; other formats are told by the ending, such as .jsonl or .csv"
_HOLDABLE = "one line without tab or question mark"  # what bAbI text asks of a sentence


def read_babi(
    path: str | Path, *, skip_bad: BadLines | None = None, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[Story]:
    """The stories of a bAbI file, one at a time, so that the file may be larger than the memory.

    Bad lines raise a DataError that says where, what was expected and what was found, or are noted in `skip_bad` and
    left out. A question that rests on a sentence left out is left out too, and so is every line whose id fits no story.
    A line that is too long is refused without being read to its end.
    """
    path = Path(path)
    draft, number = _Draft(path, 1), 0
    for number, line in numbered_lines(path, limit=max_line_bytes, skip_bad=skip_bad, whole=True):
        if line.startswith("1 "):
            if draft.sentences:
                yield draft.story()
            draft = _Draft(path, number)
        try:
            draft.add(number, line)
        except DataError as error:
            refuse(error, skip_bad)
    if draft.sentences:
        yield draft.story()
    if number == 0:
        refuse(DataError(path, None, "at least one story", "no line that can be read"), skip_bad)


class _Draft:
    """A story as its lines come in; ids follow from line numbers, so that a line left out shifts no later one."""

    def __init__(self, path: Path, start: int) -> None:
        self.path, self.start = path, start  # start: the number of the line that holds id 1
        self.sentences: list[str] = []
        self.questions: list[Question] = []
        self.sentence_of: dict[str, int] = {}  # a sentence's id as written -> its index

    def story(self) -> Story:
        return Story(sentences=tuple(self.sentences), questions=tuple(self.questions))

    def add(self, number: int, line: str) -> None:
        """Take one line, or raise a DataError and be as before."""
        if not line or line.isspace():
            self.start += 1
            return
        identifier, _, text = line.partition(" ")
        expected = number - self.start + 1
        if identifier != str(expected):
            other = number == 1 and _TASK_FILE.fullmatch(self.path.name) is None
            or_new = ", or id 1 of a new story" if expected > 1 else _OTHER_FORMATS if other else ""
            raise DataError(self.path, number, f"id {expected} and a space{or_new}", shown(line))
        if "\t" in text:
            self.questions.append(self._question(number, text))
        else:
            sentence = self._sentence(number, text)
            self.sentence_of[identifier] = len(self.sentences)
            self.sentences.append(sentence)

    def _sentence(self, number: int, text: str) -> str:
        sentence = text.strip()
        if _asks(sentence):
            raise DataError(self.path, number, "a tab and an answer after the question", f"no tab in {shown(text)}")
        if not sentence:
            raise DataError(self.path, number, "a sentence after the id", "nothing")
        return sentence

    def _question(self, number: int, text: str) -> Question:
        fields = [field.strip() for field in text.split("\t")]
        if len(fields) > 3:
            raise DataError(self.path, number, "question, answer and supporting ids", f"{len(fields)} fields")
        if not self.sentences:
            raise DataError(self.path, number, "a sentence before the first question", shown(text))
        for name, value in zip(("question", "answer"), fields, strict=False):
            if not value:
                raise DataError(self.path, number, f"a question and its {name}", f"an empty {name} in {shown(text)}")
        support = self._support(number, fields[2].split()) if len(fields) == 3 else ()
        return Question(text=fields[0], answer=fields[1], after=len(self.sentences), support=support)

    def _support(self, number: int, identifiers: list[str]) -> tuple[int, ...]:
        try:
            return tuple([self.sentence_of[identifier] for identifier in identifiers])
        except KeyError as error:
            expected = "supporting ids that name sentences above, separated by spaces"
            raise SupportError(self.path, number, expected, shown(error.args[0])) from error


def _asks(sentence: str) -> bool:
    """Whether it has a question mark; statements of the released Hindi task 15 end in "?.", which is none."""
    return "?" in sentence.removesuffix("?.")


def write_babi(stories: Iterable[Story], target: str | Path | TextIO) -> int:
    """Writes stories as bAbI text, one at a time, and says how many questions; a file appears when all is written.

    Raises:
        DataError: for what the format cannot hold: an unknown answer, a tab or a line end in a text, a question mark
            in a sentence, a question before any sentence, a supporting fact that comes later than its question.
    """
    target = Path(target) if isinstance(target, str) else target
    count = 0
    with written(target) as stream:
        for number, story in enumerate(stories, start=1):
            name = f"{getattr(target, 'name', 'stream')}, story {number}"
            stream.writelines(_lines(story, name))
            count += len(story.questions)
    return count


def _lines(story: Story, name: str) -> Iterator[str]:
    waiting = deque(sorted(story.questions, key=lambda question: question.after))
    identifiers: list[int] = []  # of the sentences told so far
    identifier = 0
    for sentence in (*story.sentences, None):
        while waiting and waiting[0].after <= len(identifiers):
            identifier += 1
            yield f"{identifier} {_question_text(waiting.popleft(), identifiers, name)}\n"
        if sentence is not None:
            identifier += 1
            yield f"{identifier} {_holdable(sentence, name, statement=True)}\n"
            identifiers.append(identifier)
    if waiting:
        raise DataError(
            name, None, f"a question after at most {len(story.sentences)} sentences", f"one after {waiting[0].after}"
        )


def _question_text(question: Question, identifiers: list[int], name: str) -> str:
    if not identifiers:
        raise DataError(name, None, "a sentence before the first question", shown(question.text))
    if question.answer is None:
        raise DataError(name, None, f"an answer to {question.text}", "none")
    for index in question.support:
        if not 0 <= index < len(identifiers):
            raise SupportError(name, None, "support by sentences told before the question", f"index {index}")
    support = " ".join(str(identifiers[index]) for index in question.support)
    return f"{_holdable(question.text, name)}\t{_holdable(question.answer, name)}\t{support}"


def _holdable(text: str, name: str, *, statement: bool = False) -> str:
    """The text if a reader would give it back as it is."""
    if (statement and _asks(text)) or not text or text != text.strip() or any(letter in text for letter in "\t\r\n"):
        raise DataError(name, None, f"text that bAbI files can hold: {_HOLDABLE}", shown(text))
    return text


def find_task_file(directory: str | Path, task: int, split: str) -> Path:
    """The file of a task in a folder of released data, in either naming style.

    Raises:
        DataError: where no file or more than one fits; it says what the folder has.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise DataError(directory, None, "a folder with bAbI files", "no such folder")
    files = {path: match for path in sorted(directory.iterdir()) if (match := _TASK_FILE.fullmatch(path.name))}
    fitting = [path for path, match in files.items() if int(match["task"]) == task and match["split"] == split]
    if len(fitting) == 1:
        return fitting[0]
    expected = f"one file of task {task}, split {split} (qa{task}_{split}.txt or qa{task}_NAME_{split}.txt)"
    found = " and ".join(path.name for path in fitting) or _contents(files.values())
    raise DataError(directory, None, expected, found)


def _contents(files: Iterable[re.Match[str]]) -> str:
    by_split: dict[str, set[int]] = {}
    for match in files:
        by_split.setdefault(match["split"], set()).add(int(match["task"]))
    splits = (f"{split} of task {', '.join(map(str, sorted(tasks)))}" for split, tasks in sorted(by_split.items()))
    return "; ".join(splits) or "no bAbI file"
