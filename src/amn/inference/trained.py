"""Trained models: weights, vocabulary, and the record of the training."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from hashlib import sha256
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
    """How a model was trained, with defaults where its record says nothing."""

    task: int | str | None = None  # None if unknown
    train: TrainConfig = TrainConfig()  # the settings of its training
    # The words that link sentences, if it does not read them in the order of telling.
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "TrainingRecord":
        """Reads `training` of a model's config.json; unknown settings are ignored."""
        run, settings = record.get("run", {}), {field.name for field in fields(TrainConfig)}
        known = {name: value for name, value in run.get("train", {}).items() if name in settings}
        return cls(task=run.get("task"), train=TrainConfig(**known), names=frozenset(record.get("names", ())))


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel:
    """The content of a model directory. The torch module is created on demand: the core does not need it."""

    architecture: str  # a name in `MODELS`
    config: dict[str, Any]  # its settings, by name
    weights: dict[str, np.ndarray] = field(repr=False)  # by name of the parameter
    vocabulary: Vocabulary = field(repr=False)  # the words and answers that it knows
    record: dict[str, Any] = field(default_factory=dict, repr=False)  # how it was trained
    # Of its scores, if that was learned.
    calibration: Calibration | None = field(default=None, repr=False)
    phrasing: Phrasing | None = field(default=None, repr=False)  # of its training, if that was kept

    @classmethod
    def of(
        cls, architecture: str, model: "Model", vocabulary: Vocabulary, record: dict[str, Any] | None = None
    ) -> "TrainedModel":
        """A model with a copy of the weights of a module."""
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
        """The number of each word as spelled in stories; other words are unknown."""
        ids = {word: self.vocabulary.word_id(word) for word in self.vocabulary.words}
        letters = {letter: self.vocabulary.word_id(letter) for letter in ascii_uppercase}
        return {word: number for word, number in (letters | ids).items() if number > UNKNOWN}

    @cached_property
    def model(self) -> "Model":
        """The torch module, in evaluation mode."""
        import torch

        from amn.models import config_of, model_class

        kind = model_class(self.architecture)
        model = kind(config_of(kind, self.config))
        model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in self.weights.items()})
        model.know(self.vocabulary)
        return model.eval()

    @property
    def device_type(self) -> str:
        """The device of the torch module; "cpu" if it does not exist yet."""
        module = self.__dict__.get("model")
        return "cpu" if module is None else next(module.parameters()).device.type

    @property
    def anonymous(self) -> int:
        """The number of vectors for unknown words; 0 if all of these share one."""
        return len(self.weights.get("encoder.anonymous", ()))

    @cached_property
    def training(self) -> TrainingRecord:
        """How it was trained, from its record."""
        return TrainingRecord.of(self.record)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the weights."""
        digest = sha256()
        for name, value in sorted(self.weights.items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        return digest.hexdigest()
