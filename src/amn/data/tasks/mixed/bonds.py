"""Themes about people relative to one another: whom somebody likes or is married to, and who is taller or older."""

from collections.abc import Sequence
from typing import NamedTuple

from amn.data.tasks.mixed.layout import Graph
from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.teller import UNKNOWN, Asked, Teller
from amn.data.tasks.mixed.world import Lines

_VERBS = {
    **{"like": "liked", "love": "loved", "hate": "hated", "know": "known", "admire": "admired", "trust": "trusted"},
    **{"miss": "missed"},
}
_TIES = {
    **{"married to": "married", "a friend of": "friends", "a neighbour of": "neighbours", "a cousin of": "cousins"},
    **{"related to": "related", "engaged to": "engaged"},
}
_ONE_EACH = ("married to", "engaged to")
_NOT_SHARE = 0.2

_Pair = tuple[Name, Name]


class Bonds:
    """One verb that some people do to others, and one tie that holds both ways; what is not told may be so or not."""

    def __init__(self, teller: Teller, names: list[Name]) -> None:
        self.teller, self.rng, self.names = teller, teller.rng, names
        self.like, self.tie = self.rng.choice(list(_VERBS)), self.rng.choice(list(_TIES))
        self.slots = {"like": self.like, "likes": _third(self.like), "liked": _VERBS[self.like]}
        self.slots |= {"tie": self.tie, "ties": _TIES[self.tie]}
        self.liked: dict[_Pair, tuple[bool, Lines]] = {}
        self.tied: dict[_Pair, Lines] = {}
        self.left = self.rng.randint(1, 5)
        self.use_ties = self.rng.random() < 0.7

    def tell(self) -> bool:
        """One bond of two of whom none of its kind was told."""
        who, to = self.rng.sample(self.names, 2)
        ties = self.use_ties and self.rng.random() < 0.5
        if self.left == 0 or (self._is_tied(who, to) if ties else (who, to) in self.liked):
            return False
        self.left -= 1
        if ties:
            self.tied[who, to] = self.teller.tell("tie", who, to=to, tie=self.tie, ties=_TIES[self.tie])
        else:
            likes = self.rng.random() > _NOT_SHARE
            kind = "likes" if likes else "does not like"
            why = self.teller.tell(kind, who, to=to, like=self.like, likes=_third(self.like), liked=_VERBS[self.like])
            self.liked[who, to] = likes, why
        self.teller.outsiders |= {who, to}
        return True

    def _is_tied(self, who: Name, to: Name) -> bool:
        """Whether these two are, or one of them is to somebody where there can be but one."""
        if self.tie in _ONE_EACH:
            return any({who, to} & set(pair) for pair in self.tied)
        return any({who, to} == set(pair) for pair in self.tied)

    def ask(self, unknown: bool) -> Asked | None:
        """Whom, who, or whether."""
        if not self.liked and not self.tied:
            return None
        spare = self.teller.cast.other_people[:1] if unknown else []
        who, to = self.rng.sample([*self.names, *spare], 2)
        if self.liked and (not self.tied or self.rng.random() < 0.5):
            return self._ask_liked(who, to)
        return self._ask_tie(who, to)

    def _ask_liked(self, who: Name, to: Name) -> Asked:
        kind = self.rng.choice(("whom likes", "who likes", "likes"))
        slots = self.slots | {"who": who.said, "to": to.said}
        if kind == "likes":
            if self.rng.random() < 0.6:
                who, to = self.rng.choice(list(self.liked))
            slots |= {"who": who.said, "to": to.said}
            likes, why = self.liked.get((who, to), (None, ()))
            answer = UNKNOWN if likes is None else "yes" if likes else "no"
            return Asked(kind=kind, answer=answer, support=why, slots=slots)
        own, wanted, name = (0, 1, who) if kind == "whom likes" else (1, 0, to)
        found = [(pair[wanted], why) for pair, (likes, why) in self.liked.items() if likes and pair[own] == name]
        return _listing(kind, found, slots)

    def _ask_tie(self, who: Name, to: Name) -> Asked:
        if self.rng.random() < 0.5:
            found = [(pair[pair[0] == who], why) for pair, why in self.tied.items() if who in pair]
            return _listing("whose tie", found, self.slots | {"who": who.said})
        if self.rng.random() < 0.5:
            who, to = self.rng.sample(self.rng.choice(list(self.tied)), 2)
        why = self.tied.get((who, to)) or self.tied.get((to, who)) or ()
        slots = self.slots | {"who": who.said, "to": to.said}
        return Asked(kind="tie", answer="yes" if why else UNKNOWN, support=why, slots=slots)


def _third(verb: str) -> str:
    return f"{verb}es" if verb.endswith("s") else f"{verb}s"


def _listing(kind: str, found: Sequence[tuple[Name, Lines]], slots: dict[str, str]) -> Asked:
    """All names in the order told; unknown where there is none."""
    lines = tuple(sorted({line for _, why in found for line in why}))
    return Asked(kind=kind, answer=",".join(name.text for name, _ in found) or UNKNOWN, support=lines, slots=slots)


class Scale(NamedTuple):
    """An adjective and its forms, and those of the opposite."""

    plain: str
    more: str
    most: str
    less: str
    least: str


OF_PEOPLE = (
    Scale("tall", "taller", "tallest", "shorter", "shortest"),
    Scale("old", "older", "oldest", "younger", "youngest"),
    Scale("fast", "faster", "fastest", "slower", "slowest"),
    Scale("strong", "stronger", "strongest", "weaker", "weakest"),
    Scale("heavy", "heavier", "heaviest", "lighter", "lightest"),
    Scale("rich", "richer", "richest", "poorer", "poorest"),
)
OF_THINGS = (
    Scale("heavy", "heavier", "heaviest", "lighter", "lightest"),
    Scale("old", "older", "oldest", "newer", "newest"),
    Scale("long", "longer", "longest", "shorter", "shortest"),
    Scale("expensive", "more expensive", "most expensive", "cheaper", "cheapest"),
    Scale("big", "bigger", "biggest", "smaller", "smallest"),  # last: stories with sizes do without it
)


class Comparisons:
    """People or things in one order, compared two at a time.

    Args:
        teller: the story.
        names: in the order, the lowest first.
        scale: what is compared.
        people: whether they are people.
    """

    def __init__(self, teller: Teller, names: list[Name], scale: Scale, *, people: bool) -> None:
        self.teller, self.rng = teller, teller.rng
        self.names, self.scale, self.people = names, scale, people
        self.below = Graph()
        self.left = self.rng.randint(1, 5)

    def tell(self) -> bool:
        """One comparison, mostly of neighbours."""
        if self.left == 0:
            return False
        self.left -= 1
        at = self.rng.randrange(len(self.names) - 1)
        further = at + 2 if self.rng.random() < 0.25 else at + 1
        low, high = self.names[at], self.names[min(further, len(self.names) - 1)]
        more, less, plain = self.scale.more, self.scale.less, self.scale.plain
        why = self.teller.state("more", high=high.said, low=low.said, more=more, less=less, plain=plain)
        self.below.add(high, low, why)
        if self.people:
            self.teller.outsiders |= {high, low}
        return True

    def _slots(self, high: Name, low: Name) -> dict[str, str]:
        return self.scale._asdict() | {"high": high.said, "low": low.said}

    def ask(self, unknown: bool) -> Asked | None:
        """Is one more than the other, which of two is, or which of all?"""
        told = sorted({*self.below.near, *(low for near in self.below.near.values() for low in near)})
        if not told:
            return None
        kind = self.rng.choice(("more", "which more", "most"))
        if kind == "most":
            return self._most(told)
        cast = self.teller.cast
        spare = (cast.other_people if self.people else cast.other_things)[:1] if unknown else []
        one, other = self.rng.sample([*told, *spare], 2)
        down, up = self.below.way(one, other), self.below.way(other, one)
        lines = self.below.lines(down or up or [])
        if kind == "more":
            answer = "yes" if down else "no" if up else UNKNOWN
            return Asked(kind=kind, answer=answer, support=lines, slots=self._slots(one, other))
        more = self.rng.random() < 0.6
        found = (one if more else other) if down else (other if more else one) if up else None
        slots = {"which": self._which(), "one": one.said, "other": other.said}
        slots["word"] = self.scale.more if more else self.scale.less
        return Asked(kind=kind, answer=found.text if found else UNKNOWN, support=lines, slots=slots)

    def _most(self, told: list[Name]) -> Asked:
        """The one from whom all others follow, at the upper or the lower end."""
        most = self.rng.random() < 0.6
        slots = {"which": self._which(), "word": self.scale.most if most else self.scale.least}
        for name in told:
            pairs = [(name, other) if most else (other, name) for other in told if other != name]
            ways = [self.below.way(high, low) for high, low in pairs]
            if all(ways):
                lines = sorted({line for way in ways for line in self.below.lines(way or [])})
                return Asked(kind="most", answer=name.text, support=tuple(lines), slots=slots)
        return Asked(kind="most", answer=UNKNOWN, support=(), slots=slots)

    def _which(self) -> str:
        return "who" if self.people else self.rng.choice(("which", "which one", "what"))
