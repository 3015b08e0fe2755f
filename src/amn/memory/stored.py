"""Live memories in a store: sentences go through the store, and any process can open the memory and continue."""

import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Unpack, overload

from amn.answers import Answer, AskOptions, Bank, SentenceTrace
from amn.data.text import Text, read_story
from amn.errors import AMNError, CheckpointError
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.memory.changes import AnswerChange, follow
from amn.memory.stream import Progress, Source, Stream
from amn.store.memories import MemoryStore, MissingMemoryError, Record, open_store

SNAPSHOT_SENTENCES = 256  # between snapshots
SNAPSHOT_TRACES = 2000  # of sentences, in a snapshot: they take most of its space and time
READ_SENTENCES = 1024  # fetched from the store at once
POLL_SECONDS = 0.25  # between checks of the store for new sentences
NO_LIMIT = 2**53  # on memories and sentences, outside a server
_ID_BYTES = 16  # enough that an id cannot be guessed


def new_id() -> str:
    """A random id for a memory."""
    return secrets.token_urlsafe(_ID_BYTES)


def revived(trained: TrainedModel, record: Record, snapshot: bytes | None) -> LiveMemory:
    """A memory restored from a snapshot, or else an empty one, which has to be told the rest of the store.

    A snapshot of other weights, or a damaged one, is ignored: the sentences are all that is needed.
    """
    if snapshot is not None:
        with suppress(CheckpointError):
            memory = LiveMemory.from_bytes(snapshot, trained)
            if tuple(memory.questions) == record.questions and len(memory.sentences) <= record.sentences:
                return memory
    return LiveMemory(trained, list(record.questions))


def is_snapshot_due(memory: LiveMemory, before: int) -> bool:
    """Whether to take a snapshot of a memory that previously had `before` sentences."""
    return len(memory.sentences) // SNAPSHOT_SENTENCES > before // SNAPSHOT_SENTENCES


class StoredMemory:
    """A live memory in a store, with the methods of `LiveMemory`. It is not thread-safe."""

    def __init__(self, trained: TrainedModel, store: MemoryStore, record: Record) -> None:
        self._trained, self._store, self._record = trained, store, record
        self._memory = revived(trained, record, store.snapshot(record.id))
        self._catch_up()

    @classmethod
    def open(
        cls, trained: TrainedModel, questions: Text, store: str | MemoryStore, id: str | None = None
    ) -> "StoredMemory":
        """Opens a memory in a store, or creates it.

        Args:
            trained: the model.
            questions: what it is built for; an existing memory must have been built for the same.
            store: the store, or its URL.
            id: its name in the store; by default a new one.
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
        """All sentences it was told, by any process."""
        self._catch_up()
        return self._memory.sentences

    def tell(self, text: Text) -> list[SentenceTrace]:
        """Reads more sentences and returns what each of them did; the sentences are durable when it returns."""
        told = [sentence for sentence, _ in read_story(text)]
        first = self._store.append(self.id, told, most=NO_LIMIT)
        return [trace for trace in self._catch_up() if first <= trace.sentence < first + len(told)]

    def read(self, source: Source, *, progress: Callable[[Progress], object] | None = None) -> Progress:
        """Reads a stream through the store, which keeps every sentence, some hundreds at a time.

        What was read is in the store, however the reading ends. Reading the same file again continues there: sentences
        at its start that are the last of the memory are skipped.

        Args:
            source: as for `LiveMemory.read`.
            progress: is called with the progress that is in the store.
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
        """How many of the first sentences of a file are the last ones of the memory."""
        told = self.sentences
        texts = (text for block in Stream(path).blocks() for text, _ in block)
        return _overlap(told, list(islice(texts, len(told))))

    def _catch_up(self) -> list[SentenceTrace]:
        """Tells the memory the sentences of the store that it lacks."""
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
    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer: ...

    @overload
    def ask(self, question: None = ..., **options: Unpack[AskOptions]) -> list[Answer]: ...

    def ask(self, question: str | None = None, **options: Unpack[AskOptions]) -> Answer | list[Answer]:
        """Like `LiveMemory.ask`, from all sentences in the store."""
        self._catch_up()
        return self._memory.ask(question, **options)

    def __repr__(self) -> str:
        return f"StoredMemory(id={self.id!r}, {repr(self._memory).partition('(')[2]}"

    def _repr_html_(self) -> str:
        self._catch_up()
        return self._memory._repr_html_()

    def snapshot(self, question: int = 0) -> list[Bank]:
        """Like `LiveMemory.snapshot`."""
        self._catch_up()
        return self._memory.snapshot(question)

    def changes(self, since: int | None = None) -> AsyncIterator[AnswerChange]:
        """Like `LiveMemory.changes`, also for sentences from other processes."""
        return follow(self, LiveMemory(self._trained, self.questions), since, POLL_SECONDS)


def _overlap(told: Sequence[str], read: Sequence[str]) -> int:
    """The length of the longest suffix of one list that is a prefix of the other (Knuth, Morris and Pratt)."""
    both: list[str | None] = [*read, None, *told]
    longest = [0] * len(both)  # prefix that also ends at each place
    for place in range(1, len(both)):
        size = longest[place - 1]
        while size and both[size] != both[place]:
            size = longest[size - 1]
        longest[place] = size + (both[size] == both[place])
    return longest[-1]
