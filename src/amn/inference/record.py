"""What the training record of a model says, for all who ask; it is written when a run has ended."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from amn.config import TrainConfig

_SETTINGS = {field.name for field in fields(TrainConfig)}


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
        run = record.get("run", {})
        known = {name: value for name, value in run.get("train", {}).items() if name in _SETTINGS}
        return cls(task=run.get("task"), train=TrainConfig(**known), names=frozenset(record.get("names", ())))
