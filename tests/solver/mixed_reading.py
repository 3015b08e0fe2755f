"""What the sentences of a mixed story say, and where people and things were.

Places are unknowns of equations: a sentence gives one a value or says that two are equal. They are solved once all is
told, so that it does not matter in which order a reader learns.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from amn.data.names import pronoun
from solver.kinds import _singular
from solver.mixed_grammar import APART, Said, listed, parse
from solver.relations import _STEPS

_GENDER = {"Mr.": "he", "Mrs.": "she", "Ms.": "she", "Miss": "she", "Dr.": "", "Professor": "", "I": ""}
# What these say leaves open which thing "it" means.
_OF_PEOPLE = ("move", "not in", "either", "then", "with", "not go")
_BASE = {
    **{"liked": "like", "loved": "love", "hated": "hate", "known": "know", "admired": "admire", "trusted": "trust"},
    **{"missed": "miss", "misses": "miss", "miss": "miss"},
    **{"lived": "live", "worked": "work", "studies": "study", "studied": "study"},
}
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TIE = {"friends": "a friend of", "neighbours": "a neighbour of", "cousins": "a cousin of"}
_SCALES = {
    **{"taller": "long", "longer": "long", "tall": "long", "older": "old", "faster": "fast", "stronger": "strong"},
    **{"heavier": "heavy", "richer": "rich", "more expensive": "expensive", "bigger": "big"},
}
_OPPOSITES = {
    **{"shorter": "long", "younger": "old", "newer": "old", "slower": "fast", "weaker": "strong", "lighter": "heavy"},
    **{"poorer": "rich", "cheaper": "expensive", "smaller": "big"},
}
_SUBJECT = {"him": "he", "her": "she", "them": "they", "we": "they", "us": "they"}


def _gender(name: str) -> str:
    first = name.split()[0]
    return _GENDER[first] if first in _GENDER else pronoun(first)


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS.index(word)


def verb(word: str) -> str:
    """What somebody does to somebody, whatever its form: likes, liked and like are one."""
    return _BASE.get(word, word.removesuffix("s"))


def tie(word: str) -> str:
    """A tie of two: married and married to are one."""
    return _TIE.get(word, word if word.startswith("a ") else f"{word.removesuffix(' to')} to")


def scale(word: str) -> tuple[str, bool]:
    """What a word compares, and whether it is the upper end of it: both older and oldest are of age."""
    more = {"most expensive": "more expensive"}.get(word, re.sub("est$", "er", word))
    return (_OPPOSITES[more], False) if more in _OPPOSITES else (_SCALES.get(more, more), True)


@dataclass
class Where:
    """One stay of somebody or something: the place if a sentence says it, or what it says instead."""

    place: str | None = None
    options: tuple[str, ...] = ()
    denied: str | None = None

    @property
    def apart(self) -> bool:
        return self.place is not None and APART.fullmatch(self.place) is not None


@dataclass
class Reading:
    """All that the sentences of a story say."""

    stays: dict[str, list[Where]] = field(default_factory=dict)  # of people and of things, in turn
    arrivals: list[tuple[str, Where]] = field(default_factory=list)  # of people, in the order told
    equal: list[tuple[Where, Where]] = field(default_factory=list)
    people: dict[str, None] = field(default_factory=dict)  # in the order of first acting or being somewhere
    things: dict[str, str | None] = field(default_factory=dict)  # who holds each
    got: dict[str, list[str]] = field(default_factory=dict)
    gifts: list[Mapping[str, str]] = field(default_factory=list)
    deeds: list[tuple[str, str, str, Where]] = field(default_factory=list)  # what was done, by whom, with what, where
    days: dict[str, dict[str, str]] = field(default_factory=dict)
    states: dict[str, tuple[str, int]] = field(default_factory=dict)  # and how many stays came before
    kinds: dict[str, str] = field(default_factory=dict)
    colours: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    fears: dict[str, str] = field(default_factory=dict)
    links: dict[str, dict[str, list[tuple[str, tuple[int, int]]]]] = field(default_factory=dict)
    likes: dict[tuple[str, str, str], bool] = field(default_factory=dict)  # by verb, who and whom
    homes: dict[str, tuple[str, str]] = field(default_factory=dict)  # of people: a verb such as live, and the place
    ties: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    below: dict[str, dict[str, set[str]]] = field(default_factory=dict)  # on each scale
    counts: dict[tuple[str, str], int] = field(default_factory=dict)  # of whom and what
    empty: set[str] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    named: tuple[str, ...] = ()
    joint: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()  # the things told of last

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        said = parse(sentence)
        actors = self._actors(said)
        self.named = tuple(name for group in (self._resolve(name) for name in said.named) for name in group)
        self.joint = actors if len(actors) > 1 else ()
        if "thing" in said.slots:
            self.topic = self._things(said["thing"])
        elif said.rule not in _OF_PEOPLE:
            self.topic = ()
        getattr(self, "_" + said.rule.replace(" ", "_"), self._nothing)(said, actors)

    def _actors(self, said: Said) -> tuple[str, ...]:
        who = said.slots.get("who")
        return () if who is None else tuple(name for part in listed(who) for name in self._resolve(part))

    def _things(self, text: str) -> tuple[str, ...]:
        """The things of a list, each with "the"; those told of last for a pronoun."""
        if text in ("it", "them", "they", "both", "both of them"):
            return self.topic if text != "it" or len(self.topic) == 1 else ()
        return tuple(re.sub("^(?:an?|some|my) ", "the ", name) for name in listed(text))

    def _resolve(self, name: str) -> tuple[str, ...]:
        """Whom a pronoun means: the pair before, or the first person before whom it fits."""
        word = _SUBJECT.get(name, name)
        if word == "they":
            return self.joint
        if word not in ("he", "she"):
            return (name,)
        return tuple([one for one in self.named if _gender(one) == word][:1])

    def meant(self, slot: str, said: str) -> str:
        """Whom or what a question means by a pronoun."""
        if slot in ("it", "thing") and said == "it":
            return self.topic[0]
        return self._resolve(said)[0] if slot in ("it", "who") and said in ("he", "she", "him", "her") else said

    def _nothing(self, said: Said, actors: tuple[str, ...]) -> None:
        if said.rule == "mood":
            self.outside.update(actors)

    def _now(self, name: str) -> Where:
        stays = self.stays.setdefault(name, [])
        if not stays:
            stays.append(Where())
        return stays[-1]

    def _stay(self, name: str, stay: Where) -> None:
        self.people.setdefault(name)
        self.stays.setdefault(name, []).append(stay)
        self.arrivals.append((name, stay))
        for thing, holder in self.things.items():
            if holder == name:
                self.stays[thing].append(stay)

    def _move(self, said: Said, actors: tuple[str, ...], slot: str = "place") -> None:
        for name in actors:
            self._stay(name, Where(said[slot]))

    def _then(self, said: Said, actors: tuple[str, ...]) -> None:
        self._move(said, actors)
        self._move(said, actors, "other")

    def _either(self, said: Said, actors: tuple[str, ...]) -> None:
        self._stay(actors[0], Where(options=(said["place"], said["other"])))

    def _not_in(self, said: Said, actors: tuple[str, ...]) -> None:
        self._stay(actors[0], Where(denied=said["place"]))

    def _own(self, said: Said, actors: tuple[str, ...]) -> None:
        self.outside.update(actors)
        for amount in said["amounts"].split(" and "):
            number, item = amount.split()
            self.counts[actors[0], item.removesuffix("s")] = _number(number)
        if "part" in said.slots:
            self._count(actors[0], said["part"], -1)

    def _count(self, name: str, part: str, sign: int) -> None:
        """More or fewer of what is named, or of the only kind that somebody has."""
        number, item = part.split()[0], part.split()[-1].removesuffix("s")
        own = [kind for one, kind in self.counts if one == name]
        for kind in [item] if item in own else own if len(own) == 1 else ():
            self.counts[name, kind] += sign * _number(number)

    def _gain(self, said: Said, actors: tuple[str, ...]) -> None:
        self._count(actors[0], said["part"], 1)

    def _lose(self, said: Said, actors: tuple[str, ...]) -> None:
        self._count(actors[0], said["part"], -1)

    def _share(self, said: Said, actors: tuple[str, ...]) -> None:
        self._count(said["to"], said["part"], 1)
        self._count(actors[0], said["part"], -1)

    def _not_there(self, _said: Said, actors: tuple[str, ...]) -> None:
        self.solve_places()
        self._stay(actors[0], Where(denied=self._now(actors[0]).place))

    def _empty(self, said: Said, _actors: tuple[str, ...]) -> None:
        self.empty.add(said["place"])

    def _likes(self, said: Said, actors: tuple[str, ...], likes: bool = True) -> None:
        self.outside.update((*actors, said["to"]))
        self.likes[verb(said["verb"]), actors[0], said["to"]] = likes

    def _dislikes(self, said: Said, actors: tuple[str, ...]) -> None:
        self._likes(said, actors, likes=False)

    def _tie(self, said: Said, actors: tuple[str, ...]) -> None:
        self.outside.update((*actors, said["to"]))
        self.ties.append((tie(said["tie"]), frozenset((actors[0], said["to"]))))

    def _more(self, said: Said, _actors: tuple[str, ...]) -> None:
        name, upper = scale(said["word"])
        high, low = (said["high"], said["low"]) if upper else (said["low"], said["high"])
        self.outside.update(one for one in (high, low) if one[0].isupper())
        self.below.setdefault(name, {}).setdefault(high, set()).add(low)

    def _with(self, said: Said, actors: tuple[str, ...]) -> None:
        self.people.setdefault(said["to"])
        stay = Where()
        self.equal.append((stay, self._now(said["to"])))
        self._stay(actors[0], stay)

    def _lies(self, said: Said, _actors: tuple[str, ...]) -> None:
        for thing in self.topic:
            self.things[thing] = None
            self.stays.setdefault(thing, []).append(Where(said["place"]))

    def _liking(self, said: Said, actors: tuple[str, ...]) -> None:
        self.outside.update((*actors, said["to"]))

    def _did(self, deed: str, name: str, where: Where) -> None:
        self.deeds += [(deed, name, thing, where) for thing in self.topic]

    def _not_get(self, _said: Said, actors: tuple[str, ...]) -> None:
        self.people.setdefault(actors[0])

    def _hold(self, name: str, thing: str) -> None:
        self.people.setdefault(name)
        self.things[thing] = name
        if thing not in self.got.setdefault(name, []):
            self.got[name].append(thing)

    def _have(self, said: Said, actors: tuple[str, ...], deed: str = "have") -> None:
        self.solve_places()
        place = Where(said.slots.get("place"))
        if place.apart:
            for thing in self.topic:
                self.stays.setdefault(thing, [place])
        elif place.place and [stay.place for stay in self.stays.get(actors[0], ())][-1:] != [place.place]:
            self._stay(actors[0], place)
        for thing in self.topic:
            apart = thing in self.stays and self.stays[thing][-1].apart
            self.deeds.append((deed, actors[0], thing, self.stays[thing][-1] if apart else self._now(actors[0])))
            self._take(actors[0], thing)

    def _get(self, said: Said, actors: tuple[str, ...]) -> None:
        self._have(said, actors, "take")

    def _rob(self, said: Said, actors: tuple[str, ...]) -> None:
        self.people.setdefault(said["to"])
        self._have(said, actors, "take")

    def _shelve(self, said: Said, actors: tuple[str, ...]) -> None:
        """To a table or a box the thing alone is moved, elsewhere somebody carries it."""
        if Where(said["place"]).apart:
            self._put(said, actors)
        else:
            self._move(said, actors)

    def _home(self, said: Said, actors: tuple[str, ...]) -> None:
        self.outside.update(actors)
        self.homes[actors[0]] = verb(said["verb"]), said["place"]

    def _buy(self, said: Said, actors: tuple[str, ...]) -> None:
        self._have(said, actors)

    def _take(self, name: str, thing: str) -> None:
        here = self._now(name)
        if thing in self.stays and not self.stays[thing][-1].apart:
            self.equal.append((self.stays[thing][-1], here))
        else:
            self.stays.setdefault(thing, []).append(here)
        self._hold(name, thing)

    def _drop(self, _said: Said, actors: tuple[str, ...]) -> None:
        self._did("drop", actors[0], self._now(actors[0]))
        for thing in self.topic:
            if thing not in self.things:
                self._take(actors[0], thing)
            self.things[thing] = None

    def _put(self, said: Said, actors: tuple[str, ...]) -> None:
        place = Where(said["place"])
        self._did("put", actors[0], place)
        self.people.setdefault(actors[0])
        self.solve_places()
        if not place.apart and self._now(actors[0]).place != place.place:
            self._stay(actors[0], place)
        for thing in self.topic:
            self.stays.setdefault(thing, []).append(place)
            self.things[thing] = None

    def _put_and_go(self, said: Said, actors: tuple[str, ...]) -> None:
        self._put(said, actors)
        self._move(said, actors, "other")

    def _give(self, said: Said, actors: tuple[str, ...]) -> None:
        giver, to = actors[0], said["to"]
        self._did("give", giver, self._now(giver))
        self._did("receive", to, self._now(to))
        self.people.setdefault(giver)
        self.equal.append((self._now(giver), self._now(to)))
        for thing in self.topic:
            self.stays.setdefault(thing, [self._now(giver)])
            self._hold(to, thing)
            self.gifts.append({"who": giver, "thing": thing, "to": to})

    def _time(self, said: Said, actors: tuple[str, ...]) -> None:
        self.outside.update(actors)
        self.days.setdefault(actors[0], {})[said["time"].lower()] = said["place"]

    def _feel(self, said: Said, actors: tuple[str, ...]) -> None:
        self.outside.update(actors)
        self.states[actors[0]] = said["state"], len(self.stays.get(actors[0], ()))

    def _kind(self, said: Said, actors: tuple[str, ...]) -> None:
        self.outside.update(actors)
        self.kinds.pop(actors[0], None)
        self.kinds[actors[0]] = said["kind"]

    def _colour(self, said: Said, actors: tuple[str, ...]) -> None:
        self.outside.update(actors)
        self.colours[actors[0]] = said["colour"]

    def _class_colour(self, said: Said, _actors: tuple[str, ...]) -> None:
        self.classes[_singular(said["kind"])] = said["colour"]

    def _one_colour(self, said: Said, _actors: tuple[str, ...]) -> None:
        self.classes[said["kind"]] = said["colour"]

    def _thing_colour(self, said: Said, _actors: tuple[str, ...]) -> None:
        self.colours[self.topic[0]] = said["colour"]

    def _fear(self, said: Said, _actors: tuple[str, ...]) -> None:
        self.fears[_singular(said["kind"].lower())] = _singular(said["others"].lower())

    def _bigger(self, said: Said, _actors: tuple[str, ...]) -> None:
        self.below.setdefault("big", {}).setdefault(said["big"], set()).add(said["small"])

    def _beside(self, said: Said, _actors: tuple[str, ...]) -> None:
        self._link("page", said, said["side"])

    def _compass(self, said: Said, _actors: tuple[str, ...]) -> None:
        self._link("map", said, said["way"])

    def _link(self, sheet: str, said: Said, word: str) -> None:
        across, up = _STEPS[word]
        near = self.links.setdefault(sheet, {})
        near.setdefault(said["other"], []).append((said["one"], (across, up)))
        near.setdefault(said["one"], []).append((said["other"], (-across, -up)))

    def solve_places(self) -> None:
        """Equal stays get one place, until nothing more follows."""
        changed = True
        while changed:
            changed = False
            for one, other in self.equal:
                if (one.place is None) != (other.place is None):
                    one.place = other.place = one.place or other.place
                    changed = True


def read(sentences: Iterable[str]) -> Reading:
    """Reads a story."""
    reading = Reading()
    for sentence in sentences:
        reading.read(sentence)
    reading.solve_places()
    return reading
