"""What users type, as words: stories are split into sentences, and what is empty or too long is refused by name."""

import re
from collections.abc import Iterator, Sequence

from amn.data.examples import Words
from amn.data.story import words
from amn.errors import AMNError

MAX_SENTENCES = 100_000  # in one story or one telling; a live memory may be told more, bit by bit
MAX_SENTENCE_WORDS = 256  # each word of a sentence may read each other, so its cost grows with the square
MAX_QUESTIONS = 100  # that one memory is built for
MAX_QUESTION_WORDS = 64

Text = str | Sequence[str]

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


def split_sentences(text: Text) -> Iterator[str]:
    """The sentences of a text, or of a list of texts: cut after . ! ? and at line ends; what has no word is left out."""
    for part in (text,) if isinstance(text, str) else text:
        for match in _SENTENCE.finditer(_checked(part, "story")):
            if words(match[0]):
                yield match[0].strip()


def read_story(text: Text) -> list[tuple[str, Words]]:
    """The sentences of a story, each as written and as words.

    Raises:
        AMNError: where there are too many sentences, or one is too long.
    """
    told: list[tuple[str, Words]] = []
    for sentence in split_sentences(text):
        spoken = words(sentence)
        if len(spoken) > MAX_SENTENCE_WORDS:
            raise AMNError(f"story: sentence {len(told) + 1} has {len(spoken)} words, at most {MAX_SENTENCE_WORDS} fit")
        if len(told) == MAX_SENTENCES:
            raise AMNError(f"story: more than {MAX_SENTENCES} sentences; tell a live memory bit by bit instead")
        told.append((sentence, spoken))
    return told


def read_questions(questions: Text) -> list[tuple[str, Words]]:
    """Questions, each as written and as words; one text is one question.

    Raises:
        AMNError: where there is none or too many, or one is empty or too long.
    """
    listed = [questions] if isinstance(questions, str) else list(questions)
    if not 0 < len(listed) <= MAX_QUESTIONS:
        raise AMNError(f"question: expected 1 to {MAX_QUESTIONS} questions, found {len(listed)}")
    asked = [(question.strip(), words(_checked(question, "question"))) for question in listed]
    for number, (_, spoken) in enumerate(asked, 1):
        if not 0 < len(spoken) <= MAX_QUESTION_WORDS:
            raise AMNError(
                f"question: expected 1 to {MAX_QUESTION_WORDS} words in question {number}, found {len(spoken)}"
            )
    return asked


def _checked(text: object, name: str) -> str:
    if not isinstance(text, str):
        raise AMNError(f"{name}: expected text or a list of texts, found {type(text).__name__}")
    return text
