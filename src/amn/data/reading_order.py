"""Breadth-first order of a story's sentences: outwards from what the question names, along the names they share."""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from amn.data.examples import Example, Words


def outward_example(example: Example, names: Collection[str]) -> Example:
    """The example with its sentences outwards from its first question, and without facts, which have another order."""
    places = outward(example.sentences, example.questions[0], names)
    return replace(example, sentences=tuple(example.sentences[place] for place in places), facts=())


def outward(sentences: Sequence[Words], question: Words, names: Collection[str]) -> list[int]:
    """The indices of sentences in the order of a breadth-first search from a question, by the names that they share.

    First come the sentences with the first name of the question, then those with the names that these mention, and so
    on. Sentences that no name of the question leads to come before all of these, in the order told. This order is for
    stories in which nothing happens one after another.
    """
    left = {place: [word for word in sentence if word in names] for place, sentence in enumerate(sentences)}
    found = [place for name in question if name in names for place in _reached(name, left)]
    return [*left, *found]


def _reached(name: str, left: dict[int, list[str]]) -> Iterator[int]:
    """The sentences that a name leads to, the nearest first; they are removed from those that are left."""
    waiting = deque([name])
    while waiting:
        name = waiting.popleft()
        for place in [place for place, named in left.items() if name in named]:
            waiting.extend(left.pop(place))
            yield place
