"""Themes about things relative to one another: sizes and other orders, positions on a page, and rooms on a map."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from amn.data.tasks.mixed.names import Name, the
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.tasks.mixed.theme import Theme, asked
from amn.data.tasks.mixed.world import Lines
from amn.data.tasks.sizes import CONTAINERS, SMALL

# Smaller than all others in bAbI, which a model may have learnt.
SWEETS, BOXES = [the(text) for text in SMALL], [the(text) for text in CONTAINERS]

_Step = tuple[int, int]
SIDES: Mapping[str, _Step] = {"above": (0, 1), "below": (0, -1), "to the left of": (-1, 0), "to the right of": (1, 0)}
WAYS: Mapping[str, _Step] = {"north": (0, 1), "south": (0, -1), "west": (-1, 0), "east": (1, 0)}
_LETTER = {step: way[0] for way, step in WAYS.items()}
_LONGEST_PATH = 2  # as in bAbI: the answer is one of few labels


class Graph:
    """What was told of pairs: from one thing to the next, by a line."""

    def __init__(self) -> None:
        self.near: dict[Name, dict[Name, Lines]] = {}

    def add(self, one: Name, other: Name, why: Lines) -> None:
        """One step leads from the first to the second."""
        self.near.setdefault(one, {}).setdefault(other, why)

    def told(self) -> list[Name]:
        """All things that a step leads from or to."""
        return sorted({*self.near, *(other for near in self.near.values() for other in near)})

    def way(self, start: Name, goal: Name) -> list[Name] | None:
        """The fewest steps from one to the other, both ends included; None where none lead there."""
        ways = {start: [start]}
        frontier = [start]
        for here in frontier:
            for there in self.near.get(here, ()):
                if there not in ways:
                    ways[there] = [*ways[here], there]
                    frontier.append(there)
        return ways.get(goal)

    def lines(self, way: list[Name]) -> Lines:
        """The lines that tell the steps of a way."""
        pairs = zip(way, way[1:], strict=False)
        return tuple(line for one, other in pairs for line in self.near[one][other])


class Ordered(Theme):
    """Things or people in one order, the lowest first, compared two at a time, mostly neighbours."""

    def __init__(self, teller: Teller, names: Sequence[Name], told: tuple[int, int]) -> None:
        super().__init__(teller)
        self.names, self.below = names, Graph()
        self.waiting = [self._compare] * self.rng.randint(*told)

    def _compare(self) -> None:
        at = self.rng.randrange(len(self.names) - 1)
        further = at + 2 if self.rng.random() < 0.25 else at + 1
        low, high = self.names[at], self.names[min(further, len(self.names) - 1)]
        self.below.add(high, low, self.say(high, low))

    @abstractmethod
    def say(self, high: Name, low: Name) -> Lines:
        """Tells that one is above the other."""

    def is_above(self, one: Name, other: Name) -> tuple[bool | None, Lines]:
        """Whether one is above the other, where that follows, and the lines that it follows from."""
        down, up = self.below.way(one, other), self.below.way(other, one)
        return (True if down else False if up else None), self.below.lines(down or up or [])


YES_OR_NO: Mapping[bool | None, str | None] = {True: "yes", False: "no", None: None}  # None: it does not follow


class SizeTheme(Ordered):
    """Things of different sizes."""

    def __init__(self, teller: Teller, names: Sequence[Name]) -> None:
        super().__init__(teller, names, (2, 6))

    def say(self, high: Name, low: Name) -> Lines:
        """As one that is bigger, or one that the other fits in."""
        return self.teller.state(self.rng.choice(("bigger", "fits")), big=high.said, small=low.said)

    def ask(self, unknown: bool) -> Asked:
        """Is one bigger than the other, or does it fit?"""
        told = self.below.told()
        if not told:
            raise NothingToSayError
        spare = self.cast.other_things[:1] if unknown and not self.teller.babi else []
        big, small = self.rng.sample([*told, *spare], 2)
        bigger, lines = self.is_above(big, small)
        if bigger is None and (big in SWEETS or small in SWEETS):
            raise NothingToSayError  # nobody needs to be told that chocolate is small
        return asked(self.rng.choice(("bigger", "fits")), YES_OR_NO[bigger], lines, big=big, small=small)


class _Grid(Theme):
    """Things one step apart from each other, told one pair at a time in any order."""

    steps: ClassVar[Mapping[str, _Step]]
    kind: ClassVar[str]  # of what is told, and the slot for its step
    slot: ClassVar[str]

    def __init__(self, teller: Teller, things: Sequence[Name]) -> None:
        super().__init__(teller)
        self.at: dict[Name, _Step] = {things[0]: (0, 0)}
        self.graph = Graph()
        for thing in things[1:]:
            self._put(thing)
        self.rng.shuffle(self.waiting)

    def _put(self, thing: Name) -> None:
        """Next to one that has a free side; told from either of the two."""
        taken = set(self.at.values())
        free = [
            (other, word)
            for other, (x, y) in self.at.items()
            for word, (across, up) in self.steps.items()
            if (x + across, y + up) not in taken
        ]
        other, word = self.rng.choice(free)
        (x, y), (across, up) = self.at[other], self.steps[word]
        self.at[thing] = x + across, y + up
        if self.rng.random() < 0.5:
            self.waiting.append(partial(self._tell_pair, thing, word, other))
        else:
            back = next(word for word, step in self.steps.items() if step == (-across, -up))
            self.waiting.append(partial(self._tell_pair, other, back, thing))

    def _tell_pair(self, one: Name, word: str, other: Name) -> None:
        why = self.teller.state(self.kind, one=one.said, other=other.said, things=(), **{self.slot: word})
        self.graph.add(one, other, why)
        self.graph.add(other, one, why)

    def step(self, one: Name, other: Name) -> _Step:
        """From one to the other."""
        (x, y), (to_x, to_y) = self.at[one], self.at[other]
        return to_x - x, to_y - y


def _along(step: _Step, direction: _Step) -> int:
    return step[0] * direction[0] + step[1] * direction[1]


class Positions(_Grid):
    """Things above, below and beside each other."""

    steps, kind, slot = SIDES, "beside", "side"

    def ask(self, unknown: bool) -> Asked:
        """Is one thing on a side of another? Straight above is neither left nor right."""
        told = self.graph.told()
        if not told:
            raise NothingToSayError
        one, other = self.rng.sample([*told, *(self.cast.other_things[:1] if unknown else [])], 2)
        way = self.graph.way(one, other)
        if way is None:
            return asked("beside", None, one=one, side=self.rng.choice(list(SIDES)), other=other)
        right = self.rng.random() < 0.5  # a true side half the time
        step = self.step(other, one)
        side = self.rng.choice([side for side in SIDES if (_along(step, SIDES[side]) > 0) == right])
        return asked("beside", YES_OR_NO[right], self.graph.lines(way), one=one, side=side, other=other)


class Map(_Grid):
    """Rooms north, south, east and west of each other."""

    steps, kind, slot = WAYS, "compass", "way"

    def ask(self, unknown: bool) -> Asked:
        """How to go, or what lies in a direction?"""
        if not self.graph.near:
            raise NothingToSayError
        return (self._path if self.rng.random() < 0.5 else self._neighbour)(unknown)

    def _path(self, unknown: bool) -> Asked:
        spare = self.cast.other_places[:1] if unknown else []
        one, other = self.rng.sample([*self.graph.told(), *spare], 2)
        way = self.graph.way(one, other)
        if way is None:
            return asked("path", None, one=one, other=other)
        if len(way) > _LONGEST_PATH + 1 or (len(way) == 2 and self.rng.random() < 0.6):
            raise NothingToSayError  # one step is too easy to ask often
        steps = [_LETTER[self.step(here, there)] for here, there in zip(way, way[1:], strict=False)]
        return asked("path", ",".join(steps), self.graph.lines(way), one=one, other=other)

    def _neighbour(self, unknown: bool) -> Asked:
        """The room next to one; unknown only where the map shows none at all in that direction."""
        told = self.graph.told()
        room = self.rng.choice(self.cast.other_places if unknown and self.rng.random() < 0.3 else told)
        kind, way = self.rng.choice(("north of it", "it north of")), self.rng.choice(list(WAYS))
        across, up = WAYS[way]
        step = (across, up) if kind == "north of it" else (-across, -up)
        for other, why in self.graph.near.get(room, {}).items():
            if self.step(room, other) == step:
                return asked(kind, other, why, one=room, way=way)
        shown = [other for other in told if self.graph.way(room, other)]
        if any(_along(self.step(room, other), step) > 0 for other in shown):
            raise NothingToSayError
        return asked(kind, None, one=room, way=way)
