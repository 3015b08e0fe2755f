"""In which order the sentences of a story are read: as they were told, or outwards from what the question names."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from amn.data.examples import Example, Words


def outward_all(examples: Iterable[Example], names: Collection[str]) -> list[Example]:
    """The examples with their sentences outwards from the first question of each."""
    return [outward_example(one, names) for one in examples]


def outward_example(example: Example, names: Collection[str]) -> Example:
    """The example with its sentences outwards from its first question; what is known after each of them is left out."""
    places = outward(example.sentences, example.questions[0], names)
    return replace(example, sentences=tuple(example.sentences[place] for place in places), facts=())


def outward(sentences: Sequence[Words], question: Words, names: Collection[str]) -> list[int]:
    """The places of sentences in the order in which they hang together with a question, by the names that they share.

    First the sentences with the name that the question begins with, then those with the names that these brought, and
    so on: each tells of somebody of whom something is known. What hangs together with no name of the question comes
    before all of it, as it was told. It is an order for stories in which nothing happens one after another.
    """
    left = {place: [word for word in sentence if word in names] for place, sentence in enumerate(sentences)}
    found = [place for name in question if name in names for place in _reached(name, left)]
    return [*left, *found]


def _reached(name: str, left: dict[int, list[str]]) -> Iterator[int]:
    """The sentences that hang together with a name, the nearest first; they are taken out of those that are left."""
    waiting = deque([name])
    while waiting:
        name = waiting.popleft()
        for place in [place for place, named in left.items() if name in named]:
            waiting.extend(left.pop(place))
            yield place
