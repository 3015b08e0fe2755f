"""Words for one thing, learned from training stories: forms of a word by its ending, and other names."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, combinations, groupby
from math import hypot
from os.path import commonprefix

from amn.data.examples import Example

_STEM = 4  # letters that forms of a word share at least, besides two thirds of the longer form
_ALIKE = 0.9  # the cosine from which two words stand among the same words
_FEW = 30  # of fewer examples it may be chance what they have in common

Pair = tuple[str, str]


def learned_forms(training: Sequence[Example], names: Collection[str]) -> frozenset[Pair]:
    """Told words, each with a name for the same.

    Args:
        training: what a model learns from.
        names: the words that are told and asked for.
    """
    pairs = {*_inflected(training), *_renamed(training)}
    return frozenset((word, name) for pair in pairs for word, name in (pair, pair[::-1]) if name in names)


def _inflected(training: Iterable[Example]) -> Iterator[Pair]:
    """Words with one stem that stand among the same words, but never before the same: grammar chooses between them."""
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


def _renamed(training: Iterable[Example]) -> Iterator[Pair]:
    """Words of which the second is told just where the first is told and not asked for.

    Stories ask what they do not tell: who is asked for by one name is not told of by the other.
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
