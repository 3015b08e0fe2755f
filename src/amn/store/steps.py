"""Work in steps: a generator that yields between them and returns what came of it."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def finished(steps: Generator[None, None, T]) -> T:
    """What steps come to, done one after another."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
