"""Who and what mixed stories are about: names of one and of several words, those to train on and new ones apart."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import NamedTuple

from amn.data.names import FURTHER, RELEASED, UNSEEN, NameList
from amn.data.story import words


class Name(NamedTuple):
    """A name as an answer gives it, as a sentence says it ("the living room"), and its pronoun where it is plain."""

    text: str
    said: str
    pronoun: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePool:
    """Names to draw from."""

    single: NameList  # people, places and things of one word
    surnames: tuple[str, ...]  # of people with a title or a first name before it
    towns: tuple[str, ...]  # places that take no article
    bare: tuple[str, ...]  # common places that take none, and prepositions of their own
    surfaces: tuple[str, ...]  # what things lie on
    containers: tuple[str, ...]  # what things lie in
    rooms: tuple[str, ...]  # places of two words
    looks: tuple[str, ...]  # first words of things of two words
    things: tuple[str, ...]  # second words of these
    plurals: tuple[str, ...]  # things that are several


def _lines(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", ",").split(",") if part.strip())


_TRAINED = NameList(
    women=(*RELEASED.women, *FURTHER.women),
    men=(*RELEASED.men, *FURTHER.men),
    places=(*RELEASED.places, *FURTHER.places),
    objects=(*RELEASED.objects, *FURTHER.objects),
)

KNOWN = NamePool(
    single=_TRAINED,
    surnames=_lines("""
        Smith, Jones, Brown, Miller, Wilson, Taylor, Anderson, Thomas, Jackson, White, Harris, Thompson, Garcia,
        Robinson, Clark, Lewis, Lee, Walker, Hall, Allen, Young, King, Wright, Lopez, Hill, Scott, Green, Adams, Baker,
        Nelson, Carter, Mitchell, Perez, Roberts, Turner, Phillips, Campbell, Parker, Evans, Edwards
    """),
    towns=_lines("""
        New York, London, Paris, Berlin, Rome, Los Angeles, San Francisco, Tokyo, Madrid, Vienna, Boston, Chicago,
        Mexico City, New Delhi, Cape Town, Buenos Aires, Sydney, Dublin, Oslo, Athens, Lisbon, Moscow, Hong Kong
    """),
    bare=_lines("home, home, home, work, school"),
    surfaces=_lines(
        "kitchen table, dining table, table, desk, top shelf, bench, counter, couch, bedside table, carpet"
    ),
    containers=_lines("drawer, fridge, wardrobe, box, cabinet, locker, bin, crate, car, van"),
    rooms=_lines("""
        living room, dining room, laundry room, waiting room, meeting room, changing room, guest room, play room,
        train station, bus stop, police station, fire station, post office, coffee shop, book store, grocery store,
        shoe shop, swimming pool, tennis court, football field, city hall, town square, front yard, back yard,
        parking lot, movie theater, art gallery, wine cellar, petrol station, rose garden, rooftop bar, main street
    """),
    looks=_lines("""
        red, blue, green, yellow, black, white, brown, pink, old, new, small, big, wooden, silver, golden, broken,
        plastic, glass, leather, paper, toy, birthday
    """),
    things=_lines("""
        ball, lamp, cup, chair, hat, bag, car, shirt, boat, card, cake, horse, train, coat, plate, pencil, bottle,
        button, ring, flag, kite, scarf, mug, drum
    """),
    plurals=_lines("keys, glasses, shoes, tickets, scissors, flowers, papers, slippers"),
)

# No word of these is a name in training.
NEW = NamePool(
    single=UNSEEN,
    surnames=_lines("""
        Fitzgerald, Kowalski, Nakamura, Okafor, Lindqvist, Castellano, Haverford, Petrov, Beaumont, Abernathy, Dubois,
        Eriksen, Grunwald, Ivanov, Montoya, Rosenthal, Sinclair, Vandermeer, Winchester, Zimmermann
    """),
    towns=_lines("""
        Santa Fe, Addis Ababa, Kuala Lumpur, Reykjavik, Helsinki, Nairobi, Phnom Penh, Budapest, Lima, Montevideo,
        Rio de Janeiro, Saint Petersburg
    """),
    bare=(),
    surfaces=_lines("granite plinth, lectern, workbench, altar, mantelpiece"),
    containers=_lines("trunk, hamper, satchel, dresser"),
    rooms=_lines("""
        utility nook, boiler cupola, tollgate booth, panic hideout, hair atelier, bowling alley, ice rink, skate ramp,
        cattle corral, tea pergola, pottery gazebo, weather outpost
    """),
    looks=_lines("purple, striped, rusty, ancient, tiny, enormous, ceramic, bronze, velvet, copper, spotted, furry"),
    things=_lines(
        "bicycle, sculpture, cupboard, skateboard, tricycle, sombrero, parasol, microscope, wig, sofa, duvet, gong"
    ),
    plurals=_lines("binoculars, tongs, clogs, dominoes"),
)
POOLS = {"known": KNOWN, "new": NEW}

_TITLES = (("Mr.", "he"), ("Mrs.", "she"), ("Ms.", "she"), ("Dr.", ""), ("Miss", "she"), ("Professor", ""))
_TITLED = frozenset(word for title, _ in _TITLES for word in words(title))


def the(text: str) -> Name:
    """Something that takes an article."""
    return Name(text, f"the {text}")


ME = Name("I", "I")  # who tells the story


def my(name: Name) -> Name:
    """Something of one's own."""
    return Name(name.text, f"my {name.text}")


def a(text: str) -> str:
    """A word with the article of something new."""
    if text in ("milk", "pajamas", *KNOWN.plurals, *NEW.plurals):
        return f"some {text}"
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}"


def first_name(rng: Random, pool: NamePool) -> Name:
    """A person of one word."""
    women = rng.random() < 0.5
    text = rng.choice(pool.single.women if women else pool.single.men)
    return Name(text, text, "she" if women else "he")


def person(rng: Random, pool: NamePool) -> Name:
    """Mostly a first name; at times with a title, or a surname after it."""
    draw = rng.random()
    if draw < 0.1:
        title, pronoun = rng.choice(_TITLES)
        text = f"{title} {rng.choice(pool.surnames)}"
        return Name(text, text, pronoun)
    first = first_name(rng, pool)
    text = f"{first.text} {rng.choice(pool.surnames)}" if draw < 0.18 else first.text
    return Name(text, text, first.pronoun)


def place(rng: Random, pool: NamePool) -> Name:
    """A room or building; at times of two words, or a town."""
    draw = rng.random()
    if draw < 0.13:
        bare = rng.choice(pool.bare if pool.bare and draw < 0.03 else pool.towns)
        return Name(bare, bare)
    return the(rng.choice(pool.rooms if draw < 0.35 else pool.single.places))


def surface(rng: Random, pool: NamePool) -> Name:
    """Something that things lie on or in, and nobody is."""
    return the(rng.choice(pool.surfaces if rng.random() < 0.5 else pool.containers))


def thing(rng: Random, pool: NamePool) -> Name:
    """Something to carry; at times with a look."""
    if rng.random() < 0.3:
        return the(f"{rng.choice(pool.looks)} {rng.choice(pool.things)}")
    return the(rng.choice(pool.single.objects))


def belonging(rng: Random, pool: NamePool) -> Name:
    """Something that people have; at times several, as keys are."""
    return the(rng.choice(pool.plurals)) if rng.random() < 0.07 else thing(rng, pool)


_SURFACE = "|".join((*KNOWN.surfaces, *NEW.surfaces))
_CONTAINER = "|".join((*KNOWN.containers, *NEW.containers))
_IDIOMS = (
    (re.compile(rf"\bat (?=the (?:{_CONTAINER})\b)"), "in "),
    (re.compile(rf"\b(?:in|at|inside|into) (?=the (?:{_SURFACE})\b)"), "on "),
    (re.compile(r"^(?!.*\bfrom\b)(.*)\b(?:to|into) home\b"), r"\1home"),
    (re.compile(r"\binto (?=(?:work|school)\b)"), "to "),
    (re.compile(r"\b(?:in|inside) (?=(?:home|work|school)\b)"), "at "),
)


_PLURAL = "|".join((*KNOWN.plurals, *NEW.plurals))
_MANY = re.compile(rf"\b(?:the|my|some) (?:{_PLURAL})\b", re.IGNORECASE)
_AGREES = {
    "is": "are",
    "was": "were",
    "has": "have",
    "looks": "look",
    "does": "do",
    "it was": "they were",
    "it": "they",
}
_VERBS = (
    rf"(?<!of )(?P<many>{_MANY.pattern}) (?P<after>is|was|has|looks)\b",
    rf"\b(?P<before>is|was|does|has(?=.* (?:gone|ended up)$)) (?={_MANY.pattern})",
    r"(?<=before )(?P<it>it was|it)\b",
)
_VERB = re.compile("|".join(_VERBS), re.IGNORECASE)


def _agree(match: re.Match[str]) -> str:
    if match["many"]:
        return f"{match['many']} {_AGREES[match['after']]}"
    word = match[0].rstrip()
    right = _AGREES[word.lower()]
    return (right.capitalize() if word[0].isupper() else right) + match[0][len(word) :]


_OBJECT_AFTER = (
    "to|by|from|with|for|of|alongside|find|given?|pass|hand|bring|offer|slip|gave|passed|handed|offered|slipped|brought|"
    "join|joined|meet|met|see|let|made|is it|was it|room as|place as"
)
_SAYING = "carrie|hold|lug|feel|look|seem|appear|possesse|own"
_FIRST_PERSON = (
    (re.compile(rf"\b({_OBJECT_AFTER}) I\b"), r"\1 me"),
    (re.compile(r"\b(where)'s I\b", re.IGNORECASE), r"\1 am I"),
    (re.compile(r"\bI (?:is|am)n't\b"), "I am not"),
    (re.compile(r"\bI is\b"), "I am"),
    (re.compile(r"\bis I\b"), "am I"),
    (re.compile(r"\bIs I\b"), "Am I"),
    (re.compile(r"\bI has\b"), "I have"),
    (re.compile(r"\b([Hh])as I\b"), r"\1ave I"),
    (re.compile(r"\b([Dd])oes I\b"), r"\1o I"),
    (re.compile(rf"\bI ({_SAYING})s\b"), r"I \1"),
    (re.compile(r"\bI carrie\b"), "I carry"),
    (re.compile(r"\bI possesse\b"), "I possess"),
)
_I = re.compile(r"\bI\b")


def idiomatic(text: str) -> str:
    """A sentence with the prepositions that its places take, on the table, at work, and went home; and keys are."""
    if _I.search(text):
        for wrong, right in _FIRST_PERSON:
            text = wrong.sub(right, text)
    if _MANY.search(text):
        text = _VERB.sub(_agree, text)
    for wrong, right in _IDIOMS:
        text = wrong.sub(right, text)
    return text


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text)) - _TITLED


def distinct(
    draw: Callable[[Random, NamePool], Name], rng: Random, pool: NamePool, count: int, taken: list[Name]
) -> list[Name]:
    """So many names, of which none is part of another or of those taken; people share no word at all."""
    strict = draw is person
    found: list[Name] = []
    while len(found) < count:
        name = draw(rng, pool)
        own = _words(name.text)
        others = [_words(other.text) for other in (*found, *taken)]
        if any(own & other if strict else own <= other or other <= own for other in others):
            continue
        found.append(name)
    return found
