"""Training on the user's own stories, from the data to a finished run.

Settings that the user has not given are chosen by what the stories are like. The run keeps its stories, so that it can
be resumed, repeated and judged from its directory alone.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from pathlib import Path
from typing import Any

from amn.config import RunSpec, TrainConfig
from amn.data.check import DataReport, seen_answers
from amn.data.files import STANDARD_INPUT, shown
from amn.data.formats import read_jsonl, write_jsonl
from amn.data.sentences import MAX_SENTENCE_WORDS
from amn.data.source import OwnStories, hold_out, one_each
from amn.data.story import Story, words
from amn.data.text import MAX_QUESTION_WORDS
from amn.data.vocabulary import answer_items, answer_tokens
from amn.errors import DataError
from amn.models import model_class
from amn.pretrained import DEFAULT_MODEL
from amn.store.card import OWN
from amn.store.run_directory import SPEC_FILE, STORY_FILES, RunDirectory
from amn.training.prepare import data_key, encode_stories
from amn.training.single import FitOptions, fit_run
from amn.training.sweep import Grid
from amn.training.warm_start import settings_of, vocabulary_of

_OPTIONS = frozenset(("start", "epochs", "validation"))  # options of their own; other settings follow --set
_VALUES = {"start": "NAME or none", "epochs": "N"}  # what an option takes
_BATCHES = ((600, 16), (4_000, 32), (30_000, 64))  # up to so many questions, so many a step
_LARGEST_BATCH = 128
_LARGE = 50_000  # from so many questions on, a model learns as well from nothing
_STEPS = {True: 800, False: 3_000}  # that learning takes from a trained model, or from nothing
_EPOCHS = {True: (8, 40), False: (20, 120)}  # the fewest and the most
_ENOUGH_TO_HIDE = 5_000  # questions from which names are hidden where learning starts from nothing
_POINTED = 0.3  # share of answers that are words of their story from which pointing at them pays
_MOST_ITEMS = 64  # words and commas of an answer, with its end
_FITTING = frozenset(  # settings of a model that can be changed in a trained one: its weights keep their shapes
    ("items", "prior", "information", "creation", "budget", "budget_from", "budget_to", "all_banks")
)
_LONGEST_WINDOW = 300  # sentences that a question may see, by default


def as_option(setting: str, value: object = "...") -> str:
    """How the command line gives a value to a setting."""
    return f"--{setting} {value}" if setting in _OPTIONS else f"--set {setting}={value}"


def as_keyword(setting: str, value: object = "...") -> str:
    """How Python does."""
    return f"{setting}={value}"


@dataclass(frozen=True)
class Choice:
    """A setting that was chosen."""

    setting: str
    value: Any
    why: str

    @property
    def flag(self) -> str:
        """The option of the command line that changes it."""
        return as_option(self.setting, _VALUES.get(self.setting, "..."))

    def describe(self, *, in_python: bool = False) -> str:
        """The setting, why it has its value, and how to give it another."""
        change = as_keyword(self.setting) if in_python else self.flag
        return f"{self.setting} = {self.value} ({self.why}; {change})"


_GENTLY = (  # how a trained model is taught more: keeping its banks small from early on
    Choice("learning_rate", 5e-4, "a quarter of what fresh weights need: it shall not forget"),
    Choice("budget_from", 0.3, "share of the training after which it learns to read less"),
    Choice("budget_to", 0.5, "share at which that counts in full"),
)


@dataclass(frozen=True, kw_only=True)
class OwnPlan:
    """What a training on own stories will do."""

    training: list[Story]  # stories to learn from
    validation: list[Story]  # stories kept apart, to choose the best epoch and to judge by
    seen: DataReport  # what all of them are like
    choices: list[Choice]  # the settings that the user has not given
    spec: RunSpec  # the run

    def describe(self, *, in_python: bool = False) -> Iterator[str]:
        """What was seen and what was chosen, line by line; `in_python` says how Python changes it."""
        seen = self.seen
        yield (
            f"{_shown_name(seen.path)}: {seen.stories} stories with {seen.questions} questions; "
            f"a question sees at most {seen.most_told} sentences; {len(seen.vocabulary)} words"
        )
        yield f"answers: {len(seen.answers)} different; {seen_answers(seen)}"
        if unsure := contradicted((*self.training, *self.validation)):
            yield f"{unsure} questions have another answer elsewhere for the same story: no model can learn these"
        kept = count_questions(self.validation)
        yield f"kept apart to judge by: {len(self.validation)} stories with {kept} questions"
        yield "chosen:"
        yield from (f"  {choice.describe(in_python=in_python)}" for choice in self.choices)

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
        stories: what the user has given.
        given: the settings that the user has given.
        model: the architecture.
        seed: of the run, and of the choice of stories to keep apart.
        data: where the stories came from, for the record.
    """
    training, validation = _divided(stories, _shown_name(stories.name if data is None else data), seed)
    seen = DataReport(path=stories.name if data is None else data, files=1)
    for story in (*training, *validation):
        seen.add(story)
    choices = choose(seen, count_questions(training), model, given)
    settings = {**{choice.setting: choice.value for choice in choices}, **given}
    grid = Grid(tasks=[OWN], models=[model], seeds=[seed], data=data, settings=settings, label=_label(stories.name))
    (spec,) = grid.specs()
    return OwnPlan(training=training, validation=validation, seen=seen, choices=choices, spec=spec)


def _label(name: str) -> str:
    """The name of the data as part of a folder's name; empty where the data has none."""
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


def _shown_name(data: str) -> str:
    """What to call data in messages."""
    return "standard input" if Path(data) in STANDARD_INPUT else data


def _divided(stories: OwnStories, name: str, seed: int) -> tuple[list[Story], list[Story]]:
    """Stories to train on and stories to keep apart; `name` is what to call them where something is wrong."""
    training = _answerable(stories.training, name)
    if stories.validation is not None:
        kept = _answerable(stories.validation, "validation")
        if not training or not kept:
            raise DataError(name, None, "questions to train on and to validate with", "none")
        return one_each(training), one_each(kept)
    return hold_out(one_each(training), seed, name)


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
    """The stories that a run on own stories was started with; None where there is no such run."""
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


def choose(seen: DataReport, questions: int, model: str, given: Mapping[str, Any]) -> list[Choice]:
    """The settings that the user has not given, for stories with so many questions to train on."""
    of_model = {field.name for field in fields(model_class(model).Config)}
    known = of_model | {field.name for field in fields(TrainConfig)}
    start = list(_start(seen, questions, model, [name for name in given if name in of_model - _FITTING]))
    source = given["start"] if "start" in given else start[0].value if start else None
    begins = source is not None
    batch = given.get("batch_size") or next((size for most, size in _BATCHES if questions <= most), _LARGEST_BATCH)
    chosen = [
        *start,
        *_schedule(questions, batch, given.get("epochs"), begins, model),
        *_reading(seen),
        *_names(seen, questions, model, source),
        *_items(seen, given.get("start", DEFAULT_MODEL) if model == "amn" and begins else None),
        *(_GENTLY if begins else ()),
    ]
    return [choice for choice in chosen if choice.setting in known and choice.setting not in given]


def _start(seen: DataReport, questions: int, model: str, of_model: Sequence[str]) -> Iterator[Choice]:
    """The model to start from, where there is a choice; `of_model` are the settings of the model that are given."""
    if model != "amn":
        return
    if of_model:
        yield Choice("start", None, f"because {of_model[0]} is given, {DEFAULT_MODEL} may not fit")
    elif questions >= _LARGE:
        yield Choice("start", None, f"{questions} questions teach it all")
    else:
        words, known = seen.vocabulary, set(vocabulary_of(DEFAULT_MODEL).words)
        share = sum(count for word, count in words.items() if word in known) / max(1, words.total())
        why = f"it knows {share:.0%} of the words already, and how to follow a story"
        yield Choice("start", DEFAULT_MODEL, why)


def _schedule(questions: int, batch: int, epochs: int | None, begins: bool, model: str) -> Iterator[Choice]:
    """How long and in what steps; a model that has a recipe keeps it."""
    if "epochs" in model_class(model).recipe:
        return
    yield Choice("batch_size", batch, f"for {questions} questions to train on")
    fewest, most = _EPOCHS[begins]
    found = epochs or min(most, max(fewest, ceil(_STEPS[begins] * batch / questions)))
    yield Choice("epochs", found, f"about {found * ceil(questions / batch)} steps; it may stop before")
    yield Choice("patience", max(4, found // 5), "epochs without a better one after which it stops")
    yield Choice("plateau", 20.0, "per cent error above which it goes on all the same")


def _reading(seen: DataReport) -> Iterator[Choice]:
    """How far back a question sees."""
    window = min(_LONGEST_WINDOW, seen.most_told)
    if window > 50:
        yield Choice("window", window, f"the longest story has {seen.most_told} sentences")


def _names(seen: DataReport, questions: int, model: str, start: str | None) -> Iterator[Choice]:
    """Whether answers may be words of the story, and names are hidden at times, so that new ones will do as well."""
    if model != "amn":
        return
    told = seen.answer_kinds["word"] / max(1, sum(seen.answer_kinds.values()))
    if start is None:
        hides = told >= _POINTED and questions >= _ENOUGH_TO_HIDE
        if told >= _POINTED:
            yield Choice("pointer", True, f"{told:.0%} of the answers are words of their story")
    else:
        hides = bool(settings_of(start).get("pointer"))
    if hides:
        yield Choice("anonymise", 0.3, "so that names which no story here has will do as well")


def _items(seen: DataReport, start: str | None) -> Iterator[Choice]:
    """Room for the longest answer, if the model to start from has too little."""
    if start is None:
        return
    room = settings_of(start).get("items", 1)
    longest = max((len(answer_tokens(answer_items(answer))) for answer in seen.answers), default=0)
    if 1 < room < longest:
        reason = f"the longest answer has {longest - 1} words and commas, {start} stops at {room - 1}"
        yield Choice("items", min(longest, _MOST_ITEMS), reason)
