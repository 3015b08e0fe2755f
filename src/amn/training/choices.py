"""What a training on somebody's stories is given where they say nothing: chosen by what the stories are like."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import ceil
from typing import Any

from amn.config import TrainConfig
from amn.data.check import DataReport
from amn.models import model_class
from amn.pretrained import DEFAULT_MODEL
from amn.training.start import vocabulary_of

_FLAGS = {"start": "--start NAME or none", "epochs": "--epochs N"}  # settings with an option of their own
_BATCHES = ((600, 16), (4_000, 32), (30_000, 64))  # up to so many questions, so many a step
_LARGEST_BATCH = 128
_LARGE = 50_000  # from so many questions on, a model learns as well from nothing
_STEPS = {True: 800, False: 3_000}  # that learning takes from a trained model, or from nothing
_EPOCHS = {True: (8, 40), False: (20, 120)}  # the fewest and the most
_ENOUGH_TO_HIDE = 5_000  # questions from which names are hidden: with 360 of a warehouse it learned nothing more
_POINTED = 0.3  # share of answers that are words of their story from which pointing at them pays
_LONGEST_WINDOW = 300  # sentences that a question may see, where nobody asks for more


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A setting that was chosen."""

    setting: str
    value: Any
    why: str

    @property
    def flag(self) -> str:
        """The option of the command line that changes it."""
        return _FLAGS.get(self.setting, f"--set {self.setting}=...")

    def __str__(self) -> str:
        return f"{self.setting} = {self.value} ({self.why}; {self.flag})"


def choose(seen: DataReport, questions: int, model: str, given: Mapping[str, Any]) -> list[Choice]:
    """The settings that the user has not given, for stories with so many questions to train on."""
    start = _start(seen, questions, model, given)
    begins = start.value is not None if start else given.get("start") is not None
    epochs = given.get("epochs")
    batch = given.get("batch_size") or _batch_size(questions)
    chosen = [
        *_schedule(questions, batch, epochs, begins, model),
        *_reading(seen),
        *_names(seen, questions, model, begins),
    ]
    chosen += _refinement() if begins else ()
    known = _model_settings(model) | {field.name for field in fields(TrainConfig)}
    listed = ([start] if start else []) + chosen
    return [choice for choice in listed if choice.setting in known and choice.setting not in given]


def _start(seen: DataReport, questions: int, model: str, given: Mapping[str, Any]) -> Choice | None:
    """The model to start from; None where the user has said it or there is no choice."""
    if "start" in given or model != "amn":
        return None
    of_model = [name for name in given if name in _model_settings(model)]
    if of_model:
        return Choice(setting="start", value=None, why=f"because {of_model[0]} is given, {DEFAULT_MODEL} may not fit")
    if questions >= _LARGE:
        return Choice(setting="start", value=None, why=f"{questions} questions teach it all")
    known = set(vocabulary_of(DEFAULT_MODEL).words)
    share = sum(count for word, count in seen.vocabulary.items() if word in known) / max(1, seen.vocabulary.total())
    return Choice(
        setting="start",
        value=DEFAULT_MODEL,
        why=f"it knows {share:.0%} of the words already, and how to follow a story",
    )


def _model_settings(model: str) -> set[str]:
    return {field.name for field in fields(model_class(model).Config)}


def _batch_size(questions: int) -> int:
    return next((size for most, size in _BATCHES if questions <= most), _LARGEST_BATCH)


def _schedule(questions: int, batch: int, epochs: int | None, begins: bool, model: str) -> Iterator[Choice]:
    """How long and in what steps; a model with a recipe of its own keeps it."""
    if "epochs" in model_class(model).recipe:
        return
    yield Choice(setting="batch_size", value=batch, why=f"for {questions} questions to train on")
    fewest, most = _EPOCHS[begins]
    found = epochs or min(most, max(fewest, ceil(_STEPS[begins] * batch / questions)))
    yield Choice(
        setting="epochs", value=found, why=f"about {found * ceil(questions / batch)} steps; it may stop before"
    )
    yield Choice(setting="patience", value=max(4, found // 5), why="epochs without a better one after which it stops")
    yield Choice(setting="plateau", value=20.0, why="per cent error above which it goes on all the same")


def _reading(seen: DataReport) -> Iterator[Choice]:
    """How far back a question sees."""
    window = min(_LONGEST_WINDOW, seen.most_told)
    if window > 50:
        yield Choice(setting="window", value=window, why=f"the longest story has {seen.most_told} sentences")


def _refinement() -> Iterator[Choice]:
    """How a trained model is taught more: gently, and keeping its banks small from early on."""
    yield Choice(setting="learning_rate", value=5e-4, why="a quarter of what fresh weights need: it shall not forget")
    yield Choice(setting="budget_from", value=0.3, why="share of the training after which it learns to read less")
    yield Choice(setting="budget_to", value=0.5, why="share at which that counts in full")


def _names(seen: DataReport, questions: int, model: str, begins: bool) -> Iterator[Choice]:
    """Whether answers may be words of the story, and names are hidden at times, so that new ones will do as well."""
    told = seen.answer_kinds["word"] / max(1, sum(seen.answer_kinds.values()))
    if model != "amn" or told < _POINTED:
        return
    if not begins:
        yield Choice(setting="pointer", value=True, why=f"{told:.0%} of the answers are words of their story")
    if questions >= _ENOUGH_TO_HIDE:
        yield Choice(setting="anonymise", value=0.3, why="so that names which no story here has will do as well")
