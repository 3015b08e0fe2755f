"""What people do in a mixed story: they go, take, drop, give, meet, and are said to be here or not there."""

from collections.abc import Callable

from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.teller import Teller

# How likely each kind of event is, where its theme is in the story; those of bAbI in its own style of stories.
_WEIGHTS: dict[str, dict[str, float]] = {
    "moving": {"move": 8, "in": 1, "pair": 1, "then": 1, "not go": 0.7},
    "pairs": {"pair": 6},
    "carrying": {"get": 6, "get there": 1, "drop": 4, "put": 2, "lies": 2, "carry": 2, "not get": 1},
    "giving": {"get": 3, "give": 8},
    "belief": {"in": 4, "not in": 5},
    "doubt": {"in": 3, "either": 6},
    "company": {"with": 5},
}
_IN_BABI = ("move", "pair", "get", "drop", "give", "in", "not in", "either")
THEMES = tuple(_WEIGHTS)
_TALK_ON = 0.35  # how often the person told of last acts again


class People:
    """People who act on one world.

    Args:
        teller: the story.
        themes: which kinds of events happen; moves always do.
        names: who acts.
    """

    def __init__(self, teller: Teller, themes: set[str], names: list[Name]) -> None:
        self.teller, self.names = teller, names
        self.rng, self.world, self.cast = teller.rng, teller.world, teller.cast
        self.last = names[0]
        kinds: dict[str, float] = {}
        for theme in THEMES:
            if theme in themes or theme == "moving":
                for kind, weight in _WEIGHTS[theme].items():
                    kinds[kind] = kinds.get(kind, 0) + weight
        if teller.babi:
            kinds = {kind: weight for kind, weight in kinds.items() if kind in _IN_BABI}
            if not themes & {"belief", "doubt"}:
                kinds.pop("in", None)
            if "pairs" not in themes:
                kinds.pop("pair", None)
        self._kinds, self._weights = list(kinds), list(kinds.values())
        self._tell: dict[str, Callable[[Name], bool]] = {
            "move": self._move,
            "pair": self._pair,
            "then": self._then,
            "not go": self._not_go,
            "in": self._in,
            "not in": self._not_in,
            "either": self._either,
            "with": self._with,
            "get": self._get,
            "drop": self._drop,
            "give": self._give,
            "get there": self._get_there,
            "put": self._put,
            "lies": self._lies,
            "carry": self._carry,
            "not get": self._not_get,
        }

    def tell(self) -> bool:
        """One event: person and kind are drawn until they fit."""
        for _ in range(20):
            person = self.last if self.rng.random() < _TALK_ON else self.rng.choice(self.names)
            (kind,) = self.rng.choices(self._kinds, self._weights)
            if self._tell[kind](person):
                self.last = person
                return True
        return False

    def go(self, person: Name, place: Name) -> None:
        """Somebody goes to a place."""
        self.world.place((person,), place, self.teller.tell("move", person, place=place.said))

    def _place_of(self, person: Name) -> Name | None:
        known = self.world.people.get(person)
        return known.spot.place if known else None

    def _elsewhere(self, *people: Name) -> Name:
        here = {self._place_of(person) for person in people}
        return self.rng.choice([place for place in self.cast.places if place not in here])

    def _move(self, person: Name) -> bool:
        self.go(person, self._elsewhere(person))
        return True

    def _pair(self, person: Name) -> bool:
        other = self.rng.choice(self.names)
        if other == person:
            return False
        self._move_both(person, other)
        if len(self.teller.sentences) < self.teller.length and self.rng.random() < 0.4:
            self._move_both(person, other)
        return True

    def _move_both(self, person: Name, other: Name) -> None:
        place = self._elsewhere(person, other)
        self.world.place((person, other), place, self.teller.tell("move", person, other, place=place.said))

    def _then(self, person: Name) -> bool:
        first = self._elsewhere(person)
        second = self.rng.choice([place for place in self.cast.places if place != first])
        why = self.teller.tell("then", person, place=first.said, other=second.said)
        self.world.place((person,), first, why)
        self.world.place((person,), second, why)
        return True

    def _not_go(self, person: Name) -> bool:
        """Changes nothing; said only of people whose place is known, and of places they were never told to be in."""
        known = self.world.people.get(person)
        if known is None or any(spot.place is None for spot, _ in known.stops) or not known.stops:
            return False
        been = {spot.place for spot, _ in known.stops}
        places = [place for place in self.cast.places if place not in been]
        if not places:
            return False
        self.teller.tell("not go", person, place=self.rng.choice(places).said)
        return True

    def _in(self, person: Name) -> bool:
        place = self._elsewhere(person)
        self.world.place((person,), place, self.teller.tell("in", person, place=place.said))
        return True

    def _is_in_doubt(self, person: Name) -> bool:
        return person in self.world.people and self.world.people[person].spot.is_doubtful

    def _not_in(self, person: Name) -> bool:
        """Denies the place where the person was, or any if nothing was told; never twice, so that one denial holds."""
        if self._is_in_doubt(person) or (person in self.world.people and self._place_of(person) is None):
            return False
        place = self._place_of(person) or self.rng.choice(self.cast.places)
        self.world.doubt(person, self.teller.tell("not in", person, place=place.said), denied=place)
        return True

    def _either(self, person: Name) -> bool:
        if self._is_in_doubt(person):
            return False
        one, other = self.rng.sample(self.cast.places, 2)
        why = self.teller.tell("either", person, place=one.said, other=other.said)
        self.world.doubt(person, why, options=(one, other))
        return True

    def _with(self, person: Name) -> bool:
        others = [name for name in self.names if name in self.world.people and name != person]
        others = [name for name in others if self._place_of(name) and self._place_of(name) != self._place_of(person)]
        if not others:
            return False
        other = self.rng.choice(others)
        self.world.follow(person, other, self.teller.tell("with", person, to=other))
        return True

    def _get(self, person: Name) -> bool:
        things = [thing for thing in self.cast.things if self.world.can_take(person, thing)]
        if not things:
            return False
        thing = self.rng.choice(things)
        self.world.take(person, thing, self.teller.tell("get", person, thing=thing.said))
        return True

    def _get_there(self, person: Name) -> bool:
        """The sentence says where, which is where the person is."""
        things = [thing for thing in self.cast.things if self.world.can_take(person, thing)]
        here = self._place_of(person)
        if not things or here is None:
            return False
        thing = self.rng.choice(things)
        self.world.take(person, thing, self.teller.tell("get there", person, thing=thing.said, place=here.said))
        return True

    def _held(self, person: Name) -> tuple[Name, Name] | None:
        """A thing and who holds it: the person, if they hold any, or somebody else."""
        held = [(thing.holder, name) for name, thing in self.world.things.items() if thing.holder]
        held = [(holder, name) for holder, name in held if not self._is_in_doubt(holder)]
        own = [pair for pair in held if pair[0] == person]
        return self.rng.choice(own or held) if held else None

    def _drop(self, person: Name) -> bool:
        if (held := self._held(person)) is None:
            return False
        holder, thing = held
        self.world.drop(holder, thing, self.teller.tell("drop", holder, thing=thing.said))
        return True

    def _put(self, person: Name) -> bool:
        """A drop whose sentence says where, which is where its holder is."""
        held = self._held(person)
        here = self._place_of(held[0]) if held else None
        if held is None or here is None:
            return False
        holder, thing = held
        self.world.drop(holder, thing, self.teller.tell("put", holder, thing=thing.said, place=here.said))
        return True

    def _give(self, person: Name) -> bool:
        if (held := self._held(person)) is None:
            return False
        holder, thing = held
        receivers = [name for name in self.names if self.world.can_give(holder, name)]
        if not receivers:
            return False
        receiver = self.rng.choice(receivers)
        self.world.give(holder, thing, receiver, self.teller.tell("give", holder, to=receiver, thing=thing.said))
        return True

    def _lies(self, _: Name) -> bool:
        things = [thing for thing in self.cast.things if thing not in self.world.things]
        if not things:
            return False
        thing, place = self.rng.choice(things), self.rng.choice(self.cast.places + self.cast.surfaces)
        self.world.lie(thing, place, self.teller.state("lies", thing=thing.said, place=place.said))
        return True

    def _carry(self, person: Name) -> bool:
        """To no town: what is brought to Oslo might be brought to somebody of that name."""
        if (held := self._held(person)) is None:
            return False
        holder, thing = held
        place = self._elsewhere(holder)
        if place.said == place.text:
            return False
        why = self.teller.tell("carry", holder, thing=thing.said, place=place.said)
        self.world.place((holder,), place, why)
        return True

    def _not_get(self, person: Name) -> bool:
        """Changes nothing; said only of things that the person never had."""
        if person not in self.world.people:
            return False
        things = [name for name in self.world.things if name not in self.world.people[person].taken]
        if not things:
            return False
        self.teller.tell("not get", person, thing=self.rng.choice(things).said)
        return True
