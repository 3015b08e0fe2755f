"""Stories and questions as text: what readers give, what writers take, and what the generator makes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from amn.data.facts import Facts

# Letters and digits, and what may follow a letter: combining accents, and the vowel signs of Indian scripts.
_SIGNS = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff"
_LETTERS = f"(?:[^\\W_]|[{_SIGNS}])+"
_POINTS = r"(?<=\d)[.:](?=\d)"  # of a number: 3.5, 08:30, 24.12.2025
POINT = re.compile(_POINTS)
# K of "K's", where K is a name; else a word with what it holds together
WORD = re.compile(f"[A-HJ-Z](?=['’]s\\b)|{_LETTERS}(?:(?:['’-]|{_POINTS}){_LETTERS})*")
_IN_WORDS = "'’-"  # which belong to a word where letters stand on both sides
# A contracted verb: "Mary's in the garden" and "they're", but neither "Mary's garden" nor "where's", which models know.
# The group that matches is named like the verb.
_CONTRACTED = re.compile(
    r"""(?<=[^\W_]) '
        (?: s (?<!where's) (?<!what's) (?<!who's) (?<!how's)
            (?= (?P<is> [ ]+ (?:in|inside|at|on|under|behind|near|with|here|there|not|now|no|either|still|a|an|the
                              |going|carrying|holding|waiting|sitting|standing) \b)
              | (?P<has> [ ]+ (?:been|gone|got|picked|taken|moved|given|brought|dropped|just|already) \b))
        | (?P<are> re \b)
        | (?P<have> ve \b))""",
    re.IGNORECASE | re.VERBOSE,
)
# The same of "hasn't", but not of "isn't" and the like, which models know.
_NEGATED = re.compile(r"n't\b(?<!\b[Ii]sn't)(?<!\b[Dd]idn't)(?<!\b[Dd]oesn't)(?<!\b[Cc]an't)(?<!\b[Ww]on't)")
_COMMA = re.compile("[,;]")
_LETTER_NAMES = frozenset("ABCDEFGHJKLMNOPQRSTUVWXYZ")  # without I, which is no name


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question asked after some of a story's sentences."""

    text: str  # the question as written, with its question mark ("Where is Mary?")
    # The label, one string; several words are joined by commas ("apple,football"). None when unknown.
    answer: str | None = None
    after: int  # how many sentences of the story were told before it; it sees these and no others
    # 0-based indices of the sentences that the answer rests on, in the order given by the data.
    support: tuple[int, ...] = ()
    kind: str = field(default="", compare=False, repr=False)  # what it asks for, where the data names that


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Sentences in the order told, and the questions about them in the order asked."""

    sentences: tuple[str, ...]  # as written
    questions: tuple[Question, ...] = ()  # about them
    # What holds after each sentence, where the generator can say; else none. No file holds them, so stories that differ
    # in them alone are equal.
    facts: tuple[Facts, ...] = field(default=(), compare=False, repr=False)


def straight(text: str) -> str:
    """A text with straight apostrophes in place of typographic ones."""
    return text.replace("’", "'")


def _spelled_out(text: str) -> str:
    """A text with straight apostrophes, and with contracted verbs in full."""
    text = straight(text)
    return _NEGATED.sub(" not", _CONTRACTED.sub(lambda verb: f" {verb.lastgroup}", text)) if "'" in text else text


def words(text: str) -> tuple[str, ...]:
    """The lower-cased words of a sentence or question, without punctuation.

    A capital letter that stands alone keeps its case: agent A is not the article a. An A that begins the text is the
    article, unless another such letter stands there: "A minute later", but "A is left of B". "K's" is K and s, and
    "Mary's in" is Mary is in, and "hasn't" is has not. Times, decimals and dates are one word: 08:30, 3.5, 24.12.2025.
    """
    found = WORD.findall(_spelled_out(text))
    letters = [word for word in found if word in _LETTER_NAMES]
    if found[:1] == ["A"] and len(letters) == 1:
        letters = []
    return _punctuated([word if word in letters else word.lower() for word in found], text)


class Punctuated(tuple[str, ...]):
    """The words of a text with commas or semicolons, for those who need to know where these stand."""

    text: str

    @property
    def after_commas(self) -> frozenset[int]:
        """The places of the words after them; empty where one stands in a word, as in 1,000."""
        *places, count = accumulate(len(words(part)) for part in _COMMA.split(self.text))
        return frozenset(places if count == len(self) else ())


def _punctuated(found: Sequence[str], text: str) -> tuple[str, ...]:
    if "," not in text and ";" not in text:
        return tuple(found)
    row = Punctuated(found)
    row.text = text
    return row


class _Letters(dict[int, str]):
    """A translation table that keeps the characters of words and turns others into spaces; filled on demand."""

    _letter = re.compile(f"[^\\W_]|[{_SIGNS}{_IN_WORDS}]")

    def __missing__(self, code: int) -> str:
        found = self[code] = chr(code) if self._letter.match(chr(code)) else " "
        return found


_BETWEEN = "\n"  # texts that are read together
_KEPT = _Letters({ord(_BETWEEN): _BETWEEN})
# Both begin with one of a set of characters, and look back from behind it: so they are found fast.
_AT_EDGES = re.compile(f"[{_IN_WORDS}](?:(?![^ \n{_IN_WORDS}])|(?<![^ \n{_IN_WORDS}][{_IN_WORDS}]))")
_RARE = re.compile(rf"[A-HJ-Z](?<![^\W_].)(?![^\W_])|{_POINTS}")  # what needs a closer look: lone letters, numbers


def words_of(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The words of each of many texts, as `words` gives them, several times as fast."""
    joined = _BETWEEN.join(texts)
    if joined.count(_BETWEEN) >= len(texts):
        return [words(text) for text in texts]
    rows = _AT_EDGES.sub(" ", _spelled_out(joined).translate(_KEPT)).lower().split(_BETWEEN)
    found = zip(texts, rows, strict=True)
    return [words(text) if _RARE.search(text) else _punctuated(row.split(), text) for text, row in found]


def same_answer(given: str, right: str) -> bool:
    """Whether two answers say the same words; the items of a list may stand in any order."""
    return _items(given) == _items(right)


def _items(answer: str) -> list[tuple[str, ...]]:
    return sorted(words(item) for item in answer.split(","))
