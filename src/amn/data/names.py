"""Names of people, places and things: those of the released stories, further ones to train on, and unseen ones.

The further and the unseen names are lists in `names.toml`. The three families share no word, so a model that is tested
on the unseen names cannot have met them.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

# People of the released stories, by the tasks that share them.
MOVERS = ("Mary", "John", "Daniel", "Sandra")
GIVERS = ("Bill", "Fred", "Jeff", "Mary")
TOWNSFOLK = ("Bill", "Fred", "Julie", "Mary")
AFRAID = ("Gertrude", "Winona", "Jessica", "Emily")
COLOURED = ("Lily", "Bernhard", "Greg", "Julius", "Brian")
MOTIVATED = ("Jason", "Antoine", "Sumit", "Yann")

ROOMS = ("bedroom", "bathroom", "kitchen", "office", "garden", "hallway")
TOWN = ("bedroom", "kitchen", "office", "park", "school", "cinema")
THINGS = ("apple", "football", "milk")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameList:
    """Names to draw the cast of a story from; women and men are separate, because pronouns must fit.

    The first four are single words. Mixed stories alone use the others.
    """

    women: tuple[str, ...]
    men: tuple[str, ...]
    places: tuple[str, ...]
    objects: tuple[str, ...]
    actors: tuple[str, ...] = ()  # people, animals and things that act and take an article
    surnames: tuple[str, ...] = ()  # of people with a title or a first name before it
    towns: tuple[str, ...] = ()  # places without an article
    bare: tuple[str, ...] = ()  # common places without one, whose prepositions differ ("at home")
    rooms: tuple[str, ...] = ()  # places of two words
    numbered: tuple[str, ...] = ()  # places that a number follows
    surfaces: tuple[str, ...] = ()  # what things lie on
    containers: tuple[str, ...] = ()  # what things lie in
    looks: tuple[str, ...] = ()  # first words of things of two words
    things: tuple[str, ...] = ()  # second words of these
    plurals: tuple[str, ...] = ()  # things in the plural

    @property
    def people(self) -> tuple[str, ...]:
        """Women and men in turn, so that any first few hold both."""
        pairs = zip(self.women, self.men, strict=False)
        longer = max(self.women, self.men, key=len)
        return (*(name for pair in pairs for name in pair), *longer[min(len(self.women), len(self.men)) :])


def _split(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text.split(",") if "," in text else text.split()))


_LISTS: dict[str, dict[str, tuple[str, ...]]] = {
    family: {kind: _split(text) for kind, text in lists.items()}
    for family, lists in tomllib.loads((files("amn.data") / "names.toml").read_text(encoding="utf-8")).items()
}
RELEASED = NameList(
    women=("Mary", "Sandra", "Julie", "Gertrude", "Winona", "Jessica", "Emily", "Lily"),
    men=(
        *("John", "Daniel", "Bill", "Fred", "Jeff", "Bernhard", "Greg", "Julius", "Brian", "Jason"),
        *("Antoine", "Sumit", "Yann"),
    ),
    places=(*ROOMS, "park", "school", "cinema"),
    objects=(*THINGS, "pajamas"),
)
FURTHER = NameList(**_LISTS["further"])
# Never used by the generator but for `rename` and mixed stories of new names, to test on.
UNSEEN = NameList(**_LISTS["unseen"])

_WOMEN = frozenset((*RELEASED.women, *FURTHER.women, *UNSEEN.women))


def pronoun(name: str) -> str:
    """The pronoun that stands for a person of the lists."""
    return "she" if name in _WOMEN else "he"


def known_names(lists: Iterable[NameList] = (RELEASED, FURTHER)) -> frozenset[str]:
    """All names of some lists, lower-cased."""
    return frozenset(
        name.lower() for names in lists for group in (names.people, names.places, names.objects) for name in group
    )
