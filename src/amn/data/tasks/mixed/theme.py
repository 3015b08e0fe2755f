"""What every theme and question starts from: something to tell, whom or what to ask about, and answers with lines."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.teller import UNKNOWN, Asked, Teller

_SPARE_SHARE = 0.5  # of the questions that are to be unknown, those about names that the story lacks

# A question's own: given the story and whether the answer should be unknown; None where there is nothing to ask.
Asker = Callable[[Teller, bool], Asked | None]


class Theme(ABC):
    """Something to tell and to ask about; by default, facts that wait to be told."""

    def __init__(self, teller: Teller) -> None:
        self.teller, self.rng, self.cast = teller, teller.rng, teller.cast
        self.waiting: list[Callable[[], None]] = []

    def tell(self) -> bool:
        """One more sentence or two; False where there is nothing to tell."""
        if not self.waiting:
            return False
        self.waiting.pop()()
        return True

    @abstractmethod
    def ask(self, unknown: bool) -> Asked | None:
        """A question, preferably of the kind wanted; None where there is nothing to ask."""


def asked(kind: str, answer: Name | str | None, support: Iterable[int] = (), /, **slots: Name | str) -> Asked:
    """A question with its answer; None for one that the story does not give, which nothing supports."""
    said = {slot: name.said if isinstance(name, Name) else name for slot, name in slots.items()}
    if answer is None:
        return Asked(kind=kind, answer=UNKNOWN, support=(), slots=said)
    text = answer.text if isinstance(answer, Name) else answer
    return Asked(kind=kind, answer=text, support=tuple(sorted(set(support))), slots=said)


def _spare(teller: Teller, unknown: bool) -> bool:
    return unknown and teller.rng.random() < _SPARE_SHARE


def any_person(teller: Teller, unknown: bool) -> Name | None:
    """Somebody told of, lately told ones no less than others; or somebody never told of."""
    if _spare(teller, unknown):
        return teller.rng.choice(teller.cast.other_people)
    return teller.rng.choice(list(teller.world.people)) if teller.world.people else None


def any_thing(teller: Teller, unknown: bool) -> Name | None:
    """The same for things."""
    if _spare(teller, unknown):
        return teller.rng.choice(teller.cast.other_things)
    return teller.rng.choice(list(teller.world.things)) if teller.world.things else None
