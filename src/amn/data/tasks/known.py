"""Facts as a story tells them: from the events of a world, and from sentences that say how things are."""

from collections.abc import Iterable
from itertools import chain

from amn.data.facts import Fact, Facts
from amn.data.world import Event

_WHEREABOUTS = {"not": "not in", "either": "maybe in"}  # by the kind of a move; any other says "in"


class Known:
    """Who is where and who holds what, as far as events were told."""

    def __init__(self) -> None:
        self.about: dict[str, tuple[Fact, ...]] = {}  # where each person or thing is, or who holds the thing

    def tell(self, event: Event) -> None:
        """Something happened. Whoever handles a thing stays where they are, which may be unknown."""
        if event.kind in ("get", "give"):
            holder = event.receiver or event.actor
            self.about[event.item] = (Fact(holder.lower(), "holds", event.item),)
        elif event.kind == "drop":
            there = self.about.get(event.actor, ())
            self.about[event.item] = tuple(Fact(event.item, fact.kind, fact.target) for fact in there)
        else:
            kind = _WHEREABOUTS.get(event.kind, "in")
            places = dict.fromkeys(event.item.split()) if event.kind == "either" else (event.place,)
            self.about[event.actor] = tuple(Fact(event.actor.lower(), kind, place) for place in places)

    def facts(self) -> Facts:
        """What holds now."""
        return frozenset(chain.from_iterable(self.about.values()))


def facts_of(events: Iterable[Event], num_sentences: int) -> tuple[Facts, ...]:
    """The facts after each sentence of a story whose events know their lines."""
    by_line: dict[int, list[Event]] = {}
    for event in events:
        by_line.setdefault(event.line, []).append(event)
    known, found = Known(), []
    for line in range(num_sentences):
        for event in by_line.get(line, ()):
            known.tell(event)
        found.append(known.facts())
    return tuple(found)


def side_of(room: str, way: str, other: str) -> Fact:
    """One room lies north, south, east or west of another: south and west are told as the other's north and east."""
    if way in ("south", "west"):
        room, other = other, room
    return Fact(room, "north of" if way in ("north", "south") else "east of", other)
