"""Standing questions: which answers each sentence changed.

Changes are not stored. A follower tells its own memory the same sentences and compares the answers, so every follower
sees the same changes, whenever it asks; to resume, it only needs the number of sentences so far.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amn.answers import Answer, Serializable
from amn.data.story import same_answer
from amn.store.stepwise import Steps, run_to_end

if TYPE_CHECKING:
    from amn.memory import LiveMemory
    from amn.memory.stored import StoredMemory

POLL_SECONDS = 0.05  # between checks for new sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChange(Serializable):
    """An answer that a sentence changed."""

    question: int  # the number of the question, from 0
    answer: Answer  # the new answer
    before: str | None  # the previous answer; None before the first sentence
    sentence: int  # the number of the sentence, from 0
    text: str  # the sentence


class Follower:
    """Tells a memory one sentence at a time, and compares the answers.

    Args:
        memory: the memory, which must not be told sentences by others.
        answers: its answers now, if known.
    """

    def __init__(self, memory: "LiveMemory", answers: Sequence[Answer] = ()) -> None:
        self._memory = memory
        known = answers or (memory.ask() if memory.sentences else ())
        self._answers: list[str | None] = [answer.answer for answer in known] or [None] * len(memory.questions)

    @property
    def position(self) -> int:
        """The number of sentences so far."""
        return len(self._memory.sentences)

    def tell(self, sentence: str) -> list[AnswerChange]:
        """Tells one sentence, and returns the answers that it changed."""
        return run_to_end(self.telling(sentence))

    def telling(self, sentence: str) -> Steps[list[AnswerChange]]:
        """The same in short steps."""
        number = self.position
        for _ in self._memory.telling([sentence], traced=False):
            yield
        changes = []
        for i, answer in enumerate((yield from self._memory.asking())):
            before = self._answers[i]
            if before is None or not same_answer(answer.answer, before):
                self._answers[i] = answer.answer
                changes.append(AnswerChange(question=i, answer=answer, before=before, sentence=number, text=sentence))
        return changes


async def follow(
    told: "LiveMemory | StoredMemory", memory: "LiveMemory", since: int | None, seconds: float = POLL_SECONDS
) -> AsyncIterator[AnswerChange]:
    """The changes of a memory's answers as they happen; the iterator never ends by itself.

    Args:
        told: the memory to follow.
        memory: a new memory for the same questions.
        since: the number of sentences to start after; None to start now.
        seconds: the time between checks for new sentences.
    """
    known = told.sentences
    memory.tell(known[: len(known) if since is None else since])
    follower = Follower(memory)
    while True:
        for sentence in told.sentences[follower.position :]:
            for change in follower.tell(sentence):
                yield change
            await asyncio.sleep(0)  # let other tasks run
        await asyncio.sleep(seconds)
