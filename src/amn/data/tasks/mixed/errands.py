"""Themes about people beside where they are now: the times of their days, and what they feel."""

from collections.abc import Iterable

from amn.data.tasks.mixed.names import Name, the
from amn.data.tasks.mixed.people import People
from amn.data.tasks.mixed.teller import UNKNOWN, Asked, Teller
from amn.data.tasks.mixed.world import Lines
from amn.data.tasks.motives import MOTIVES
from amn.data.tasks.times import TIMES

# In the order of time; those of bAbI are among them.
ALL_TIMES = ("last week", "two days ago", "yesterday", "this morning", "at noon", "this afternoon", "this evening")
# Others that a story tells by instead.
_HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SCALES = (
    ALL_TIMES,
    ALL_TIMES,
    tuple(f"at {hour} o'clock" for hour in _HOURS),
    tuple(f"at {number} o'clock" for number in range(1, 11)),
    tuple(f"at {number} pm" for number in range(1, 11)),
    ("before breakfast", "after breakfast", "before lunch", "after lunch", "before dinner", "after dinner"),
    ("on Monday", "on Tuesday", "on Wednesday", "on Thursday", "on Friday", "on Saturday", "on Sunday"),
)
_BEFORE_SHARE = 0.6
_BEFORE_IN_HARD = 0.8
_AFTER_SHARE = 0.3
_AFTER_IN_HARD = 0.7

MOTIVE_PLACES = tuple(the(place) for place in dict.fromkeys(place for place, _ in MOTIVES.values()))
MOTIVE_THINGS = tuple(the(thing) for _, thing in MOTIVES.values())


def _sorted(lines: Iterable[int]) -> Lines:
    return tuple(sorted(set(lines)))


class Days:
    """People whose moves are told with a time of day, in any order; no other sentence tells where they are."""

    def __init__(self, teller: Teller, names: list[Name]) -> None:
        self.teller, self.rng, self.names = teller, teller.rng, names
        self.times = ALL_TIMES if teller.babi else self.rng.choice(_SCALES)
        self.told: dict[Name, dict[int, tuple[Name, Lines]]] = {}
        self.waiting: list[tuple[Name, int, Name]] = []
        for name in names:
            self._plan(name)
        self.rng.shuffle(self.waiting)

    def _plan(self, name: Name) -> None:
        count = self.rng.randint(2, 4)
        told = [self.times.index(time) for time in TIMES] if self.teller.babi else range(len(self.times))
        chosen = told[:count] if self.teller.babi else sorted(self.rng.sample(told, count))
        last = None
        for slot in chosen:
            last = self.rng.choice([place for place in self.teller.cast.places if place != last])
            self.waiting.append((name, slot, last))

    def tell(self) -> bool:
        """One move of the plan."""
        if not self.waiting:
            return False
        name, slot, place = self.waiting.pop()
        why = self.teller.tell("time", name, time=self.times[slot], place=place.said)
        self.told.setdefault(name, {})[slot] = (place, why)
        self.teller.outsiders.add(name)
        return True

    def ask(self, unknown: bool) -> Asked | None:
        """Where was somebody at a time, or before or after a place?"""
        if not self.told:
            return None
        spare = unknown and self.rng.random() < 0.4
        name = self.rng.choice(self.teller.cast.other_people if spare else list(self.told))
        day = self.told.get(name, {})
        if self.teller.babi or self.rng.random() < (_BEFORE_IN_HARD if self.teller.hard else _BEFORE_SHARE):
            return self._beside(name, day)
        slot = self.rng.choice([*day] if day and not unknown else range(len(self.times)))
        place, why = day.get(slot, (None, ()))
        slots = {"who": name.said, "time": self.times[slot]}
        return Asked(kind="at time", answer=place.text if place else UNKNOWN, support=_sorted(why), slots=slots)

    def _beside(self, name: Name, day: dict[int, tuple[Name, Lines]]) -> Asked | None:
        """Before the last time in a place; after it only where the person was there once."""
        moves = [day[slot] for slot in sorted(day)]
        been = [place for place, _ in moves]
        place = self.rng.choice(been or self.teller.cast.places)
        share = _AFTER_IN_HARD if self.teller.hard else _AFTER_SHARE
        after = not self.teller.babi and been.count(place) <= 1 and self.rng.random() < share
        at = max((at for at, other in enumerate(been) if other == place), default=0)
        other = at + 1 if after else at - 1
        slots = {"it": name.said, "place": place.said}
        kind = "person after" if after else "person before"
        if not 0 <= other < len(been):
            return Asked(kind=kind, answer=UNKNOWN, support=(), slots=slots)
        if been[other] == place:
            return None
        return Asked(kind=kind, answer=been[other].text, support=_sorted(moves[at][1] + moves[other][1]), slots=slots)


class Motives:
    """People feel something, go where one goes for it, and take what one takes."""

    def __init__(self, teller: Teller, people: People) -> None:
        self.teller, self.rng, self.people = teller, teller.rng, people
        self.feeling: dict[Name, tuple[str, Lines]] = {}
        self.stops_before: dict[Name, int] = {}
        self.went: set[Name] = set()
        self.took: set[Name] = set()

    def tell(self) -> bool:
        """Somebody's next stage."""
        name = self.rng.choice(self.people.names)
        if name not in self.feeling:
            return self._feel(name)
        place, item = (the(word) for word in MOTIVES[self.feeling[name][0]])
        if name not in self.went:
            return self._go(name, place)
        return name not in self.took and self._take(name, place, item)

    def _stops(self, name: Name) -> int:
        person = self.teller.world.people.get(name)
        return len(person.stops) if person else 0

    def _feel(self, name: Name) -> bool:
        if len(self.feeling) >= 3:
            return False
        state = self.rng.choice(list(MOTIVES))
        self.feeling[name] = state, self.teller.tell("feel", name, state=state)
        self.stops_before[name] = self._stops(name)
        self.teller.outsiders.add(name)
        return True

    def _go(self, name: Name, place: Name) -> bool:
        person = self.teller.world.people.get(name)
        if person and any(spot.place in (None, place) for spot, _ in person.stops):
            return False
        self.people.go(name, place)
        self.went.add(name)
        return True

    def _take(self, name: Name, place: Name, item: Name) -> bool:
        world = self.teller.world
        if world.people[name].spot.place != place or not world.can_take(name, item) or item in world.people[name].taken:
            return False
        world.take(name, item, self.teller.tell("get", name, things=(item,)))
        self.took.add(name)
        return True

    def ask(self, unknown: bool) -> Asked | None:
        """Where will somebody go, or why did they go or take something?"""
        name = self._topic(unknown)
        if name is None:
            return None
        state, why = self.feeling.get(name, (None, ()))
        kind = self.rng.choice(("will go", "why go", "why get"))
        if kind == "will go":
            return self._will_go(name, state, why)
        slots = self._reason(kind, name, state)
        if slots is None:
            return None
        return Asked(kind=kind, answer=state or UNKNOWN, support=_sorted(why), slots={"who": name.said} | slots)

    def _topic(self, unknown: bool) -> Name | None:
        world = self.teller.world.people
        told = [name for name in world if name not in self.feeling] if unknown else list(self.feeling)
        return self.rng.choice(told) if told else None

    def _will_go(self, name: Name, state: str | None, why: Lines) -> Asked | None:
        """Asked of those who have not gone anywhere since."""
        if state and self._stops(name) != self.stops_before[name]:
            return None
        answer = MOTIVES[state][0] if state else UNKNOWN
        return Asked(kind="will go", answer=answer, support=_sorted(why), slots={"who": name.said})

    def _reason(self, kind: str, name: Name, state: str | None) -> dict[str, str] | None:
        """The place or thing to ask about: the one that the feeling led to, or without a feeling any."""
        person = self.teller.world.people.get(name)
        if state:
            place, item = (the(word) for word in MOTIVES[state])
            if name not in (self.went if kind == "why go" else self.took) or person is None:
                return None
            if kind == "why go":
                return {"place": place.said} if self._visits(name, place) == 1 else None
            return {"thing": item.said}
        found = (person.taken if kind == "why get" else [stop.place for stop, _ in person.stops]) if person else []
        names = [name.said for name in found if name]
        return {"place" if kind == "why go" else "thing": self.rng.choice(names)} if names else None

    def _visits(self, name: Name, place: Name) -> int:
        return sum(spot.place == place for spot, _ in self.teller.world.people[name].stops)
