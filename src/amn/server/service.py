"""What a server does, apart from HTTP: it holds the models, the memories, and the thread that runs them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from amn.answers import Answer, Bank, SentenceTrace
from amn.api import QA, Request, load
from amn.data.text import read_questions
from amn.errors import AMNError, did_you_mean
from amn.memory import LiveMemory
from amn.memory.stored import READ_SENTENCES, SNAPSHOT_TRACES, is_snapshot_due, revived
from amn.pretrained import shipped_models
from amn.server.batching import Inference, Steps
from amn.server.limits import Limits
from amn.server.memories import Memories, Resident
from amn.server.metrics import Metrics
from amn.server.slices import Answered, AskSettings, Slices, answers_over_time
from amn.server.work import NO_SENTENCE, FieldError, ReadingWork, looking
from amn.store.memories import MemoryStore, Record

T = TypeVar("T")

BATCHED_COST = 30_000  # a story that costs more to read is read in slices, alone: about seventy short sentences
MAX_HISTORY = 20_000  # answers in one reply


class UnknownModelError(AMNError):
    """A model that this server does not serve."""


class Service:
    """Everything behind the routes: models, of which one is the default, and the memories that some owners share."""

    def __init__(self, model: str, limits: Limits, store: MemoryStore, owners: int = 1) -> None:
        self.limits = limits
        self.metrics = Metrics()
        self.default = Path(model).name
        self.shipped = shipped_models()
        self.names = list(dict.fromkeys([self.default, *self.shipped]))
        self._loaded = {self.default: load(model)}
        self._loading = asyncio.Lock()
        self._store, self.memories = store, Memories(store, limits, owners)
        self.inference = Inference(limits, self.metrics.batch)
        self.slices = Slices(self.inference, limits)
        self._reviving = ThreadPoolExecutor(1, thread_name_prefix="amn-revive")

    def close(self) -> None:
        """Finishes what was begun."""
        self.inference.close()
        self._reviving.shutdown()
        self.memories.close()

    async def model(self, name: str | None) -> QA:
        """A model by name. Only what is shipped and the default can be named: a client must not choose a path."""
        name = name or self.default
        if name not in self.names:
            raise UnknownModelError(f"This server has no model {name!r}; {did_you_mean(name, self.names)}")
        if name not in self._loaded:
            async with self._loading:  # not in the thread of the models, which others need in the meantime
                if name not in self._loaded:
                    self._loaded[name] = await asyncio.to_thread(load, name)
        return self._loaded[name]

    async def looked_at(self, story: str | Sequence[str], questions: Sequence[str], field: str) -> ReadingWork:
        """The sentences of a story, where they keep within the bounds; those of a list are taken as they are."""
        work = ReadingWork(story, len(questions), self.limits, field)
        work.look()
        if not work.complete:
            await self.inference.run_steps(looking(work), further=True)
        if work.cost > self.limits.work:
            raise FieldError(field, "this would take too long to read; send fewer sentences or questions at once")
        return work

    async def answer(
        self, story: str | list[str], question: str | list[str], model: str | None, asked: AskSettings
    ) -> Answered:
        """Answers about a story.

        Short requests are batched. A long one, or one with a deadline or an explanation, is read in slices between
        which others have their turn; where the deadline comes before its end, the answers are from what was read.
        """
        questions = [text for text, _ in read_questions(question)]
        qa = await self.model(model)
        if asked.deadline is None:
            told = await self.looked_at(story, questions, "story")
        else:  # it is looked at as it is read: the deadline is what bounds it
            told = ReadingWork(story, len(questions), self.limits)
        if told.complete and not told:
            raise FieldError("story", NO_SENTENCE)
        if asked.deadline is None and not asked.explain and told.cost <= BATCHED_COST:
            request = Request(story=told.sentences, question=questions, banks=1 if asked.banks is None else asked.banks)
            reading = Answered(await self.inference.answer(qa, request, len(told)), len(told), len(told))
        else:
            self.inference.check_room()
            reading = await self.slices.answer(partial(qa.memory, questions), told, asked)
        self.metrics.answers(reading.answers)
        return reading

    async def history(
        self, story: str | list[str], questions: list[str], model: str | None
    ) -> tuple[list[str], list[list[Answer]]]:
        """The sentences of a story, and the answers to questions about it after each of them."""
        told = (await self.looked_at(story, questions, "story")).sentences
        if not told:
            raise FieldError("story", NO_SENTENCE)
        if len(told) * len(questions) > MAX_HISTORY:
            why = f"at most {MAX_HISTORY} answers fit in a reply; send fewer sentences or questions"
            raise FieldError("story", why)
        qa = await self.model(model)
        self.inference.check_room()
        return told, await self.inference.run_steps(answers_over_time(qa.memory(questions), told), further=True)

    async def open(self, owner: str, questions: list[str], model: str | None) -> Record:
        """A new memory."""
        qa = await self.model(model)
        memory = await self.inference.run(partial(qa.memory, questions))
        return await self.memories.create(owner, model or self.default, memory)

    async def tell(
        self, record: Record, sentences: Sequence[str], after: int | None, take: Callable[[SentenceTrace], T]
    ) -> AsyncIterator[list[T]]:
        """Tells a memory that had `after` sentences more of them, all in the store before the first of them is read.

        Whoever goes in the meantime has told all of them; what was not read is read when somebody asks. Whoever takes
        what comes slowly holds up nobody else who tells the memory. What each did goes through `take`, and is given
        some sentences at a time.
        """
        self.inference.check_room()
        found: asyncio.Queue[list[T] | Exception | None] = asyncio.Queue()
        telling = asyncio.create_task(self._tell(record, sentences, after, take, found))
        try:
            while (part := await found.get()) is not None:
                if isinstance(part, Exception):
                    raise part
                yield part
        finally:
            telling.cancel()

    async def _tell(
        self,
        record: Record,
        sentences: Sequence[str],
        after: int | None,
        take: Callable[[SentenceTrace], T],
        found: "asyncio.Queue[list[T] | Exception | None]",
    ) -> None:
        try:
            resident = await self._resident(record)
            async with resident.telling:
                first = await self.memories.append(record, sentences, after)
                self.metrics.sentences.inc(len(sentences))
                own = partial(_from, first, take)
                async for part in self._catch_up(record, resident, first + len(sentences), take=own):
                    found.put_nowait(part)
            self.memories.put(record.id, resident)
            found.put_nowait(None)
        except Exception as error:
            found.put_nowait(error)

    async def _resident(self, record: Record) -> Resident:
        """A memory in RAM, as far as it was told there."""
        found = self.memories.resident(record.id)
        if found is None:
            qa = await self.model(record.model)
            kept = await self.memories.run(self._store.snapshot, record.id)
            reviving = partial(revived, qa.trained, record, kept)  # not in the thread that others need meanwhile
            memory = await asyncio.get_running_loop().run_in_executor(self._reviving, reviving)
            found = self.memories.resident(record.id) or Resident(memory)
            self.memories.put(record.id, found)
        return found

    async def _catch_up(
        self,
        record: Record,
        resident: Resident,
        last: int,
        ends: float | None = None,
        take: Callable[[SentenceTrace], T | None] = lambda _: None,
    ) -> AsyncIterator[list[T]]:
        """Tells a memory in RAM what the store holds besides, up to a number; whoever calls it holds `telling`."""
        while (first := resident.position) < last:
            part = await self.memories.run(self._store.sentences, record.id, first, min(first + READ_SENTENCES, last))
            work = ReadingWork(part, len(record.questions))
            async for taken in self.slices.tell(resident.memory, first, work, ends, take):
                yield taken
            if is_snapshot_due(resident.memory, first):
                position, data = await self.inference.run_steps(_packed(resident.memory), further=True)
                await self.memories.run(self._store.save_snapshot, record.id, position, data)

    async def ask(self, record: Record, asked: AskSettings) -> Answered:
        """The answers of a memory to its questions, from what it was told so far."""
        self.inference.check_room()
        resident = await self._resident(record)
        if resident.position < record.sentences:
            await self.slices.before(asked, len(record.questions), self._caught_up(record, resident, asked.ends))
        reading = await self.slices.ask(resident.memory, asked, record.sentences)
        self.metrics.answers(reading.answers)
        return reading

    async def _caught_up(self, record: Record, resident: Resident, ends: float | None = None) -> None:
        if resident.position < record.sentences:
            async with resident.telling:
                async for _ in self._catch_up(record, resident, record.sentences, ends):
                    pass
            self.memories.put(record.id, resident)

    async def snapshot(self, record: Record) -> list[Bank]:
        """The banks of a memory."""
        resident = await self._resident(record)
        await self._caught_up(record, resident)
        return await self.inference.run(resident.memory.snapshot)

    async def follower(self, record: Record, position: int) -> LiveMemory:
        """A memory of its own for whoever follows one, told as many sentences."""
        qa = await self.model(record.model)
        memory = await self.inference.run(partial(LiveMemory, qa.trained, list(record.questions)))
        resident = Resident(memory)
        async for _ in self._catch_up(record, resident, position):
            pass
        return memory


def _packed(memory: LiveMemory) -> Steps[tuple[int, bytes]]:
    """A snapshot of a memory, and how many sentences it was told."""
    position, steps = len(memory.sentences), memory.packing(traces=SNAPSHOT_TRACES)
    return position, (yield from steps)


def _from(first: int, take: Callable[[SentenceTrace], T], trace: SentenceTrace) -> T | None:
    """What to make of a sentence from a number on."""
    return take(trace) if trace.sentence >= first else None
