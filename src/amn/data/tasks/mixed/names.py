"""Who and what mixed stories are about: names of one and of several words, drawn from the lists of names."""

from collections.abc import Callable
from dataclasses import replace
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


KNOWN = replace(
    FURTHER,
    women=RELEASED.women + FURTHER.women,
    men=RELEASED.men + FURTHER.men,
    places=RELEASED.places + FURTHER.places,
    objects=RELEASED.objects + FURTHER.objects,
)
POOLS = {"known": KNOWN, "new": UNSEEN}  # by the setting of that name

_TITLES = (("Mr.", "he"), ("Mrs.", "she"), ("Ms.", "she"), ("Dr.", ""), ("Miss", "she"), ("Professor", ""))
_TITLED = frozenset(word for title, _ in _TITLES for word in words(title))


def the(text: str) -> Name:
    """Something that takes an article."""
    return Name(text, f"the {text}")


ME = Name("I", "I")  # the narrator


def my(name: Name) -> Name:
    """Something that belongs to the narrator."""
    return Name(name.text, f"my {name.text}")


def first_name(rng: Random, pool: NameList) -> Name:
    """A person of one word."""
    women = rng.random() < 0.5
    text = rng.choice(pool.women if women else pool.men)
    return Name(text, text, "she" if women else "he")


def person(rng: Random, pool: NameList) -> Name:
    """Mostly a first name; at times with a title, or a surname after it."""
    draw = rng.random()
    if draw < 0.1:
        title, pronoun = rng.choice(_TITLES)
        text = f"{title} {rng.choice(pool.surnames)}"
        return Name(text, text, pronoun)
    first = first_name(rng, pool)
    text = f"{first.text} {rng.choice(pool.surnames)}" if draw < 0.18 else first.text
    return Name(text, text, first.pronoun)


def actor(rng: Random, pool: NameList) -> Name:
    """Somebody or something with an article that acts as people do: the doctor, the dog, the train."""
    return the(rng.choice(pool.actors if rng.random() < 0.7 else (*pool.objects, *pool.things)))


def place(rng: Random, pool: NameList) -> Name:
    """A room or building; at times of two words, a town, or one with a number."""
    draw = rng.random()
    if draw > 0.96 and pool.numbered:
        numbered = f"{rng.choice(pool.numbered)} {rng.randint(1, 20)}"
        return Name(numbered, numbered)
    if draw < 0.13:
        bare = rng.choice(pool.bare if pool.bare and draw < 0.03 else pool.towns)
        return Name(bare, bare)
    return the(rng.choice(pool.rooms if draw < 0.35 else pool.places))


def surface(rng: Random, pool: NameList) -> Name:
    """Something that things lie on or in, where no person can be."""
    return the(rng.choice(pool.surfaces if rng.random() < 0.5 else pool.containers))


def thing(rng: Random, pool: NameList) -> Name:
    """Something to carry; at times with a look."""
    if rng.random() < 0.3:
        return the(f"{rng.choice(pool.looks)} {rng.choice(pool.things)}")
    return the(rng.choice(pool.objects))


def belonging(rng: Random, pool: NameList) -> Name:
    """Something that people have; at times several, as keys are."""
    return the(rng.choice(pool.plurals)) if rng.random() < 0.07 else thing(rng, pool)


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text)) - _TITLED


def distinct(
    draw: Callable[[Random, NameList], Name], rng: Random, pool: NameList, count: int, taken: list[Name]
) -> list[Name]:
    """Draws `count` names of which none is part of another or of those taken; people share no word at all."""
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
