"""Training on somebody's own stories: from what they bring to a run that has ended.

The stories are looked at first; what the user has not said is chosen by what they are like. The run keeps its stories,
so that it can be resumed, repeated and judged from its directory alone.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from amn.config import RunSpec
from amn.data.check import DataReport, seen_answers
from amn.data.files import STANDARD_INPUT, shown
from amn.data.jsonl import read_jsonl, write_jsonl
from amn.data.sentences import MAX_SENTENCE_WORDS
from amn.data.source import OwnStories, hold_out, one_each
from amn.data.story import Story, words
from amn.data.text import MAX_QUESTION_WORDS
from amn.errors import DataError
from amn.store.card import OWN
from amn.store.run_directory import SPEC_FILE, STORY_FILES, RunDirectory
from amn.training.choices import Choice, choose
from amn.training.prepare import data_key, encode_stories
from amn.training.single import FitOptions, fit_run
from amn.training.sweep import Grid


@dataclass(frozen=True, kw_only=True)
class OwnPlan:
    """What a training on one's own stories will do."""

    training: list[Story]  # stories to learn from
    validation: list[Story]  # stories kept apart, to choose the best epoch and to judge by
    seen: DataReport  # what all of them are like
    choices: list[Choice]  # the settings that the user has not given
    spec: RunSpec  # the run

    def describe(self) -> Iterator[str]:
        """What was seen and what was chosen, line by line."""
        seen = self.seen
        name = "standard input" if Path(seen.path) in STANDARD_INPUT else seen.path
        yield (
            f"{name}: {seen.stories} stories with {seen.questions} questions; a question sees at most "
            f"{seen.most_told} sentences; {len(seen.vocabulary)} words"
        )
        yield f"answers: {len(seen.answers)} different; {seen_answers(seen)}"
        if unsure := contradicted((*self.training, *self.validation)):
            yield f"{unsure} questions have another answer elsewhere for the same story: no model can learn these"
        kept = count_questions(self.validation)
        yield f"kept apart to judge by: {len(self.validation)} stories with {kept} questions"
        yield "chosen:"
        yield from (f"  {choice}" for choice in self.choices)

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        chosen = [{"setting": c.setting, "value": c.value, "why": c.why, "flag": c.flag} for c in self.choices]
        return {
            "data": self.seen.as_json() | {"answer_kinds": dict(self.seen.answer_kinds)},
            "held_out": {"stories": len(self.validation), "questions": count_questions(self.validation)},
            "choices": chosen,
        }


def plan_own(
    stories: OwnStories, *, given: Mapping[str, Any], model: str = "amn", seed: int = 0, data: str | None = None
) -> OwnPlan:
    """Looks at stories and decides how to train on them.

    Args:
        stories: what somebody has brought.
        given: the settings that they have given.
        model: the architecture.
        seed: of the run, and of the choice of stories to keep apart.
        data: where the stories came from, for the record.
    """
    training, validation = _divided(stories, seed)
    seen = DataReport(path=stories.name if data is None else data, files=1)
    for story in (*training, *validation):
        seen.add(story)
    choices = choose(seen, count_questions(training), model, given)
    settings = {**{choice.setting: choice.value for choice in choices}, **given}
    grid = Grid(tasks=[OWN], models=[model], seeds=[seed], data=data, settings=settings, label=_label(stories.name))
    (spec,) = grid.specs()
    return OwnPlan(training=training, validation=validation, seen=seen, choices=choices, spec=spec)


def _label(name: str) -> str:
    """The name of the data as part of a folder's name; nothing where it has none of its own."""
    return "" if name == OWN else re.sub(r"[^\w.-]+", "-", name).strip("-.")


def run_name(data: str, model: str, seed: int) -> str:
    """What a run is called where the user does not say: by the name of its data and its seed."""
    return "-".join([_label(data) or OWN, *([] if model == "amn" else [model]), f"seed{seed}"])


def count_questions(stories: Sequence[Story]) -> int:
    """How many questions the stories have together."""
    return sum(len(story.questions) for story in stories)


def contradicted(stories: Iterable[Story]) -> int:
    """How many questions are answered otherwise where the same is asked about the same sentences."""
    answers = defaultdict[tuple[tuple[str, ...], str], Counter[str]](Counter)
    for story in stories:
        for asked in story.questions:
            answers[story.sentences[: asked.after], asked.text.lower()][(asked.answer or "").lower()] += 1
    return sum(found.total() for found in answers.values() if len(found) > 1)


def _divided(stories: OwnStories, seed: int) -> tuple[list[Story], list[Story]]:
    """Stories to train on and stories to keep apart."""
    training = _answerable(stories.training, stories.name)
    if stories.validation is not None:
        kept = _answerable(stories.validation, "validation")
        if not training or not kept:
            raise DataError(stories.name, None, "questions to train on and to validate with", "none")
        return training, kept
    return hold_out(one_each(training), seed, stories.name)


def _answerable(stories: Sequence[Story], name: str) -> list[Story]:
    """The stories with those of their questions whose answers are known."""
    for number, story in enumerate(stories):
        for asked in story.questions:
            if not words(asked.text) or not any(map(words, story.sentences[: asked.after])):
                expected = "words in the question and in a sentence before it"
                raise DataError(f"{name}[{number}]", None, expected, repr(asked.text))
        _check_lengths(story, f"{name}[{number}]")
    known = [tuple(asked for asked in story.questions if asked.answer is not None) for story in stories]
    return [replace(story, questions=asked) for story, asked in zip(stories, known, strict=True) if asked]


def _check_lengths(story: Story, name: str) -> None:
    """Refuses before the training what could not be asked after it."""
    limits = {"sentence": (story.sentences, MAX_SENTENCE_WORDS)}
    limits["question"] = (tuple(asked.text for asked in story.questions), MAX_QUESTION_WORDS)
    for kind, (texts, most) in limits.items():
        for text in texts:
            if len(text) > 2 * most and (count := len(words(text))) > most:
                raise DataError(name, None, f"at most {most} words in a {kind}", f"{count} in {shown(text)}")


def kept_stories(directory: RunDirectory) -> OwnStories | None:
    """The stories that a run on one's own stories was started with; None where there is no such run."""
    files = [directory.path / name for name in STORY_FILES.values()]
    if not all(file.is_file() for file in files) or not (directory.path / SPEC_FILE).is_file():
        return None
    training, validation = (list(read_jsonl(file)) for file in files)
    return OwnStories(training=training, validation=validation, name=directory.spec().label or OWN)


def fit_own(plan: OwnPlan, path: Path, options: FitOptions) -> RunDirectory:
    """Trains to the end and gives the run's directory, which keeps the stories too; as `fit_run`."""

    def keep(folder: Path) -> None:
        for split, stories in {"train": plan.training, "valid": plan.validation}.items():
            if not (folder / STORY_FILES[split]).exists():
                write_jsonl(stories, folder / STORY_FILES[split])

    data = encode_stories(data_key(plan.spec), plan.training, plan.validation)
    return fit_run(plan.spec, data, path, options, keep=keep)
