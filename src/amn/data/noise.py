"""Facts in a haystack, as BABILong has them: the sentences of a story, in order, between those of books."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from random import Random

from amn.data.sentences import BLOCK, split_prose
from amn.data.story import Question, Story, words
from amn.errors import ConfigError

MOST_SKIPPED = 2000  # sentences of the first book that are passed over, at most


class Books:
    """The sentences of a folder of books, text files in UTF-8, one book after the other, and over again."""

    def __init__(self, folder: Path) -> None:
        self.books = sorted(folder.rglob("*.txt"))
        if not self.books:
            raise ConfigError(f"--noise: expected a folder with books as .txt files, found none in {folder}")

    def start(self, rng: Random) -> tuple[int, int]:
        """A place to begin at: the number of a book, and how many of its sentences to pass over."""
        return rng.randrange(len(self.books)), rng.randrange(MOST_SKIPPED)

    def sentences(self, book: int, skip: int) -> Iterator[str]:
        """The sentences from some place on, without end."""
        for path in islice(cycle(self.books), book, None):
            yield from islice(self.of_book(path), skip, None)
            skip = 0

    @staticmethod
    def of_book(path: Path) -> Iterator[str]:
        """The sentences of one book."""
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            yield from split_prose(iter(lambda: file.read(BLOCK), ""))


def places_of(facts: Sequence[str], tokens: int, rng: Random) -> tuple[int, list[int]]:
    """How many tokens of noise make `tokens` with the facts, and after how many of these each fact comes."""
    left = max(0, tokens - sum(len(words(fact)) for fact in facts))
    return left, sorted(rng.randrange(left + 1) for _ in facts)


def mixed(facts: Sequence[str], noise: Iterable[str], tokens: int, rng: Random) -> Iterator[str]:
    """Facts in order, at random places between sentences of noise, until there are `tokens` in all.

    A token is a word. Where the facts alone are as many, there is no noise.
    """
    left, places = places_of(facts, tokens, rng)
    told = fact = 0
    for sentence in noise if left else ():
        while fact < len(facts) and places[fact] <= told:
            yield facts[fact]
            fact += 1
        if told >= left:
            break
        yield sentence
        told += len(words(sentence))
    yield from facts[fact:]


def with_noise(stories: Iterable[Story], books: Books, *, tokens: int, seed: int) -> Iterator[Story]:
    """Each question of some stories, alone after what was told before it, mixed with noise to `tokens` words in all.

    A story that has more is left as it is. Other seeds give other places and other parts of the books.
    """
    asked = ((story.sentences[: question.after], question) for story in stories for question in story.questions)
    for number, (facts, question) in enumerate(asked):
        rng = Random(f"noise/{seed}/{number}")
        told = tuple(mixed([*facts], books.sentences(*books.start(rng)), tokens, rng))
        yield Story(sentences=told, questions=(_moved(question, facts, told),))


def _moved(question: Question, facts: Sequence[str], told: Sequence[str]) -> Question:
    """The question after all that was told, with its supporting facts where they are now."""
    places, at = [], 0
    for fact in facts:
        at = told.index(fact, at) + 1
        places.append(at - 1)
    support = tuple(places[number] for number in question.support)
    return Question(text=question.text, answer=question.answer, after=len(told), support=support)
