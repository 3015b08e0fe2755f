"""The runs of a grid: tasks x models x seeds with given settings."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from amn.config import RunSpec, TrainConfig, split_settings
from amn.models import model_class
from amn.training.start import settings_of


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What to train."""

    tasks: Sequence[int | str]  # of the runs
    models: Sequence[str] = ("amn",)  # their architectures
    seeds: Sequence[int] = (0,)  # of each task and model
    data: str | None = None  # folder or file of stories; None to generate them
    # Of models and training alike, by name; they come before the recipe of a model, and before the settings of the
    # model to start from.
    settings: dict[str, Any] = field(default_factory=dict)
    label: str = ""  # part of the runs' names

    def specs(self) -> list[RunSpec]:
        """Every run, by model, then by task, then by seed."""
        return [spec for model in self.models for spec in self._of(model)]

    def _of(self, model: str) -> list[RunSpec]:
        kind = model_class(model)
        of_model, of_training = split_settings(self.settings, {f.name for f in dataclasses.fields(kind.Config)})
        recipe = TrainConfig(**{**kind.recipe, **of_training})
        if recipe.start is not None:
            of_model = {**settings_of(recipe.start), **of_model}
        return [
            RunSpec(
                task=task,
                architecture=model,
                seed=seed,
                data=self.data,
                settings=of_model,
                train=recipe,
                label=self.label,
            )
            for task in self.tasks
            for seed in self.seeds
        ]


QUICK_TASKS = frozenset({1, 6, 9, 10, 12, 15, 20})  # learned in a few epochs, as measured on generated stories
QUICK_EPOCHS = 8


def quick(spec: RunSpec) -> RunSpec:
    """The run with few epochs, where its task is learned in few and its model has no recipe of its own."""
    has_recipe = "epochs" in model_class(spec.architecture).recipe
    if spec.task not in QUICK_TASKS or has_recipe:
        return spec
    return dataclasses.replace(spec, train=dataclasses.replace(spec.train, epochs=QUICK_EPOCHS))
