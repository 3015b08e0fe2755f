"""Text that users type, as words: stories are split into sentences, and what is empty or too long is an error."""

from collections.abc import Sequence

from amn.data.examples import Words
from amn.data.sentences import MAX_SENTENCE_WORDS, split_sentences
from amn.data.story import words, words_of
from amn.errors import AMNError

MAX_SENTENCES = 100_000  # in one story or one telling; a live memory may be told more, bit by bit
MAX_QUESTION_WORDS = 64

Text = str | Sequence[str]


def read_story(text: Text) -> list[tuple[str, Words]]:
    """The sentences of a story, each as written and as words; the sentences of a list are taken as they are.

    Raises:
        AMNError: where there are too many sentences, or one is too long.
    """
    told: list[tuple[str, Words]] = []
    for sentence in split_sentences(text) if isinstance(text, str) else _texts(text, "story"):
        if not (spoken := words(sentence)):
            continue
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
    listed = [questions] if isinstance(questions, str) else _texts(questions, "question")
    if not listed:
        raise AMNError("question: expected at least 1, found none")
    asked = [(question.strip(), spoken) for question, spoken in zip(listed, words_of(listed), strict=True)]
    for number, (_, spoken) in enumerate(asked, 1):
        if not 0 < len(spoken) <= MAX_QUESTION_WORDS:
            raise AMNError(
                f"question: expected 1 to {MAX_QUESTION_WORDS} words in question {number}, found {len(spoken)}"
            )
    return asked


def _texts(items: object, name: str) -> list[str]:
    if isinstance(items, Sequence) and all(isinstance(item, str) for item in items):
        return list(items)
    raise AMNError(f"{name}: expected text or a list of texts, found {type(items).__name__}")
