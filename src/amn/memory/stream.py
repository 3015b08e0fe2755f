"""Texts of any length from files, pipes and generators, one block of sentences at a time, in bounded memory."""

import signal
import threading
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from time import perf_counter
from typing import IO, Any

from amn.data.examples import Words
from amn.data.sentences import BLOCK, in_parts, split_prose
from amn.data.story import words_of
from amn.errors import AMNError

BLOCK_SENTENCES = 1024  # that pass the gate together
PART_TELLINGS = 1024  # sentences told to memories before Ctrl-C is handled

Source = str | Path | IO[str] | IO[bytes] | Iterable[str]
Told = tuple[str, Words]  # a sentence, as text and as words


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of reading a stream.

    Args:
        sentences: how many were read.
        let_in: how many of them the gate let in for any question.
        tokens: how many words they had.
        seconds: how long it took.
        share: how much of the file was read; None if its length is unknown.
        finished: whether the end was reached.
        skipped: how many sentences were skipped because they had been read before.
    """

    sentences: int = 0
    let_in: int = 0
    tokens: int = 0
    seconds: float = 0.0
    share: float | None = None
    finished: bool = False
    skipped: int = 0

    @property
    def tokens_per_second(self) -> float:
        """The speed."""
        return self.tokens / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        return (
            f"{self.let_in:,} of {self.sentences:,} sentences let in; "
            f"{self.tokens:,} tokens, {self.tokens_per_second:,.0f} a second"
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self) | {"tokens_per_second": self.tokens_per_second}


class Stream:
    """The sentences of a text that may be larger than memory.

    Args:
        source: the path of a UTF-8 file; an open file; a list of sentences, which are taken as they are; or any other
            iterable, of pieces of text that may be cut anywhere.
        skip: how many sentences to skip.
    """

    def __init__(self, source: Source, skip: int = 0) -> None:
        self._skip, self._started = skip, perf_counter()
        self._progress = Progress(skipped=skip)
        if isinstance(source, str | Path):
            self._texts = split_prose(self._chunks(Path(source)))
        elif isinstance(source, list | tuple):
            self._texts = chain.from_iterable(map(in_parts, source))
        elif hasattr(source, "read"):
            self._texts = split_prose(_pieces(source))
        else:
            self._texts = split_prose(source)

    @property
    def position(self) -> int:
        """The number of sentences read, including those skipped."""
        return self._skip + self._progress.sentences

    def blocks(self) -> Iterator[list[Told]]:
        """The sentences, some thousands at a time."""
        passed = sum(1 for _ in islice(self._texts, self._skip))
        if passed < self._skip:
            raise AMNError(f"stream: {self._skip} sentences were read before, but it now has only {passed}")
        while texts := list(islice(self._texts, BLOCK_SENTENCES)):
            yield [told for told in zip(texts, words_of(texts), strict=True) if told[1]]

    def count(self, told: Sequence[Told], let_in: int) -> None:
        """Counts sentences as read."""
        done = self._progress
        self._progress = replace(
            done,
            sentences=done.sentences + len(told),
            tokens=done.tokens + sum(len(spoken) for _, spoken in told),
            let_in=done.let_in + let_in,
        )

    def progress(self, finished: bool = False) -> Progress:
        """The progress so far."""
        return replace(self._progress, seconds=perf_counter() - self._started, finished=finished)

    def _chunks(self, path: Path) -> Iterator[str]:
        """The text of a file; notes which share of it was read, unless it has no length, like a pipe."""
        if not path.exists():
            raise AMNError(f"stream: no file {str(path)!r}; `tell` takes text, `read` the name of a file")
        size = path.stat().st_size
        with path.open("rb") as file:
            for chunk in _pieces(file):
                self._progress = replace(self._progress, share=min(1.0, file.tell() / size) if size else None)
                yield chunk


def _pieces(file: Any) -> Iterator[str]:
    """The pieces of an open file of text or bytes."""
    first = file.read(BLOCK)
    pieces = chain([first], iter(lambda: file.read(BLOCK), first[:0]))
    return _decoded(pieces, getattr(file, "name", "stream")) if isinstance(first, bytes) else pieces


def _decoded(pieces: Iterable[bytes], name: str) -> Iterator[str]:
    decoder, read = getincrementaldecoder("utf-8-sig")(), 0
    for piece in chain(pieces, [b""]):
        try:
            yield decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            place = read + len(piece) - len(error.object) + error.start
            raise AMNError(f"story: {name} is not text in UTF-8 ({error.reason} at byte {place})") from error
        read += len(piece)


def parts(sentences: int, tellings: int) -> Iterator[tuple[int, int]]:
    """A block in parts small enough that Ctrl-C has to wait only briefly for one."""
    size = max(1, sentences * PART_TELLINGS // max(tellings, PART_TELLINGS))
    for start in range(0, sentences, size):
        yield start, min(start + size, sentences)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delays Ctrl-C until the end of the block."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not ours or threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if asked:
        raise KeyboardInterrupt
