"""Themes about relations: who likes whom or is married to whom, who lives where, and who is taller or older."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from amn.data.tasks.mixed.layout import YES_OR_NO, Ordered
from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.tasks.mixed.theme import THEMES, Theme, asked
from amn.data.tasks.mixed.world import Lines

_WORDS = THEMES["relations"].words
_VERBS: dict[str, str] = _WORDS["verbs"]  # with their past participles
_TIES: dict[str, str] = _WORDS["ties"]  # as said of one person and of two
_HOMES: dict[str, str] = THEMES["homes"].words["verbs"]
_NOT_SHARE = 0.2

_Pair = tuple[Name, Name]


class Relations(Theme):
    """One verb, as in "likes", and one symmetric tie, as in "is married to"; what is not told is unknown."""

    def __init__(self, teller: Teller, names: list[Name]) -> None:
        super().__init__(teller)
        self.names = names
        verb, self.tie = self.rng.choice(list(_VERBS)), self.rng.choice(list(_TIES))
        self.verbs = {"like": verb, "likes": f"{verb}es" if verb.endswith("s") else f"{verb}s", "liked": _VERBS[verb]}
        self.ties = {"tie": self.tie, "ties": _TIES[self.tie]}
        self.liked: dict[_Pair, tuple[bool, Lines]] = {}
        self.tied: dict[_Pair, Lines] = {}
        self.left = self.rng.randint(1, 5)
        self.use_ties = self.rng.random() < 0.7

    def tell(self) -> None:
        """A verb or a tie between two people of whom it was not told yet."""
        who, to = self.rng.sample(self.names, 2)
        ties = self.use_ties and self.rng.random() < 0.5
        if self.left == 0 or (self._is_tied(who, to) if ties else (who, to) in self.liked):
            raise NothingToSayError
        self.left -= 1
        if ties:
            self.tied[who, to] = self.teller.tell("tie", who, to=to, things=(), **self.ties)
        else:
            likes = self.rng.random() > _NOT_SHARE
            why = self.teller.tell("likes" if likes else "does not like", who, to=to, things=(), **self.verbs)
            self.liked[who, to] = likes, why

    def _is_tied(self, who: Name, to: Name) -> bool:
        """Whether these two are tied, or one of them to anybody where each can have only one."""
        if self.tie in _WORDS["one_each"]:
            return any({who, to} & set(pair) for pair in self.tied)
        return any({who, to} == set(pair) for pair in self.tied)

    def ask(self, unknown: bool) -> Asked:
        """Who likes or is tied to whom, or whether two are?"""
        if not self.liked and not self.tied:
            raise NothingToSayError
        spare = self.cast.other_people[:1] if unknown else []
        who, to = self.rng.sample([*self.names, *spare], 2)
        if self.liked and (not self.tied or self.rng.random() < 0.5):
            return self._ask_liked(who, to)
        return self._ask_tie(who, to)

    def _ask_liked(self, who: Name, to: Name) -> Asked:
        kind = self.rng.choice(("whom likes", "who likes", "likes"))
        if kind == "likes":
            if self.rng.random() < 0.6:
                who, to = self.rng.choice(list(self.liked))
            likes, why = self.liked.get((who, to), (None, ()))
            return asked(kind, YES_OR_NO[likes], why, who=who, to=to, **self.verbs)
        own, wanted, name = (0, 1, who) if kind == "whom likes" else (1, 0, to)
        found = [(pair[wanted], why) for pair, (likes, why) in self.liked.items() if likes and pair[own] == name]
        return asked(kind, *_listed(found), who=who, to=to, **self.verbs)

    def _ask_tie(self, who: Name, to: Name) -> Asked:
        if self.rng.random() < 0.5:
            found = [(pair[pair[0] == who], why) for pair, why in self.tied.items() if who in pair]
            return asked("whose tie", *_listed(found), who=who, **self.ties)
        if self.rng.random() < 0.5:
            who, to = self.rng.sample(self.rng.choice(list(self.tied)), 2)
        why = self.tied.get((who, to)) or self.tied.get((to, who))
        return asked("tie", "yes" if why else None, why or (), who=who, to=to, **self.ties)


class Homes(Theme):
    """Where people live, or work; where they are is another matter. What is not told is unknown."""

    def __init__(self, teller: Teller, names: list[Name]) -> None:
        super().__init__(teller)
        self.homes: dict[Name, tuple[Name, Lines]] = {}
        self.told_verb, self.other_verb = (_verb_forms(verb) for verb in self.rng.sample(list(_HOMES), 2))
        self.waiting = [partial(self._tell_home, name) for name in names]

    def _tell_home(self, name: Name) -> None:
        place = self.rng.choice(self.cast.places)
        why = self.teller.tell("home", name, to=None, things=(), place=place.said, **self.told_verb)
        self.homes[name] = place, why

    def ask(self, unknown: bool) -> Asked:
        """Where does somebody live, or who lives there? At times with a verb that the story does not use."""
        if not self.homes:
            raise NothingToSayError
        other_verb = unknown and self.rng.random() < 0.3
        verb = self.other_verb if other_verb else self.told_verb
        told: dict[Name, tuple[Name, Lines]] = {} if other_verb else self.homes
        if self.rng.random() < 0.7:
            name = self.rng.choice(self.cast.other_people if unknown and not other_verb else list(self.homes))
            place, why = told.get(name, (None, ()))
            return asked("home", place, why, who=name, **verb)
        place = self.rng.choice(self.cast.places if unknown else [place for place, _ in self.homes.values()])
        found = [(name, why) for name, (home, why) in told.items() if home == place]
        return asked("who home", *_listed(found), place=place, **verb)


def _verb_forms(verb: str) -> dict[str, str]:
    third = f"{verb.removesuffix('y')}ies" if verb.endswith("y") else f"{verb}s"
    return {"live": verb, "lives": third, "lived": _HOMES[verb]}


def _listed(found: Sequence[tuple[Name, Lines]]) -> tuple[str | None, Lines]:
    """All names in the order told, and their lines; None where there is none."""
    return ",".join(name.text for name, _ in found) or None, tuple(line for _, why in found for line in why)


class Scale(NamedTuple):
    """An adjective and its forms, and those of the opposite."""

    plain: str
    more: str
    most: str
    less: str
    least: str


OF_PEOPLE, OF_THINGS = ([Scale(*forms) for forms in THEMES["comparisons"].words[kind]] for kind in ("people", "things"))


class Comparisons(Ordered):
    """People or things compared by one scale."""

    def __init__(self, teller: Teller, names: list[Name], scale: Scale, *, people: bool) -> None:
        super().__init__(teller, names, (1, 5))
        self.scale, self.people = scale, people

    def say(self, high: Name, low: Name) -> Lines:
        """As one that is more, or one that is less."""
        if self.people:
            self.teller.outsiders |= {high, low}
        return self.teller.state("more", high=high.said, low=low.said, **self.scale._asdict())

    def ask(self, unknown: bool) -> Asked:
        """Is one more than the other, which of two is, or which of all?"""
        told = self.below.told()
        if not told:
            raise NothingToSayError
        kind = self.rng.choice(("more", "which more", "most"))
        if kind == "most":
            return self._most(told)
        spare = self.cast.other_people if self.people else self.cast.other_things
        one, other = self.rng.sample([*told, *(spare[:1] if unknown else [])], 2)
        above, lines = self.is_above(one, other)
        if kind == "more":
            return asked(kind, YES_OR_NO[above], lines, high=one, low=other, **self.scale._asdict())
        more = self.rng.random() < 0.6
        found = None if above is None else one if above == more else other
        word = self.scale.more if more else self.scale.less
        return asked(kind, found, lines, which=self._which(), one=one, other=other, word=word)

    def _most(self, told: list[Name]) -> Asked:
        """The one at the upper or the lower end, where the comparisons tell that."""
        most = self.rng.random() < 0.6
        slots = {"which": self._which(), "word": self.scale.most if most else self.scale.least}
        for name in told:
            found = [self.is_above(name, other) for other in told if other != name]
            if all(above == most for above, _ in found):
                return asked("most", name, [line for _, lines in found for line in lines], **slots)
        return asked("most", None, **slots)

    def _which(self) -> str:
        return "who" if self.people else self.rng.choice(("which", "which one", "what"))
