"""Resolves pronouns to the names told last, and links the forms of a word, before a model reads a sentence.

Edges of the word graph join words of one sentence. In "Barry took the lamp. Then he left." none leads from *he* to
*barry*, nor from *dog* to *dogs* in "Rex is a dog. Dogs fear cats." So candidate antecedents and other forms of words
that the story has told before are put in front of a sentence: "barry lamp then he left", "dog dogs fear cats". Forms
and aliases that were learned from training stories (`amn.data.word_forms`) are added likewise.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from amn.data.examples import Example, Words
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.data.word_forms import other_number

PRONOUNS = frozenset(("he", "she", "it", "they", "him", "her", "them"))
NAMES = 5  # how many words of names a pronoun may mean, the latest ones


class Coreference:
    """Links the sentences of one story, read one after another.

    Args:
        vocabulary: says which words are names; a word that it does not know may be one.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._forms = sorted(vocabulary.forms)
        self._told: set[str] = set()
        self.names: list[str] = []  # told last

    def link(self, sentence: Words) -> Words:
        """The next sentence with the words that it refers to in front."""
        if not self._vocabulary.names:
            return sentence
        said, told = set(sentence), self._told
        added = [] if PRONOUNS.isdisjoint(said) else [name for name in self.names if name not in said]
        inflected = (form for word in sentence if (form := other_number(word)) in told)
        learned = (form for word, form in self._forms if word in said)
        for form in chain(inflected, learned):
            if form not in said and form not in added:
                added.append(form)
        told.update(said, added)
        names = [word for word in sentence if self._is_name(word)]
        if names:
            self.names = [*(name for name in self.names if name not in names), *dict.fromkeys(names)][-NAMES:]
        return (*added, *sentence) if added else sentence

    def resume(self, told: Iterable[str], names: Sequence[str]) -> None:
        """Restores a saved state: the words told so far, and the latest names."""
        self._told, self.names = set(told), list(names)

    def _is_name(self, word: str) -> bool:
        return word in self._vocabulary.names or self._vocabulary.word_id(word) == UNKNOWN


def linked(example: Example, vocabulary: Vocabulary) -> Example:
    """An example with the sentences as a model reads them."""
    if not vocabulary.names:
        return example
    return replace(example, sentences=tuple(map(Coreference(vocabulary).link, example.sentences)))
