"""What the server does, apart from HTTP: it holds the models, the memories, and the thread that runs the models."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf
from pathlib import Path

from amn.answers import Answer, Bank
from amn.api import QA, Request, load
from amn.data.text import read_questions
from amn.errors import AMNError, did_you_mean
from amn.memory import LiveMemory
from amn.memory.stored import READ_SENTENCES, SNAPSHOT_TRACES, is_snapshot_due, revived
from amn.pretrained import shipped_models
from amn.server.batching import Inference
from amn.server.limits import Limits
from amn.server.memories import Memories, Resident
from amn.server.metrics import Metrics
from amn.server.slices import Answered, AskSettings, Slices, answers_over_time
from amn.server.story_parser import FieldError, StoryParser
from amn.store.memories import MemoryStore, Record
from amn.store.stepwise import Steps

Traces = list[bytes]  # what some sentences did, each as JSON

BATCHED_COST = 30_000  # of a story; a costlier one is read alone, in slices: about seventy short sentences
MAX_HISTORY = 20_000  # answers in one reply


class UnknownModelError(AMNError):
    """A model that this server does not serve."""


class Service:
    """Everything behind the routes: the models, one of which is the default, and the memories.

    Args:
        model: the default model: a shipped name, or a directory.
        limits: the limits of the server.
        store: where the memories are kept.
        owners: how many owners share the room for memories.
    """

    def __init__(self, model: str, limits: Limits, store: MemoryStore, owners: int = 1) -> None:
        self.limits = limits
        self.metrics = Metrics()
        self.default = Path(model).name
        self.shipped = shipped_models()
        self.names = list(dict.fromkeys([self.default, *self.shipped]))
        self._loaded = {self.default: load(model)}
        self._loading = asyncio.Lock()
        self._store, self.memories = store, Memories(store, limits, owners)
        self.inference = Inference(limits, self.metrics.batch_size.observe)
        self.slices = Slices(self.inference, limits)
        self._reviving = ThreadPoolExecutor(1, thread_name_prefix="amn-revive")

    def close(self) -> None:
        """Finishes the requests that were taken and ends the threads."""
        self.inference.close()
        self._reviving.shutdown()
        self.memories.close()

    async def model(self, name: str | None) -> QA:
        """A model by name: the default or a shipped one, for clients must not choose a path."""
        name = name or self.default
        if name not in self.names:
            raise UnknownModelError(f"This server has no model {name!r}; {did_you_mean(name, self.names)}")
        if name not in self._loaded:
            async with self._loading:  # not in the thread of the model, which other requests need in the meantime
                if name not in self._loaded:
                    self._loaded[name] = await asyncio.to_thread(load, name)
        return self._loaded[name]

    async def parse(self, story: str | Sequence[str], questions: Sequence[str], field: str) -> StoryParser:
        """The parsed sentences of a story, in a field of a request.

        Raises:
            FieldError: where it exceeds a limit.
        """
        parser = StoryParser(story, len(questions), self.limits, field)
        parser.parse_next()
        if not parser.complete:
            await self.inference.run_steps(parser.parse_rest(), admitted=True)
        if parser.cost > self.limits.work:
            raise FieldError(field, "this would take too long to read; send fewer sentences or questions at once")
        return parser

    async def answer(
        self, story: str | list[str], question: str | list[str], model: str | None, asked: AskSettings
    ) -> Answered:
        """Answers about a story.

        Short requests are batched. A long one, or one with a deadline or an explanation, is read in slices, between
        which other requests have their turn. Where the deadline comes first, the answers are from what was read.
        """
        questions = [text for text, _ in read_questions(question)]
        qa = await self.model(model)
        if asked.ends is None:
            parser = await self.parse(story, questions, "story")
        else:  # it is parsed while it is read: the deadline limits it
            parser = StoryParser(story, len(questions), self.limits)
        parser.check_not_empty()
        if asked.ends is None and not asked.explain and parser.cost <= BATCHED_COST:
            banks = 1 if asked.banks is None else asked.banks
            request = Request(story=parser.sentences, question=questions, banks=banks)
            reading = Answered(await self.inference.answer(qa, request, len(parser)), len(parser), len(parser))
        else:
            self.inference.check_room()
            reading = await self.slices.answer(partial(qa.memory, questions), parser, asked)
        self.metrics.count_answers(reading.answers)
        return reading

    async def history(
        self, story: str | list[str], questions: list[str], model: str | None
    ) -> tuple[list[str], list[list[Answer]]]:
        """The sentences of a story, and the answers to questions about it after each of them."""
        parser = await self.parse(story, questions, "story")
        parser.check_not_empty()
        told = parser.sentences
        if len(told) * len(questions) > MAX_HISTORY:
            why = f"at most {MAX_HISTORY} answers fit in a reply; send fewer sentences or questions"
            raise FieldError("story", why)
        qa = await self.model(model)
        self.inference.check_room()
        return told, await self.inference.run_steps(answers_over_time(qa.memory(questions), told), admitted=True)

    async def open(self, owner: str, questions: list[str], model: str | None) -> Record:
        """Opens a new memory."""
        qa = await self.model(model)
        memory = await self.inference.run(partial(qa.memory, questions))
        return await self.memories.create(owner, model or self.default, memory)

    async def tell(self, record: Record, sentences: Sequence[str], after: int | None) -> AsyncIterator[Traces]:
        """Tells a memory sentences and yields what they did, some at a time.

        All sentences are in the store before the first is read. A client that goes away has told all of them; those
        that were not read are read when the memory is next used. A client that reads its reply slowly does not keep
        others from telling the memory.

        Args:
            record: the memory.
            sentences: the sentences.
            after: how many sentences the memory must have before; None for any number.
        """
        self.inference.check_room()
        parts: asyncio.Queue[Traces | Exception | None] = asyncio.Queue()
        telling = asyncio.create_task(self._tell(record, sentences, after, parts))
        try:
            while (part := await parts.get()) is not None:
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
        parts: "asyncio.Queue[Traces | Exception | None]",
    ) -> None:
        """Puts what the sentences did into a queue, and at the end None or the error."""
        try:
            resident = await self._resident(record)
            async with resident.telling:
                first = await self.memories.append(record, sentences, after)
                self.metrics.sentences.inc(len(sentences))
                async for part in self._catch_up(record, resident, first + len(sentences), traced_from=first):
                    parts.put_nowait(part)
            self.memories.put(record.id, resident)
            parts.put_nowait(None)
        except Exception as error:
            parts.put_nowait(error)

    async def _resident(self, record: Record) -> Resident:
        """A memory in RAM, which may lag behind the store."""
        found = self.memories.resident(record.id)
        if found is None:
            qa = await self.model(record.model)
            kept = await self.memories.run(self._store.snapshot, record.id)
            reviving = partial(revived, qa.trained, record, kept)  # not in the thread that other requests need
            memory = await asyncio.get_running_loop().run_in_executor(self._reviving, reviving)
            found = self.memories.resident(record.id) or Resident(memory)
            self.memories.put(record.id, found)
        return found

    async def _catch_up(
        self, record: Record, resident: Resident, last: int, ends: float | None = None, traced_from: float = inf
    ) -> AsyncIterator[Traces]:
        """Tells a memory in RAM the sentences of the store up to number `last`; the caller holds `telling`."""
        while (first := resident.position) < last:
            part = await self.memories.run(self._store.sentences, record.id, first, min(first + READ_SENTENCES, last))
            story = StoryParser(part, len(record.questions))
            async for traces in self.slices.tell(resident.memory, first, story, ends, traced_from):
                yield traces
            if is_snapshot_due(resident.memory, first):
                position, data = await self.inference.run_steps(_packing(resident.memory), admitted=True)
                await self.memories.run(self._store.save_snapshot, record.id, position, data)

    async def ask(self, record: Record, asked: AskSettings) -> Answered:
        """The answers of a memory to its questions."""
        self.inference.check_room()
        resident = await self._resident(record)
        if resident.position < record.sentences:
            await self.slices.before(asked, len(record.questions), self._caught_up(record, resident, asked.ends))
        reading = await self.slices.ask(resident.memory, asked, record.sentences)
        self.metrics.count_answers(reading.answers)
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
        """A separate memory with the first sentences of one, for a client that follows it."""
        qa = await self.model(record.model)
        memory = await self.inference.run(partial(LiveMemory, qa.trained, list(record.questions)))
        resident = Resident(memory)
        async for _ in self._catch_up(record, resident, position):
            pass
        return memory


def _packing(memory: LiveMemory) -> Steps[tuple[int, bytes]]:
    """The number of sentences of a memory, and its snapshot after these."""
    position, steps = len(memory.sentences), memory.packing(traces=SNAPSHOT_TRACES)
    return position, (yield from steps)
