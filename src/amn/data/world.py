"""A small world of people, places and things: what may happen in it, and what has happened."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

# The released stories hold more gives than an even draw of actions makes: about 2 + (things held) per other action.
_GIVE_ODDS = 2
_MOST_GIVE_ODDS = 5


@dataclass(slots=True, eq=False)
class Event:
    """Something that happened and was told.

    Args:
        kind: "move", "get", "drop" or "give"; some tasks add kinds of their own.
        actor: who did it.
        place: where the actor is after it, or the place that the sentence is about.
        item: the thing handled.
        receiver: who was given the thing.
        before: the actor's latest told move before it.
        line: index of the sentence that told it.
    """

    kind: str
    actor: str
    place: str
    item: str = ""
    receiver: str = ""
    before: "Event | None" = None
    line: int = -1


class World:
    """People and things at places. Starting places are random and never told.

    Args:
        rng: the story's source of chance.
        people: names of who is there.
        places: names of where they can be.
        objects: names of what can be carried.
    """

    def __init__(self, rng: Random, people: Sequence[str], places: Sequence[str], objects: Sequence[str] = ()) -> None:
        self.rng = rng
        self.people, self.places, self.objects = people, places, objects
        self.at = {person: rng.choice(places) for person in people}
        self.lies_at = {item: rng.choice(places) for item in objects}
        self.holder: dict[str, str | None] = dict.fromkeys(objects)
        self.events: list[Event] = []
        self.last_move: dict[str, Event] = {}
        self.last_handling: dict[str, Event] = {}  # of each thing
        self.carried: dict[str, list[Event]] = {}  # the moves that a thing made since it was last taken
        self.handlings: dict[str, list[Event]] = defaultdict(list)  # of each person, giving and receiving included

    def elsewhere(self, person: str) -> str:
        """A place where the person is not."""
        return self.rng.choice([place for place in self.places if place != self.at[person]])

    def held_by(self, person: str) -> list[str]:
        """Things that the person carries."""
        return [item for item in self.objects if self.holder[item] == person]

    def act(self, kinds: Sequence[str]) -> Event:
        """Something possible happens: actor and kind are drawn anew until they fit, as in the released stories."""
        while True:
            event = self._attempt(self.rng.choice(self.people), self.rng.choice(kinds))
            if event is not None:
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
        return self._part_with(actor, kind)

    def _get(self, actor: str) -> Event | None:
        here = self.at[actor]
        loose = [item for item in self.objects if self.holder[item] is None and self.lies_at[item] == here]
        if not loose:
            return None
        item = self.rng.choice(loose)
        self.holder[item] = actor
        self.carried[item] = []
        return self._handle(Event("get", actor, here, item, before=self.last_move.get(actor)))

    def _part_with(self, actor: str, kind: str) -> Event | None:
        held = self.held_by(actor)
        if not held:
            return None
        return self._give(actor, held) if kind == "give" else self._drop(actor, self.rng.choice(held))

    def _drop(self, actor: str, item: str) -> Event:
        self.holder[item] = None
        self.lies_at[item] = self.at[actor]
        return self._handle(Event("drop", actor, self.at[actor], item, before=self.last_move.get(actor)))

    def _give(self, actor: str, held: list[str]) -> Event | None:
        here = self.at[actor]
        near = [person for person in self.people if person != actor and self.at[person] == here]
        if not near or self.rng.randrange(_MOST_GIVE_ODDS) >= _GIVE_ODDS + len(held):
            return None
        item, receiver = self.rng.choice(held), self.rng.choice(near)
        self.holder[item] = receiver
        self.carried[item] = []
        event = self._handle(Event("give", actor, here, item, receiver, before=self.last_move.get(actor)))
        self.handlings[receiver].append(event)
        return event

    def _handle(self, event: Event) -> Event:
        self.last_handling[event.item] = event
        self.handlings[event.actor].append(event)
        self.events.append(event)
        return event


# Actions to draw from; "give" stands there as often as its odds say (see `World._give`).
CARRYING = ("move", "get", "drop")
GIVING = (*CARRYING, *("give",) * _MOST_GIVE_ODDS)
