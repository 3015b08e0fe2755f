"""The settings of mixed stories."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from amn.errors import ConfigError

MOST_SENTENCES = 60


@dataclass(frozen=True, kw_only=True)
class MixedConfig:
    """What mixed stories look like; the defaults are those to train on."""

    # "train" leaves out the fifth of the wordings that "kept-out" stories are told and asked in.
    wordings: Literal["train", "kept-out", "all"] = "train"
    names: Literal["known", "new"] = "known"  # "known" ones, or "new" ones that no story for training holds
    # The fewest and the most of a story; by default mostly up to 20, with a tail to 60.
    sentences: tuple[int, int] | None = None
    unknown: float = 0.15  # share of questions that the story does not answer
    irrelevant: float = 0.08  # share of sentences that tell nothing a question is about
    themes: int = 5  # the most kinds of facts in one story
    babi: float = 0.35  # share of stories in bAbI's own sentences and questions; none are kept out of training
    # Share of stories about what other stories ask rarely and models answer worst: fears, company, lists.
    hard: float = 0.0
    actors: float = 0.0  # share of stories in which not all who act have names: the doctor, the dog, the train

    def __post_init__(self) -> None:
        if problems := [*self._problems()]:
            raise ConfigError(f"mixed stories: {'; '.join(problems)}")

    def _problems(self) -> Iterator[str]:
        for name, words in (("wordings", ("train", "kept-out", "all")), ("names", ("known", "new"))):
            if getattr(self, name) not in words:
                yield f"{name} must be one of {', '.join(words)}, found {getattr(self, name)!r}"
        for name in ("unknown", "irrelevant", "babi", "hard", "actors"):
            if not 0 <= getattr(self, name) <= 1:
                yield f"{name} is a share from 0 to 1, found {getattr(self, name)}"
        if self.themes < 1:
            yield f"themes must be 1 or more, found {self.themes}"
        if self.sentences is not None and not 1 <= self.sentences[0] <= self.sentences[1] <= MOST_SENTENCES:
            yield f"sentences must be two rising numbers from 1 to {MOST_SENTENCES}, found {self.sentences}"
