"""What an answer rests on: the sentences without which it would be another, or far less sure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amn.answers import Answer, answers_of
from amn.data.examples import Words
from amn.data.story import words
from amn.inference.engine import open_memory
from amn.inference.found import StoryMemory
from amn.inference.trained import TrainedModel

TRIED_SENTENCES = 64  # how many are left out in turn
READ_AGAIN = 8_000  # how many sentences are read again in all, besides the story once
STEP_WORDS = 200  # that are read in one step
LESS_SURE = 0.7  # an answer rests on what it would lose so much of its score without


@dataclass(frozen=True, slots=True)
class Support:
    """Leaves out sentences in turn, and sees what becomes of the answer.

    What comes before a sentence that is left out is read once for all of them. Of a long story only the latest
    sentences that share a word with question or answer are tried, so that it has an end.
    """

    trained: TrainedModel  # the model
    questions: Sequence[str]  # those that share a memory
    asked: int  # which of them was asked, from 0
    told: Sequence[Words]  # the story
    answer: Answer  # the answer to it

    def steps(self) -> Iterator[int | None]:
        """The numbers of such sentences, the first first, and None between them: each step takes a moment."""
        before, position = self._opened(), 0
        for left_out in self._tried():
            yield from self._hear(before, position, left_out)
            position = left_out
            without = self._forked(before, position)
            yield from self._hear(without, left_out + 1, len(self.told))
            yield left_out if self._differs(without) else None

    def _opened(self) -> StoryMemory:
        return open_memory(self.trained, [words(question) for question in self.questions])

    def _tried(self) -> list[int]:
        """The sentences to leave out, as far as what must be read again for them keeps within its bound."""
        near = {*words(self.questions[self.asked]), *words(self.answer.answer)}
        tried: list[int] = []
        left, last = READ_AGAIN, len(self.told)
        for number in range(last - 1, -1, -1):
            if near.intersection(self.told[number]):
                left -= last - number
                if left < 0 or len(tried) == TRIED_SENTENCES:
                    break
                tried.append(number)
        return tried[::-1]

    def _hear(self, memory: StoryMemory, start: int, stop: int) -> Iterator[None]:
        length = 0
        for number in range(start, stop):
            length += len(self.told[number])
            if length >= STEP_WORDS:
                memory.hear(self.told[start : number + 1])
                start, length = number + 1, 0
                yield
        memory.hear(self.told[start:stop])

    def _forked(self, memory: StoryMemory, heard: int) -> StoryMemory:
        """Another memory that heard the same."""
        other, arrays = self._opened(), memory.arrays()
        if arrays:
            other.resume(memory.words, arrays)
        else:  # a model without banks keeps the sentences themselves
            other.hear(self.told[:heard])
        return other

    def _differs(self, without: StoryMemory) -> bool:
        banks = self.answer.banks_read
        then = answers_of(without.read(banks), self.trained, self.questions, banks)[self.asked]
        return then.answer != self.answer.answer or then.score < self.answer.score * LESS_SURE
