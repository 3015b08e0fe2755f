"""What a story has told of people, places and things, and what follows from it.

Nothing happens unseen: the world is what a careful reader knows. Two who stand in one place share what is told of it,
also of earlier times: who takes a thing is where the thing is, and who gives something is where the receiver is.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from amn.data.tasks.mixed.names import Name

Lines = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Spot:
    """Where somebody or something was for a while."""

    place: Name | None = None  # its name, where it is known
    why: Lines = ()  # the lines that tell it
    options: tuple[Name, ...] = ()  # the places of an either-or
    denied: Name | None = None  # a place that it is not
    # Other spots that are the same place, and the lines that tell so.
    same: list[tuple["Spot", Lines]] = field(default_factory=list)
    apart: bool = False  # whether it is a table or a box, where only things are

    @property
    def is_doubtful(self) -> bool:
        """Whether something was told, but not which place."""
        return self.place is None and (bool(self.options) or self.denied is not None)

    def learn(self, place: Name, why: Lines) -> None:
        """The place becomes known, here and wherever it is the same."""
        self.place, self.why = place, why
        for other, lines in self.same:
            if other.place is None:
                other.learn(place, why + lines)

    def join(self, other: "Spot", why: Lines) -> None:
        """Both are the same place."""
        if other is self:
            return
        self.same.append((other, why))
        other.same.append((self, why))
        if self.place is not None and other.place is None:
            other.learn(self.place, self.why + why)
        elif other.place is not None and self.place is None:
            self.learn(other.place, other.why + why)

    def fits(self, other: "Spot") -> bool:
        """Whether both may be the same place; spots in doubt are left alone."""
        if self.is_doubtful or other.is_doubtful:
            return False
        if self.apart or other.apart:
            return True
        return self.place is None or other.place is None or self.place == other.place


Stop = tuple[Spot, Lines]  # where something was, and the lines that tell how it came there


class Action(NamedTuple):
    """Somebody did something with a thing."""

    verb: str
    who: Name
    thing: Name
    why: Lines
    spot: Spot | None  # where, if that has one plain answer


def route(stops: Iterable[Stop]) -> list[Stop]:
    """The stops one after the other, without those that only repeat where it is."""
    found: list[Stop] = []
    for stop in stops:
        last = found[-1][0] if found else None
        if last is None or (stop[0] is not last and (stop[0].place is None or stop[0].place != last.place)):
            found.append(stop)
    return found


@dataclass(slots=True, eq=False)
class Being:
    """Somebody or something the story tells of."""

    name: Name
    stops: list[Stop] = field(default_factory=list)  # where it was, in turn

    @property
    def spot(self) -> Spot:
        """Where it is."""
        if not self.stops:
            self.stops.append((Spot(), ()))
        return self.stops[-1][0]


@dataclass(slots=True, eq=False)
class Person(Being):
    """Somebody the story tells of."""

    taken: list[Name] = field(default_factory=list)  # things that the person ever got, in the order of the first time
    handled: list[int] = field(default_factory=list)  # lines that tell of the person getting or letting go of something


@dataclass(slots=True, eq=False)
class Thing(Being):
    """A thing the story tells of."""

    holder: Name | None = None  # who has it, if anybody
    why: Lines = ()  # the lines that tell who has it or who left it
    passed_on: bool = False  # whether these lines leave open how it came to where it is


@dataclass(frozen=True, slots=True)
class Gift:
    """Somebody gave something to somebody."""

    giver: Name
    thing: Name
    receiver: Name
    why: Lines


@dataclass(slots=True, eq=False)
class MixedWorld:
    """People and things by name, gifts in the order told, and the places told of."""

    people: dict[Name, Person] = field(default_factory=dict)
    things: dict[Name, Thing] = field(default_factory=dict)
    gifts: list[Gift] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    places: set[Name] = field(default_factory=set)
    arrivals: list[tuple[Name, Stop]] = field(default_factory=list)  # of people, in the order told

    def find(self, name: Name) -> Being | None:
        """The person or thing of this name, if the story tells of it."""
        return self.people.get(name) or self.things.get(name)

    def person(self, name: Name) -> Person:
        """The person of this name, from now on told of."""
        return self.people.setdefault(name, Person(name))

    def spot_of(self, name: Name) -> Spot:
        """Where a person is, as far as the story tells of that."""
        return self.people[name].spot if name in self.people else Spot()

    def held_by(self, name: Name) -> list[Name]:
        """Things that the person has, in the order in which the person first got each."""
        person = self.people.get(name)
        return [thing for thing in person.taken if self.things[thing].holder == name] if person else []

    def place(self, names: Iterable[Name], place: Name, why: Lines) -> None:
        """People are in a place, and what they hold as well."""
        self.places.add(place)
        for name in names:
            self._arrive(name, Spot(place, why), why)

    def doubt(self, name: Name, why: Lines, *, options: tuple[Name, ...] = (), denied: Name | None = None) -> None:
        """Somebody is in one of two places, or not in a place."""
        self.places.update(options if denied is None else (denied,))
        self._arrive(name, Spot(None, why, options, denied), why)

    def follow(self, name: Name, other: Name, why: Lines) -> None:
        """Somebody comes to where another is."""
        there = self.person(other).spot
        spot = Spot(there.place, there.why + why if there.place else why)
        there.same.append((spot, why))
        spot.same.append((there, why))
        self._arrive(name, spot, why)

    def _arrive(self, name: Name, spot: Spot, why: Lines) -> None:
        self.person(name).stops.append((spot, why))
        self.arrivals.append((name, (spot, why)))
        for item in self.held_by(name):
            thing = self.things[item]
            thing.stops.append((spot, thing.why))
            thing.passed_on = False

    def lie(self, item: Name, place: Name, why: Lines, *, apart: bool) -> None:
        """A thing is in a place, wherever it was before."""
        if not apart:
            self.places.add(place)
        thing = self.things.setdefault(item, Thing(item))
        thing.stops.append((Spot(place, why, apart=apart), ()))
        thing.holder, thing.why, thing.passed_on = None, why, False

    def put(self, name: Name, item: Name, place: Name, why: Lines, *, apart: bool) -> None:
        """Somebody leaves a thing in a place, and is there too unless it is one apart."""
        if not apart and self.person(name).spot.place != place:
            self.place((name,), place, why)
        thing, person = self.things.setdefault(item, Thing(item)), self.person(name)
        if apart:
            thing.stops.append((Spot(place, why, apart=True), why))
        elif not thing.stops or thing.spot is not person.spot:
            thing.stops.append((person.spot, why))
        thing.holder, thing.why, thing.passed_on = None, why, False
        person.handled.extend(why)
        self.actions.append(Action("put", name, item, why, thing.spot))

    def can_take(self, name: Name, item: Name) -> bool:
        """Whether the thing may be where the person is."""
        thing = self.things.get(item)
        here = self.spot_of(name)
        if thing is None:
            return not here.is_doubtful
        return thing.holder is None and here.fits(thing.spot)

    def can_seize(self, name: Name, item: Name) -> bool:
        """Whether somebody else has the thing, and may be where the person is."""
        thing = self.things.get(item)
        return thing is not None and thing.holder not in (None, name) and self.spot_of(name).fits(thing.spot)

    def take(self, name: Name, item: Name, why: Lines, verb: str = "take") -> None:
        """Somebody gets a thing, perhaps from somebody who had it."""
        person = self.person(name)
        thing = self.things.setdefault(item, Thing(item))
        if thing.holder is not None:
            self.people[thing.holder].handled.extend(why)
        apart = bool(thing.stops) and thing.spot.apart
        if thing.stops and not apart:
            thing.spot.join(person.spot, thing.stops[-1][1] + thing.why + why)
        else:
            thing.stops.append((person.spot, why))
        self._hold(person, thing, why)
        self.actions.append(Action(verb, name, item, why, None if apart else person.spot))

    def drop(self, name: Name, item: Name, why: Lines, verb: str) -> None:
        """Somebody lets go of a thing."""
        thing, person = self.things[item], self.people[name]
        thing.holder, thing.why, thing.passed_on = None, why, thing.spot is not person.spot
        person.handled.extend(why)
        self.actions.append(Action(verb, name, item, why, person.spot))

    def can_give(self, giver: Name, receiver: Name) -> bool:
        """Whether both may be in one place."""
        return giver != receiver and self.people[giver].spot.fits(self.spot_of(receiver))

    def give(self, giver: Name, item: Name, receiver: Name, why: Lines) -> None:
        """Somebody gives a thing to somebody near."""
        to = self.person(receiver)
        self.people[giver].spot.join(to.spot, why)
        self.people[giver].handled.extend(why)
        self._hold(to, self.things[item], why)
        self.gifts.append(Gift(giver, item, receiver, why))
        self.actions += [Action(*deed, item, why, to.spot) for deed in (("give", giver), ("receive", receiver))]

    def _hold(self, person: Person, thing: Thing, why: Lines) -> None:
        thing.holder, thing.why, thing.passed_on = person.name, why, thing.spot is not person.spot
        person.handled.extend(why)
        if thing.name not in person.taken:
            person.taken.append(thing.name)
