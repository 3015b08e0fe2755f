"""The other form of an English word: the plural of a singular, the singular of a plural."""

import re
from functools import lru_cache

_IRREGULAR = """
    man men, woman women, child children, grandchild grandchildren, person people, ox oxen, mouse mice, louse lice,
    goose geese, foot feet, tooth teeth, policeman policemen, fireman firemen, postman postmen, fisherman fishermen,
    gentleman gentlemen, snowman snowmen, calf calves, elf elves, half halves, hoof hooves, knife knives, leaf leaves,
    life lives, loaf loaves, scarf scarves, shelf shelves, thief thieves, wife wives, wolf wolves,
    bookshelf bookshelves, buffalo buffaloes, echo echoes,
    hero heroes, mango mangoes, mosquito mosquitoes, potato potatoes, tomato tomatoes,
    volcano volcanoes, axe axes, headache headaches, gas gases, lens lenses, quiz quizzes, rhinoceros rhinoceroses,
    fuse fuses, excuse excuses, cookie cookies, genie genies, movie movies, zombie zombies, emu emus, gnu gnus,
    menu menus, kiwi kiwis, ski skis, taxi taxis
"""
_PAIRS = [pair.split() for pair in _IRREGULAR.split(",")]
_OTHERS = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
# Words that end as plurals do and are none.
_ALONE = frozenset(
    """
    afterwards always besides does has hers his its mrs news ours perhaps series sometimes species theirs this towards
    was yes yours adams carlos charles edwards evans james jones lucas phillips roberts thomas
    """.split()
)
_WORD = re.compile("[a-z]{3,}")
_PLURAL = re.compile("(?P<hissing>.*(?:ss|x|zz|tz|ch|sh|[^aeou]us))es|(?P<y>.+[^aeiou])ies|(?P<plain>.*[^sui])s")
_HISSING = ("s", "x", "zz", "tz", "ch", "sh")


@lru_cache(maxsize=1 << 16)
def other_form(word: str) -> str | None:
    """The plural of a singular word and the singular of a plural one; None where it is not sure to have one.

    No two words have the same other form, and each is the other form of its own.
    """
    other = _likely(word)
    return other if other is not None and _likely(other) == word else None


def _likely(word: str) -> str | None:
    """What the rules take for the other form, whether or not they lead back."""
    if word in _OTHERS:
        return _OTHERS[word]
    if word in _ALONE or not _WORD.fullmatch(word):
        return None
    return _plural(word) if (found := _PLURAL.fullmatch(word)) is None else _singular(found)


def _singular(plural: "re.Match[str]") -> str:
    hissing, y, plain = plural.groups()
    return hissing or (f"{y}y" if y else plain)


def _plural(word: str) -> str:
    if word.endswith(_HISSING):
        return f"{word}es"
    return f"{word[:-1]}ies" if word[-1] == "y" and word[-2] not in "aeiou" else f"{word}s"
