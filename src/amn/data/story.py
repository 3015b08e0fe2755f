"""Stories and questions as text: what readers give, what writers take, and what the generator makes."""

import re
from dataclasses import dataclass, field

from amn.data.facts import Facts

# Letters and digits, and what a letter may carry: accents of their own, and the vowel signs of Indian scripts.
_LETTERS = "(?:[^\\W_]|[\u0300-\u036f\u0900-\u0963\u0966-\u0dff])+"
# K of "K's", where K is a name; else a word with what it holds together
_WORD = re.compile(f"[A-Z](?=['’]s\\b)|{_LETTERS}(?:['’-]{_LETTERS})*")
_LETTER_NAMES = frozenset("ABCDEFGHJKLMNOPQRSTUVWXYZ")  # without I, who is not called so


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question asked after some of a story's sentences.

    Args:
        text: the question as written, with its question mark ("Where is Mary?").
        answer: the label, one string; several words are joined by commas ("apple,football"). None when unknown.
        after: how many sentences of the story were told before it; it sees these and no others.
        support: 0-based indices of the sentences that the answer rests on, in the order given by the data.
    """

    text: str
    answer: str | None = None
    after: int
    support: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Sentences in the order told, and the questions about them in the order asked.

    Args:
        sentences: as written.
        questions: about them.
        facts: what holds after each sentence, where the generator can say; else none. No file holds them, so stories
            that differ in them alone are equal.
    """

    sentences: tuple[str, ...]
    questions: tuple[Question, ...] = ()
    facts: tuple[Facts, ...] = field(default=(), compare=False, repr=False)


def words(text: str) -> tuple[str, ...]:
    """The lower-cased words of a sentence or question, without punctuation.

    A capital letter that stands alone keeps its case: agent A is not the article a. An A that begins the text is the
    article, unless another such letter stands there: "A minute later", but "A is left of B". "K's" is K and s.
    """
    found = _WORD.findall(text)
    letters = [word for word in found if word in _LETTER_NAMES]
    if found[:1] == ["A"] and len(letters) == 1:
        letters = []
    return tuple([word if word in letters else word.lower() for word in found])
