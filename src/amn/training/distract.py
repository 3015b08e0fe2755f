"""Distractors: sentences of other texts between those of training stories, which a memory learns to ignore.

A gate turns nearly all such sentences away, so the few that it lets in are the ones to train with.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from amn.data.examples import Example, Words
from amn.data.noise import Books
from amn.data.story import words
from amn.errors import DataError

_MOST = 4  # in one story
_LONGEST = 14  # words of such a sentence; longer ones are left out, for every sentence has room for the longest


def text_files(path: str | Path) -> list[Path]:
    """The text files of a folder, at any depth, or the one that is given."""
    given = Path(path)
    found = [given] if given.is_file() else sorted(file for file in given.rglob("*.txt") if file.is_file())
    if not found:
        raise DataError(given, None, "a folder with texts (*.txt)", "none")
    return found


def text_sentences(files: Iterable[Path]) -> list[str]:
    """The sentences of texts."""
    return [sentence for file in files for sentence in Books.of_book(file)]


def distracted(asked: Sequence[Example], path: str, share: float, seed: int) -> list[Example]:
    """The examples, a share of them with a few sentences of a text or of a folder of texts at random places."""
    rng, others = Random(seed), _short_sentences(path)
    return [_with_some(one, others, rng) if rng.random() < share else one for one in asked]


def _with_some(one: Example, others: Sequence[Words], rng: Random) -> Example:
    told = list(one.sentences)
    for _ in range(rng.randint(1, _MOST)):
        told.insert(rng.randint(0, len(told)), rng.choice(others))
    return replace(one, sentences=tuple(told))


@cache
def _short_sentences(path: str) -> tuple[Words, ...]:
    spoken = map(words, text_sentences(text_files(path)))
    found = tuple(sentence for sentence in spoken if 0 < len(sentence) <= _LONGEST)
    if not found:
        raise DataError(path, None, f"sentences of at most {_LONGEST} words", "none")
    return found
