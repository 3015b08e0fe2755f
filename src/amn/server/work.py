"""How much a request costs the model, and how long things take here.

To look at a long story takes long too, so a story is looked at as one goes.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from amn.data.sentences import MAX_SENTENCE_WORDS, split_sentences
from amn.data.story import words_of
from amn.errors import AMNError
from amn.memory.live import KEPT_TRACES
from amn.memory.support import READ_AGAIN, TRIED_SENTENCES
from amn.server.batching import Steps
from amn.server.limits import Limits

T = TypeVar("T")

ASK_PACE, EXPLAIN_PACE = 5e-4, 2e-5  # seconds for a question, and for a sentence of an explanation, until measured
_SHARE = 0.2  # of a new measurement in the pace, where it is better than expected
NO_SENTENCE = "expected at least one sentence with a word in it, found none"
_PART_SENTENCES = 64  # that are looked at in one go
_PART_CHARACTERS = 4_000  # of a text
_AHEAD = 100  # of these, after which it is known where a sentence ends
_WORD_BYTES = 60  # of a reply, for each word that a sentence touched
_OVERHEAD_WORDS = 16  # what every sentence costs, as if it had so many more words


class FieldError(AMNError):
    """A field of a request that is too much or too little; the message says which and why."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field


class ReadingWork:
    """Sentences to read, and what each costs, as far as they were looked at.

    Every question may have a memory of its own, in which the words of a sentence look at each other: so the cost is the
    square of their number, for each question. Sentences without a word are left out. What was looked at before needs no
    limits; `field` is what the story is called in the request.
    """

    def __init__(
        self, story: str | Sequence[str], questions: int, limits: Limits | None = None, field: str = "story"
    ) -> None:
        self._questions, self._limits, self._field = questions, limits, field
        self._size, self._seen = len(story), 0
        self._parts = _parts_of_text(story) if isinstance(story, str) else _parts_of_list(story)
        self.sentences: list[str] = []
        self.words, self.cost = 0, 0
        self.complete = False
        if limits is not None and (len(story) if isinstance(story, str) else sum(map(len, story))) > (
            most := limits.story_characters
        ):
            raise FieldError(field, f"at most {most} characters fit in a request; tell it to a memory in parts")

    def __len__(self) -> int:
        """How many sentences were found so far."""
        return len(self.sentences)

    @property
    def expected(self) -> int:
        """How many sentences there are; about, until all of it was looked at."""
        if self.complete or not self._seen:
            return len(self)
        return max(len(self) + 1, round(len(self) * self._size / self._seen))

    def look(self) -> None:
        """Looks at the next part.

        Raises:
            FieldError: where something of it is too much.
        """
        self._seen, part = next(self._parts, (self._size, ()))
        for sentence, spoken in zip(part, words_of(part), strict=True):
            self._add(sentence, len(spoken))
        self.complete = self._seen == self._size

    def _add(self, sentence: str, length: int) -> None:
        if not length:
            return
        self.sentences.append(sentence)
        self.words += length
        self.cost += self._questions * (length + _OVERHEAD_WORDS) ** 2
        if self._limits is not None and (why := _too_much(len(self), sentence, length, self._limits)):
            raise FieldError(self._field, why)


def looking(work: ReadingWork) -> Steps[None]:
    """Looks at all of a story."""
    while not work.complete:
        work.look()
        yield


def check_reply(limits: Limits, field: str, work: ReadingWork, questions: Sequence[str], times: int = 1) -> None:
    """Refuses what would make a reply too big, by the words that its sentences touch."""
    named = sum(map(len, words_of(questions)))
    if (work.words + named * len(work)) * times * _WORD_BYTES > limits.reply_bytes:
        raise FieldError(field, "the reply would be too long; send fewer sentences or questions at once")


def checking_explanation(
    limits: Limits, sentences: Sequence[str], questions: Sequence[str], ends: float | None
) -> Steps[None]:
    """Refuses to explain what would take long, where no deadline ends it, or what nobody could read."""
    shown = ReadingWork(sentences[-KEPT_TRACES:], len(questions))
    yield from looking(shown)
    check_reply(limits, "explain", shown, questions, len(questions))
    again = min(len(sentences) * min(len(sentences), TRIED_SENTENCES), READ_AGAIN) + len(sentences)
    if ends is None and shown.cost / max(1, len(shown)) * again > limits.work:
        raise FieldError("explain", "this is too much to explain; send fewer or shorter sentences at once")


def _too_much(number: int, sentence: str, length: int, limits: Limits) -> str | None:
    """Why a sentence is refused, if it is."""
    if number > limits.story_sentences:
        return f"at most {limits.story_sentences} sentences fit in a request; tell them to a memory in parts"
    if len(sentence) > limits.sentence_characters:
        return f"sentence {number} is too long, at most {limits.sentence_characters} characters fit"
    if length > MAX_SENTENCE_WORDS:
        return f"sentence {number} is too long, at most {MAX_SENTENCE_WORDS} words fit"
    return None


def _parts_of_list(sentences: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Some sentences at a time, and how many went before their end."""
    for start in range(0, len(sentences), _PART_SENTENCES):
        part = sentences[start : start + _PART_SENTENCES]
        yield start + len(part), part


def _parts_of_text(text: str) -> Iterator[tuple[int, Sequence[str]]]:
    """The sentences of some characters at a time, and how many characters went before their end.

    What follows decides whether a sentence ends, so those near the end of a part are left for the next one.
    """
    start = 0
    while start < len(text):
        end = min(start + _PART_CHARACTERS, len(text))
        found, sure = split_sentences(text[start:end]), end - _AHEAD if end < len(text) else end
        kept, begin = len(found), end
        while kept and begin > sure:
            kept -= 1
            begin = text.rfind(found[kept], start, begin)
        if begin > start:  # else one sentence is as long as a part, and too long
            end, found = begin, found[:kept]
        yield end, found
        start = end


class Pace:
    """How long a unit of cost takes here, learnt from what it took before; rather too long than too short."""

    def __init__(self, first: float) -> None:
        self._pace = first

    def timed(self, cost: float, function: Callable[[], T]) -> T:
        """Runs a function of known cost, and learns from it."""
        started = time.perf_counter()
        result = function()
        measured = (time.perf_counter() - started) / max(cost, 1)
        self._pace = max(measured, self._pace + _SHARE * (measured - self._pace))
        return result

    def seconds(self, cost: float) -> float:
        """How long a cost takes, about."""
        return cost * self._pace
