"""Questions about people and what they carry, with answers from what the story has told.

States are closed: who was told of has nothing but what the story gave them, and a told thing that nobody holds is with
nobody. What was never told, or rests on something that was not, is unknown.
"""

from collections.abc import Callable, Iterable

from amn.data.tasks.carrying import NUMBERS
from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.presence import anybody, is_with, who_in, who_with
from amn.data.tasks.mixed.teller import Asked, Teller
from amn.data.tasks.mixed.theme import Asker, any_person, any_thing, asked
from amn.data.tasks.mixed.world import Gift, Lines, MixedWorld, Person, Stop, Thing, route


def _any_topic(teller: Teller, unknown: bool) -> Name | None:
    draw = any_thing if teller.world.things and teller.rng.random() < 0.5 else any_person
    return draw(teller, unknown)


def _being(world: MixedWorld, name: Name) -> Person | Thing | None:
    return world.people.get(name) or world.things.get(name)


def _place_lines(being: Person | Thing) -> Lines:
    if isinstance(being, Person):
        return being.spot.why
    return being.spot.why + being.why + (being.stops[-1][1] if being.passed_on else ())


def where(teller: Teller, unknown: bool) -> Asked | None:
    """Where is a person or a thing?"""
    topic = _any_topic(teller, unknown)
    if topic is None:
        return None
    being = _being(teller.world, topic)
    return asked("where", being.spot.place, _place_lines(being), it=topic) if being else asked("where", None, it=topic)


def is_in(teller: Teller, unknown: bool) -> Asked | None:
    """Is a person or a thing in a place? Half the time in a likely one."""
    topic = _any_topic(teller, unknown)
    if topic is None:
        return None
    being = _being(teller.world, topic)
    place = _likely_place(teller, being)
    if being is None:
        return asked("is in", None, it=topic, place=place)
    spot = being.spot
    if spot.place is not None:
        answer: str | None = "yes" if spot.place == place else "no"
    elif spot.options:
        answer = "maybe" if place in spot.options else "no"
    else:
        answer = "no" if spot.denied == place else None
    return asked("is in", answer, _place_lines(being), it=topic, place=place)


def _likely_place(teller: Teller, being: Person | Thing | None) -> Name:
    spot = being.spot if being else None
    likely = [place for place in (spot.place, spot.denied, *spot.options) if place] if spot else []
    share = 0.7 if spot and spot.is_doubtful else 0.4
    return teller.rng.choice(likely if likely and teller.rng.random() < share else teller.cast.places)


def before(teller: Teller, unknown: bool) -> Asked | None:
    """Where was a person or a thing before a place? What counts is the last time there."""
    topic = _moved_thing(teller) if teller.hard and not unknown else None
    topic = topic or _any_topic(teller, unknown)
    if topic is None:
        return None
    being = _being(teller.world, topic)
    thing = topic in teller.world.things or topic in teller.cast.other_things
    kind = "thing before" if thing else "person before"
    stops = route(being.stops) if being else []
    place = _stopped_at(teller, stops)
    at = max((at for at, (spot, _) in enumerate(stops) if spot.place == place), default=0)
    if any(spot.place is None for spot, _ in stops[at:]):
        return None  # an untold place may be this one
    if at == 0:
        return asked(kind, None, it=topic, place=place)
    return asked(kind, stops[at - 1][0].place, _stop_lines(stops[at - 1 : at + 1]), it=topic, place=place)


def _moved_thing(teller: Teller) -> Name | None:
    """Mostly something that was in more than one place."""
    moved = [name for name, thing in teller.world.things.items() if len(route(thing.stops)) > 1]
    return teller.rng.choice(moved) if moved and teller.rng.random() < 0.8 else None


def _stopped_at(teller: Teller, stops: list[Stop]) -> Name:
    been = [spot.place for spot, _ in stops if spot.place]
    return teller.rng.choice(been if been and teller.rng.random() < 0.9 else teller.cast.places)


def _stop_lines(stops: Iterable[Stop]) -> Lines:
    return tuple(line for spot, why in stops for line in spot.why + why)


def after(teller: Teller, unknown: bool) -> Asked | None:
    """Where did a person go after a place? Asked only of places where the person was once."""
    topic = any_person(teller, unknown)
    if topic is None:
        return None
    person = teller.world.people.get(topic)
    stops = route(person.stops) if person else []
    place = _stopped_at(teller, stops)
    been = [spot.place for spot, _ in stops]
    if None in been or been.count(place) > 1:
        return None
    at = been.index(place) if place in been else len(been)
    answer = been[at + 1] if at + 1 < len(been) else None
    return asked("person after", answer, _stop_lines(stops[at : at + 2]), it=topic, place=place)


def who_has(teller: Teller, unknown: bool) -> Asked | None:
    """Who has a thing?"""
    topic = any_thing(teller, unknown)
    if topic is None:
        return None
    thing = teller.world.things.get(topic)
    if thing is None:
        return asked("who has", None, thing=topic)
    return asked("who has", thing.holder or "nobody", thing.why, thing=topic)


def has(teller: Teller, unknown: bool) -> Asked | None:
    """Does a person have a thing? Unknown only where the story tells of neither."""
    cast, rng = teller.cast, teller.rng
    if unknown:
        return asked("has", None, who=rng.choice(cast.other_people), thing=rng.choice(cast.other_things))
    topic, person = any_thing(teller, False), any_person(teller, False)
    if topic is None or person is None:
        return None
    thing = teller.world.things[topic]
    if thing.holder and rng.random() < 0.5:
        person = thing.holder
    return asked("has", "yes" if thing.holder == person else "no", thing.why, who=person, thing=topic)


def carrying(teller: Teller, unknown: bool) -> Asked | None:
    """What does a person carry?"""
    return _carried(teller, unknown, "carrying", lambda held: ",".join(thing.text for thing in held) or "nothing")


def count_carried(teller: Teller, unknown: bool) -> Asked | None:
    """How many things does a person carry?"""
    return _carried(teller, unknown, "count carried", lambda held: NUMBERS[len(held)])


def _carried(teller: Teller, unknown: bool, kind: str, say: Callable[[list[Name]], str]) -> Asked | None:
    topic = teller.rng.choice(teller.cast.other_people) if unknown else _handler(teller)
    if topic is None:
        return None
    person = teller.world.people.get(topic)
    if person is None:
        return asked(kind, None, who=topic)
    return asked(kind, say(teller.world.held_by(topic)), person.handled, who=topic)


def _handler(teller: Teller) -> Name | None:
    """Mostly somebody who handled something, and rather somebody who holds more than one thing."""
    handlers = [name for name, person in teller.world.people.items() if person.handled]
    rich = [name for name in handlers if len(teller.world.held_by(name)) > 1]
    if rich and teller.rng.random() < (0.8 if teller.hard else 0.5):
        return teller.rng.choice(rich)
    return teller.rng.choice(handlers) if handlers and teller.rng.random() < 0.8 else any_person(teller, False)


def gift(teller: Teller, unknown: bool) -> Asked | None:
    """Who gave what to whom? The latest gift counts that has what the question names."""
    kind, parts, wanted = teller.rng.choice(_GIFTS)
    about = _any_gift(teller, unknown)
    if about is None:
        return None
    named = {part: getattr(about, part) for part in parts}
    slots = {_SLOTS[part]: name for part, name in named.items()}
    for told in reversed(teller.world.gifts):
        if all(getattr(told, part) == name for part, name in named.items()):
            return asked(kind, getattr(told, wanted), told.why, **slots)
    return asked(kind, None, **slots)


_SLOTS = {"giver": "who", "thing": "thing", "receiver": "to"}
_GIFTS = (
    ("what given", ("giver", "receiver"), "thing"),
    ("what given", ("giver", "receiver"), "thing"),
    ("giver", ("thing",), "giver"),
    ("giver to", ("thing", "receiver"), "giver"),
    ("receiver", ("thing",), "receiver"),
    ("given to", ("giver", "thing"), "receiver"),
)


def _any_gift(teller: Teller, unknown: bool) -> Gift | None:
    """One that was told, or for a question without an answer one that perhaps was not."""
    if not unknown:
        return teller.rng.choice(teller.world.gifts[-3:]) if teller.world.gifts else None
    giver, thing, receiver = any_person(teller, unknown), any_thing(teller, unknown), any_person(teller, unknown)
    if giver is None or thing is None or receiver is None or giver == receiver:
        return None
    return Gift(giver, thing, receiver, ())


def first(teller: Teller, unknown: bool) -> Asked | None:
    """Where was a person at first?"""
    topic = teller.rng.choice(teller.cast.other_people) if unknown else any_person(teller, False)
    if topic is None:
        return None
    if (person := teller.world.people.get(topic)) is None:
        return asked("first", None, it=topic)
    place = person.stops[0][0].place if person.stops else None
    return asked("first", place, _stop_lines(person.stops[:1]), it=topic) if place else None


# What else may be called taking or dropping: what is asked then has no plain answer.
_LIKE = {"take": ("have", "receive"), "drop": ("put", "give")}


def deed(teller: Teller, unknown: bool) -> Asked | None:
    """Who took or dropped a thing, what did somebody take or drop, or did they?"""
    rng, cast = teller.rng, teller.cast
    verb, form = rng.choice(("take", "drop")), rng.choice(("who", "what", "did"))
    if teller.hard and rng.random() < 0.5:
        verb, form = "drop", "what"
    thing = rng.choice(cast.other_things) if unknown else any_thing(teller, False)
    person = rng.choice(cast.other_people) if unknown else _handler(teller)
    if thing is None or person is None:
        return None
    slots = {"thing": thing} if form != "what" else {}
    slots |= {"who": person} if form != "who" else {}
    about = [
        told
        for told in teller.world.deeds
        if (form == "who" or told[1] == person) and (form == "what" or told[2] == thing)
    ]
    if any(told[0] in _LIKE[verb] for told in about):
        return None
    done = [told for told in about if told[0] == verb]
    found = list(dict.fromkeys((told[1] if form == "who" else told[2]).text for told in done))
    if form == "who" and len(found) > 1:
        return None
    empty = {"who": "nobody", "what": "nothing", "did": "no"}[form]
    answer = None if unknown else ("yes" if form == "did" else ",".join(found)) if found else empty
    lines = [line for told in done for line in told[3]] or (teller.world.things[thing].why if not unknown else ())
    return asked(f"{form} {_PAST[verb]}", answer, lines, **slots)


_PAST = {"take": "taken", "drop": "dropped"}


# How likely each question is, by the theme that brings it.
ASKERS: dict[str, tuple[Asker, ...]] = {
    "moving": (where, where, where, is_in, before, after, who_in, who_in, first, anybody),
    "pairs": (where, where, where, who_in, who_in, who_with, is_with, anybody),
    "carrying": (
        *(where, where, where, before, before, before, before, who_has, who_has, who_has),
        *(has, carrying, carrying, count_carried, is_in, deed, deed, deed, deed, deed),
    ),
    "giving": (gift, gift, gift, gift, who_has, who_has, carrying, carrying, count_carried, where, before, deed),
    "belief": (is_in, is_in, is_in, where),
    "doubt": (is_in, is_in, is_in, where),
    "company": (who_with, is_with, where, who_in),
    "belongings": (
        *(where, where, where, where, before, who_has, who_has, who_has, has, is_in),
        *(carrying, carrying, carrying, count_carried, count_carried, gift, deed, deed, deed, deed),
    ),
}

# In hard stories: mainly what the others ask rarely.
HARD_ASKERS: dict[str, tuple[Asker, ...]] = {
    **ASKERS,
    "moving": (after, after, after, first, first, before, who_in, where),
    "pairs": (who_with, who_with, who_with, is_with, is_with, who_in, who_in, where),
    "carrying": (before, before, before, carrying, carrying, count_carried, deed, deed, where, where),
    "giving": (carrying, carrying, count_carried, gift, gift, deed, before, where),
    "company": (who_with, who_with, who_with, is_with, is_with, who_in, after, where),
    "belongings": (before, before, carrying, carrying, count_carried, deed, deed, where, where),
}
