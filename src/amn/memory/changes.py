"""Standing questions: which answers each sentence changed.

A change is a function of the questions and the sentences, so none is stored: whoever follows a memory tells its own one
the same sentences and compares the answers. What comes after a sentence is therefore the same for everybody, whenever
they ask for it; the number of sentences told so far is all that one must remember to go on later.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amn.answers import Answer, Serializable
from amn.store.stepwise import Steps, run_to_end

if TYPE_CHECKING:
    from amn.memory import LiveMemory
    from amn.memory.stored import StoredMemory

POLL_SECONDS = 0.05  # how often a memory is looked at for new sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerChange(Serializable):
    """An answer that a sentence changed."""

    question: int  # the number of the question, from 0
    answer: Answer  # the new answer
    before: str | None  # the answer until then; None where there was none, as nothing had been told
    sentence: int  # the number of the sentence, from 0
    text: str  # the sentence


class Follower:
    """A memory that nobody else tells, told one sentence at a time to see what each changes.

    What it was told already counts as known; `answers` are those of the memory now, where they are at hand.
    """

    def __init__(self, memory: "LiveMemory", answers: Sequence[Answer] = ()) -> None:
        self._memory = memory
        known = answers or (memory.ask() if memory.sentences else ())
        self._answers: list[str | None] = [answer.answer for answer in known] or [None] * len(memory.questions)

    @property
    def position(self) -> int:
        """How many sentences it was told."""
        return len(self._memory.sentences)

    def tell(self, sentence: str) -> list[AnswerChange]:
        """Tells one sentence, and gives the answers that it changed."""
        return run_to_end(self.telling(sentence))

    def telling(self, sentence: str) -> Steps[list[AnswerChange]]:
        """The same in steps, each of which takes a moment."""
        number = self.position
        for _ in self._memory.telling([sentence], traced=False):
            yield
        changes = []
        for i, answer in enumerate((yield from self._memory.asking())):
            if answer.answer != self._answers[i]:
                before, self._answers[i] = self._answers[i], answer.answer
                changes.append(AnswerChange(question=i, answer=answer, before=before, sentence=number, text=sentence))
        return changes


async def follow(
    told: "LiveMemory | StoredMemory", memory: "LiveMemory", since: int | None, seconds: float = POLL_SECONDS
) -> AsyncIterator[AnswerChange]:
    """The changes of a memory's answers, as it is told; it never ends by itself.

    Args:
        told: the memory that others tell.
        memory: a new one for the same questions.
        since: after how many sentences to begin; None for what is told from now on.
        seconds: how often to look for new sentences.
    """
    known = told.sentences
    memory.tell(known[: len(known) if since is None else since])
    follower = Follower(memory)
    while True:
        for sentence in told.sentences[follower.position :]:
            for change in follower.tell(sentence):
                yield change
            await asyncio.sleep(0)  # others have their turn
        await asyncio.sleep(seconds)
