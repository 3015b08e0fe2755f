"""The errors that a user may meet: each says what, where, what was expected, what was found, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class AMNError(ValueError):
    """Anything a user can mend: bad data, a bad setting, a missing file; the command line prints it alone."""


class DataError(AMNError):
    """A line of a data file that cannot be read as what it should be.

    Args:
        source: the file, or a name for the stream, that holds the line.
        line: its 1-based number, or None where the whole file is meant.
        expected: what should have stood there.
        found: what stood there instead.
    """

    def __init__(self, source: str | Path, line: int | None, expected: str, found: str) -> None:
        self.source, self.line, self.expected, self.found = str(source), line, expected, found
        place = str(source) if line is None else f"{source}, line {line}"
        super().__init__(f"{place}: expected {expected}, found {found}")


class SupportError(DataError):
    """A supporting fact that points to no sentence told before its question."""


class ConfigError(AMNError):
    """A setting that is unknown or out of range."""


class CheckpointError(AMNError):
    """A run or model directory that cannot be read or written."""


class MissingExtraError(AMNError):
    """An optional dependency that is not installed; the message holds the install line."""

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs an optional part: pip install 'adaptive-memory-networks[{extra}]'")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence for an unknown name: the nearest known ones, or all of them."""
    names = sorted(known)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"known: {', '.join(names)}"
