"""Questions about who is in a place, and with whom."""

from collections.abc import Iterable

from amn.data.tasks.carrying import NUMBERS
from amn.data.tasks.mixed.names import ME, Name
from amn.data.tasks.mixed.teller import Asked, Teller
from amn.data.tasks.mixed.theme import any_person, asked
from amn.data.tasks.mixed.world import Person

_CROWDED = 0.7  # of the questions of hard stories about who is in a place, those about more than one person


def present(teller: Teller, place: Name) -> list[Person] | None:
    """Who is in a place, in the order in which the story first tells of them; None where that is not settled."""
    if teller.outsiders - teller.world.people.keys():
        return None
    found = []
    for person in teller.world.people.values():
        spot = person.spot
        if spot.place == place:
            found.append(person)
        elif spot.place is None and (not spot.is_doubtful or place in spot.options or spot.denied not in (None, place)):
            return None
    return found


def _place_lines(people: Iterable[Person]) -> list[int]:
    return [line for person in people for line in person.spot.why]


def who_in(teller: Teller, unknown: bool) -> Asked | None:
    """Who is in a place, or how many?"""
    return _asked_of_place(teller, unknown, teller.rng.choice(("who in", "who in", "count in")), teller.hard)


def anybody(teller: Teller, unknown: bool) -> Asked | None:
    """Is there anybody in a place?"""
    return _asked_of_place(teller, unknown, "anybody in", False)


def _asked_of_place(teller: Teller, unknown: bool, kind: str, crowded: bool) -> Asked | None:
    """About any place; where that is wanted, mostly about one where several people are."""
    if unknown:
        return asked(kind, None, place=teller.rng.choice(teller.cast.other_places))
    places, spots = sorted(teller.world.places), [person.spot.place for person in teller.world.people.values()]
    full = [place for place in places if crowded and spots.count(place) > 1]
    if not places:
        return None
    place = teller.rng.choice(full if full and teller.rng.random() < _CROWDED else places)
    if (settled := present(teller, place)) is None:
        return None
    names = ",".join(person.name.text for person in settled) or "nobody"
    answer = {"who in": names, "count in": NUMBERS[len(settled)], "anybody in": "yes" if settled else "no"}[kind]
    return asked(kind, answer, _place_lines(settled), place=place)


def _in_company(teller: Teller) -> Name | None:
    """Anybody; in hard stories mostly somebody who is not alone."""
    spots = {name: person.spot.place for name, person in teller.world.people.items()} if teller.hard else {}
    together = [name for name, place in spots.items() if place and list(spots.values()).count(place) > 1]
    return teller.rng.choice(together) if together and teller.rng.random() < _CROWDED else any_person(teller, False)


def who_with(teller: Teller, unknown: bool) -> Asked | None:
    """Who is with a person?"""
    if unknown:
        return asked("who with", None, who=teller.rng.choice(teller.cast.other_people))
    topic = _in_company(teller)
    spot = teller.world.people[topic].spot if topic else None
    settled = present(teller, spot.place) if spot and spot.place else None
    if topic is None or settled is None:
        return None
    others = ",".join(person.name.text for person in settled if person.name != topic)
    return asked("who with", others or "nobody", _place_lines(settled), who=topic)


def is_with(teller: Teller, unknown: bool) -> Asked | None:
    """Are two people in one place?"""
    one, other = any_person(teller, unknown), any_person(teller, unknown)
    if one is None or other is None or one == other:
        return None
    if one == ME:
        one, other = other, one
    people = [person for name in (one, other) if (person := teller.world.people.get(name))]
    places = {person.spot.place for person in people}
    if None in places or len(people) < 2:
        return None if len(people) == 2 else asked("is with", None, who=one, to=other)
    return asked("is with", "yes" if len(places) == 1 else "no", _place_lines(people), who=one, to=other)
