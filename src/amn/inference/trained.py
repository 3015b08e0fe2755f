"""A trained model: its weights, the words that it knows, and the record of how it was trained."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

from amn.config import TrainConfig
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.inference.calibration import Calibration
from amn.inference.phrasing import Phrasing

if TYPE_CHECKING:
    from amn.models.base import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord:
    """How a model was trained; where its record says nothing, as models usually are."""

    task: int | str | None = None  # that it was trained on; None where that is not known
    train: TrainConfig = TrainConfig()  # the settings of its training
    # The words by which sentences hang together, where it does not read them as they were told.
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "TrainingRecord":
        """Reads the `training` of a model's config.json; settings that this version does not know are left out."""
        run, settings = record.get("run", {}), {field.name for field in fields(TrainConfig)}
        known = {name: value for name, value in run.get("train", {}).items() if name in settings}
        return cls(task=run.get("task"), train=TrainConfig(**known), names=frozenset(record.get("names", ())))


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel:
    """What a model directory holds. The torch module is made when it is first needed: the core does without."""

    architecture: str  # a name in `MODELS`
    config: dict[str, Any]  # its settings, by the names of their fields
    weights: dict[str, np.ndarray] = field(repr=False)  # by the names of the module's parameters
    vocabulary: Vocabulary = field(repr=False)  # the words and answers that it knows
    record: dict[str, Any] = field(default_factory=dict, repr=False)  # how it was trained
    # How sure its answers are, where that was learned.
    calibration: Calibration | None = field(default=None, repr=False)
    phrasing: Phrasing | None = field(default=None, repr=False)  # of its training, where that was kept

    @classmethod
    def of(
        cls, architecture: str, model: "Model", vocabulary: Vocabulary, record: dict[str, Any] | None = None
    ) -> "TrainedModel":
        """A module as it is now; later changes of its weights are not seen."""
        weights = {name: value.detach().cpu().numpy().copy() for name, value in model.state_dict().items()}
        trained = cls(
            architecture=architecture,
            config=asdict(model.config),
            weights=weights,
            vocabulary=vocabulary,
            record=record or {},
        )
        trained.__dict__["model"] = model
        return trained

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word as stories spell it; words that are not here are unknown."""
        ids = {word: self.vocabulary.word_id(word) for word in self.vocabulary.words}
        letters = {letter: self.vocabulary.word_id(letter) for letter in ascii_uppercase}
        return {word: number for word, number in (letters | ids).items() if number > UNKNOWN}

    @cached_property
    def model(self) -> "Model":
        """The torch module, ready to answer."""
        import torch

        from amn.models import config_of, model_class

        kind = model_class(self.architecture)
        model = kind(config_of(kind, self.config))
        model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in self.weights.items()})
        model.know(self.vocabulary)
        return model.eval()

    @property
    def device_type(self) -> str:
        """Where the torch module is: "cpu" where there is none yet."""
        module = self.__dict__.get("model")
        return "cpu" if module is None else next(module.parameters()).device.type

    @property
    def anonymous(self) -> int:
        """How many vectors it has for unknown words; 0 where all of these are one to it."""
        return len(self.weights.get("encoder.anonymous", ()))

    @cached_property
    def training(self) -> TrainingRecord:
        """What its record says of its training."""
        return TrainingRecord.of(self.record)
