"""Standing questions over HTTP: a stream that says which answers each sentence changed, and where to go on later."""

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
from amn.server.work import FieldError
from amn.store.memories import MissingMemoryError, Record, StoreError

POLL_SECONDS = 0.25  # how often the store is asked what other servers told a memory
READ_SENTENCES = 64  # that a stream fetches at once


class Events:
    """The streams of a server, which follow what its service is told."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._open = 0
        self._stopping = False

    def stop(self) -> None:
        """Ends all streams soon; their clients go on with another server, or with this one when it is back."""
        self._stopping = True

    async def open(self, record: Record, since: int | None, every: bool = False) -> AsyncIterator[bytes]:
        """A stream about a memory, from after `since` sentences; with `every`, also of sentences that change no answer.

        Without `since` it has what is told from now on, after the answers now.
        """
        if since is not None and since > record.sentences:
            raise FieldError("Last-Event-ID", f"the memory was told {record.sentences} sentences, not {since}")
        if self._open >= self._service.limits.streams or self._stopping:
            raise BusyError
        memory = await self._service.follower(record, record.sentences if since is None else since)
        answers = await self._service.inference.run_steps(memory.asking(), further=True) if memory.sentences else []
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
            news = memories.news.of(record.id)
            with suppress(StoreError):  # a store that is away for a while ends no stream
                record = await memories.get(record.id, record.owner)
            last = min(record.sentences, follower.position + READ_SENTENCES)
            if follower.position < last:
                part = await memories.run(memories.store.sentences, record.id, follower.position, last)
                told = enumerate(part, follower.position)
                changed = await self._service.inference.run_steps(following(follower, part), further=True)
                for (number, text), changes in zip(told, changed, strict=True):
                    if changes or every:
                        yield event("change" if changes else "sentence", number + 1, described(number, text, changes))
            elif time.monotonic() - beat > self._service.limits.beat_seconds:
                beat = time.monotonic()
                yield b": alive\n\n"
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), POLL_SECONDS)


def described(number: int, text: str, changes: list[AnswerChange]) -> dict[str, Any]:
    """What one sentence changed, as JSON."""
    answers = [{"question": c.question, "before": c.before, "answer": c.answer.to_dict()} for c in changes]
    return {"sentence": number, "text": text, "changes": answers}


def event(name: str, id: int, data: dict[str, Any]) -> bytes:
    """An event of a stream; its id is how many sentences had been told."""
    return f"id: {id}\nevent: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
