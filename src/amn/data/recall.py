"""What a sentence brings to mind: whom its pronouns may mean, and the other forms of its words.

Edges of the word graph join words that stand together. In "Barry took the lamp. Then he left." and in "Rex is a dog.
Dogs fear cats." they never do, although both sentences are about the same. So a sentence is read with a few words that
the story has told before in front of it: "barry lamp then he left", "dog dogs fear cats". Where training stories have
other words for the same (`amn.data.forms`), it is read with those of them that are asked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from amn.data.examples import Example, Words
from amn.data.kin import other_form
from amn.data.vocabulary import UNKNOWN, Vocabulary

PRONOUNS = frozenset(("he", "she", "it", "they", "him", "her", "them"))
NAMES = 5  # how many words of names a pronoun brings to mind, the latest ones


class Recall:
    """The words that the sentences of one story bring to mind.

    Args:
        vocabulary: says which words are names; a word that it does not know may be one.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._forms = sorted(vocabulary.forms)
        self._told: set[str] = set()
        self.names: list[str] = []  # told last

    def tell(self, sentence: Words) -> Words:
        """A sentence as it is to be read, with what it brings to mind in front."""
        if not self._vocabulary.names:
            return sentence
        said, told = set(sentence), self._told
        recalled = [] if PRONOUNS.isdisjoint(said) else [name for name in self.names if name not in said]
        forms = (form for word in sentence if (form := other_form(word)) in told)
        learned = (form for word, form in self._forms if word in said)
        for form in chain(forms, learned):
            if form not in said and form not in recalled:
                recalled.append(form)
        told.update(said, recalled)
        names = [word for word in sentence if self._is_name(word)]
        if names:
            self.names = [*(name for name in self.names if name not in names), *dict.fromkeys(names)][-NAMES:]
        return (*recalled, *sentence) if recalled else sentence

    def resume(self, told: Iterable[str], names: Sequence[str]) -> None:
        """Goes on where another one was, by the words that it was told and its names."""
        self._told, self.names = set(told), list(names)

    def _is_name(self, word: str) -> bool:
        return word in self._vocabulary.names or self._vocabulary.word_id(word) == UNKNOWN


def recalled(example: Example, vocabulary: Vocabulary) -> Example:
    """An example with its sentences as they are to be read."""
    if not vocabulary.names:
        return example
    recall = Recall(vocabulary)
    return replace(example, sentences=tuple(map(recall.tell, example.sentences)))
