"""The base of all themes and questions: something to tell, somebody or something to ask about, answers with lines."""

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeVar

from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.vocabulary import UNKNOWN_ANSWER

_SPARE_SHARE = 0.5  # of the questions that are to be unknown, those about names that the story lacks
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeTable:
    """A section of `themes.toml`, which says what its fields mean."""

    free: float
    hard: float = 0
    babi: bool = True
    events: Mapping[str, float] = field(default_factory=dict)
    questions: Mapping[str, int] = field(default_factory=dict)
    hard_questions: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)


_TABLE = (files("amn.data.tasks.mixed") / "themes.toml").read_text(encoding="utf-8")
THEMES = {name: ThemeTable(**table) for name, table in tomllib.loads(_TABLE).items()}


class Theme(ABC):
    """Something to tell and to ask about; by default, facts that wait to be told."""

    def __init__(self, teller: Teller) -> None:
        self.teller, self.rng, self.cast, self.pick = teller, teller.rng, teller.cast, teller.pick
        self.waiting: list[Callable[[], None]] = []

    def tell(self) -> None:
        """Tells one more sentence or two.

        Raises:
            NothingToSayError: where there is nothing to tell.
        """
        if not self.waiting:
            raise NothingToSayError
        self.waiting.pop()()

    @abstractmethod
    def ask(self, unknown: bool) -> Asked:
        """A question, preferably one whose answer is unknown or known, as wanted.

        Raises:
            NothingToSayError: where there is nothing to ask.
        """


def asked(kind: str, answer: Name | str | None, support: Iterable[int] = (), /, **slots: Name | str) -> Asked:
    """A question with its answer; None for one that the story does not give, which nothing supports."""
    said = {slot: name.said if isinstance(name, Name) else name for slot, name in slots.items()}
    if answer is None:
        return Asked(kind=kind, answer=UNKNOWN_ANSWER, support=(), slots=said)
    text = answer.text if isinstance(answer, Name) else answer
    return Asked(kind=kind, answer=text, support=tuple(sorted(set(support))), slots=said)


def needed(value: _Value | None) -> _Value:
    """The value; without one there is nothing to say."""
    if value is None:
        raise NothingToSayError
    return value


def any_person(teller: Teller, unknown: bool) -> Name | None:
    """Somebody told of, however long ago; where the answer is to be unknown, at times somebody never told of."""
    return _drawn(teller, unknown, list(teller.world.people), teller.cast.other_people)


def any_thing(teller: Teller, unknown: bool) -> Name | None:
    """The same for things."""
    return _drawn(teller, unknown, list(teller.world.things), teller.cast.other_things)


def _drawn(teller: Teller, unknown: bool, told: list[Name], spare: list[Name]) -> Name | None:
    if unknown and teller.rng.random() < _SPARE_SHARE:
        return teller.rng.choice(spare)
    return teller.rng.choice(told) if told else None
