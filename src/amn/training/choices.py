"""What a training on somebody's stories is given where they say nothing: chosen by what the stories are like."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import ceil
from typing import Any

from amn.config import TrainConfig
from amn.data.check import DataReport
from amn.data.vocabulary import answer_items, answer_tokens
from amn.models import model_class
from amn.pretrained import DEFAULT_MODEL
from amn.training.start import settings_of, vocabulary_of

_FLAGS = {"start": "--start NAME or none", "epochs": "--epochs N"}  # settings with an option of their own
_BATCHES = ((600, 16), (4_000, 32), (30_000, 64))  # up to so many questions, so many a step
_LARGEST_BATCH = 128
_LARGE = 50_000  # from so many questions on, a model learns as well from nothing
_STEPS = {True: 800, False: 3_000}  # that learning takes from a trained model, or from nothing
_EPOCHS = {True: (8, 40), False: (20, 120)}  # the fewest and the most
_ENOUGH_TO_HIDE = 5_000  # questions from which names are hidden: with 360 of a warehouse it learned nothing more
_POINTED = 0.3  # share of answers that are words of their story from which pointing at them pays
_MOST_ITEMS = 64  # words and commas of an answer, with its end
_FITTING = frozenset(  # settings of the model that any trained one takes: they change no shape of its weights
    ("items", "prior", "information", "creation", "budget", "budget_from", "budget_to", "all_banks")
)
_LONGEST_WINDOW = 300  # sentences that a question may see, where nobody asks for more


@dataclass(frozen=True)
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
    of_model = {field.name for field in fields(model_class(model).Config)}
    known = of_model | {field.name for field in fields(TrainConfig)}
    start = list(_start(seen, questions, model, [name for name in given if name in of_model - _FITTING]))
    begins = (given["start"] if "start" in given else start[0].value if start else None) is not None
    batch = given.get("batch_size") or next((size for most, size in _BATCHES if questions <= most), _LARGEST_BATCH)
    chosen = [
        *start,
        *_schedule(questions, batch, given.get("epochs"), begins, model),
        *_reading(seen),
        *_names(seen, questions, model, begins),
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
    """How long and in what steps; a model with a recipe of its own keeps it."""
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


def _names(seen: DataReport, questions: int, model: str, begins: bool) -> Iterator[Choice]:
    """Whether answers may be words of the story, and names are hidden at times, so that new ones will do as well."""
    told = seen.answer_kinds["word"] / max(1, sum(seen.answer_kinds.values()))
    if model != "amn" or told < _POINTED:
        return
    if not begins:
        yield Choice("pointer", True, f"{told:.0%} of the answers are words of their story")
    if questions >= _ENOUGH_TO_HIDE:
        yield Choice("anonymise", 0.3, "so that names which no story here has will do as well")


def _items(seen: DataReport, start: str | None) -> Iterator[Choice]:
    """Room for the longest answer, where the model to start from has too little."""
    if start is None:
        return
    room = settings_of(start).get("items", 1)
    longest = max((len(answer_tokens(answer_items(answer))) for answer in seen.answers), default=0)
    if 1 < room < longest:
        words = f"the longest answer has {longest - 1} words and commas, {start} stops at {room - 1}"
        yield Choice("items", min(longest, _MOST_ITEMS), words)


_GENTLY = (  # how a trained model is taught more: keeping its banks small from early on
    Choice("learning_rate", 5e-4, "a quarter of what fresh weights need: it shall not forget"),
    Choice("budget_from", 0.3, "share of the training after which it learns to read less"),
    Choice("budget_to", 0.5, "share at which that counts in full"),
)
