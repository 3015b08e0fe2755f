"""Errors for users: each says what is wrong, where, what was expected, what was found, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class AMNError(ValueError):
    """An error that a user can fix, such as bad data, a bad setting or a missing file."""


class DataError(AMNError):
    """A data file, or a line of one, that cannot be read.

    Args:
        source: the file, or a name for the stream.
        line: its number, from 1, or None for the whole file.
        expected: what was expected there.
        found: what was found instead.
    """

    def __init__(self, source: str | Path, line: int | None, expected: str, found: str) -> None:
        self.source, self.line, self.expected, self.found = str(source), line, expected, found
        place = str(source) if line is None else f"{source}, line {line}"
        super().__init__(f"{place}: expected {expected}, found {found}")


class SupportError(DataError):
    """A supporting fact that does not refer to a sentence before its question."""


class ColumnError(DataError):
    """A row in which a column that is needed is not found."""


class ConfigError(AMNError):
    """A setting that is unknown or out of range."""


class CheckpointError(AMNError):
    """A run or model directory that cannot be read or written."""


class MissingExtraError(AMNError):
    """An optional dependency that is not installed; the message has the command that installs it."""

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs an optional dependency: pip install 'adaptive-memory-networks[{extra}]'")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the most similar known names, or all of them."""
    names = sorted(known)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known: {', '.join(names)}"
