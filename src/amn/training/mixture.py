"""Mixed stories to train on: shares that several processes make, and which of their words are names."""

import re
from functools import cache

from amn.data.story import Story, words
from amn.data.tasks import generate_preset
from amn.data.tasks.mixed.names import KNOWN
from amn.data.tasks.mixed.wordings import EVENTS, QUESTIONS

_VALIDATION, _MOST = 5, 2000  # one question to validate with for so many of the training, and the most of them
_VALIDATION_SEED = 50_000  # of the first share of the stories to validate with
_RARE = {"hard": 0.35, "actors": 0.35}  # shares of such stories to train on; those to validate with are as they come
_FIELD = re.compile(r"\{\w+\}")


def share_of_stories(split: str, questions: int, seed: int, share: int, shares: int) -> list[Story]:
    """The stories of one of several shares, each with its own seed; `questions` to train on are those of all shares."""
    count, first, rare = questions, seed, _RARE
    if split != "train":
        count, first, rare = min(questions // _VALIDATION, _MOST), _VALIDATION_SEED, {}
    own = count * (share + 1) // shares - count * share // shares
    return list(generate_preset("mixed", questions=max(1, own), seed=first + share, **rare))


@cache
def name_words() -> frozenset[str]:
    """The words of names of persons, places and things, without those that the wording of a story has as well.

    Of a name of several words each may be new: *Mr.* Xu lives in *New* Xanadu. A word that is also part of how things
    are said (the living *room*, "which room is she in") has to be known.
    """
    groups = (KNOWN.people, KNOWN.surnames, KNOWN.places, KNOWN.rooms, KNOWN.towns, KNOWN.numbered, KNOWN.objects)
    texts = [name for group in groups for name in group]
    things = (*KNOWN.actors, *KNOWN.looks, *KNOWN.things, *KNOWN.plurals, *KNOWN.surfaces, *KNOWN.containers)
    named = {word for text in (*texts, *things) for word in words(text)}
    said = (text for table in (EVENTS, QUESTIONS) for kind in table.values() for text in kind.all)
    return frozenset(named - {word for text in said for word in words(_FIELD.sub(" ", text))})
