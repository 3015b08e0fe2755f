"""What people do in a mixed story: they go, take, drop, give, meet, and are said to be here or not there."""

from amn.data.tasks.mixed.asking import ASKERS, HARD_ASKERS
from amn.data.tasks.mixed.names import ME, Name
from amn.data.tasks.mixed.presence import present
from amn.data.tasks.mixed.teller import Asked, Teller
from amn.data.tasks.mixed.theme import Theme

# How likely each kind of event is, where its theme is in the story; those of bAbI in its own style of stories.
_WEIGHTS: dict[str, dict[str, float]] = {
    "moving": {"move": 8, "in": 1, "pair": 1, "then": 1, "not go": 0.7, "not there": 0.2, "empty": 0.2},
    "pairs": {"pair": 6},
    "carrying": {"get": 6, "get there": 1, "drop": 4, "put": 2, "lies": 2, "carry": 2}
    | {"have": 1, "put away": 2, "not get": 1.2, "not drop": 0.5, "buy": 1},
    "giving": {"get": 3, "have": 1, "give": 8, "not give": 0.6},
    "belief": {"in": 4, "not in": 5, "not there": 2, "empty": 1},
    "doubt": {"in": 3, "either": 6},
    "company": {"with": 5},
    "belongings": {
        **{"get": 6, "have": 4, "drop": 3, "put": 2, "put away": 6, "carry": 3, "give": 3, "lies": 3},
        **{"not get": 3, "not drop": 1.5, "not give": 1.5, "get there": 2, "buy": 2},
    },
}
_IN_BABI = frozenset(("move", "pair", "get", "drop", "give", "in", "not in", "either"))
THEMES = tuple(_WEIGHTS)
_TALK_ON = 0.35  # how often the person told of last acts again
_SAME_THING = 0.5  # how often what was told of last is what is told of again
_SEVERAL_SHARE = 0.25  # how often a sentence is about several things, or three people
_SEVERAL_IN_HARD = 0.5


class People(Theme):
    """People who act on one world; the themes say which kinds of events happen, and moves always do."""

    def __init__(self, teller: Teller, themes: list[str], names: list[Name]) -> None:
        super().__init__(teller)
        self.names, self.world, self.last = names, teller.world, names[0]
        self._themes = themes or ["moving"]
        self._several_share = _SEVERAL_IN_HARD if teller.hard else _SEVERAL_SHARE
        kinds: dict[str, float] = {}
        for theme in THEMES:
            if theme in themes or theme == "moving":
                for kind, weight in _WEIGHTS[theme].items():
                    kinds[kind] = kinds.get(kind, 0) + weight
        if teller.babi:
            told = _IN_BABI - (set() if {"belief", "doubt"} & {*themes} else {"in"})
            told -= set() if "pairs" in themes else {"pair"}
            kinds = {kind: weight for kind, weight in kinds.items() if kind in told}
        self._kinds, self._weights = list(kinds), list(kinds.values())

    def tell(self) -> bool:
        """One event: person and kind are drawn until they fit."""
        for _ in range(20):
            person = self.last if self.rng.random() < _TALK_ON else self.rng.choice(self.names)
            (kind,) = self.rng.choices(self._kinds, self._weights)
            if getattr(self, f"_{kind.replace(' ', '_')}")(person):  # the method of that name
                self.last = person
                return True
        return False

    def ask(self, unknown: bool) -> Asked | None:
        """About anything of the world."""
        askers = HARD_ASKERS if self.teller.hard else ASKERS
        asker = self.rng.choice(askers[self.rng.choice(self._themes)])
        return asker(self.teller, unknown)

    def go(self, *people: Name, place: Name | None = None, kind: str = "move") -> bool:
        """People go to a place, by default to one where none of them is."""
        place = place or self._elsewhere(*people)
        self.world.place(people, place, self.teller.tell(kind, *people, place=place.said))
        return True

    def _place_of(self, person: Name) -> Name | None:
        return self.world.spot_of(person).place

    def _elsewhere(self, *people: Name) -> Name:
        here = {self._place_of(person) for person in people}
        return self.rng.choice([place for place in self.cast.places if place not in here])

    def _move(self, person: Name) -> bool:
        return self.go(person)

    def _pair(self, person: Name) -> bool:
        others = [name for name in self.names if name != person]
        if not others:
            return False
        several = not self.teller.babi and len(others) > 1 and self.rng.random() < self._several_share
        together = (person, *self.rng.sample(others, 2 if several else 1))
        together = tuple(sorted(together, key=lambda name: name == ME))  # Mary and I
        self.go(*together)
        if len(self.teller.sentences) < self.teller.length and self.rng.random() < 0.4:
            self.go(*together)
        return True

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
        return self.go(person, kind="in")

    def _not_in(self, person: Name) -> bool:
        """Denies the place where the person was, or any if nothing was told; never twice, so that one denial holds."""
        if person in self.world.people and self._place_of(person) is None:
            return False
        place = self._place_of(person) or self.rng.choice(self.cast.places)
        self.world.doubt(person, self.teller.tell("not in", person, place=place.said), denied=place)
        return True

    def _not_there(self, person: Name) -> bool:
        """Denies the place that was told before, which the sentence does not name."""
        here = self.world.spot_of(person)
        if here.place is None:
            return False
        why = self.teller.tell("not there", person)
        self.world.doubt(person, tuple(sorted({*here.why, *why})), denied=here.place)
        return True

    def _empty(self, _: Name) -> bool:
        """Says only what follows anyway, or what nothing else was told of."""
        place = self.rng.choice(self.cast.places)
        if present(self.teller, place) != []:
            return False
        self.teller.state("empty", place=place.said)
        self.world.places.add(place)
        return True

    def _either(self, person: Name) -> bool:
        if self.world.spot_of(person).is_doubtful:
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

    def _some(self, things: list[Name], *, most: int = 3) -> list[Name]:
        """One of the things, or a few; at times those that were told of last."""
        if self.teller.babi:
            return [self.rng.choice(things)]
        topic = self.teller.topic
        if topic and len(topic) <= most and set(topic) <= set(things) and self.rng.random() < _SAME_THING:
            return list(topic)
        several = len(things) > 1 and most > 1 and self.rng.random() < self._several_share
        return self.rng.sample(things, self.rng.randint(2, min(most, len(things))) if several else 1)

    def _take(self, kind: str, person: Name, place: str = "") -> bool:
        things = [thing for thing in self.cast.things if self.world.can_take(person, thing)]
        if not things:
            return False
        chosen = self._some(things)
        lying = [self.world.things[thing].spot for thing in chosen if thing in self.world.things]
        if self._place_of(person) is None and sum(not spot.apart for spot in lying) > 1:
            return False  # these may lie in different places
        why = self.teller.tell(kind, person, things=chosen, place=place)
        for thing in chosen:
            self.world.take(person, thing, why, "have" if kind == "have" else "take")
        return True

    def _get(self, person: Name) -> bool:
        return self._take("get", person)

    def _have(self, person: Name) -> bool:
        return self._take("have", person)

    def _get_there(self, person: Name) -> bool:
        """The sentence says where, which is where the person is or comes for it; no town, which might be somebody."""
        here = self._place_of(person)
        if here is not None and here.said != here.text and self.rng.random() < 0.5:
            return self._take("get there", person, here.said)
        return self._fetch("get there", person)

    def _buy(self, person: Name) -> bool:
        return self._fetch("buy", person)

    def _fetch(self, kind: str, person: Name) -> bool:
        """Somebody gets something new elsewhere, and is there by that."""
        things = [thing for thing in self.cast.things if thing not in self.world.things]
        place = self._elsewhere(person)
        if not things or place.said == place.text:
            return False
        chosen = self._some(things)
        why = self.teller.tell(kind, person, things=chosen, place=place.said)
        self.world.place((person,), place, why)
        for thing in chosen:
            self.world.take(person, thing, why, "take" if kind == "get there" else "have")
        return True

    def _held(self, person: Name, *, most: int = 3) -> tuple[Name, list[Name]] | None:
        """Somebody who holds things, rather the person than others, and some of these things."""
        holders = [thing.holder for thing in self.world.things.values() if thing.holder]
        holders = [holder for holder in holders if not self.world.spot_of(holder).is_doubtful]
        if not holders:
            return None
        holder = person if person in holders else self.rng.choice(holders)
        return holder, self._some(self.world.held_by(holder), most=most)

    def _drop(self, person: Name, kind: str = "drop") -> bool:
        if (held := self._held(person)) is None:
            return False
        holder, things = held
        here = self._place_of(holder)
        if kind == "put" and here is None:
            return False
        why = self.teller.tell(kind, holder, things=things, place=here.said if here else "")
        for thing in things:
            self.world.drop(holder, thing, why, kind)
        return True

    def _put(self, person: Name) -> bool:
        """A drop whose sentence says where, which is where its holder is."""
        return self._drop(person, "put")

    def _put_away(self, person: Name) -> bool:
        """Into a box, or in a place where the person is by that; the thing may be told of for the first time."""
        things = [*self.world.held_by(person), *(thing for thing in self.cast.things if thing not in self.world.things)]
        if not things:
            return False
        chosen = self._some(things)
        apart = bool(self.cast.surfaces) and self.rng.random() < 0.5
        place = self.rng.choice(self.cast.surfaces) if apart else self._elsewhere(person)
        goes = self.rng.random() < 0.4
        other = self.rng.choice([other for other in self.cast.places if other not in (place, self._place_of(person))])
        kind = "put and go" if goes else "put"
        why = self.teller.tell(kind, person, things=chosen, place=place.said, other=other.said)
        for thing in chosen:
            self.world.put(person, thing, place, why, apart=apart)
        if goes:
            self.world.place((person,), other, why)
        return True

    def _give(self, person: Name) -> bool:
        if (held := self._held(person, most=1)) is None:
            return False
        holder, (thing,) = held
        receivers = [name for name in self.names if self.world.can_give(holder, name)]
        if not receivers:
            return False
        receiver = self.rng.choice(receivers)
        self.world.give(holder, thing, receiver, self.teller.tell("give", holder, to=receiver, things=(thing,)))
        return True

    def _lies(self, _: Name) -> bool:
        things = [thing for thing in self.cast.things if thing not in self.world.things]
        if not things:
            return False
        chosen, place = self._some(things), self.rng.choice(self.cast.places + self.cast.surfaces)
        why = self.teller.state("lies", things=chosen, place=place.said)
        for thing in chosen:
            self.world.lie(thing, place, why, apart=place in self.cast.surfaces)
        return True

    def _carry(self, person: Name) -> bool:
        """To no town: what is brought to Oslo might be brought to somebody of that name."""
        if (held := self._held(person)) is None:
            return False
        holder, things = held
        place = self._elsewhere(holder)
        if place.said == place.text:
            return False
        why = self.teller.tell("carry", holder, things=things, place=place.said)
        self.world.place((holder,), place, why)
        return True

    def _not_drop(self, person: Name) -> bool:
        """Changes nothing."""
        if not (things := self.world.held_by(person)):
            return False
        self.teller.tell("not drop", person, things=self._some(things))
        return True

    def _not_give(self, person: Name) -> bool:
        """Changes nothing."""
        others = [name for name in self.world.people if name in self.names and name != person]
        if not others or not (things := self.world.held_by(person)):
            return False
        self.teller.tell("not give", person, to=self.rng.choice(others), things=self._some(things, most=1))
        return True

    def _not_get(self, person: Name) -> bool:
        """Changes nothing; said only of things that the person never had."""
        things = [thing for thing in self.cast.things if thing not in self.world.person(person).taken]
        if not things:
            return False
        self.teller.tell("not get", person, things=self._some(things, most=1))
        return True
