"""What people do in a mixed story: they go, take, drop, give, meet, and are said to be here or not there."""

from contextlib import suppress
from functools import partialmethod

from amn.data.tasks.mixed import questions
from amn.data.tasks.mixed.names import ME, Name
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.tasks.mixed.theme import THEMES, Theme, needed

# What bAbI's own stories tell.
_IN_BABI = frozenset(("move", "pair", "get", "drop", "give", "in", "not_in", "either"))
_SAME_PERSON = 0.35  # how often the person told of last acts again
_SAME_THING = 0.5  # how often what was told of last is what is told of again
_SEVERAL_SHARE = 0.25  # how often a sentence is about several things, or three people
_SEVERAL_IN_HARD = 0.5
_SHELVED_SHARE = 0.3  # how often what is put in a box or on a table is "moved" there


class People(Theme):
    """People who act on one world; the themes say which kinds of events happen, and moves always do."""

    def __init__(self, teller: Teller, themes: list[str], names: list[Name]) -> None:
        super().__init__(teller)
        self.names, self.world, self.last = names, teller.world, names[0]
        self._themes = themes or ["moving"]
        self._several_share = _SEVERAL_IN_HARD if teller.hard else _SEVERAL_SHARE
        kinds: dict[str, float] = {}
        for name, theme in THEMES.items():
            if name in themes or name == "moving":
                for kind, weight in theme.events.items():
                    kinds[kind] = kinds.get(kind, 0) + weight
        if teller.babi:
            told = _IN_BABI - (set() if {"belief", "doubt"} & {*themes} else {"in"})
            told -= set() if "pairs" in themes else {"pair"}
            kinds = {kind: weight for kind, weight in kinds.items() if kind in told}
        self._kinds, self._weights = list(kinds), list(kinds.values())

    def tell(self) -> None:
        """Tells one event: person and kind are drawn until they fit."""
        for _ in range(20):
            person = self.last if self.rng.random() < _SAME_PERSON else self.rng.choice(self.names)
            (kind,) = self.rng.choices(self._kinds, self._weights)
            with suppress(NothingToSayError):
                getattr(self, f"_{kind}")(person)  # the method of that name
                self.last = person
                return
        raise NothingToSayError

    def ask(self, unknown: bool) -> Asked:
        """About anything of the world."""
        theme = THEMES[self.rng.choice(self._themes)]
        weights = (self.teller.hard and theme.hard_questions) or theme.questions
        asker = self.rng.choice([asker for asker, weight in weights.items() for _ in range(weight)])
        return getattr(questions, asker)(self.teller, unknown)  # the function of that name

    def go(self, *people: Name, place: Name | None = None, kind: str = "move") -> None:
        """People go to a place, by default to one where none of them is."""
        place = place or self._elsewhere(*people)
        self.world.place(people, place, self.teller.tell(kind, *people, place=place.said))

    _move, _in = go, partialmethod(go, kind="in")

    def _place_of(self, person: Name) -> Name | None:
        return self.world.spot_of(person).place

    def _elsewhere(self, *people: Name) -> Name:
        here = {self._place_of(person) for person in people}
        return self.rng.choice([place for place in self.cast.places if place not in here])

    def _pair(self, person: Name) -> None:
        others = [name for name in self.names if name != person]
        if not others:
            raise NothingToSayError
        several = not self.teller.babi and len(others) > 1 and self.rng.random() < self._several_share
        together = (person, *self.rng.sample(others, 2 if several else 1))
        together = tuple(sorted(together, key=lambda name: name == ME))  # Mary and I
        self.go(*together)
        if len(self.teller.sentences) < self.teller.length and self.rng.random() < 0.4:
            self.go(*together)

    def _then(self, person: Name) -> None:
        first = self._elsewhere(person)
        second = self.rng.choice([place for place in self.cast.places if place != first])
        why = self.teller.tell("then", person, place=first.said, other=second.said)
        self.world.place((person,), first, why)
        self.world.place((person,), second, why)

    def _not_go(self, person: Name) -> None:
        """Changes nothing; said only of people whose place is known, and of places they were never told to be in."""
        known = self.world.people.get(person)
        been = {spot.place for spot, _ in known.stops} if known else set()
        if not been or None in been:
            raise NothingToSayError
        place = self.pick([place for place in self.cast.places if place not in been])
        self.teller.tell("not go", person, place=place.said)

    def _not_in(self, person: Name) -> None:
        """Denies the place where the person was, or any if nothing was told; never twice, so that one denial holds."""
        if person in self.world.people and self._place_of(person) is None:
            raise NothingToSayError
        place = self._place_of(person) or self.rng.choice(self.cast.places)
        self.world.doubt(person, self.teller.tell("not in", person, place=place.said), denied=place)

    def _not_there(self, person: Name) -> None:
        """Denies the place that was told before, which the sentence does not name."""
        here = self.world.spot_of(person)
        place = needed(here.place)
        why = self.teller.tell("not there", person)
        self.world.doubt(person, tuple(sorted({*here.why, *why})), denied=place)

    def _empty(self, _: Name) -> None:
        """Says only what follows anyway, or what nothing else was told of."""
        place = self.rng.choice(self.cast.places)
        if questions.present(self.teller, place):
            raise NothingToSayError
        self.teller.state("empty", place=place.said)
        self.world.places.add(place)

    def _either(self, person: Name) -> None:
        if self.world.spot_of(person).is_doubtful:
            raise NothingToSayError
        one, other = self.rng.sample(self.cast.places, 2)
        why = self.teller.tell("either", person, place=one.said, other=other.said)
        self.world.doubt(person, why, options=(one, other))

    def _with(self, person: Name) -> None:
        others = [name for name in self.names if name != person and self._place_of(name)]
        other = self.pick([name for name in others if self._place_of(name) != self._place_of(person)])
        self.world.follow(person, other, self.teller.tell("with", person, to=other))

    def _some(self, things: list[Name], *, most: int = 3) -> list[Name]:
        """One of the things, or a few; at times those that were told of last."""
        if not things:
            raise NothingToSayError
        if self.teller.babi:
            return [self.rng.choice(things)]
        topic = self.teller.topic
        if topic and len(topic) <= most and set(topic) <= set(things) and self.rng.random() < _SAME_THING:
            return list(topic)
        several = len(things) > 1 and most > 1 and self.rng.random() < self._several_share
        return self.rng.sample(things, self.rng.randint(2, min(most, len(things))) if several else 1)

    def _untold(self) -> list[Name]:
        return [thing for thing in self.cast.things if thing not in self.world.things]

    def _take(self, kind: str, person: Name, place: str = "") -> None:
        chosen = self._some([thing for thing in self.cast.things if self.world.can_take(person, thing)])
        lying = [self.world.things[thing].spot for thing in chosen if thing in self.world.things]
        if self._place_of(person) is None and sum(not spot.apart for spot in lying) > 1:
            raise NothingToSayError  # these may lie in different places
        why = self.teller.tell(kind, person, things=chosen, place=place)
        for thing in chosen:
            self.world.take(person, thing, why, "have" if kind == "have" else "take")

    def _seize(self, person: Name) -> None:
        """Somebody gets what another has, who may be named."""
        thing = self.pick([thing for thing in self.cast.things if self.world.can_seize(person, thing)])
        named = self.rng.random() < 0.4
        to = self._holder_of(thing) if named else None
        why = self.teller.tell("rob" if named else "seize", person, to=to, things=(thing,))
        self.world.take(person, thing, why)

    def _take_out(self, person: Name) -> None:
        """Somebody gets a thing from a box or a table, which may be told of for the first time."""
        if not self.cast.surfaces or self.world.spot_of(person).is_doubtful:
            raise NothingToSayError
        place = self.rng.choice(self.cast.surfaces)
        lying = [name for name, thing in self.world.things.items() if not thing.holder and thing.spot.place == place]
        chosen = self._some(lying or self._untold())
        why = self.teller.tell("take out", person, things=chosen, place=place.said)
        for thing in chosen:
            if thing not in self.world.things:
                self.world.lie(thing, place, why, apart=True)
            self.world.take(person, thing, why)

    def _fetch(self, kind: str, person: Name) -> None:
        """Somebody gets something new elsewhere, which says where they are; a town could be taken for a person."""
        place = self._elsewhere(person)
        if place.said == place.text:
            raise NothingToSayError
        chosen = self._some(self._untold())
        why = self.teller.tell(kind, person, things=chosen, place=place.said)
        self.world.place((person,), place, why)
        for thing in chosen:
            self.world.take(person, thing, why, "take" if kind == "get there" else "have")

    _get, _have, _buy = partialmethod(_take, "get"), partialmethod(_take, "have"), partialmethod(_fetch, "buy")

    def _get_there(self, person: Name) -> None:
        """The sentence says where, which is where the person is or comes for it."""
        here = self._place_of(person)
        if here is not None and here.said != here.text and self.rng.random() < 0.5:
            self._take("get there", person, here.said)
        else:
            self._fetch("get there", person)

    def _held(self, person: Name, *, most: int = 3) -> tuple[Name, list[Name]]:
        """Somebody who holds things, rather the person than others, and some of these things."""
        holders = [thing.holder for thing in self.world.things.values() if thing.holder]
        holders = [holder for holder in holders if not self.world.spot_of(holder).is_doubtful]
        holder = person if person in holders else self.pick(holders)
        return holder, self._some(self.world.held_by(holder), most=most)

    def _drop(self, person: Name, kind: str = "drop") -> None:
        """Where it is put, the sentence says where, which is where its holder is."""
        holder, things = self._held(person)
        here = self._place_of(holder)
        if kind == "put" and here is None:
            raise NothingToSayError
        why = self.teller.tell(kind, holder, things=things, place=here.said if here else "")
        for thing in things:
            self.world.drop(holder, thing, why, kind)

    _put = partialmethod(_drop, kind="put")

    def _put_away(self, person: Name) -> None:
        """Into a box, or in a place, which says where the person is; the thing may be told of for the first time."""
        chosen = self._some([*self.world.held_by(person), *self._untold()])
        apart = bool(self.cast.surfaces) and self.rng.random() < 0.5
        place = self.rng.choice(self.cast.surfaces) if apart else self._elsewhere(person)
        goes = self.rng.random() < 0.4
        other = self.rng.choice([other for other in self.cast.places if other not in (place, self._place_of(person))])
        kind = "put and go" if goes else "shelve" if apart and self.rng.random() < _SHELVED_SHARE else "put"
        why = self.teller.tell(kind, person, things=chosen, place=place.said, other=other.said)
        for thing in chosen:
            self.world.put(person, thing, place, why, apart=apart)
        if goes:
            self.world.place((person,), other, why)

    def _give(self, person: Name) -> None:
        holder, (thing,) = self._held(person, most=1)
        receiver = self.pick([name for name in self.names if self.world.can_give(holder, name)])
        self.world.give(holder, thing, receiver, self.teller.tell("give", holder, to=receiver, things=(thing,)))

    def _lies(self, _: Name) -> None:
        chosen, place = self._some(self._untold()), self.rng.choice(self.cast.places + self.cast.surfaces)
        why = self.teller.state("lies", things=chosen, place=place.said)
        for thing in chosen:
            self.world.lie(thing, place, why, apart=place in self.cast.surfaces)

    def _shift(self, _: Name) -> None:
        """A thing comes to another place, and nobody says by whom."""
        things = [name for name in self.cast.things if name not in self.world.things or not self._holder_of(name)]
        (thing,) = self._some(things, most=1)
        here = self.world.things[thing].spot.place if thing in self.world.things else None
        place = self.pick([place for place in self.cast.places + self.cast.surfaces if place not in (here, None)])
        if place.said == place.text:
            raise NothingToSayError
        starts = here is not None and here.said != here.text and self.rng.random() < 0.5
        slots = {"other": here.said} if here is not None and starts else {}
        why = self.teller.state("shift from" if starts else "shift", things=(thing,), place=place.said, **slots)
        self.world.lie(thing, place, why, apart=place in self.cast.surfaces)

    def _rearrange(self, person: Name) -> None:
        """Somebody moves a thing from a place, or a box, to a table or a box, where it stays."""
        surface = self.pick(self.cast.surfaces)
        places = {name: thing.spot.place for name, thing in self.world.things.items() if not thing.holder}
        thing = self.pick([name for name, place in places.items() if place and place != surface])
        here = needed(places[thing])
        if here.said == here.text:
            raise NothingToSayError
        why = self.teller.tell("shelve from", person, things=(thing,), place=surface.said, other=here.said)
        self.world.put(person, thing, surface, why, apart=True)

    def _holder_of(self, thing: Name) -> Name | None:
        return self.world.things[thing].holder

    def _carry(self, person: Name) -> None:
        """Not to a town: what is brought to Oslo could be brought to a person of that name."""
        holder, things = self._held(person)
        place = self._elsewhere(holder)
        if place.said == place.text:
            raise NothingToSayError
        why = self.teller.tell("carry", holder, things=things, place=place.said)
        self.world.place((holder,), place, why)

    def _not_drop(self, person: Name) -> None:
        """Changes nothing."""
        self.teller.tell("not drop", person, things=self._some(self.world.held_by(person)))

    def _not_give(self, person: Name) -> None:
        """Changes nothing."""
        others = [name for name in self.world.people if name in self.names and name != person]
        if not (things := self.world.held_by(person)):
            raise NothingToSayError
        self.teller.tell("not give", person, to=self.pick(others), things=self._some(things, most=1))

    def _not_get(self, person: Name) -> None:
        """Changes nothing; said only of things that the person never had."""
        taken = self.world.person(person).taken
        chosen = self._some([thing for thing in self.cast.things if thing not in taken], most=1)
        self.teller.tell("not get", person, things=chosen)
