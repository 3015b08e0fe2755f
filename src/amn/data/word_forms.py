"""Other forms of a word: singular and plural by English rules, and forms and aliases learned from training stories."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, combinations, groupby
from math import hypot
from os.path import commonprefix

from amn.data.examples import Example

_IRREGULAR_PAIRS = """
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
_PAIRS = [pair.split() for pair in _IRREGULAR_PAIRS.split(",")]
_IRREGULAR = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
# Words that end as plurals do, and are none.
_INVARIABLE = frozenset(
    """
    afterwards always besides does has hers his its mrs news ours perhaps series sometimes species theirs this towards
    was yes yours adams carlos charles edwards evans james jones lucas phillips roberts thomas
    """.split()
)
_WORD = re.compile("[a-z]{3,}")
_PLURAL = re.compile("(?P<sibilant>.*(?:ss|x|zz|tz|ch|sh|[^aeou]us))es|(?P<y>.+[^aeiou])ies|(?P<plain>.*[^sui])s")
_SIBILANTS = ("s", "x", "zz", "tz", "ch", "sh")

_STEM = 4  # letters that forms of a word share at least, besides two thirds of the longer form
_ALIKE = 0.9  # the least cosine of two words' contexts
_FEW = 30  # with fewer examples, what they have in common may be chance

Pair = tuple[str, str]


@lru_cache(maxsize=1 << 16)
def other_number(word: str) -> str | None:
    """The plural of a singular and the singular of a plural; None where the rules are not sure of one.

    It is its own inverse, so no two words have the same other number.
    """
    other = _by_rules(word)
    return other if other is not None and _by_rules(other) == word else None


def _by_rules(word: str) -> str | None:
    """The likely other number, which may not lead back to the word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _INVARIABLE or not _WORD.fullmatch(word):
        return None
    if plural := _PLURAL.fullmatch(word):
        sibilant, y, plain = plural.groups()
        return sibilant or (f"{y}y" if y else plain)
    if word.endswith(_SIBILANTS):
        return f"{word}es"
    return f"{word[:-1]}ies" if word[-1] == "y" and word[-2] not in "aeiou" else f"{word}s"


def learned_forms(training: Sequence[Example], names: Collection[str]) -> frozenset[Pair]:
    """Words of sentences, each paired with a name that means the same.

    Args:
        training: what a model learns from.
        names: the words that are told and asked for.
    """
    pairs = {*_inflected(training), *_aliases(training)}
    return frozenset((word, name) for pair in pairs for word, name in (pair, pair[::-1]) if name in names)


def _inflected(training: Iterable[Example]) -> Iterator[Pair]:
    """Words with one stem and the same context, but never the same next word: grammar chooses between them."""
    beside, before = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    for sentence, count in Counter(chain.from_iterable(one.sentences for one in training)).items():
        for word, following in zip(sentence, (*sentence[1:], ""), strict=True):
            before[word][following] += count
            for other in sentence:
                beside[word][other] += count * (other != word)
    often = sorted(word for word, followers in before.items() if followers.total() >= _FEW)
    for _, alike in groupby(often, key=lambda word: word[:_STEM]):
        for one, other in combinations(alike, 2):
            stem, longer = len(commonprefix((one, other))), max(len(one), len(other))
            complementary = before[one].keys().isdisjoint(before[other])
            if 3 * stem >= 2 * longer and complementary and _cosine(beside[one], beside[other]) >= _ALIKE:
                yield one, other


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    together = sum(count * other[word] for word, count in one.items())
    return together / (hypot(*one.values()) * hypot(*other.values()) or 1.0)


def _aliases(training: Iterable[Example]) -> Iterator[Pair]:
    """Pairs of which the second word is told exactly where the first is told and not asked for.

    Stories ask about what they do not tell: someone asked for by one name is not told of by the other.
    """
    told, asked = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for number, one in enumerate(training):
        for where, rows in ((told, one.sentences), (asked, one.questions)):
            for word in chain.from_iterable(rows):
                where[word].add(number)
    tellers = defaultdict[frozenset[int], list[str]](list)
    for word, stories in told.items():
        tellers[frozenset(stories)].append(word)
    for word in told.keys() & asked.keys():
        unasked = frozenset(told[word] - asked[word])
        if min(len(unasked), len(told[word] & asked[word])) >= _FEW:
            yield from ((word, other) for other in tellers.get(unasked, ()))
