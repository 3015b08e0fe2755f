"""What becomes of facts in long texts: right answers, speed, memory and sentences let in, by the length of the text.

The filler is sentences of books in a folder, not PG19's own; a token is a word; and the question is known before the
text is read. Beside the model's gate there are two controls: the same memory behind a filter that lets in sentences of
known words, and behind none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

from amn.answers import answers_of
from amn.bench.filters import GATE, KNOWN_WORDS, NONE
from amn.bench.haystack import Haystack, Needle, StreamAnswer
from amn.bench.scale import names
from amn.bench.streaming import StreamTask, read_apart
from amn.bench.timing import report
from amn.data.noise import Books, mixed
from amn.data.story import same_answer, words, words_of
from amn.errors import ConfigError, did_you_mean
from amn.evaluation.score import Ask, stories_for
from amn.inference.engine import open_memory
from amn.inference.trained import TrainedModel

LONG, FEW = 1_000_000, 100  # from so many tokens on, so many questions are asked
NONE_TOKENS = 16_000  # without a filter, longer texts are not tried
Answering = Callable[[Needle, int, Random], StreamAnswer]
STANDING_TOKENS = 128_000  # of the text for many standing questions


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamBench:
    """What to measure."""

    model: str  # by name,
    trained: TrainedModel  # and loaded
    noise: Path  # a folder of books
    tasks: Sequence[int]  # of bAbI
    tokens: Sequence[int]  # how long the texts are
    questions: int  # how many are asked in a cell; fewer where texts are long
    filters: Sequence[str]  # what stands in front of the memory, in turn
    new_names: bool = False  # whether people, places and things have names that no training data holds
    standing: int = 0  # how many standing questions one stream is also read for
    seed: int = 0  # of the places of facts

    @property
    def cells(self) -> list[tuple[str, int, int]]:
        """The filter, task and tokens of each row; without a filter, long texts are not tried."""
        every = product(self.filters, self.tasks, self.tokens)
        return [cell for cell in every if cell[0] != NONE or cell[2] <= NONE_TOKENS]


def bench_stream(bench: StreamBench, step: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """Measures all cells, and a stream for the standing questions; calls `step` after each row."""
    asked = {task: asked_of(bench, task) for task in bench.tasks}
    questions, rows = [one.question for some in asked.values() for one in some], []

    @lru_cache(maxsize=1)  # to read the books for one filter takes long, and much memory
    def answering(name: str) -> Answering:
        return _answering(bench, name, questions)

    for name, task, tokens in bench.cells:
        rows.append(_row(bench, name, task, asked[task], tokens, answering(name)))
        step()
    if bench.standing:
        rows.append(_standing_row(bench))
        step()
    return report("stream", rows)


def filters_of(trained: TrainedModel, names: Sequence[str] = ()) -> tuple[str, ...]:
    """What can stand in front of a model's memory, or what of this is asked for."""
    known = (GATE, KNOWN_WORDS, NONE) if trained.config.get("gate") else (KNOWN_WORDS, NONE)
    for name in names:
        if name not in known:
            raise ConfigError(f"--filters: no filter {name!r} for this model; {did_you_mean(name, known)}")
    return tuple(names) or known


def asked_of(bench: StreamBench, task: int) -> list[Needle]:
    """The questions of a task, each with the facts before it."""
    stories = stories_for(Ask(task=task, rename=bench.new_names))
    found = (
        Needle(story.sentences[: question.after], question.text, question.answer or "")
        for story in stories
        for question in story.questions
    )
    return list(found)[: bench.questions]


def _answering(bench: StreamBench, name: str, questions: Sequence[str]) -> Answering:
    """What answers after a stream: from what the filter may let in, or without one by reading all of it."""
    books = Books(bench.noise)
    if name != NONE:
        return Haystack(name, bench.trained, books, questions).outcome

    def read_all(asked: Needle, tokens: int, rng: Random) -> StreamAnswer:
        told = list(mixed(asked.facts, books.sentences(*books.start(rng)), tokens, rng))
        memory = open_memory(bench.trained, [words(asked.question)])
        memory.ingest(words_of(told))
        (answer,) = answers_of(memory.read(1), bench.trained, [asked.question], 1)
        return StreamAnswer(answer.answer, len(told), len(told))

    return read_all


def _row(
    bench: StreamBench, name: str, task: int, asked: Sequence[Needle], tokens: int, answer: Answering
) -> dict[str, Any]:
    few = asked[:FEW] if tokens >= LONG or name == NONE else asked
    seeds = [f"noise/{bench.seed}/{number}" for number in range(len(few))]
    found = [answer(one, tokens, Random(seed)) for one, seed in zip(few, seeds, strict=True)]
    right = [same_answer(outcome.answer, one.answer) for outcome, one in zip(found, few, strict=True)]
    row = {
        "filter": name,
        "task": task,
        "tokens": tokens,
        "questions": len(few),
        "right_percent": 100 * mean(right),
        "sentences": mean(outcome.sentences for outcome in found),
        "sentences_let_in": mean(outcome.let_in for outcome in found),
    }
    read = _read(bench, name, (few[0].question,), few[0].facts, tokens)
    same = (read["answers"], read["sentences"], read["sentences_let_in"])
    row |= {name: read[name] for name in ("tokens_per_second", "resident_bytes")}
    return row | {"same_as_read": same == ([found[0].answer], found[0].sentences, found[0].let_in)}


def _read(
    bench: StreamBench, name: str, questions: tuple[str, ...], facts: tuple[str, ...], tokens: int
) -> dict[str, Any]:
    """The first stream, read as users read it."""
    noise, seed = str(bench.noise), f"noise/{bench.seed}/0"
    return read_apart(
        StreamTask(
            model=bench.model, filter=name, questions=questions, facts=facts, noise=noise, tokens=tokens, seed=seed
        )
    )


def _standing_row(bench: StreamBench) -> dict[str, Any]:
    """One stream with many standing questions; those after the first are about people whom it never names."""
    asked, name = asked_of(bench, bench.tasks[0])[0], bench.filters[0]
    others = (f"Where is {new.capitalize()}?" for new in islice(names(bench.seed), bench.standing - 1))
    tokens = min(STANDING_TOKENS, max(bench.tokens))
    read = _read(bench, name, (asked.question, *others), asked.facts, tokens)
    row = {"filter": name, "task": bench.tasks[0], "tokens": tokens, "questions": bench.standing}
    row |= {"right_percent": 100.0 * same_answer(read["answers"][0], asked.answer)}
    measured = ("sentences", "sentences_let_in", "tokens_per_second", "resident_bytes")
    return row | {column: read[column] for column in measured}
