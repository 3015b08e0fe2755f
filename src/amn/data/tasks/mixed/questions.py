"""Questions about people and what they carry, with answers from what the story has told.

States are closed: somebody told of has nothing but what the story gave them, and a told thing that nobody holds is with
nobody. What was never told, or rests on something that was not, is unknown. Each public function is a question that
`themes.toml` may name: given the story, and whether the answer should be unknown.
"""

from collections.abc import Callable, Iterable

from amn.data.tasks.carrying import NUMBERS
from amn.data.tasks.mixed.names import ME, Name
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.tasks.mixed.theme import any_person, any_thing, asked, needed
from amn.data.tasks.mixed.world import Being, Gift, Lines, Person, Stop, Thing, route

_CROWDED = 0.7  # of the questions of hard stories about who is in a place, those about more than one person


def _any_topic(teller: Teller, unknown: bool) -> Name:
    draw = any_thing if teller.world.things and teller.rng.random() < 0.5 else any_person
    return needed(draw(teller, unknown))


def _place_lines(*beings: Being) -> list[int]:
    """The lines that tell where they are."""
    lines: list[int] = []
    for being in beings:
        lines += being.spot.why
        if isinstance(being, Thing):
            lines += being.why + (being.stops[-1][1] if being.passed_on else ())
    return lines


def where(teller: Teller, unknown: bool) -> Asked:
    """Where is a person or a thing?"""
    topic = _any_topic(teller, unknown)
    being = teller.world.find(topic)
    return asked("where", being.spot.place, _place_lines(being), it=topic) if being else asked("where", None, it=topic)


def where_both(teller: Teller, unknown: bool) -> Asked:
    """Where are two people?"""
    one, other = map(needed, (any_person(teller, False), any_person(teller, unknown)))
    people = [person for name in (one, other) if (person := teller.world.people.get(name))]
    if one == other or ME in (one, other) or (len(people) == 2 and not all(person.spot.place for person in people)):
        raise NothingToSayError
    places = dict.fromkeys(person.spot.place.text for person in people if person.spot.place)
    answer = ",".join(places) if len(people) == 2 else None
    return asked("where both", answer, _place_lines(*people), who=one, to=other)


def is_in(teller: Teller, unknown: bool) -> Asked:
    """Is a person or a thing in a place? Half the time in a likely one."""
    topic = _any_topic(teller, unknown)
    being = teller.world.find(topic)
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


def _likely_place(teller: Teller, being: Being | None) -> Name:
    spot = being.spot if being else None
    likely = [place for place in (spot.place, spot.denied, *spot.options) if place] if spot else []
    share = 0.7 if spot and spot.is_doubtful else 0.4
    return teller.rng.choice(likely if likely and teller.rng.random() < share else teller.cast.places)


def before(teller: Teller, unknown: bool) -> Asked:
    """Where was a person or a thing before a place? What counts is the last time there."""
    moved = _moved_thing(teller) if teller.hard and not unknown else None
    topic = moved or _any_topic(teller, unknown)
    being = teller.world.find(topic)
    thing = topic in teller.world.things or topic in teller.cast.other_things
    kind = "thing before" if thing else "person before"
    stops = route(being.stops) if being else []
    place = _stopped_at(teller, stops)
    at = max((at for at, (spot, _) in enumerate(stops) if spot.place == place), default=0)
    if any(spot.place is None for spot, _ in stops[at:]):
        raise NothingToSayError  # an untold place may be this one
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


def after(teller: Teller, unknown: bool) -> Asked:
    """Where did a person go after a place? Asked only of places where the person was once."""
    topic = needed(any_person(teller, unknown))
    person = teller.world.people.get(topic)
    stops = route(person.stops) if person else []
    place = _stopped_at(teller, stops)
    been = [spot.place for spot, _ in stops]
    if None in been or been.count(place) > 1:
        raise NothingToSayError
    at = been.index(place) if place in been else len(been)
    answer = been[at + 1] if at + 1 < len(been) else None
    return asked("person after", answer, _stop_lines(stops[at : at + 2]), it=topic, place=place)


def first(teller: Teller, unknown: bool) -> Asked:
    """Where was a person at first?"""
    topic = teller.rng.choice(teller.cast.other_people) if unknown else needed(any_person(teller, False))
    if (person := teller.world.people.get(topic)) is None:
        return asked("first", None, it=topic)
    place = needed(person.stops[0][0].place if person.stops else None)
    return asked("first", place, _stop_lines(person.stops[:1]), it=topic)


def present(teller: Teller, place: Name) -> list[Person]:
    """The people in a place, in the order in which the story first tells of them.

    Raises:
        NothingToSayError: where the story leaves open who is there.
    """
    if teller.outsiders - teller.world.people.keys():
        raise NothingToSayError
    found = []
    for person in teller.world.people.values():
        spot = person.spot
        if spot.place == place:
            found.append(person)
        elif spot.place is None and (not spot.is_doubtful or place in spot.options or spot.denied not in (None, place)):
            raise NothingToSayError
    return found


def who_in(teller: Teller, unknown: bool) -> Asked:
    """Who is in a place, or how many?"""
    return _asked_of_place(teller, unknown, teller.rng.choice(("who in", "who in", "count in")), crowded=teller.hard)


def anybody(teller: Teller, unknown: bool) -> Asked:
    """Is there anybody in a place?"""
    return _asked_of_place(teller, unknown, "anybody in", crowded=False)


def _asked_of_place(teller: Teller, unknown: bool, kind: str, *, crowded: bool) -> Asked:
    """About any place; where it should be `crowded`, mostly about one where several people are."""
    if unknown:
        return asked(kind, None, place=teller.rng.choice(teller.cast.other_places))
    places, spots = sorted(teller.world.places), [person.spot.place for person in teller.world.people.values()]
    full = [place for place in places if crowded and spots.count(place) > 1]
    place = teller.pick(full if full and teller.rng.random() < _CROWDED else places)
    people = present(teller, place)
    names = ",".join(person.name.text for person in people) or "nobody"
    answer = {"who in": names, "count in": NUMBERS[len(people)], "anybody in": "yes" if people else "no"}[kind]
    return asked(kind, answer, _place_lines(*people), place=place)


def been(teller: Teller, unknown: bool) -> Asked:
    """Was a person ever in a place?"""
    topic = needed(any_person(teller, unknown))
    person = teller.world.people.get(topic)
    stops = person.stops if person else []
    place = _stopped_at(teller, stops) if teller.rng.random() < 0.5 else teller.rng.choice(teller.cast.places)
    if person is None:
        return asked("been", None, it=topic, place=place)
    visits = [stop for stop in stops if stop[0].place == place]
    if not visits and any(spot.place is None for spot, _ in stops):
        raise NothingToSayError
    lines = _stop_lines(visits[:1] or stops)
    return asked("been", "yes" if visits else "no", lines, it=topic, place=place)


def who_been(teller: Teller, unknown: bool) -> Asked:
    """Who was ever in a place, in the order in which they came?"""
    if unknown:
        return asked("who been", None, place=teller.rng.choice(teller.cast.other_places))
    place, world = teller.pick(sorted(teller.world.places)), teller.world
    visits: dict[Name, Stop] = {}
    for name, stop in world.arrivals:
        if stop[0].place == place:
            visits.setdefault(name, stop)
    others = [person.stops for name, person in world.people.items() if name not in visits]
    open_stops = any(spot.place in (None, place) for stops in others for spot, _ in stops)
    if teller.outsiders - world.people.keys() or not all(others) or open_stops:
        raise NothingToSayError
    return asked(
        "who been", ",".join(name.text for name in visits) or "nobody", _stop_lines(visits.values()), place=place
    )


def what_in(teller: Teller, unknown: bool) -> Asked:
    """What is in a place or on a table, or is there anything? Asked where nobody in it holds anything."""
    kind, world = teller.rng.choice(("what in", "what in", "anything in")), teller.world
    if unknown:
        return asked(kind, None, place=teller.rng.choice(teller.cast.other_places))
    lying = sorted({thing.spot.place for thing in world.things.values() if thing.spot.place and not thing.holder})
    place = teller.pick(lying if lying and teller.rng.random() < 0.8 else sorted(world.places))
    apart = place in teller.cast.surfaces
    found = []
    for thing in world.things.values():
        if thing.holder is None and thing.spot.place == place:
            found.append(thing)
        elif thing.spot.place is None and not (apart and thing.holder):
            raise NothingToSayError
        elif thing.spot.place == place:
            raise NothingToSayError
    names = ",".join(thing.name.text for thing in found) or "nothing"
    return asked(kind, names if kind == "what in" else "yes" if found else "no", _place_lines(*found), place=place)


def who_with(teller: Teller, unknown: bool) -> Asked:
    """Who is with a person?"""
    if unknown:
        return asked("who with", None, who=teller.rng.choice(teller.cast.other_people))
    topic = _in_company(teller)
    people = present(teller, needed(teller.world.people[topic].spot.place))
    others = ",".join(person.name.text for person in people if person.name != topic)
    return asked("who with", others or "nobody", _place_lines(*people), who=topic)


def _in_company(teller: Teller) -> Name:
    """Anybody; in hard stories mostly somebody who is not alone."""
    spots = {name: person.spot.place for name, person in teller.world.people.items()} if teller.hard else {}
    together = [name for name, place in spots.items() if place and list(spots.values()).count(place) > 1]
    if together and teller.rng.random() < _CROWDED:
        return teller.rng.choice(together)
    return needed(any_person(teller, False))


def is_with(teller: Teller, unknown: bool) -> Asked:
    """Are two people in one place?"""
    one, other = map(needed, (any_person(teller, unknown), any_person(teller, unknown)))
    if one == other:
        raise NothingToSayError
    if one == ME:
        one, other = other, one
    people = [person for name in (one, other) if (person := teller.world.people.get(name))]
    places = {person.spot.place for person in people}
    if len(people) < 2:
        return asked("is with", None, who=one, to=other)
    if None in places:
        raise NothingToSayError
    return asked("is with", "yes" if len(places) == 1 else "no", _place_lines(*people), who=one, to=other)


def who_has(teller: Teller, unknown: bool) -> Asked:
    """Who has a thing?"""
    topic = needed(any_thing(teller, unknown))
    thing = teller.world.things.get(topic)
    if thing is None:
        return asked("who has", None, thing=topic)
    return asked("who has", thing.holder or "nobody", thing.why, thing=topic)


def has(teller: Teller, unknown: bool) -> Asked:
    """Does a person have a thing? Unknown only where the story tells of neither."""
    cast, rng = teller.cast, teller.rng
    if unknown:
        return asked("has", None, who=rng.choice(cast.other_people), thing=rng.choice(cast.other_things))
    topic, person = map(needed, (any_thing(teller, False), any_person(teller, False)))
    thing = teller.world.things[topic]
    if thing.holder and rng.random() < 0.5:
        person = thing.holder
    return asked("has", "yes" if thing.holder == person else "no", thing.why, who=person, thing=topic)


def carrying(teller: Teller, unknown: bool) -> Asked:
    """What does a person carry?"""
    return _carried(teller, unknown, "carrying", lambda held: ",".join(thing.text for thing in held) or "nothing")


def count_carried(teller: Teller, unknown: bool) -> Asked:
    """How many things does a person carry?"""
    return _carried(teller, unknown, "count carried", lambda held: NUMBERS[len(held)])


def _carried(teller: Teller, unknown: bool, kind: str, say: Callable[[list[Name]], str]) -> Asked:
    topic = teller.rng.choice(teller.cast.other_people) if unknown else needed(_handler(teller))
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


_SLOTS = {"giver": "who", "thing": "thing", "receiver": "to"}
_GIFTS = (  # a kind of question, what it names, and what it asks for
    ("what given", ("giver", "receiver"), "thing"),
    ("what given", ("giver", "receiver"), "thing"),
    ("giver", ("thing",), "giver"),
    ("giver to", ("thing", "receiver"), "giver"),
    ("receiver", ("thing",), "receiver"),
    ("given to", ("giver", "thing"), "receiver"),
)


def gift(teller: Teller, unknown: bool) -> Asked:
    """Who gave what to whom? The latest gift counts that has what the question names."""
    kind, parts, wanted = teller.rng.choice(_GIFTS)
    about = _any_gift(teller, unknown)
    named = {part: getattr(about, part) for part in parts}
    slots = {_SLOTS[part]: name for part, name in named.items()}
    for told in reversed(teller.world.gifts):
        if all(getattr(told, part) == name for part, name in named.items()):
            return asked(kind, getattr(told, wanted), told.why, **slots)
    return asked(kind, None, **slots)


def _any_gift(teller: Teller, unknown: bool) -> Gift:
    """One that was told, or for a question without an answer one that perhaps was not."""
    if not unknown:
        return teller.pick(teller.world.gifts[-3:])
    drawn = any_person(teller, unknown), any_thing(teller, unknown), any_person(teller, unknown)
    giver, thing, receiver = map(needed, drawn)
    if giver == receiver:
        raise NothingToSayError
    return Gift(giver, thing, receiver, ())


def where_done(teller: Teller, unknown: bool) -> Asked:
    """Where did somebody take a thing, or leave it? Asked of what was done once."""
    kind = teller.rng.choice(("where taken", "where left"))
    if unknown and teller.rng.random() < 0.5:
        person, thing = map(needed, (any_person(teller, True), teller.rng.choice(teller.cast.other_things)))
        return asked(kind, None, who=person, thing=thing)
    verbs = ("take", "have", "receive") if kind == "where taken" else ("drop", "put", "give")
    done = teller.pick([told for told in teller.world.actions if told.verb in verbs])
    same = [told for told in teller.world.actions if told.verb in verbs and told[1:3] == done[1:3]]
    if len(same) > 1 or done.verb in ("have", "receive", "give") or done.spot is None or done.spot.is_doubtful:
        raise NothingToSayError
    return asked(kind, done.spot.place, done.why + done.spot.why, who=done.who, thing=done.thing)


_PAST = {"take": "taken", "drop": "dropped"}
# What else may be called taking or dropping: what is asked then has no plain answer.
_LIKE = {"take": ("have", "receive"), "drop": ("put", "give")}


def action(teller: Teller, unknown: bool) -> Asked:
    """Who took or dropped a thing, what did somebody take or drop, or did they?"""
    rng, cast = teller.rng, teller.cast
    verb, form = rng.choice(("take", "drop")), rng.choice(("who", "what", "did"))
    if teller.hard and rng.random() < 0.5:
        verb, form = "drop", "what"
    drawn = rng.choice(cast.other_things) if unknown else any_thing(teller, False)
    thing, person = map(needed, (drawn, rng.choice(cast.other_people) if unknown else _handler(teller)))
    slots = {"thing": thing} if form != "what" else {}
    slots |= {"who": person} if form != "who" else {}
    about = [
        told
        for told in teller.world.actions
        if (form == "who" or told.who == person) and (form == "what" or told.thing == thing)
    ]
    done = [told for told in about if told.verb == verb]
    found = list(dict.fromkeys((told.who if form == "who" else told.thing).text for told in done))
    if any(told.verb in _LIKE[verb] for told in about) or (form == "who" and len(found) > 1):
        raise NothingToSayError
    empty = {"who": "nobody", "what": "nothing", "did": "no"}[form]
    answer = None if unknown else ("yes" if form == "did" else ",".join(found)) if found else empty
    lines = [line for told in done for line in told.why] or (teller.world.things[thing].why if not unknown else ())
    return asked(f"{form} {_PAST[verb]}", answer, lines, **slots)
