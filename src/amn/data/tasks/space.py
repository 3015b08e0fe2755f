"""Tasks about directions: 4 (two rooms), 17 (shapes beside each other) and 19 (the way from room to room)."""

from random import Random

from amn.data.facts import Fact
from amn.data.story import Story
from amn.data.tasks.scene import Draft, Plan

COMPASS = ("north", "south", "east", "west")
OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}

SHAPES = ("triangle", "pink rectangle", "blue square", "red square", "red sphere", "yellow square")
_LUA_SHAPES = tuple(
    f"{colour}{shape}"
    for shape in ("square", "rectangle", "triangle", "sphere")
    for colour in ("", "red ", "blue ", "pink ", "yellow ")
)
SIDES = {"above": (0, 1), "below": (0, -1), "to the right of": (1, 0), "to the left of": (-1, 0)}
_OPPOSITE_SIDE = {"above": "below", "below": "above", "to the right of": "to the left of"}
_OPPOSITE_SIDE["to the left of"] = "to the right of"
_USUAL_SHAPE_QUESTIONS = 8

_USUAL_RELATIONS = 5
_USUAL_LUA_RELATIONS = 4

# One room is (north, south, ...) of another.
Relation = tuple[str, str, str]


def _tell_relations(rng: Random, draft: Draft, relations: list[Relation]) -> list[Relation]:
    """Tells each relation once. A room is drawn first, then one of its relations: rooms with few are told sooner."""
    about: dict[str, list[int]] = {}
    for number, (room, _, other) in enumerate(relations):
        about.setdefault(room, []).append(number)
        about.setdefault(other, []).append(number)
    rooms = list(about)
    told: dict[int, Relation] = {}
    while len(told) < len(relations):
        subject = rng.choice(rooms)
        number = rng.choice(about[subject])
        if number not in told:
            room, way, other = relations[number]
            told[number] = (room, way, other) if subject == room else (other, OPPOSITE[way], room)
            draft.tell("The {} is {} of the {}.".format(*told[number]), side_of(*told[number]))
    return list(told.values())


def side_of(room: str, way: str, other: str) -> Fact:
    """One room lies north, south, east or west of another: south and west are told as the other's north and east."""
    if way in ("south", "west"):
        room, other = other, room
    return Fact(room, "north of" if way in ("north", "south") else "east of", other)


def neighbours(rng: Random, plan: Plan) -> Story:
    """Task 4: three rooms in a row; which one is north of another? The answer is the subject of a told sentence."""
    draft = Draft()
    one, middle, other = rng.sample(plan.places, 3)
    way = rng.choice(COMPASS)
    told = _tell_relations(rng, draft, [(one, way, middle), (middle, way, other)])
    for _ in range(plan.questions or 1):
        line = rng.randrange(2)
        answer, told_way, room = told[line]
        asked_of = f"What is {told_way} of the {room}?"
        asked_about = f"What is the {room} {OPPOSITE[told_way]} of?"
        draft.ask(rng.choice((asked_of, asked_about)), answer, (line,))
    return draft.story()


def paths(rng: Random, plan: Plan) -> Story:
    """Task 19: two steps lead from a room to another; the other rooms lie around these three."""
    draft = Draft()
    count = plan.sentences or (_USUAL_LUA_RELATIONS if plan.lua else _USUAL_RELATIONS)
    start, middle, goal, *others = rng.sample(plan.places, count + 1)
    first = rng.choice(COMPASS)
    second = rng.choice([way for way in COMPASS if way != OPPOSITE[first]])
    taken = {(start, first), (middle, OPPOSITE[first]), (middle, second), (goal, OPPOSITE[second])}
    free = [(room, way) for room in (start, middle, goal) for way in COMPASS if (room, way) not in taken]
    beside = [(other, way, room) for other, (room, way) in zip(others, rng.sample(free, len(others)), strict=True)]
    told = _tell_relations(rng, draft, [(middle, first, start), (goal, second, middle), *beside])
    lines = [_line_about(told, start, middle), _line_about(told, middle, goal)]
    text = "What is the path from the {} to the {}?" if plan.lua else "How do you go from the {} to the {}?"
    draft.ask(text.format(start, goal), f"{first[0]},{second[0]}", lines)
    return draft.story()


def _line_about(told: list[Relation], one: str, other: str) -> int:
    return next(line for line, (room, _, next_to) in enumerate(told) if {room, next_to} == {one, other})


def positions(rng: Random, plan: Plan) -> Story:
    """Task 17: two shapes beside a third, each one step away; on which side of the other is each?"""
    draft = Draft()
    middle, one, other = rng.sample(_LUA_SHAPES if plan.lua else SHAPES, 3)
    side_of = dict(zip((one, other), rng.sample(list(SIDES), 2), strict=True))
    line_of = {shape: draft.tell(_say_side(rng, shape, side, middle)) for shape, side in side_of.items()}
    cell_of = {shape: SIDES[side] for shape, side in side_of.items()}
    pair = [one, other]
    if plan.lua:  # one step may be asked there
        cell_of[middle] = (0, 0)
        pair.append(middle)
    for _ in range(plan.questions or _USUAL_SHAPE_QUESTIONS):
        asked, beside = rng.sample(pair, 2)
        yes = rng.random() < 0.5
        side = rng.choice([side for side in SIDES if _lies(cell_of[asked], cell_of[beside], side) == yes])
        lines = [line_of[shape] for shape in (asked, beside) if shape in line_of]
        draft.ask(f"Is the {asked} {side} the {beside}?", "yes" if yes else "no", lines)
    return draft.story()


def _say_side(rng: Random, shape: str, side: str, middle: str) -> str:
    """The shared shape is the subject in two sentences of three."""
    if rng.randrange(3) == 0:
        return f"The {shape} is {side} the {middle}."
    return f"The {middle} is {_OPPOSITE_SIDE[side]} the {shape}."


def _lies(cell: tuple[int, int], other: tuple[int, int], side: str) -> bool:
    """Whether a cell lies on that side of another, however far aside: not if they are level."""
    across, up = SIDES[side]
    return (cell[0] - other[0]) * across + (cell[1] - other[1]) * up > 0
