"""Splits a sentence into its clauses, for models that were trained on simple ones.

"Mary went to the kitchen, and John took the ball and left." is read as "mary went to the kitchen", "john took the ball"
and "john left". A clause begins after a comma or a conjunction, with a verb or with a subject and a verb. Verbs are the
words that came after *he*, *she* or *they* in training. Where it is not clear who does what, a sentence stays whole.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from amn.data.coreference import ARTICLES, TITLES
from amn.data.examples import Words
from amn.data.story import Punctuated
from amn.inference.phrasing import Phrasing

_JOINING = frozenset("although and because but so then though when while".split())
_SUBORDINATE = frozenset("after as before following if knows said say says seems since that told unless until".split())
_DETERMINERS = ARTICLES | frozenset("my your his her its our their".split())
_SUBJECTS = _DETERMINERS | TITLES | frozenset("i you he she it we they nobody someone there".split())
_LONGEST_SUBJECT = 5
_NUMBERS = frozenset("one two three four five six seven eight nine ten".split())


def clauses(sentences: Iterable[Words], phrasing: Phrasing | None) -> list[Words]:
    """The clauses of some sentences, in order; the sentences themselves without a phrasing."""
    if phrasing is None:
        return list(sentences)
    return [clause for sentence in sentences for clause in _clauses(sentence, phrasing)]


def _clauses(sentence: Words, phrasing: Phrasing) -> Iterable[Words]:
    if not isinstance(sentence, Punctuated) and _JOINING.isdisjoint(sentence):
        return (sentence,)
    found = list(_split(sentence, phrasing))
    stranger = sum(map(phrasing.strange, found)) > phrasing.strange(sentence)
    return (sentence,) if len(found) < 2 or stranger or any(map(_is_short, found)) else found


def _is_short(clause: Words) -> bool:
    """Whether a clause has a number of what another one names: "had five apples and ate two of them"."""
    return clause[-1].isdigit() or clause[-1] in _NUMBERS or clause[-2:] == ("of", "them")


def _split(sentence: Words, phrasing: Phrasing) -> Iterator[Words]:
    """What a sentence has between the places where a clause begins, with the subject of its verbs."""
    subject, start = Words(), 0
    for end, begin in _joints(sentence):
        before = (*subject, *sentence[start:end])
        if phrasing.verbs.isdisjoint(before) or _is_subordinate(before):
            continue
        joined = sentence[begin] in phrasing.verbs and sentence[begin - 1] != "so"  # "and so did John"
        shared = _subject(before, phrasing) if joined else ()
        if shared or _has_subject(sentence[begin : begin + _LONGEST_SUBJECT + 1], phrasing):
            yield before
            subject, start = shared, begin
    yield (*subject, *sentence[start:])


def _subject(clause: Words, phrasing: Phrasing) -> Words:
    """What stands before the verb of a clause; nothing where it has several or ends with one."""
    verbs = [place for place, word in enumerate(clause) if word in phrasing.verbs]
    is_one = verbs[-1] - verbs[0] == len(verbs) - 1  # "has left" is one too
    return clause[: verbs[0]] if is_one and verbs[-1] < len(clause) - 1 else ()


def _joints(sentence: Words) -> Iterator[tuple[int, int]]:
    """Where something may be joined to what comes before: the end of that, and the word after the conjunctions."""
    commas = sentence.after_commas if isinstance(sentence, Punctuated) else ()
    for place in range(1, len(sentence)):
        if (place in commas or sentence[place] in _JOINING) and sentence[place - 1] not in _JOINING:
            begin = place
            while begin < len(sentence) - 1 and sentence[begin] in _JOINING:
                begin += 1
            yield place, begin


def _is_subordinate(words: Words) -> bool:
    """Whether one clause of words depends on another; "after that" begins none."""
    return not _SUBORDINATE.isdisjoint(words[2:] if words[1:2] == ("that",) else words)


def _has_subject(words: Words, phrasing: Phrasing) -> bool:
    """Whether words begin with a subject and a verb: a known beginning of sentences, or names and a verb."""
    length = next((place for place, word in enumerate(words) if word in phrasing.verbs), 0)
    subject = words[:length]
    if "and" in subject:
        return subject[-1] != "and" and all(
            word == "and" or word in TITLES or phrasing.is_name(word) for word in subject
        )
    named = (
        word in _SUBJECTS or before in _DETERMINERS or phrasing.is_name(word)
        for before, word in pairwise(("", *subject))
    )
    return length > 0 and (all(named) or phrasing.begins(words[: length + 1]))
