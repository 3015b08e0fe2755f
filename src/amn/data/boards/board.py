"""A leaderboard: published data with its splits and its way of scoring."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from amn.data.story import Story

ONE_MODEL = "joint"  # the variant of a board with a model for each part in which one model learns all of them


@dataclass(frozen=True, kw_only=True)
class Board:
    """A published set of questions that models are compared by."""

    name: str  # what `--task` takes
    title: str  # what it is called in print
    parts: tuple[str, ...]  # what is scored apart, by name
    source: str  # the data with its licence, for the cards of models
    # The stories of a split in a folder; of one part, or of all where the part is None.
    read: Callable[[Path, str, str | None], list[Story]]
    each: bool = False  # whether every part has a model of its own; else one model learns all of them
    # Further ways to train, whose names stand where a part's may stand; and what they train on.
    variants: Mapping[str, str] = field(default_factory=dict)
    # The figures that papers give: by name, the parts that are averaged.
    means: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: str = ""  # how it is scored, for those who compare

    @property
    def tasks(self) -> list[str]:
        """The tasks that a sweep over the board trains."""
        return [self.task(part) for part in self.parts] if self.each else [self.name]

    def task(self, part: str) -> str:
        """The name of a part, or a variant, as a task."""
        return f"{self.name}-{part}"
