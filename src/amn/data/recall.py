"""What a sentence brings to mind: whom its pronouns may mean, and the other forms of its words.

Edges of the word graph join words that stand together. In "Barry took the lamp. Then he left." and in "Rex is a dog.
Dogs fear cats." they never do, although both sentences are about the same. So a sentence is read with a few words that
the story has told before in front of it: "barry lamp then he left", "dog dogs fear cats". Where training stories have
other words for the same (`amn.data.forms`), it is read with those of them that are asked for.

The other way round, "Mary Smith" and "Mary Jones" share a word and are two people. Where a question names the one, a
sentence is read with the other's name as one word, "mary jones", so that it is not taken to be about the first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from amn.data.examples import Example, Words
from amn.data.kin import other_form
from amn.data.vocabulary import UNKNOWN, Vocabulary

PRONOUNS = frozenset(("he", "she", "it", "they", "him", "her", "them"))
TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "professor"))  # words that are part of a name
NAMES = 5  # how many words of names a pronoun brings to mind, the latest ones


class Recall:
    """The words that the sentences of one story bring to mind.

    Args:
        vocabulary: says which words are names; a word that it does not know may be one.
        questions: what is asked about the story.
    """

    def __init__(self, vocabulary: Vocabulary, questions: Iterable[Words] = ()) -> None:
        self._vocabulary = vocabulary
        self._forms = sorted(vocabulary.forms)
        self._told: set[str] = set()
        self.names: list[str] = []  # told last
        self._follow: dict[str, set[str]] = {}  # of names with several words that are asked for: what follows a word
        self._precede: dict[str, set[str]] = {}  # and what comes before it
        self.ask(questions)

    def ask(self, questions: Iterable[Words]) -> None:
        """Takes note of the names of several words in questions."""
        for question in questions if self._vocabulary.names else ():
            for one, other in pairwise(question):
                if self._may_be_one(one, other):
                    self._follow.setdefault(one, set()).add(other)
                    self._precede.setdefault(other, set()).add(one)

    def tell(self, sentence: Words) -> Words:
        """A sentence as it is to be read, with what it brings to mind in front."""
        if not self._vocabulary.names:
            return sentence
        if self._follow:
            sentence = self._apart(sentence)
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

    def _apart(self, sentence: Words) -> Words:
        """A sentence with names that only share a word with one that is asked for, each as one word."""
        found: list[str] = []
        for word in sentence:
            before = found[-1] if found else ""
            others = before in self._follow and not _among(word, self._follow[before])
            others |= word in self._precede and not _among(before, self._precede[word])
            if found and others and self._may_be_one(before, word):
                found[-1] = f"{before} {word}"
            else:
                found.append(word)
        return tuple(found)

    def _may_be_one(self, word: str, following: str) -> bool:
        """Whether two words that stand together may be one name: Mr. Brown, Mary Smith, red ball, robot 7."""
        named = word in TITLES or self._is_name(word)
        return named and (following.isdigit() or self._is_name(following))

    def resume(self, told: Iterable[str], names: Sequence[str]) -> None:
        """Goes on where another one was, by the words that it was told and its names."""
        self._told, self.names = set(told), list(names)

    def _is_name(self, word: str) -> bool:
        return word in self._vocabulary.names or self._vocabulary.word_id(word) == UNKNOWN


def _among(word: str, known: Iterable[str]) -> bool:
    """Whether a word is among others, itself or in another form: a verb that nobody knows is no name (zap, zapped)."""
    return any(word == one or _begin_alike(word, one) for one in known)


def _begin_alike(one: str, other: str) -> bool:
    stem, longer = sorted((one, other), key=len)
    return len(stem) > 2 and one.isalpha() and other.isalpha() and longer.startswith(stem[:-1])


def recalled(example: Example, vocabulary: Vocabulary) -> Example:
    """An example with its sentences as they are to be read."""
    if not vocabulary.names:
        return example
    recall = Recall(vocabulary, example.questions)
    return replace(example, sentences=tuple(map(recall.tell, example.sentences)))
