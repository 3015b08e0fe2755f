"""Themes about things relative to one another: sizes, positions on a page, and rooms on a map."""

from collections.abc import Mapping
from random import Random

from amn.data.tasks.mixed.names import Name, the
from amn.data.tasks.mixed.teller import UNKNOWN, Asked, Teller
from amn.data.tasks.mixed.world import Lines

# The two that are smaller than all others in bAbI, which a model may have learnt, come first.
SIZED = tuple(the(text) for text in ("chocolate", "box of chocolates", "box", "chest", "suitcase", "container"))
_NUM_SWEETS = 2
SHAPES = tuple(
    the(text) for text in ("triangle", "pink rectangle", "blue square", "red square", "red sphere", "yellow square")
)

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
        return tuple(sorted({line for one, other in pairs for line in self.near[one][other]}))


class SizeTheme:
    """Things of different sizes, compared two at a time."""

    def __init__(self, teller: Teller, things: list[Name]) -> None:
        self.teller, self.rng = teller, teller.rng
        self.things = things  # from small to big
        self.smaller = Graph()
        self.left = self.rng.randint(2, 6)

    def tell(self) -> bool:
        """One comparison, mostly of neighbours in size."""
        if self.left == 0:
            return False
        self.left -= 1
        at = self.rng.randrange(len(self.things) - 1)
        further = at + 2 if self.rng.random() < 0.25 else at + 1
        small, big = self.things[at], self.things[min(further, len(self.things) - 1)]
        why = self.teller.state(self.rng.choice(("bigger", "fits")), big=big.said, small=small.said)
        self.smaller.add(big, small, why)
        return True

    def ask(self, unknown: bool) -> Asked | None:
        """Is one bigger than the other, or does it fit?"""
        told = sorted({*self.smaller.near, *(small for near in self.smaller.near.values() for small in near)})
        if not told:
            return None
        big, small = self.rng.sample([*told, *self._spare(unknown)], 2)
        down, up = self.smaller.way(big, small), self.smaller.way(small, big)
        if not down and not up and {big, small} & set(SIZED[:_NUM_SWEETS]):
            return None  # nobody needs to be told that chocolate is small
        answer = "yes" if down else "no" if up else UNKNOWN
        slots = {"big": big.said, "small": small.said}
        support = self.smaller.lines(down or up or [])
        return Asked(kind=self.rng.choice(("bigger", "fits")), answer=answer, support=support, slots=slots)

    def _spare(self, unknown: bool) -> list[Name]:
        return self.teller.cast.other_things[:1] if unknown and not self.teller.babi else []


class _Grid:
    """Things one step apart from each other, told one pair at a time in any order."""

    def __init__(self, rng: Random, things: list[Name], steps: Mapping[str, _Step]) -> None:
        self.rng, self.steps = rng, steps
        self.at: dict[Name, _Step] = {things[0]: (0, 0)}
        self.graph = Graph()
        self.waiting: list[tuple[Name, str, Name]] = []
        for thing in things[1:]:
            self._put(thing)
        rng.shuffle(self.waiting)

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
            self.waiting.append((thing, word, other))
        else:
            self.waiting.append((other, self.word((-across, -up)), thing))

    def word(self, step: _Step) -> str:
        return next(word for word, own in self.steps.items() if own == step)

    def told(self) -> list[Name]:
        return sorted(self.graph.near)

    def add(self, one: Name, other: Name, why: Lines) -> None:
        self.graph.add(one, other, why)
        self.graph.add(other, one, why)

    def step(self, one: Name, other: Name) -> _Step:
        """From one to the other."""
        (x, y), (to_x, to_y) = self.at[one], self.at[other]
        return to_x - x, to_y - y


def _along(step: _Step, direction: _Step) -> int:
    return step[0] * direction[0] + step[1] * direction[1]


class Positions:
    """Things above, below and beside each other."""

    def __init__(self, teller: Teller, things: list[Name]) -> None:
        self.teller, self.rng = teller, teller.rng
        self.grid = _Grid(teller.rng, things, SIDES)

    def tell(self) -> bool:
        """One pair."""
        if not self.grid.waiting:
            return False
        one, side, other = self.grid.waiting.pop()
        self.grid.add(one, other, self.teller.state("beside", one=one.said, side=side, other=other.said))
        return True

    def ask(self, unknown: bool) -> Asked | None:
        """Is one thing on a side of another? Straight above is neither left nor right."""
        told = self.grid.told()
        if not told:
            return None
        spare = self.teller.cast.other_things[:1] if unknown else []
        one, other = self.rng.sample([*told, *spare], 2)
        way = self.grid.graph.way(one, other)
        side = self._side(one, other) if way else self.rng.choice(list(SIDES))
        slots = {"one": one.said, "side": side, "other": other.said}
        if way is None:
            return Asked(kind="beside", answer=UNKNOWN, support=(), slots=slots)
        answer = "yes" if self._lies(one, side, other) else "no"
        return Asked(kind="beside", answer=answer, support=self.grid.graph.lines(way), slots=slots)

    def _lies(self, one: Name, side: str, other: Name) -> bool:
        return _along(self.grid.step(other, one), SIDES[side]) > 0

    def _side(self, one: Name, other: Name) -> str:
        """A true one half the time."""
        right = self.rng.random() < 0.5
        return self.rng.choice([side for side in SIDES if self._lies(one, side, other) == right])


class Map:
    """Rooms north, south, east and west of each other."""

    def __init__(self, teller: Teller, places: list[Name]) -> None:
        self.teller, self.rng = teller, teller.rng
        self.grid = _Grid(teller.rng, places, WAYS)

    def tell(self) -> bool:
        """One pair."""
        if not self.grid.waiting:
            return False
        one, way, other = self.grid.waiting.pop()
        self.grid.add(one, other, self.teller.state("compass", one=one.said, way=way, other=other.said))
        return True

    def ask(self, unknown: bool) -> Asked | None:
        """How to go, or what lies in a direction?"""
        if not self.grid.told():
            return None
        return (self._path if self.rng.random() < 0.5 else self._neighbour)(unknown)

    def _path(self, unknown: bool) -> Asked | None:
        spare = self.teller.cast.other_places[:1] if unknown else []
        one, other = self.rng.sample([*self.grid.told(), *spare], 2)
        way = self.grid.graph.way(one, other)
        slots = {"one": one.said, "other": other.said}
        if way is None:
            return Asked(kind="path", answer=UNKNOWN, support=(), slots=slots)
        if len(way) > _LONGEST_PATH + 1 or (len(way) == 2 and self.rng.random() < 0.6):
            return None  # one step is too easy to ask often
        steps = [_LETTER[self.grid.step(here, there)] for here, there in zip(way, way[1:], strict=False)]
        return Asked(kind="path", answer=",".join(steps), support=self.grid.graph.lines(way), slots=slots)

    def _neighbour(self, unknown: bool) -> Asked | None:
        """The room next to one; unknown only where the map shows none at all in that direction."""
        room = self.rng.choice(
            self.teller.cast.other_places if unknown and self.rng.random() < 0.3 else self.grid.told()
        )
        kind, way = self.rng.choice(("north of it", "it north of")), self.rng.choice(list(WAYS))
        across, up = WAYS[way]
        step = (across, up) if kind == "north of it" else (-across, -up)
        slots = {"one": room.said, "way": way}
        for other, why in self.grid.graph.near.get(room, {}).items():
            if self.grid.step(room, other) == step:
                return Asked(kind=kind, answer=other.text, support=why, slots=slots)
        shown = [other for other in self.grid.told() if self.grid.graph.way(room, other)]
        if any(_along(self.grid.step(room, other), step) > 0 for other in shown):
            return None
        return Asked(kind=kind, answer=UNKNOWN, support=(), slots=slots)
