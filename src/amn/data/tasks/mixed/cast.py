"""The cast of a mixed story: its people, places and things, and spare ones that it never tells of."""

from dataclasses import dataclass, replace
from random import Random

from amn.data import names as released
from amn.data.tasks.mixed import names
from amn.data.tasks.mixed.names import ME, Name, the
from amn.data.tasks.motives import MOTIVES

_BABI_NAMES = 0.5  # of stories in bAbI's style, those with the names of the released stories
_OF_MINE = 0.4  # of the things of a story in the first person, those that belong to the narrator

MOTIVE_PLACES = tuple(the(place) for place in dict.fromkeys(place for place, _ in MOTIVES.values()))
MOTIVE_THINGS = tuple(the(thing) for _, thing in MOTIVES.values())
_ONE_WORD = (  # as bAbI's names are
    names.first_name,
    lambda rng, pool: the(rng.choice(pool.places)),
    lambda rng, pool: the(rng.choice(pool.objects)),
)


@dataclass(slots=True)
class Cast:
    """The names of a story, and spare ones that it never tells of."""

    people: list[Name]
    places: list[Name]
    things: list[Name]
    other_people: list[Name]
    other_places: list[Name]
    other_things: list[Name]
    surfaces: list[Name]

    @property
    def others(self) -> list[Name]:
        """The people without the one who tells the story."""
        return [name for name in self.people if name != ME]


def draw_cast(rng: Random, pool: released.NameList, *, babi: bool, motives: bool) -> Cast:
    """People, places and things, with spare ones that the story will not tell of."""
    num_people, num_places, num_things = rng.randint(3, 6), rng.randint(4, 8), rng.randint(2, 6)
    if babi and pool is names.KNOWN and rng.random() < _BABI_NAMES:
        return _released_cast(rng, motives=motives)
    person, place, thing = _ONE_WORD if babi else (names.person, names.place, names.belonging)
    people = names.distinct(person, rng, pool, num_people + 2, [])
    places = list(MOTIVE_PLACES) if motives else []
    places += names.distinct(place, rng, pool, num_places + 2 - len(places), places)
    things = list(MOTIVE_THINGS) if motives else []
    things += names.distinct(thing, rng, pool, max(num_things, len(things)) + 2 - len(things), things)
    surfaces = [] if babi or rng.random() < 0.6 else names.distinct(names.surface, rng, pool, 1, [*places, *things])
    return _split(people, places, things, surfaces)


def in_first_person(rng: Random, cast: Cast) -> Cast:
    """The cast with the narrator in it, and some things that belong to the narrator."""

    def mine(things: list[Name]) -> list[Name]:
        return [names.my(thing) if rng.random() < _OF_MINE else thing for thing in things]

    people = [ME, *cast.people[1:]]
    return replace(cast, people=people, things=mine(cast.things), other_things=mine(cast.other_things))


def with_actors(rng: Random, pool: released.NameList, cast: Cast) -> Cast:
    """The cast with actors that take an article, such as the doctor, in the place of some or all of its people."""
    people = [*cast.people, *cast.other_people]
    taken = [*people, *cast.places, *cast.other_places, *cast.things, *cast.other_things, *cast.surfaces]
    count = rng.randint(1, len(people))
    actors = names.distinct(names.actor, rng, pool, count, taken)
    for place, actor in zip(rng.sample(range(len(people)), count), actors, strict=True):
        people[place] = actor
    return replace(cast, people=people[: len(cast.people)], other_people=people[len(cast.people) :])


def _split(people: list[Name], places: list[Name], things: list[Name], surfaces: list[Name]) -> Cast:
    """The last two of each are spare."""
    return Cast(people[:-2], places[:-2], things[:-2], people[-2:], places[-2:], things[-2:], surfaces)


def _released_cast(rng: Random, *, motives: bool) -> Cast:
    """Names of the released stories; those of other tasks are spare."""
    people = rng.sample(rng.choice((released.MOVERS, released.GIVERS, released.TOWNSFOLK)), 4)
    spare = [name for name in released.RELEASED.women + released.RELEASED.men if name not in people]
    places = rng.sample(released.ROOMS, 6) if motives or rng.random() < 0.7 else rng.sample(released.TOWN, 6)
    other_places = [name for name in (*released.FURTHER.places[:20], "park", "school") if name not in places]
    things = rng.sample(released.THINGS, 3)
    if motives:
        things.append("pajamas")
    return _split(
        [Name(name, name, released.pronoun(name)) for name in (*people, *rng.sample(spare, 2))],
        [the(name) for name in (*places, *rng.sample(other_places, 2))],
        [the(name) for name in (*things, *rng.sample(released.FURTHER.objects, 2))],
        [],
    )
