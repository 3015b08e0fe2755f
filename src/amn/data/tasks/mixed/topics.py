"""What every question about people and things starts from: whom or what it is about, and its answer with its lines."""

from collections.abc import Callable, Iterable

from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.teller import UNKNOWN, Asked, Teller

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SPARE_SHARE = 0.5  # of the questions that are to be unknown, those about names that the story lacks

# A question's own: given the story and whether the answer should be unknown; None where there is nothing to ask.
Asker = Callable[[Teller, bool], Asked | None]


def asked(kind: str, answer: str | None, support: Iterable[int], **slots: Name) -> Asked:
    """A question with its answer; None for one that the story does not give."""
    said = {slot: name.said for slot, name in slots.items()}
    lines = () if answer is None else tuple(sorted(set(support)))
    return Asked(kind=kind, answer=answer or UNKNOWN, support=lines, slots=said)


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
