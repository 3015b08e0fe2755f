"""What a training run is: its settings, and which task, model and seed it trains."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from amn.errors import ConfigError, did_you_mean

Optimiser = Literal["adam", "sgd"]
Schedule = Literal["cosine", "halving"]
Precision = Literal["float32", "bfloat16"]
Order = Literal["told", "outward"]
_CHOICES = {"optimiser": Optimiser, "schedule": Schedule, "order": Order, "precision": Precision}
_OPTIONAL = {"train_questions": int, "start": str, "distract": str}  # the types of the settings that may be None


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of a run."""

    epochs: int = 40  # passes over the training questions
    batch_size: int = 64  # questions a step
    optimiser: Optimiser = "adam"  # "adam", or "sgd", plain steps along the gradient
    learning_rate: float = 2e-3  # after the warm-up
    warmup_steps: int = 200  # steps over which it grows from zero
    # "cosine": flat for half of the run, then down to 1 %; "halving": halved every `halve_every` epochs.
    schedule: Schedule = "cosine"
    halve_every: int = 25  # epochs between halvings
    halve_after: int = 0  # epochs before these are counted
    clip: float = 5.0  # greatest norm of a model's gradient
    beta_2: float = 0.999  # how much of its running mean of squared gradients Adam keeps in a step
    weight_decay: float = 0.0  # of all matrices, apart from the gradient (AdamW); keeps long trainings from drifting
    # Of matrix products in training: float32, or bfloat16, which is faster on a GPU for wide models.
    precision: Precision = "float32"
    window: int = 50  # sentences kept before a question
    # How sentences are read: as "told", or "outward" from what the question names, along the names that they share;
    # for stories in which nothing happens one after another.
    order: Order = "told"
    # Share of the words that new names may stand for whose spelling is hidden, in half of the training stories.
    anonymise: float = 0.0
    # Chance with which each other word whose spelling is not answered is hidden, in half of the training stories; it
    # teaches to read wordings that training never had.
    hide_words: float = 0.0
    # Sentences are read with what they refer to: names that pronouns may mean, and other forms of their words, by the
    # rules of English plurals and as training stories show.
    recall: bool = False
    together: bool = False  # questions asked at the same point of a story share one memory
    train_questions: int | None = None  # take only so many training questions of each task; None for all
    mixed_questions: int = 100_000  # training questions about mixed stories, where a run learns these
    mixed_seed: int = 100  # of these stories; another one gives others
    renew: int = 0  # epochs after which others take the place of these stories; 0 to keep them
    # A text or a folder of texts, whose short sentences are put between those of training stories.
    distract: str | None = None
    distracted: float = 0.25  # share of the training stories that get some
    patience: int = 0  # stop after so many epochs without a better validation; 0 to train to the end
    # Patience does not count while the best validation error, in percent, is above this: many models learn nothing for
    # long before they learn all at once.
    plateau: float = 100.0
    evaluate_every: int = 1  # epochs between validations
    # A model to start from, instead of from fresh weights: a shipped one, or a model or run directory.
    start: str | None = None

    def __post_init__(self) -> None:
        wrong = self._wrong_types() or [*self._wrong_signs(), *self._wrong_choices()]
        if wrong:
            raise ConfigError("; ".join(wrong))

    def _wrong_types(self) -> list[str]:
        wrong = []
        for f in dataclasses.fields(self):
            value, kind = getattr(self, f.name), _OPTIONAL.get(f.name, type(f.default))
            whole_is_fine = kind is float and type(value) is int
            if type(value) is not kind and not whole_is_fine and not (f.default is None and value is None):
                wrong.append(f"{f.name} must be of type {kind.__name__}, not {value!r}")
        return wrong

    def _wrong_signs(self) -> Iterator[str]:
        counts = ("epochs", "batch_size", "halve_every", "window", "evaluate_every", "mixed_questions")
        given = ("train_questions",) if self.train_questions is not None else ()
        for name in (*counts, "learning_rate", "clip", *given):
            if not getattr(self, name) > 0:
                yield f"{name} must be above 0, not {getattr(self, name)}"
        for name in ("warmup_steps", "halve_after", "mixed_seed", "renew", "patience", "plateau", "weight_decay"):
            if getattr(self, name) < 0:
                yield f"{name} must not be below 0, not {getattr(self, name)}"

    def _wrong_choices(self) -> Iterator[str]:
        for name in ("anonymise", "beta_2", "hide_words", "distracted"):
            if not 0 <= getattr(self, name) < 1:
                yield f"{name} must be at least 0 and below 1, not {getattr(self, name)}"
        for name, kind in _CHOICES.items():
            if getattr(self, name) not in get_args(kind):
                yield f"{name} must be {' or '.join(get_args(kind))}, not {getattr(self, name)}"


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """One run, fully determined."""

    # 1 to 20, the name of a preset ("scaled", "multi", "mixed"), "joint" for all twenty at once, or "all" for these and
    # mixed stories.
    task: int | str
    architecture: str = "amn"  # a name in `MODELS`
    seed: int = 0  # of weights, order and draws
    data: str | None = None  # folder or file of stories; None to generate them
    settings: dict[str, Any] = field(default_factory=dict)  # of the model, by field name
    train: TrainConfig = TrainConfig()  # of the training
    label: str = ""  # tells apart runs that differ only in settings

    @property
    def name(self) -> str:
        """A name for the run's directory."""
        task = f"qa{self.task}" if isinstance(self.task, int) else self.task
        model = f"{self.architecture}-{self.label}" if self.label else self.architecture
        return f"{model}-{task}-seed{self.seed}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "RunSpec":
        """The inverse of `to_json`."""
        return cls(**{**data, "train": TrainConfig(**data["train"])})


def split_settings(settings: dict[str, Any], model_fields: set[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divides `key=value` settings into those of the model and those of the training."""
    train_fields = {f.name for f in dataclasses.fields(TrainConfig)}
    of_model, of_training = {}, {}
    for name, value in settings.items():
        if name in model_fields:
            of_model[name] = value
        elif name in train_fields:
            of_training[name] = value
        else:
            raise ConfigError(f"no setting is called {name!r}; {did_you_mean(name, model_fields | train_fields)}")
    return of_model, of_training
