"""A small world of people, places and things: what may happen in it, what has happened, and the facts of that."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random

from amn.data.facts import Fact, Facts

CARRYING = ("move", "get", "drop")

# Measured on the released stories: how often somebody gives when somebody can, and how many times likelier it is that
# the thing given last is given again, and given back.
_GIVE_SHARE = 0.43
_AGAIN = 3

_HANDLINGS = ("get", "drop", "give")
_WHEREABOUTS = {"not": "not in", "either": "maybe in"}  # by the kind of a move; any other says "in"


@dataclass(slots=True, eq=False)
class Event:
    """Something that happened and was told."""

    kind: str  # "move", "get", "drop" or "give"; some tasks add kinds of their own
    actor: str
    place: str  # where the actor is after it, or the place that the sentence is about
    item: str = ""  # the thing handled
    receiver: str = ""  # of the thing
    before: "Event | None" = None  # the actor's latest told move before it
    line: int = -1  # of the sentence that told it


class World:
    """People and things at places. Starting places are random and never told."""

    def __init__(self, rng: Random, people: Sequence[str], places: Sequence[str], objects: Sequence[str] = ()) -> None:
        self.rng = rng
        self.people, self.places, self.objects = people, places, objects
        self.at = {person: rng.choice(places) for person in people}
        self.lies_at = {item: rng.choice(places) for item in objects}
        self.holder: dict[str, str | None] = dict.fromkeys(objects)
        self.events: list[Event] = []
        self.last_move: dict[str, Event] = {}
        self.last_handling: dict[str, Event] = {}  # of each thing
        self.last_give: Event | None = None
        self.carried: dict[str, list[Event]] = {}  # the moves that a thing made since it was last taken
        self.handlings: dict[str, list[Event]] = defaultdict(list)  # of each person, giving and receiving included

    def elsewhere(self, person: str) -> str:
        """A place where the person is not."""
        return self.rng.choice([place for place in self.places if place != self.at[person]])

    def held_by(self, person: str) -> list[str]:
        """Things that the person carries."""
        return [item for item in self.objects if self.holder[item] == person]

    def act(self, kinds: Sequence[str], *, giving: bool = False) -> Event:
        """Something possible happens: actor and kind are redrawn until they fit, as in the released stories."""
        event = self._give() if giving else None
        while event is None:
            event = self._attempt(self.rng.choice(self.people), self.rng.choice(kinds))
        return event

    def move(self, person: str, place: str, kind: str = "move") -> Event:
        """The person goes to a place, and takes along what they hold."""
        event = Event(kind, person, place, before=self.last_move.get(person))
        self.at[person] = place
        self.last_move[person] = event
        for item in self.held_by(person):
            self.carried[item].append(event)
        self.events.append(event)
        return event

    def _attempt(self, actor: str, kind: str) -> Event | None:
        if kind == "move":
            place = self.rng.choice(self.places)
            return None if place == self.at[actor] else self.move(actor, place)
        if kind == "get":
            return self._get(actor)
        held = self.held_by(actor)
        return self._drop(actor, self.rng.choice(held)) if held else None

    def _get(self, actor: str) -> Event | None:
        here = self.at[actor]
        loose = [item for item in self.objects if self.holder[item] is None and self.lies_at[item] == here]
        if not loose:
            return None
        item = self.rng.choice(loose)
        self.holder[item] = actor
        self.carried[item] = []
        return self._handle(Event("get", actor, here, item, before=self.last_move.get(actor)))

    def _drop(self, actor: str, item: str) -> Event:
        self.holder[item] = None
        self.lies_at[item] = self.at[actor]
        return self._handle(Event("drop", actor, self.at[actor], item, before=self.last_move.get(actor)))

    def _give(self) -> Event | None:
        """Somebody gives something to somebody near. Right after a give, only the same thing can be given on."""
        holders = {item: holder for item, holder in self.holder.items() if holder is not None}
        company = {
            item: [one for one in self.people if one != holder and self.at[one] == self.at[holder]]
            for item, holder in holders.items()
        }
        items = [item for item in company if company[item]]
        if not items or self.rng.random() >= _GIVE_SHARE:
            return None
        item = self._item_to_give(items)
        back = self.last_give.actor if self.last_give is not None and self.last_give.item == item else ""
        receiver = self._likelier(company[item], back)
        return self._hand_over(holders[item], item, receiver)

    def _item_to_give(self, items: list[str]) -> str:
        if self.last_give is None:
            return self.rng.choice(items)
        if self.last_give is self.events[-1]:
            return self.last_give.item
        return self._likelier(items, self.last_give.item)

    def _likelier(self, names: list[str], favourite: str) -> str:
        """One of the names; the favourite, if it is among them, is several times as likely."""
        return self.rng.choice(names + [name for name in names if name == favourite] * (_AGAIN - 1))

    def _hand_over(self, giver: str, item: str, receiver: str) -> Event:
        self.holder[item] = receiver
        self.carried[item] = []
        event = Event("give", giver, self.at[giver], item, receiver, before=self.last_move.get(giver))
        self.last_give = self._handle(event)
        self.handlings[receiver].append(event)
        return event

    def _handle(self, event: Event) -> Event:
        self.last_handling[event.item] = event
        self.handlings[event.actor].append(event)
        self.events.append(event)
        return event


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
