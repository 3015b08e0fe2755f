"""Questions of a live memory that share one story memory, with the traces of its latest sentences."""

from collections import deque
from collections.abc import Collection, Sequence
from functools import cached_property

from amn.answers import Answer, Bank, Edge, Entity, Explanation, Move, SentenceTrace, answers_of
from amn.data.story import words, words_of
from amn.inference.engine import open_memory
from amn.inference.story_memory import Change, StoryMemory
from amn.inference.trained import TrainedModel
from amn.memory.stream import Told

SHOWN_ENTITIES = 200  # of a bank in an explanation, the most relevant first


class QuestionGroup:
    """Some questions and their story memory.

    Args:
        trained: the model.
        questions: the questions.
        numbers: their numbers in the live memory.
        traces: how many traces to keep.
    """

    def __init__(self, trained: TrainedModel, questions: Sequence[str], numbers: Sequence[int], traces: int) -> None:
        self.trained, self.questions, self.numbers = trained, questions, numbers
        self.traces: deque[SentenceTrace] = deque(maxlen=traces)

    @cached_property
    def memory(self) -> StoryMemory:
        """The story memory, opened when it is first needed."""
        return self.open()

    def open(self) -> StoryMemory:
        """A new, empty story memory."""
        return open_memory(self.trained, [words(question) for question in self.questions])

    def ingest(
        self, first: int, story: Sequence[Told], places: Sequence[int], traces: int | None = None
    ) -> list[SentenceTrace]:
        """Reads the sentences at some places of a story; returns the traces of the latest ones.

        Args:
            first: the number of the first sentence of the story.
            story: the story.
            places: which of its sentences to read.
            traces: how many traces to make; by default as many as are kept.
        """
        untraced = max(0, len(places) - ((self.traces.maxlen or 0) if traces is None else traces))
        self.memory.ingest([story[place][1] for place in places[:untraced]])
        made = [
            _trace(first + place, story[place][0], self.memory.tell(story[place][1])) for place in places[untraced:]
        ]
        self.traces.extend(made)
        return made

    def answers(self, banks: int, memory: StoryMemory | None = None) -> dict[int, Answer]:
        """The answers by the number of the question, from some banks, or 0 for all, of its memory or another."""
        answers = answers_of((memory or self.memory).read(banks), self.trained, self.questions, banks)
        return dict(zip(self.numbers, answers, strict=True))

    def snapshot(self) -> list[Bank]:
        """The banks as they are now."""
        return [self._bank(index, {}) for index in range(self.memory.banks)]

    def explanation(self, answer: Answer, number: int, *, seen: int, let_in: int) -> Explanation:
        """The explanation of the answer to the question with this number."""
        attention = self.memory.attention(answer.banks_read, self.numbers.index(number))
        return Explanation(
            banks=tuple(self._bank(index, shares) for index, shares in enumerate(attention)),
            sentences=tuple(self.traces),
            graph=_graph(self.traces),
            seen=seen,
            let_in=let_in,
            read=tuple(range(answer.banks_created - 1, answer.banks_created - answer.banks_read - 1, -1)),
        )

    def _bank(self, index: int, attention: dict[str, float]) -> Bank:
        """A bank with its most relevant entities first."""
        held = self.memory.bank(index)
        shown = sorted(held, key=lambda one: -one.relevance)[:SHOWN_ENTITIES]
        entities = (
            Entity(word=e.word, strength=e.strength, relevance=e.relevance, attention=attention.get(e.word, 0.0))
            for e in shown
        )
        return Bank(index=index, size=len(held), entities=tuple(entities))


def _trace(number: int, text: str, change: Change) -> SentenceTrace:
    after = change.after
    return SentenceTrace(
        sentence=number,
        text=text,
        banks=change.banks,
        created=change.created,
        moves=tuple([Move(word, old, after[word]) for word, old in change.before.items() if old != after[word]]),
        depth=after,
        strengths=change.strengths,
    )


def _graph(traces: Collection[SentenceTrace]) -> tuple[Edge, ...]:
    """The word graph of some sentences."""
    latest: dict[tuple[str, str], int] = {}
    for trace, spoken in zip(traces, words_of([trace.text for trace in traces]), strict=True):
        latest |= dict.fromkeys(zip(spoken, spoken[1:], strict=False), trace.sentence)
    return tuple(Edge(before, after, number) for (before, after), number in latest.items())
