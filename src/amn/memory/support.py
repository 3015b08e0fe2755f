"""Which sentences an answer rests on: without them it would be different, or far less certain."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amn.answers import Answer
from amn.data.examples import Words
from amn.data.story import words
from amn.inference.story_memory import StoryMemory
from amn.memory.group import QuestionGroup

TRIED_SENTENCES = 64  # sentences left out one at a time
READ_AGAIN = 8_000  # sentences read again in all, besides the story once
STEP_WORDS = 200  # words read in one step
LESS_SURE = 0.7  # share of its score below which an answer is far less certain


@dataclass(frozen=True, slots=True)
class Support:
    """Leaves out one sentence at a time and compares the answers.

    The sentences before it are read only once for all of these. To bound the work, only the latest sentences that share
    a word with the question or the answer are tried.
    """

    group: QuestionGroup  # the questions that share the memory
    asked: int  # the number of the one that was asked
    told: Sequence[Words]  # the story
    answer: Answer  # its answer

    def steps(self) -> Iterator[int | None]:
        """Yields the indices of such sentences, in order, and None in between: each step is short."""
        before, position = self.group.open(), 0
        for left_out in self._tried():
            yield from self._ingest(before, position, left_out)
            position = left_out
            without = self._forked(before, position)
            yield from self._ingest(without, left_out + 1, len(self.told))
            yield left_out if self._differs(without) else None

    def _tried(self) -> list[int]:
        """The sentences to leave out, within the bounds on the work."""
        near = {*words(self.answer.question), *words(self.answer.answer)}
        tried: list[int] = []
        left, last = READ_AGAIN, len(self.told)
        for number in range(last - 1, -1, -1):
            if near.intersection(self.told[number]):
                left -= last - number
                if left < 0 or len(tried) == TRIED_SENTENCES:
                    break
                tried.append(number)
        return tried[::-1]

    def _ingest(self, memory: StoryMemory, start: int, stop: int) -> Iterator[None]:
        length = 0
        for number in range(start, stop):
            length += len(self.told[number])
            if length >= STEP_WORDS:
                memory.ingest(self.told[start : number + 1])
                start, length = number + 1, 0
                yield
        memory.ingest(self.told[start:stop])

    def _forked(self, memory: StoryMemory, heard: int) -> StoryMemory:
        """A copy of a memory that was told so many sentences."""
        other, arrays = self.group.open(), memory.arrays()
        if arrays:
            other.resume(memory.words, arrays)
        else:  # a model without banks keeps the sentences themselves
            other.ingest(self.told[:heard])
        return other

    def _differs(self, without: StoryMemory) -> bool:
        then = self.group.answers(self.answer.banks_read, without)[self.asked]
        return then.answer != self.answer.answer or then.score < self.answer.score * LESS_SURE
