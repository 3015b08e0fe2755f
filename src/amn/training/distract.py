"""Sentences of other texts between those of training stories, so that a memory learns to pass over them.

A gate turns nearly all such sentences away. What is worth learning from are the few that it lets in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from amn.data.examples import Example, Words
from amn.data.sentences import split_prose
from amn.data.story import words
from amn.errors import DataError

_MOST = 4  # in one story
_LONGEST = 14  # words of such a sentence; longer ones are left out, for every sentence has room for the longest


def distracted(asked: Sequence[Example], path: str, share: float, seed: int) -> list[Example]:
    """The examples, a share of them with a few sentences of other texts at random places.

    Args:
        asked: the examples.
        path: a text, such as a file of one sentence a line, or a folder of texts.
        share: of the examples.
        seed: of what is drawn.
    """
    rng, others = Random(seed), _sentences(path)
    return [_with_some(one, others, rng) if rng.random() < share else one for one in asked]


def _with_some(one: Example, others: Sequence[Words], rng: Random) -> Example:
    told = list(one.sentences)
    for _ in range(rng.randint(1, _MOST)):
        told.insert(rng.randint(0, len(told)), rng.choice(others))
    return replace(one, sentences=tuple(told))


@cache
def _sentences(path: str) -> tuple[Words, ...]:
    found = tuple(spoken for line in _lines(Path(path)) if 0 < len(spoken := words(line)) <= _LONGEST)
    if not found:
        raise DataError(path, None, f"sentences of at most {_LONGEST} words", "none")
    return found


def _lines(path: Path) -> Iterator[str]:
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        try:
            yield from split_prose([file.read_text(encoding="utf-8")])
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(str(file), None, "a text file", str(error)) from error
