"""Tasks about things relative to one another: directions (4), positions (17), sizes (18) and paths (19)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from solver.grammar import Event, Unanswerable, ask, events, fit, pattern

_NORTH_OF_WHAT = pattern("what is the {left} {compass} of")
_WHAT_IS_NORTH = pattern("what is {compass} of the {right}")
_IS_BESIDE = pattern("is the {left} {beside} the {right}")
_IS_BIGGER = pattern("is the {left} bigger than the {right}")
_DOES_FIT = pattern("does the {right} fit (?:in|inside) the {left}")
_PATH = pattern("(?:how do you go|what is the path) from (?:the )?{left} to (?:the )?{right}")

_STEPS: Mapping[str, tuple[int, int]] = {
    "north": (0, 1),
    "south": (0, -1),
    "east": (1, 0),
    "west": (-1, 0),
    "above": (0, 1),
    "below": (0, -1),
    "to the right of": (1, 0),
    "to the left of": (-1, 0),
}
_LETTERS = {_STEPS[word]: word[0] for word in ("north", "south", "east", "west")}

# Per thing, what lies next to it: the neighbour and the step that leads there.
_Map = dict[str, list[tuple[str, tuple[int, int]]]]


def _links(event: Event) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """A relation read both ways, as (from, to, step)."""
    across, up = _STEPS[event["relation"]]
    yield event["right"], event["left"], (across, up)
    yield event["left"], event["right"], (-across, -up)


def _map(told: Iterable[Event]) -> _Map:
    near: _Map = {}
    for event in told:
        for here, there, step in _links(event):
            near.setdefault(here, []).append((there, step))
    return near


def _steps(near: _Map, start: str, goal: str) -> list[tuple[int, int]]:
    """The steps of the shortest way, by breadth-first search."""
    ways: dict[str, list[tuple[int, int]]] = {start: []}
    frontier = [start]
    for here in frontier:
        for there, step in near.get(here, ()):
            if there not in ways:
                ways[there] = [*ways[here], step]
                frontier.append(there)
    if goal not in ways:
        raise Unanswerable(f"nothing told leads from {start!r} to {goal!r}")
    return ways[goal]


def neighbour(sentences: Sequence[str], question: str) -> str:
    """Task 4: "what is north of Y" asks for X, "what is X north of" asks for Y, in "X is north of Y"."""
    slots = fit(question, _NORTH_OF_WHAT)
    start, sign = (slots["left"], -1) if slots else (None, 1)
    slots = slots or ask(question, _WHAT_IS_NORTH)
    across, up = _STEPS[slots["relation"]]
    for there, step in _map(events(sentences, "compass")).get(start or slots["right"], ()):
        if step == (sign * across, sign * up):
            return there
    raise Unanswerable(f"the story does not tell: {question!r}")


def is_beside(sentences: Sequence[str], question: str) -> str:
    """Task 17: yes when the displacement has a positive part along the asked direction."""
    slots = ask(question, _IS_BESIDE)
    steps = _steps(_map(events(sentences, "beside")), slots["right"], slots["left"])
    across, up = _STEPS[slots["relation"]]
    return "yes" if sum(across * x + up * y for x, y in steps) > 0 else "no"


def is_bigger(sentences: Sequence[str], question: str) -> str:
    """Task 18: sizes by transitive closure; nothing is taken from the world outside the story."""
    slots = fit(question, _IS_BIGGER) or ask(question, _DOES_FIT)
    smaller: dict[str, set[str]] = {}
    for event in events(sentences, "bigger"):
        smaller.setdefault(event["left"], set()).add(event["right"])
    if slots["right"] in _below(smaller, slots["left"]):
        return "yes"
    if slots["left"] in _below(smaller, slots["right"]):
        return "no"
    raise Unanswerable(f"the story does not tell: {question!r}")


def _below(smaller: Mapping[str, set[str]], thing: str) -> set[str]:
    """Everything that follows to be smaller than a thing."""
    found: set[str] = set()
    frontier = [thing]
    while frontier:
        new = smaller.get(frontier.pop(), set()) - found
        found |= new
        frontier += new
    return found


def path(sentences: Sequence[str], question: str) -> str:
    """Task 19: the letters of the steps, first step first."""
    slots = ask(question, _PATH)
    steps = _steps(_map(events(sentences, "compass")), slots["left"], slots["right"])
    return ",".join(_LETTERS[step] for step in steps)
