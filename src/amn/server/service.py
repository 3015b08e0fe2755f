"""What a server does, apart from HTTP: it holds the models, the memories, and the thread that runs them."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from amn.answers import Answer, Bank, SentenceTrace
from amn.api import QA, Request, load
from amn.data.story import words
from amn.data.text import split_sentences
from amn.errors import AMNError, did_you_mean
from amn.pretrained import shipped_models
from amn.server.batching import Inference
from amn.server.limits import MAX_TOLD_AT_ONCE, Limits
from amn.server.memories import Held, Memories
from amn.server.metrics import Metrics


class UnknownModelError(AMNError):
    """A model that this server does not serve."""


class Service:
    """Everything behind the routes.

    Args:
        model: the default model: a shipped name, or a directory.
        limits: the bounds.
        owners: how many owners share the memories.
    """

    def __init__(self, model: str, limits: Limits, owners: int = 1) -> None:
        self.limits = limits
        self.metrics = Metrics()
        self.default = Path(model).name
        self.shipped = shipped_models()
        self.names = list(dict.fromkeys([self.default, *self.shipped]))
        self._loaded = {self.default: load(model)}
        self.memories = Memories(limits, owners)
        self.inference = Inference(limits, self.metrics.batch)

    async def model(self, name: str | None) -> QA:
        """A model by name. Only what is shipped and the default can be named: a client must not choose a path."""
        name = name or self.default
        if name not in self.names:
            raise UnknownModelError(f"This server has no model {name!r}; {did_you_mean(name, self.names)}")
        if name not in self._loaded:
            self._loaded[name] = await self.inference.run(partial(load, name))
        return self._loaded[name]

    def sentences(self, story: str | Sequence[str]) -> list[str]:
        """The sentences of a story, where they keep within the bounds; those of a list are taken as they are."""
        limits = self.limits
        if (len(story) if isinstance(story, str) else sum(map(len, story))) > limits.story_characters:
            raise AMNError(
                f"A story may have at most {limits.story_characters} characters; tell it to a memory in parts."
            )
        found = split_sentences(story) if isinstance(story, str) else [text for text in story if words(text)]
        if len(found) > limits.story_sentences:
            raise AMNError(
                f"At most {limits.story_sentences} sentences fit in a request; tell them to a memory in parts."
            )
        for number, sentence in enumerate(found, 1):
            if len(sentence) > limits.sentence_characters:
                raise AMNError(f"Sentence {number} is too long: at most {limits.sentence_characters} characters fit.")
        return found

    async def answer(
        self,
        story: str | list[str],
        question: str | list[str],
        *,
        model: str | None = None,
        deadline: float | None = None,
        explain: bool = False,
        banks: int | None = None,
    ) -> list[Answer]:
        """Answers about a story. Plain requests are batched; one with a deadline or an explanation runs alone."""
        until = _until(deadline)
        told = self.sentences(story)
        qa = await self.model(model)
        asked = [question] if isinstance(question, str) else question
        if deadline is None and not explain:
            request = Request(story=told, question=asked, banks=1 if banks is None else banks)
            answers = await self.inference.answer(qa, request, len(told))
        else:
            answers = await self.inference.run(
                lambda: cast(list[Answer], qa(told, asked, banks=banks, deadline=until(), explain=explain))
            )
        self.metrics.answers(answers)
        return answers

    async def open(self, owner: str, questions: list[str], model: str | None) -> Held:
        """A new memory."""
        self.memories.check_room(owner)
        qa = await self.model(model)
        memory = await self.inference.run(partial(qa.memory, questions))
        held = self.memories.add(owner, model or self.default, memory)
        self.metrics.memories.set(len(self.memories))
        return held

    async def tell(self, held: Held, sentences: list[str]) -> AsyncIterator[SentenceTrace]:
        """Tells a memory sentences and gives what each did; between a few of them others get their turn."""
        async with held.telling:
            self.memories.take_sentences(held, len(sentences))
            untold = len(sentences)
            try:
                for start in range(0, len(sentences), MAX_TOLD_AT_ONCE):
                    part = sentences[start : start + MAX_TOLD_AT_ONCE]
                    told = self.inference.run(partial(held.memory.tell, part))
                    untold -= len(part)  # also where the client goes while they are told
                    for trace in await told:
                        self.metrics.sentences.inc()
                        yield trace
            finally:
                held.sentences -= untold

    async def ask(self, held: Held, deadline: float | None, explain: bool, banks: int | None) -> list[Answer]:
        """The answers of a memory to its questions, from what it was told so far."""
        until = _until(deadline)
        answers = await self.inference.run(
            lambda: held.memory.ask(deadline=until(), explain=explain, banks=banks),
        )
        self.metrics.answers(answers)
        return answers

    async def snapshot(self, held: Held) -> list[Bank]:
        """The banks of a memory."""
        return await self.inference.run(held.memory.snapshot)

    def forget(self, id: str, owner: str) -> None:
        """Removes a memory."""
        self.memories.remove(id, owner)
        self.metrics.memories.set(len(self.memories))


def _until(deadline: float | None) -> Callable[[], float | None]:
    """The seconds that remain of a deadline, counted from now: time spent in the queue is time spent."""
    ends = None if deadline is None else time.monotonic() + deadline
    return lambda: None if ends is None else max(0.0, ends - time.monotonic())
