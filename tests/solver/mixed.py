"""What follows from a mixed story, worked out anew from its sentences."""

from collections.abc import Iterable, Sequence

from solver.kinds import _REMEDY, _singular
from solver.mixed_grammar import TIMES
from solver.mixed_questions import parse_question
from solver.mixed_reading import Reading, Where, read, scale, tie, verb
from solver.relations import _LETTERS, _STEPS, _below, _steps

UNKNOWN = "unknown"
_TIMES = [time.lower() for time in TIMES]
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


_LIKE = {"take": ("have", "receive"), "drop": ("put", "give")}
_DEEDS = {
    f"{form} {past}": (form, verb)
    for form in ("who", "what", "did")
    for verb, past in (("take", "taken"), ("drop", "dropped"))
}


class Ambiguous(Exception):
    """A question that has more than one good answer, and should not be asked."""


def _plain(name: str) -> str:
    """Without its article."""
    return name.removeprefix("the ")


def _route(stays: Sequence[Where]) -> list[str | None]:
    """Places in turn, without repetition; each untold one may be anything."""
    found: list[str | None] = []
    last: Where | None = None
    for stay in stays:
        if stay is not last and (stay.place is None or not found or found[-1] != stay.place):
            found.append(stay.place)
        last = stay
    return found


def _neighbour(places: Sequence[str | None], place: str, step: int) -> str:
    """The place before the last time at one, or after the only time."""
    if step > 0 and (places.count(place) > 1 or None in places):
        raise Ambiguous
    at = max((at for at, other in enumerate(places) if other == place), default=None)
    if None in places[at or 0 :]:
        raise Ambiguous
    if at is None or not 0 <= at + step < len(places):
        return UNKNOWN
    if places[at + step] == place:
        raise Ambiguous
    return _plain(places[at + step] or UNKNOWN)


class Answers:
    """Answers about a story that was read."""

    def __init__(self, reading: Reading) -> None:
        self.told = reading

    def _spot(self, name: str) -> Where | None:
        stays = self.told.stays.get(name)
        return stays[-1] if stays else None

    def where(self, it: str) -> str:
        spot = self._spot(it)
        return _plain(spot.place) if spot and spot.place else UNKNOWN

    def where_both(self, who: str, to: str) -> str:
        """In one place, or each in one."""
        if who not in self.told.people or to not in self.told.people:
            return UNKNOWN
        places = dict.fromkeys((self.where(who), self.where(to)))
        if UNKNOWN in places:
            raise Ambiguous
        return ",".join(places)

    def is_in(self, it: str, place: str) -> str:
        spot = self._spot(it)
        if spot is None:
            return UNKNOWN
        if spot.place:
            return "yes" if spot.place == place else "no"
        if spot.options:
            return "maybe" if place in spot.options else "no"
        return "no" if spot.denied == place else UNKNOWN

    def _places(self, it: str) -> Sequence[str | None]:
        if it in self.told.days:
            return [place for _, place in sorted(self.told.days[it].items(), key=lambda day: _TIMES.index(day[0]))]
        return _route(self.told.stays.get(it, ()))

    def before(self, it: str, place: str) -> str:
        return _neighbour(self._places(it), place, -1)

    def after(self, it: str, place: str) -> str:
        return _neighbour(self._places(it), place, 1)

    def at_time(self, who: str, time: str) -> str:
        return _plain(self.told.days.get(who, {}).get(time.lower(), UNKNOWN))

    def who_has(self, thing: str) -> str:
        return (self.told.things[thing] or "nobody") if thing in self.told.things else UNKNOWN

    def has(self, who: str, thing: str) -> str:
        known = (who in self.told.people, thing in self.told.things)
        if known[0] != known[1]:
            raise Ambiguous
        return ("yes" if self.told.things[thing] == who else "no") if known[0] else UNKNOWN

    def _held(self, who: str) -> list[str]:
        return [_plain(thing) for thing in self.told.got.get(who, ()) if self.told.things[thing] == who]

    def carrying(self, who: str) -> str:
        return (",".join(self._held(who)) or "nothing") if who in self.told.people else UNKNOWN

    def count_carried(self, who: str) -> str:
        return _NUMBERS[len(self._held(who))] if who in self.told.people else UNKNOWN

    def gift(self, wanted: str, **named: str) -> str:
        for gift in reversed(self.told.gifts):
            if all(gift[part] == name for part, name in named.items()):
                return _plain(gift[wanted])
        return UNKNOWN

    def _present(self, place: str) -> list[str]:
        if self.told.outside - self.told.people.keys():
            raise Ambiguous
        for name in self.told.people:
            spot = self._spot(name) or Where()
            if not spot.place and spot.denied != place and (not spot.options or place in spot.options):
                raise Ambiguous
        return [name for name in self.told.people if (here := self._spot(name)) and here.place == place]

    def _is_told(self, place: str) -> bool:
        stays = (stay for stays in self.told.stays.values() for stay in stays)
        return place in self.told.empty or any(place in (stay.place, stay.denied, *stay.options) for stay in stays)

    def who_in(self, place: str) -> str:
        return (",".join(self._present(place)) or "nobody") if self._is_told(place) else UNKNOWN

    def count_in(self, place: str) -> str:
        return _NUMBERS[len(self._present(place))] if self._is_told(place) else UNKNOWN

    def who_with(self, who: str) -> str:
        if who not in self.told.people:
            return UNKNOWN
        spot = self._spot(who)
        if spot is None or spot.place is None:
            raise Ambiguous
        return ",".join(name for name in self._present(spot.place) if name != who) or "nobody"

    def is_with(self, one: str, other: str) -> str:
        places = self.where_both(one, other)
        return places if places == UNKNOWN else "no" if "," in places else "yes"

    def will_go(self, who: str) -> str:
        if who not in self.told.states:
            return UNKNOWN
        state, stays = self.told.states[who]
        if len(self.told.stays.get(who, ())) != stays:
            raise Ambiguous
        return _REMEDY[state][0]

    def why(self, who: str, what: str) -> str:
        if who not in self.told.states:
            return UNKNOWN
        state, stays = self.told.states[who]
        visits = [at for at, stay in enumerate(self.told.stays.get(who, ())) if stay.place == what]
        early = [at for at in visits if at < stays]
        if _plain(what) not in _REMEDY[state] or early or (visits and len(visits) > 1):
            raise Ambiguous
        return state

    def kind(self, who: str) -> str:
        return self.told.kinds.get(who, UNKNOWN)

    def colour(self, it: str) -> str:
        if it in self.told.colours:
            return self.told.colours[it]
        kinds = self.told.kinds
        if kinds.get(it) in self.told.classes:
            return self.told.classes[kinds[it]]
        alike = [one for one in kinds if it in kinds and kinds[one] == kinds[it] and one in self.told.colours]
        return self.told.colours[alike[-1]] if alike else UNKNOWN

    def class_colour(self, kind: str) -> str:
        return self.told.classes.get(_singular(kind), UNKNOWN)

    def class_fear(self, kind: str) -> str:
        return self.told.fears.get(_singular(kind), UNKNOWN)

    def off_topic(self, **_: str) -> str:
        return UNKNOWN

    def first(self, it: str) -> str:
        if it not in self.told.people:
            return UNKNOWN
        if not (places := self._places(it)) or places[0] is None:
            raise Ambiguous
        return _plain(places[0])

    def anybody_in(self, place: str) -> str:
        return ("yes" if self._present(place) else "no") if self._is_told(place) else UNKNOWN

    def deed(self, form: str, verb: str, who: str = "", thing: str = "") -> str:
        """About taking and dropping, unless something else that was done may be called so."""
        if (thing and thing not in self.told.things) or (who and who not in self.told.people):
            return UNKNOWN
        about = [deed for deed in self.told.deeds if who in ("", deed[1]) and thing in ("", deed[2])]
        if {deed[0] for deed in about} & set(_LIKE[verb]):
            raise Ambiguous
        done = [deed for deed in about if deed[0] == verb]
        if form == "did":
            return "yes" if done else "no"
        found = dict.fromkeys(_plain(deed[1] if form == "who" else deed[2]) for deed in done)
        if form == "who" and len(found) > 1:
            raise Ambiguous
        return ",".join(found) or ("nobody" if form == "who" else "nothing")

    def where_done(self, like: tuple[str, ...], who: str, thing: str) -> str:
        """Where something was done that was done once, and not to a thing that lay on a table."""
        done = [deed for deed in self.told.deeds if deed[0] in like and deed[1:3] == (who, thing)]
        if not done and (who in self.told.people and thing in self.told.things):
            raise Ambiguous
        if not done:
            return UNKNOWN
        verb, _, _, where = done[0]
        if len(done) > 1 or verb in ("have", "receive", "give") or where.options or where.denied:
            raise Ambiguous
        if verb == "take" and where.apart:
            raise Ambiguous
        return _plain(where.place or UNKNOWN)

    def where_taken(self, who: str, thing: str) -> str:
        return self.where_done(("take", "have", "receive"), who, thing)

    def where_left(self, who: str, thing: str) -> str:
        return self.where_done(("drop", "put", "give"), who, thing)

    def been(self, it: str, place: str) -> str:
        if it not in self.told.people:
            return UNKNOWN
        places = [stay.place for stay in self.told.stays.get(it, ())]
        if place not in places and None in places:
            raise Ambiguous
        return "yes" if place in places else "no"

    def who_been(self, place: str) -> str:
        """In the order in which they came."""
        if not self._is_told(place):
            return UNKNOWN
        if self.told.outside - self.told.people.keys() or not all(map(self.told.stays.get, self.told.people)):
            raise Ambiguous
        came = dict.fromkeys(name for name, stay in self.told.arrivals if stay.place == place)
        if any(self.been(name, place) == "yes" for name in self.told.people if name not in came):
            raise Ambiguous
        return ",".join(came) or "nobody"

    def what_in(self, place: str) -> str:
        if not self._is_told(place):
            return UNKNOWN
        apart, found = Where(place).apart, []
        for thing, holder in self.told.things.items():
            spot = self._spot(thing) or Where()
            if (spot.place == place and holder) or (spot.place is None and not (apart and holder)):
                raise Ambiguous
            found += [_plain(thing)] if spot.place == place else []
        return ",".join(found) or "nothing"

    def anything_in(self, place: str) -> str:
        return {UNKNOWN: UNKNOWN, "nothing": "no"}.get(self.what_in(place), "yes")

    def how_many(self, who: str, items: str) -> str:
        count = self.told.counts.get((who, items.removesuffix("s")))
        return UNKNOWN if count is None else _NUMBERS[count]

    def whom_likes(self, who: str, like: str) -> str:
        found = [to for (own, one, to), likes in self.told.likes.items() if likes and (own, one) == (like, who)]
        return ",".join(found) or UNKNOWN

    def who_likes(self, to: str, like: str) -> str:
        found = [one for (own, one, other), likes in self.told.likes.items() if likes and (own, other) == (like, to)]
        return ",".join(found) or UNKNOWN

    def likes(self, who: str, to: str, like: str) -> str:
        return {True: "yes", False: "no", None: UNKNOWN}[self.told.likes.get((like, who, to))]

    def home(self, who: str, like: str) -> str:
        own, place = self.told.homes.get(who, ("", UNKNOWN))
        return _plain(place) if own == like else UNKNOWN

    def who_home(self, place: str, like: str) -> str:
        return ",".join(one for one, home in self.told.homes.items() if home == (like, place)) or UNKNOWN

    def whose_tie(self, who: str, tied: str) -> str:
        return ",".join(one for own, pair in self.told.ties if own == tied and who in pair for one in pair - {who}) or (
            UNKNOWN
        )

    def tie(self, who: str, to: str, tied: str) -> str:
        return "yes" if (tied, frozenset((who, to))) in self.told.ties else UNKNOWN

    def _over(self, name: str, high: str, low: str) -> bool:
        return low in _below(self.told.below.get(name, {}), high)

    def more(self, high: str, low: str, word: str) -> str:
        name, upper = scale(word)
        one, other = (high, low) if upper else (low, high)
        return "yes" if self._over(name, one, other) else "no" if self._over(name, other, one) else UNKNOWN

    def which_more(self, one: str, other: str, word: str) -> str:
        return {"yes": _plain(one), "no": _plain(other)}.get(self.more(one, other, word), UNKNOWN)

    def most(self, word: str) -> str:
        """Who is above or below all others that were compared."""
        name, upper = scale(word)
        order = self.told.below.get(name, {})
        names = {*order, *(low for lows in order.values() for low in lows)}
        ends = [
            one
            for one in names
            if not any(self._over(name, other, one) if upper else self._over(name, one, other) for other in names)
        ]
        return _plain(ends[0]) if len(ends) == 1 else UNKNOWN

    def fear(self, who: str) -> str:
        return self.told.fears.get(self.told.kinds.get(who, ""), UNKNOWN)

    def bigger(self, big: str, small: str) -> str:
        return self.more(big, small, "bigger")

    def _way(self, sheet: str, one: str, other: str) -> list[tuple[int, int]] | None:
        try:
            return _steps(self.told.links.get(sheet, {}), one, other)
        except ValueError:
            return None

    def beside(self, one: str, side: str, other: str) -> str:
        steps = self._way("page", other, one)
        if steps is None:
            return UNKNOWN
        across, up = _STEPS[side]
        return "yes" if sum(across * x + up * y for x, y in steps) > 0 else "no"

    def next_to(self, one: str, way: str, sign: int) -> str:
        across, up = (sign * part for part in _STEPS[way])
        near = self.told.links.get("map", {})
        for other, step in near.get(one, ()):
            if step == (across, up):
                return _plain(other)
        for other in near:
            steps = self._way("map", one, other)
            if steps and sum(across * x + up * y for x, y in steps) > 0:
                raise Ambiguous
        return UNKNOWN

    def path(self, one: str, other: str) -> str:
        steps = self._way("map", one, other)
        return UNKNOWN if steps is None else ",".join(_LETTERS[step] for step in steps)

    def answer(self, rule: str, slots: dict[str, str]) -> str:
        """The answer to a parsed question."""
        if rule.startswith("gift "):
            return self.gift(rule.removeprefix("gift "), **slots)
        if rule in ("north of it", "it north of"):
            return self.next_to(slots["one"], slots["way"], 1 if rule == "north of it" else -1)
        if rule in _DEEDS:
            return self.deed(*_DEEDS[rule], **slots)
        if "verb" in slots:
            slots["like"] = verb(slots.pop("verb"))
        if "tie" in slots:
            slots["tied"] = tie(slots.pop("tie"))
        if rule == "why":
            return self.why(slots["who"], slots.get("place") or slots["thing"])
        if rule == "is with":
            return self.is_with(slots.get("who") or slots["one"], slots.get("to") or slots["other"])
        return getattr(self, rule.replace(" ", "_"))(**slots)


def solve_mixed(sentences: Iterable[str], question: str) -> str:
    """The answer to a question about a mixed story; "unknown" where the story does not tell.

    Raises:
        Ambiguous: the question should not have been asked.
        ValueError: a sentence or the question is worded in an unknown way.
    """
    reading = read(sentences)
    for name in (*reading.people, *reading.outside):  # bAbI writes some names small
        question = question.replace(f" {name.lower()} ", f" {name} ")
    rule, slots = parse_question(question)
    return Answers(reading).answer(rule, {slot: reading.meant(slot, said) for slot, said in slots.items()})
