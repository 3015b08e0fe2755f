"""Themes about what people do when and why: where they are at the times of a day, and what they do when hungry."""

from functools import partial

from amn.data.tasks.mixed.names import Name, the
from amn.data.tasks.mixed.people import People
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.tasks.mixed.theme import Theme, asked
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


class Days(Theme):
    """People whose moves are told with a time of day, in any order; no other sentence tells where they are."""

    def __init__(self, teller: Teller, names: list[Name]) -> None:
        super().__init__(teller)
        self.times = ALL_TIMES if teller.babi else self.rng.choice(_SCALES)
        self.told: dict[Name, dict[int, tuple[Name, Lines]]] = {}
        for name in names:
            self._plan(name)
        self.rng.shuffle(self.waiting)

    def _plan(self, name: Name) -> None:
        count = self.rng.randint(2, 4)
        told = [self.times.index(time) for time in TIMES] if self.teller.babi else range(len(self.times))
        chosen = told[:count] if self.teller.babi else sorted(self.rng.sample(told, count))
        last = None
        for slot in chosen:
            last = self.rng.choice([place for place in self.cast.places if place != last])
            self.waiting.append(partial(self._tell_move, name, slot, last))

    def _tell_move(self, name: Name, slot: int, place: Name) -> None:
        why = self.teller.tell("time", name, time=self.times[slot], place=place.said)
        self.told.setdefault(name, {})[slot] = (place, why)

    def ask(self, unknown: bool) -> Asked:
        """Where was somebody at a time, or before or after a place?"""
        if not self.told:
            raise NothingToSayError
        spare = unknown and self.rng.random() < 0.4
        name = self.rng.choice(self.cast.other_people if spare else list(self.told))
        day = self.told.get(name, {})
        if self.teller.babi or self.rng.random() < (_BEFORE_IN_HARD if self.teller.hard else _BEFORE_SHARE):
            return self._beside(name, day)
        slot = self.rng.choice([*day] if day and not unknown else range(len(self.times)))
        place, why = day.get(slot, (None, ()))
        return asked("at time", place, why, who=name, time=self.times[slot])

    def _beside(self, name: Name, day: dict[int, tuple[Name, Lines]]) -> Asked:
        """Before the last time in a place; after it only where the person was there once."""
        moves = [day[slot] for slot in sorted(day)]
        been = [place for place, _ in moves]
        place = self.rng.choice(been or self.cast.places)
        share = _AFTER_IN_HARD if self.teller.hard else _AFTER_SHARE
        after = not self.teller.babi and been.count(place) <= 1 and self.rng.random() < share
        at = max((at for at, other in enumerate(been) if other == place), default=0)
        other = at + 1 if after else at - 1
        kind = "person after" if after else "person before"
        if not 0 <= other < len(been):
            return asked(kind, None, it=name, place=place)
        if been[other] == place:
            raise NothingToSayError
        return asked(kind, been[other], moves[at][1] + moves[other][1], it=name, place=place)


class Motives(Theme):
    """People feel something, go where one goes for it, and take what one takes."""

    def __init__(self, teller: Teller, people: People) -> None:
        super().__init__(teller)
        self.people, self.world = people, teller.world
        self.feeling: dict[Name, tuple[str, Lines]] = {}
        self.stops_before: dict[Name, int] = {}
        self.went: set[Name] = set()
        self.took: set[Name] = set()

    def tell(self) -> None:
        """Somebody's next stage."""
        name = self.rng.choice(self.people.names)
        if name not in self.feeling:
            self._feel(name)
            return
        place, item = (the(word) for word in MOTIVES[self.feeling[name][0]])
        if name not in self.went:
            self._go(name, place)
        else:
            self._take(name, place, item)

    def _stops(self, name: Name) -> list[Name | None]:
        """Where somebody was told to be, in turn."""
        person = self.world.people.get(name)
        return [spot.place for spot, _ in person.stops] if person else []

    def _feel(self, name: Name) -> None:
        if len(self.feeling) >= 3:
            raise NothingToSayError
        state = self.rng.choice(list(MOTIVES))
        self.feeling[name] = state, self.teller.tell("feel", name, state=state)
        self.stops_before[name] = len(self._stops(name))

    def _go(self, name: Name, place: Name) -> None:
        if {None, place} & set(self._stops(name)):
            raise NothingToSayError
        self.people.go(name, place=place)
        self.went.add(name)

    def _take(self, name: Name, place: Name, item: Name) -> None:
        person = self.world.people[name]
        free = item not in person.taken and self.world.can_take(name, item)
        if name in self.took or person.spot.place != place or not free:
            raise NothingToSayError
        self.world.take(name, item, self.teller.tell("get", name, things=(item,)))
        self.took.add(name)

    def ask(self, unknown: bool) -> Asked:
        """Where will somebody go, or why did they go or take something?"""
        told = [name for name in self.world.people if name not in self.feeling] if unknown else list(self.feeling)
        name = self.pick(told)
        state, why = self.feeling.get(name, (None, ()))
        kind = self.rng.choice(("will go", "why go", "why get"))
        if kind == "will go":
            if state and len(self._stops(name)) != self.stops_before[name]:
                raise NothingToSayError  # asked of those who have not gone anywhere since
            return asked(kind, MOTIVES[state][0] if state else None, why, who=name)
        if kind == "why go":
            return asked(kind, state, why, who=name, place=self._place_of(name, state))
        return asked(kind, state, why, who=name, thing=self._thing_of(name, state))

    def _place_of(self, name: Name, state: str | None) -> Name:
        """The place to ask about: the one that the feeling led to, or without a feeling any."""
        stops = [place for place in self._stops(name) if place]
        if state is None:
            return self.pick(stops)
        place = the(MOTIVES[state][0])
        if name not in self.went or stops.count(place) != 1:
            raise NothingToSayError
        return place

    def _thing_of(self, name: Name, state: str | None) -> Name:
        """The same for things."""
        if state is None:
            return self.pick(self.world.people[name].taken)
        if name not in self.took:
            raise NothingToSayError
        return the(MOTIVES[state][1])
