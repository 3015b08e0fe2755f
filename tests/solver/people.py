"""Tasks about people who move and carry things: 1 to 3 and 5 to 14."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from solver.grammar import TIMES, Event, Unanswerable, ask, events, fit, parse, pattern

_WHERE_IS_PERSON = pattern("where is {who}")
_WHERE_IS_THING = pattern("where is the {thing}")
_WHERE_WAS_THING = pattern("where was the {thing} before the {place}")
_WHERE_WAS_PERSON = pattern("where was {who} before the {place}")
_IS_IN = pattern("is {who} in the {place}")
_HOW_MANY = pattern("how many objects is {who} (?P<verb>carrying|holding)")
_WHAT_HELD = pattern("what is {who} (?:carrying|holding)")
_GIVING = (
    ("thing", pattern("what did {who} give to {to}")),
    ("who", pattern("who gave the {thing}")),
    ("who", pattern("who gave the {thing} to {to}")),
    ("to", pattern("who received the {thing}")),
    ("to", pattern("who did {who} give the {thing} to")),
)
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_PLACED = ("move", "in", "not in", "either")


@dataclass
class World:
    """What a reader knows after some statements."""

    told: dict[str, Event] = field(default_factory=dict)  # per person, the latest statement of a place
    holder: dict[str, str] = field(default_factory=dict)  # per held thing, who holds it
    places: dict[str, list[str | None]] = field(default_factory=dict)  # per thing, its places; None is untold
    taken: dict[str, list[str]] = field(default_factory=dict)  # per person, things in the order first picked up
    named: dict[bool, tuple[str, ...]] = field(default_factory=dict)  # latest subjects; key: more than one

    def place(self, who: str) -> str | None:
        """Where a person surely is, if that was told."""
        event = self.told.get(who)
        return event["place"] if event is not None and event.rule in ("move", "in") else None

    def held(self, who: str) -> list[str]:
        """What a person holds, in the order in which the person first ever picked each thing up."""
        return [thing for thing in self.taken.get(who, ()) if self.holder.get(thing) == who]

    def tell(self, event: Event) -> None:
        """Take in one more statement."""
        for who in self._subjects(event):
            if event.rule in _PLACED:
                self._arrive(who, event)
            elif event.rule in ("get", "drop", "give"):
                self._handle(who, event)

    def _subjects(self, event: Event) -> tuple[str, ...]:
        """Who acts; a pronoun stands for the latest single subject, "they" for the latest joint one."""
        if event.who in (("he",), ("she",)):
            return self.named.get(False, ())
        if event.who == ("they",):
            return self.named.get(True, ())
        self.named[len(event.who) > 1] = event.who
        return event.who

    def _arrive(self, who: str, event: Event) -> None:
        self.told[who] = event
        for thing in self.held(who):
            self._put(thing, self.place(who))

    def _handle(self, who: str, event: Event) -> None:
        thing = event["thing"]
        if event.rule == "drop":
            self.holder.pop(thing, None)
        else:
            self._hold(event["to"] if event.rule == "give" else who, thing)
        # Whoever handles a thing stands where the thing is: its last place holds when the person's was never told.
        self._put(thing, self.place(who) or self._last_place(thing))

    def _hold(self, who: str, thing: str) -> None:
        self.holder[thing] = who
        taken = self.taken.setdefault(who, [])
        if thing not in taken:
            taken.append(thing)

    def _last_place(self, thing: str) -> str | None:
        return self.places.get(thing, [None])[-1]

    def _put(self, thing: str, place: str | None) -> None:
        past = self.places.setdefault(thing, [])
        if not past or past[-1] != place:
            past.append(place)


def _world(sentences: Sequence[str]) -> World:
    world = World()
    for event in events(sentences, "get", "drop", "give", *_PLACED):
        world.tell(event)
    return world


def _sure(answer: str | None, question: str) -> str:
    if answer is None:
        raise Unanswerable(f"the story does not tell: {question!r}")
    return answer


def _before_last(past: Sequence[str | None], place: str, question: str) -> str:
    """The entry before the last occurrence of a place."""
    last = max((at for at, entry in enumerate(past) if entry == place), default=0)
    return _sure(past[last - 1] if last else None, question)


def where_is_person(sentences: Sequence[str], question: str) -> str:
    """Tasks 1, 11, 12, 13."""
    who = ask(question, _WHERE_IS_PERSON)["who"]
    return _sure(_world(sentences).place(who), question)


def where_is_thing(sentences: Sequence[str], question: str) -> str:
    """Task 2: where its holder is, or where it was dropped."""
    past = _world(sentences).places.get(ask(question, _WHERE_IS_THING)["thing"], [None])
    return _sure(past[-1], question)


def where_was_thing(sentences: Sequence[str], question: str) -> str:
    """Task 3."""
    slots = ask(question, _WHERE_WAS_THING)
    return _before_last(_world(sentences).places.get(slots["thing"], []), slots["place"], question)


def where_was_person(sentences: Sequence[str], question: str) -> str:
    """Task 14: the places are ordered by the time of day, not by the telling."""
    slots = ask(question, _WHERE_WAS_PERSON)
    moves = [event for event in events(sentences, "move") if slots["who"] in event.who and event.time]
    moves.sort(key=lambda event: TIMES.index(event.time or ""))
    return _before_last([event["place"] for event in moves], slots["place"], question)


def is_person_in(sentences: Sequence[str], question: str) -> str:
    """Tasks 6, 9 and 10: only the latest statement of the person's place counts."""
    slots = ask(question, _IS_IN)
    event, place = _world(sentences).told.get(slots["who"]), slots["place"]
    if event is None or (event.rule == "not in" and event["place"] != place):
        raise Unanswerable(f"the story does not tell: {question!r}")
    if event.rule == "either":
        return "maybe" if place in (event["place"], event["other"]) else "no"
    return "yes" if event.rule != "not in" and event["place"] == place else "no"


def how_many_held(sentences: Sequence[str], question: str) -> str:
    """Task 7; the Lua wording asks "holding" and answers "zero"."""
    slots = ask(question, _HOW_MANY)
    count = len(_world(sentences).held(slots["who"]))
    if count == 0 and slots["verb"] == "holding":
        return "zero"
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def what_is_held(sentences: Sequence[str], question: str) -> str:
    """Task 8."""
    held = _world(sentences).held(ask(question, _WHAT_HELD)["who"])
    return ",".join(held) or "nothing"


def giving(sentences: Sequence[str], question: str) -> str:
    """Task 5: the most recent giving that fits what the question names."""
    for wanted, wording in _GIVING:
        given = fit(question, wording)
        if given is not None:
            return _latest_giving(sentences, given, wanted)
    raise Unanswerable(f"unknown wording of a question: {question!r}")


def _latest_giving(sentences: Sequence[str], given: Mapping[str, str], wanted: str) -> str:
    for sentence in reversed(sentences):
        event = parse(sentence)
        if event is not None and event.rule == "give" and all(event[slot] == word for slot, word in given.items()):
            return _as_written(event[wanted], sentence)
    raise Unanswerable(f"the story tells of no giving with {dict(given)}")


def _as_written(word: str, sentence: str) -> str:
    """The word with the capitals it has in the sentence."""
    found = re.search(rf"\b{re.escape(word)}\b", sentence, re.IGNORECASE)
    return found[0] if found else word
