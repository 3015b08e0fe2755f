"""A live memory that a store keeps: it is told through the store, and any process that opens it goes on with it."""

import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, overload

from amn.answers import Answer, Bank, SentenceTrace
from amn.data.text import Text, read_story
from amn.errors import AMNError, CheckpointError
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.memory.changes import AnswerChange, follow
from amn.memory.stream import Progress, Source, Stream
from amn.store.memories import MemoryStore, MissingMemoryError, Record, open_store

SNAPSHOT_SENTENCES = 256  # a snapshot is taken when a memory was told so many since the last
SNAPSHOT_TRACES = 2000  # of what sentences did, in a snapshot: they take most of its room and time
READ_SENTENCES = 1024  # that are fetched from the store at once
POLL_SECONDS = 0.25  # how often a store is looked at for what others told
NO_LIMIT = 2**53  # for whoever keeps memories alone
_ID_BYTES = 16  # long enough that nobody guesses it


def new_id() -> str:
    """A name for a memory."""
    return secrets.token_urlsafe(_ID_BYTES)


def revived(trained: TrainedModel, record: Record, snapshot: bytes | None) -> LiveMemory:
    """A memory as of a snapshot, or an empty one; in both cases what the store holds besides is to be told.

    A snapshot of other weights, or one that is damaged, is passed over: the sentences are all that is needed.
    """
    if snapshot is not None:
        with suppress(CheckpointError):
            memory = LiveMemory.from_bytes(snapshot, trained)
            if tuple(memory.questions) == record.questions and len(memory.sentences) <= record.sentences:
                return memory
    return LiveMemory(trained, list(record.questions))


def is_snapshot_due(memory: LiveMemory, before: int) -> bool:
    """Whether it is time for a snapshot of a memory that had `before` sentences a moment ago."""
    return len(memory.sentences) // SNAPSHOT_SENTENCES > before // SNAPSHOT_SENTENCES


class StoredMemory:
    """A live memory in a store, with the methods of `LiveMemory`. It is not safe to use from several threads."""

    def __init__(self, trained: TrainedModel, store: MemoryStore, record: Record) -> None:
        self._trained, self._store, self._record = trained, store, record
        self._memory = revived(trained, record, store.snapshot(record.id))
        self._catch_up()

    @classmethod
    def open(
        cls, trained: TrainedModel, questions: Text, store: str | MemoryStore, id: str | None = None
    ) -> "StoredMemory":
        """A memory in a store, which may be a URL: the one of that name, or a new one.

        One that is there already must have been built for the same questions.
        """
        kept = open_store(store) if isinstance(store, str) else store
        found = kept.find(id, time.time()) if id is not None else None
        if found is None:
            asked = LiveMemory(trained, questions).questions
            found = Record(id=id or new_id(), owner="", model=trained.architecture, questions=tuple(asked))
            kept.create(found, most=NO_LIMIT, now=time.time())
        elif list(found.questions) != LiveMemory(trained, questions).questions:
            raise AMNError(f"the memory {id!r} was built for other questions: {', '.join(found.questions)}")
        return cls(trained, kept, found)

    @property
    def id(self) -> str:
        """Its name in the store."""
        return self._record.id

    @property
    def questions(self) -> list[str]:
        """What it was built for."""
        return self._memory.questions

    @property
    def sentences(self) -> list[str]:
        """What it was told, by whomever."""
        self._catch_up()
        return self._memory.sentences

    def tell(self, text: Text) -> list[SentenceTrace]:
        """Reads further sentences and returns what each of them did; when it returns, the store will keep them."""
        told = [sentence for sentence, _ in read_story(text)]
        first = self._store.append(self.id, told, most=NO_LIMIT)
        return [trace for trace in self._catch_up() if first <= trace.sentence < first + len(told)]

    def read(self, source: Source, *, progress: Callable[[Progress], object] | None = None) -> Progress:
        """Reads a stream through the store, which keeps every sentence of it, some hundreds at a time.

        What was read of it is in the store, however the reading ends. Reading the same file again goes on there: what
        the memory was told last and the file begins with is passed over.

        Args:
            source: as `LiveMemory.read` takes it.
            progress: is called with how far it was read, and will be kept.
        """
        stream = Stream(source, self._told_of(source) if isinstance(source, str | Path) else 0)
        for block in stream.blocks():
            before = self._memory.let_in
            self._store.append(self.id, [text for text, _ in block], most=NO_LIMIT)
            self._catch_up()
            stream.count(block, self._memory.let_in - before)
            if progress is not None:
                progress(stream.progress())
        return stream.progress(finished=True)

    def _told_of(self, path: str | Path) -> int:
        """How many of the first sentences of a file the memory was told last."""
        told = self.sentences
        texts = (text for block in Stream(path).blocks() for text, _ in block)
        return _overlap(told, list(islice(texts, len(told))))

    def _catch_up(self) -> list[SentenceTrace]:
        """Tells the memory what the store holds besides."""
        found = self._store.find(self.id, time.time())
        if found is None:
            raise MissingMemoryError
        traces: list[SentenceTrace] = []
        while (first := len(self._memory.sentences)) < found.sentences:
            traces += self._memory.tell(
                self._store.sentences(self.id, first, min(first + READ_SENTENCES, found.sentences))
            )
            if is_snapshot_due(self._memory, first):
                packed = self._memory.to_bytes(traces=SNAPSHOT_TRACES)
                self._store.save_snapshot(self.id, len(self._memory.sentences), packed)
        return traces

    @overload
    def ask(self, question: str, **settings: Any) -> Answer: ...

    @overload
    def ask(self, question: None = ..., **settings: Any) -> list[Answer]: ...

    def ask(self, question: str | None = None, **settings: Any) -> Answer | list[Answer]:
        """As `LiveMemory.ask`, from all that it was told so far, by whomever."""
        self._catch_up()
        return self._memory.ask(question, **settings)

    def __repr__(self) -> str:
        return f"StoredMemory(id={self.id!r}, {repr(self._memory).partition('(')[2]}"

    def _repr_html_(self) -> str:
        self._catch_up()
        return self._memory._repr_html_()

    def snapshot(self, question: int = 0) -> list[Bank]:
        """As `LiveMemory.snapshot`."""
        self._catch_up()
        return self._memory.snapshot(question)

    def changes(self, since: int | None = None) -> AsyncIterator[AnswerChange]:
        """As `LiveMemory.changes`; what others tell the memory counts as well."""
        return follow(self, LiveMemory(self._trained, self.questions), since, POLL_SECONDS)


def _overlap(told: Sequence[str], read: Sequence[str]) -> int:
    """How many sentences at the end of some are those at the beginning of others, at most (Knuth, Morris and Pratt)."""
    both: list[str | None] = [*read, None, *told]
    longest = [0] * len(both)  # beginning that also ends at each place
    for place in range(1, len(both)):
        size = longest[place - 1]
        while size and both[size] != both[place]:
            size = longest[size - 1]
        longest[place] = size + (both[size] == both[place])
    return longest[-1]
