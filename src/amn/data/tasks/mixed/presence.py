"""Questions about who is in a place, and with whom."""

from amn.data.tasks.mixed.names import ME, Name
from amn.data.tasks.mixed.teller import Asked, Teller
from amn.data.tasks.mixed.topics import NUMBERS, any_person, asked
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


def who_in(teller: Teller, unknown: bool) -> Asked | None:
    """Who is in a place, or how many?"""
    kind = teller.rng.choice(("who in", "who in", "count in"))
    if unknown:
        return asked(kind, None, (), place=teller.rng.choice(teller.cast.other_places))
    places = sorted(teller.world.places)
    settled = present(teller, place := _place_of_some(teller, places)) if places else None
    if settled is None:
        return None
    lines = tuple(line for person in settled for line in person.spot.why)
    names = ",".join(person.name.text for person in settled) or "nobody"
    return asked(kind, names if kind == "who in" else NUMBERS[len(settled)], lines, place=place)


def _place_of_some(teller: Teller, places: list[Name]) -> Name:
    """Any place; in hard stories mostly one where several people are."""
    spots = [person.spot.place for person in teller.world.people.values()] if teller.hard else []
    crowded = [place for place in places if spots.count(place) > 1]
    return teller.rng.choice(crowded if crowded and teller.rng.random() < _CROWDED else places)


def _in_company(teller: Teller) -> Name | None:
    """Anybody; in hard stories mostly somebody who is not alone."""
    spots = {name: person.spot.place for name, person in teller.world.people.items()} if teller.hard else {}
    together = [name for name, place in spots.items() if place and list(spots.values()).count(place) > 1]
    return teller.rng.choice(together) if together and teller.rng.random() < _CROWDED else any_person(teller, False)


def who_with(teller: Teller, unknown: bool) -> Asked | None:
    """Who is with a person?"""
    if unknown:
        return asked("who with", None, (), who=teller.rng.choice(teller.cast.other_people))
    topic = _in_company(teller)
    spot = teller.world.people[topic].spot if topic else None
    settled = present(teller, spot.place) if spot and spot.place else None
    if topic is None or settled is None:
        return None
    lines = tuple(line for person in settled for line in person.spot.why)
    others = ",".join(person.name.text for person in settled if person.name != topic)
    return asked("who with", others or "nobody", lines, who=topic)


def is_with(teller: Teller, unknown: bool) -> Asked | None:
    """Are two people in one place?"""
    one, other = any_person(teller, unknown), any_person(teller, unknown)
    if one is None or other is None or one == other:
        return None
    if one == ME:
        one, other = other, one
    people = [teller.world.people.get(name) for name in (one, other)]
    known = [person.spot for person in people if person and person.spot.place]
    if len(known) == 2:
        lines = known[0].why + known[1].why
        return asked("is with", "yes" if known[0].place == known[1].place else "no", lines, who=one, to=other)
    return None if all(people) else asked("is with", None, (), who=one, to=other)


def anybody(teller: Teller, unknown: bool) -> Asked | None:
    """Is there anybody in a place?"""
    if unknown:
        return asked("anybody in", None, (), place=teller.rng.choice(teller.cast.other_places))
    places = sorted(teller.world.places)
    settled = present(teller, place := teller.rng.choice(places)) if places else None
    if settled is None:
        return None
    lines = tuple(line for person in settled for line in person.spot.why)
    return asked("anybody in", "yes" if settled else "no", lines, place=place)
