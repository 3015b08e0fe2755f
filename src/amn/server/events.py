"""Server-sent events: which answers each sentence of a memory changed. A stream can be resumed by its last id."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from amn.answers import Answer
from amn.memory.changes import AnswerChange, Follower
from amn.server.batching import BusyError
from amn.server.service import Service
from amn.server.slices import following
from amn.server.story_parser import FieldError
from amn.store.memories import MissingMemoryError, Record, StoreError

POLL_SECONDS = 0.25  # how often the store is polled for sentences from other servers
READ_SENTENCES = 64  # that a stream reads at once


class Events:
    """The event streams of a server."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._open = 0
        self._stopping = False

    def stop(self) -> None:
        """Ends all streams soon; their clients may resume them at another server, or here after a restart."""
        self._stopping = True

    async def open(self, record: Record, since: int | None, every: bool = False) -> AsyncIterator[bytes]:
        """Opens a stream about a memory.

        Args:
            record: the memory.
            since: the number of sentences to start after; None for what comes from now on, after the answers now.
            every: whether to report sentences that change no answer too.
        """
        if since is not None and since > record.sentences:
            raise FieldError("Last-Event-ID", f"the memory has {record.sentences} sentences, not {since}")
        if self._open >= self._service.limits.streams or self._stopping:
            raise BusyError
        memory = await self._service.follower(record, record.sentences if since is None else since)
        answers = await self._service.inference.run_steps(memory.asking(), admitted=True) if memory.sentences else []
        return self._stream(record, Follower(memory, answers), answers if since is None else None, every)

    async def _stream(
        self, record: Record, follower: Follower, answers: list[Answer] | None, every: bool
    ) -> AsyncIterator[bytes]:
        self._open += 1
        try:
            if answers is not None:
                yield event("answers", follower.position, {"answers": [answer.to_dict() for answer in answers]})
            with suppress(MissingMemoryError):
                async for part in self._follow(record, follower, every):
                    yield part
        finally:
            self._open -= 1

    async def _follow(self, record: Record, follower: Follower, every: bool) -> AsyncIterator[bytes]:
        memories, beat = self._service.memories, time.monotonic()
        while not self._stopping:
            change = memories.next_change(record.id)
            with suppress(StoreError):  # the stream outlives a store that is away for a while
                record = await memories.get(record.id, record.owner)
            last = min(record.sentences, follower.position + READ_SENTENCES)
            if follower.position < last:
                part = await memories.run(memories.store.sentences, record.id, follower.position, last)
                told = enumerate(part, follower.position)
                changed = await self._service.inference.run_steps(following(follower, part), admitted=True)
                for (number, text), changes in zip(told, changed, strict=True):
                    if changes or every:
                        yield event("change" if changes else "sentence", number + 1, described(number, text, changes))
            elif time.monotonic() - beat > self._service.limits.beat_seconds:
                beat = time.monotonic()
                yield b": alive\n\n"
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(change.wait(), POLL_SECONDS)


def described(number: int, text: str, changes: list[AnswerChange]) -> dict[str, Any]:
    """What a sentence changed, as JSON."""
    answers = [{"question": c.question, "before": c.before, "answer": c.answer.to_dict()} for c in changes]
    return {"sentence": number, "text": text, "changes": answers}


def event(name: str, id: int, data: dict[str, Any]) -> bytes:
    """An event of a stream; its id is the number of sentences so far."""
    return f"id: {id}\nevent: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
