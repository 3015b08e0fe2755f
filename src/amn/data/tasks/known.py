"""Facts as a story tells them: from the events of a world, and from sentences that say how things are."""

from collections.abc import Iterable, Mapping
from itertools import chain

from amn.data.facts import Fact, Facts
from amn.data.world import Event

_HANDLINGS = ("get", "drop", "give")
_WHEREABOUTS = {"not": "not in", "either": "maybe in"}  # by the kind of a move; any other says "in"


def facts_of(events: Iterable[Event], num_sentences: int) -> tuple[Facts, ...]:
    """Who is where and who holds what after each sentence of a story whose events know their lines."""
    by_line: dict[int, list[Event]] = {}
    for event in events:
        by_line.setdefault(event.line, []).append(event)
    about: dict[str, tuple[Fact, ...]] = {}  # where each person or thing is, or who holds the thing
    found = []
    for line in range(num_sentences):
        for event in by_line.get(line, ()):
            about[event.item if event.kind in _HANDLINGS else event.actor] = _told(event, about)
        found.append(frozenset(chain.from_iterable(about.values())))
    return tuple(found)


def _told(event: Event, about: Mapping[str, tuple[Fact, ...]]) -> tuple[Fact, ...]:
    """What holds then of the thing or person that it is about; whoever handles a thing stays where they are."""
    if event.kind == "drop":
        return tuple(Fact(event.item, fact.kind, fact.target) for fact in about.get(event.actor, ()))
    if event.kind in _HANDLINGS:
        return (Fact((event.receiver or event.actor).lower(), "holds", event.item),)
    places = dict.fromkeys(event.item.split()) if event.kind == "either" else (event.place,)
    return tuple(Fact(event.actor.lower(), _WHEREABOUTS.get(event.kind, "in"), place) for place in places)


def side_of(room: str, way: str, other: str) -> Fact:
    """One room lies north, south, east or west of another: south and west are told as the other's north and east."""
    if way in ("south", "west"):
        room, other = other, room
    return Fact(room, "north of" if way in ("north", "south") else "east of", other)
