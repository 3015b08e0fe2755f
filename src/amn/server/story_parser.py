"""Stories as requests give them: split into sentences part by part, checked against the limits, with what they cost."""

from collections.abc import Iterator, Sequence

from amn.data.sentences import MAX_SENTENCE_WORDS, split_sentences
from amn.data.story import words_of
from amn.errors import AMNError
from amn.memory.live import KEPT_TRACES
from amn.memory.support import READ_AGAIN, TRIED_SENTENCES
from amn.server.limits import Limits
from amn.store.stepwise import Steps

_PART_SENTENCES = 64  # of a list, parsed in one step
_PART_CHARACTERS = 4_000  # of a text
_AHEAD = 100  # characters after which it is known whether a sentence ends
_WORD_BYTES = 60  # of a reply, for each word that a sentence touched
_OVERHEAD_WORDS = 16  # the fixed cost of a sentence, in words


class FieldError(AMNError):
    """A field of a request with a bad value; the message says which and why."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field


class StoryParser:
    """The sentences of a story and their cost, as far as they have been parsed; a long story is parsed in steps.

    Every question may have its own memory, in which the words of a sentence attend to each other: so the cost is the
    square of their number, for each question. Sentences without a word are left out.

    Args:
        story: text, or a list of sentences.
        questions: how many questions are asked about it.
        limits: the limits that it must keep; None where it was checked before.
        field: the name of the field of the request, for error messages.
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
        characters = len(story) if isinstance(story, str) else sum(map(len, story))
        if limits is not None and characters > limits.story_characters:
            most = limits.story_characters
            raise FieldError(field, f"at most {most} characters fit in a request; send it to a memory in parts")

    def __len__(self) -> int:
        """The number of sentences so far."""
        return len(self.sentences)

    @property
    def expected(self) -> int:
        """The number of sentences in all; an estimate until the whole story is parsed."""
        if self.complete or not self._seen:
            return len(self)
        return max(len(self) + 1, round(len(self) * self._size / self._seen))

    def parse_next(self) -> None:
        """Parses the next part.

        Raises:
            FieldError: where it exceeds a limit.
        """
        self._seen, part = next(self._parts, (self._size, ()))
        for sentence, spoken in zip(part, words_of(part), strict=True):
            if spoken:
                self._add(sentence, len(spoken))
        self.complete = self._seen == self._size

    def parse_rest(self) -> Steps[None]:
        """Parses the rest of the story, in steps."""
        while not self.complete:
            self.parse_next()
            yield

    def check_not_empty(self) -> None:
        """Refuses a story without any sentence, once it is parsed."""
        if self.complete and not self.sentences:
            raise FieldError(self._field, "expected at least one sentence with a word in it, found none")

    def _add(self, sentence: str, length: int) -> None:
        self.sentences.append(sentence)
        self.words += length
        self.cost += self._questions * (length + _OVERHEAD_WORDS) ** 2
        if self._limits is not None and (why := _too_much(len(self), sentence, length, self._limits)):
            raise FieldError(self._field, why)


def check_reply(limits: Limits, field: str, story: StoryParser, questions: Sequence[str], times: int = 1) -> None:
    """Refuses a request whose reply would be too long, by the words that its sentences touch."""
    named = sum(map(len, words_of(questions)))
    if (story.words + named * len(story)) * times * _WORD_BYTES > limits.reply_bytes:
        raise FieldError(field, "the reply would be too long; send fewer sentences or questions at once")


def check_explanation(
    limits: Limits, sentences: Sequence[str], questions: Sequence[str], ends: float | None
) -> Steps[None]:
    """Refuses an explanation that would be too long or, without a deadline to end it, take too long."""
    shown = StoryParser(sentences[-KEPT_TRACES:], len(questions))
    yield from shown.parse_rest()
    check_reply(limits, "explain", shown, questions, len(questions))
    again = min(len(sentences) * min(len(sentences), TRIED_SENTENCES), READ_AGAIN) + len(sentences)
    if ends is None and shown.cost / max(1, len(shown)) * again > limits.work:
        raise FieldError("explain", "this is too much to explain; send fewer or shorter sentences at once")


def _too_much(number: int, sentence: str, length: int, limits: Limits) -> str | None:
    """Why a sentence is refused, if it is."""
    if number > limits.story_sentences:
        return f"at most {limits.story_sentences} sentences fit in a request; send them to a memory in parts"
    if len(sentence) > limits.sentence_characters:
        return f"sentence {number} is too long, at most {limits.sentence_characters} characters fit"
    if length > MAX_SENTENCE_WORDS:
        return f"sentence {number} is too long, at most {MAX_SENTENCE_WORDS} words fit"
    return None


def _parts_of_list(sentences: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Parts of a list, each with the position of its end."""
    for start in range(0, len(sentences), _PART_SENTENCES):
        part = sentences[start : start + _PART_SENTENCES]
        yield start + len(part), part


def _parts_of_text(text: str) -> Iterator[tuple[int, Sequence[str]]]:
    """The sentences of parts of a text, each with the position of its end.

    Whether a sentence ends depends on what follows, so those near the end of a part are left for the next one.
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
