"""Counts over a data file or a folder of them, and the lines that cannot be read."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from amn.data.files import BadLines, numbered_lines
from amn.data.rows import ANY, Columns
from amn.data.source import data_files, format_of, in_one, read_stories
from amn.data.story import Story, words
from amn.errors import DataError

_MAX_WORD_LINE_BYTES = 1 << 20
AnswerKind = Literal["word", "phrase", "list", "class"]


def answer_kind(answer: str, told: Collection[str]) -> AnswerKind:
    """What an answer is, given the words told before: one of them, several, a list, or else one class of many."""
    if "," in answer:
        return "list"
    spelled = words(answer)
    if not spelled or not all(word in told for word in spelled):
        return "class"
    return "word" if len(spelled) == 1 else "phrase"


@dataclass(slots=True, kw_only=True)
class DataReport:
    """Counts over all stories of the files checked."""

    path: str  # the file or folder that was checked
    files: int = 0  # how many files were read
    stories: int = 0  # how many stories they hold
    sentences: int = 0  # how many sentences the stories have together
    questions: int = 0  # how many questions the stories have together
    # Distinct lower-cased words of sentences and questions, with how often each occurs.
    vocabulary: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)  # distinct answers, with how often each is right
    # What the answers are (see `answer_kind`), with how many questions have such a one.
    answer_kinds: Counter[AnswerKind] = field(default_factory=Counter)
    longest_story: int = 0  # the most sentences of a story
    most_told: int = 0  # the most sentences before a question
    without_question: int = 0  # stories that nothing is asked about
    # Words that the given vocabulary lacks, with how often each occurs; None where none was given.
    unknown_words: dict[str, int] | None = None
    bad_lines: list[DataError] = field(default_factory=list)  # the first lines that could not be read
    num_bad_lines: int = 0  # how many could not be read
    lost_support: int = 0  # how many of them name a supporting fact that was not told before

    def add(self, story: Story) -> None:
        """Count one story."""
        self.stories += 1
        self.sentences += len(story.sentences)
        self.questions += len(story.questions)
        self.longest_story = max(self.longest_story, len(story.sentences))
        self.without_question += not story.questions
        told = [words(sentence) for sentence in story.sentences]
        for sentence in told:
            self.vocabulary.update(sentence)
        for question in story.questions:
            self.vocabulary.update(words(question.text))
            self.most_told = max(self.most_told, question.after)
            if question.answer is not None:
                self.answers[question.answer] += 1
                before = {word for sentence in told[: question.after] for word in sentence}
                self.answer_kinds[answer_kind(question.answer, before)] += 1

    def as_json(self) -> dict[str, object]:
        """The report as plain values: word counts become the number of distinct words."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        rows = [
            {"file": bad.source, "line": bad.line, "expected": bad.expected, "found": bad.found}
            for bad in self.bad_lines
        ]
        return values | {"vocabulary": len(self.vocabulary), "answers": len(self.answers), "bad_lines": rows}


_KIND_NAMES: dict[AnswerKind, str] = {
    "word": "words of the story",
    "phrase": "several words of the story",
    "list": "lists",
    "class": "other words, such as yes and no",
}


def seen_answers(report: DataReport) -> str:
    """What the answers are, the most frequent kind first: "words of the story 60 %, lists 40 %"."""
    total = max(1, sum(report.answer_kinds.values()))
    shares = (f"{_KIND_NAMES[kind]} {count / total:.0%}" for kind, count in report.answer_kinds.most_common())
    return ", ".join(shares) or "none is known"


def check_data(path: str | Path, *, vocabulary: str | Path | None = None, columns: Columns = ANY) -> DataReport:
    """Read a file, or every data file of a folder, to its end and report; bad lines are in the report.

    Rows about one story that follow one another count as one story, as in training.
    Words are compared with `vocabulary`, where it is given: a file of words, one or more a line, or data as in `path`.
    """
    report, known = DataReport(path=str(path)), None if vocabulary is None else known_words(vocabulary)
    bad = BadLines()
    for file in data_files(path):
        report.files += 1
        for story in in_one(read_stories(file, skip_bad=bad, columns=columns)):
            report.add(story)
    if known is not None:
        report.unknown_words = {word: n for word, n in report.vocabulary.most_common() if word not in known}
    report.num_bad_lines = bad.count
    report.bad_lines = bad.errors
    report.lost_support = bad.lost_support
    return report


def known_words(path: str | Path) -> Collection[str]:
    """The words of a word list or of data, lower-cased."""
    path = Path(path)
    lines = (line for _, line in numbered_lines(path, limit=_MAX_WORD_LINE_BYTES))
    if not path.is_dir() and format_of(path) == "babi" and not (first := next(lines, "")).startswith("1 "):
        return {word for line in (first, *lines) for word in words(line)}
    stories = (story for file in data_files(path) for story in read_stories(file))
    texts = ((*story.sentences, *(question.text for question in story.questions)) for story in stories)
    return {word for told in texts for text in told for word in words(text)}
