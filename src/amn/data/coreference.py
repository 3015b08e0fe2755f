"""Resolves pronouns to the names told last, and links the forms of a word, before a model reads a sentence.

Edges of the word graph join words of one sentence. In "Barry took the lamp. Then he left." none leads from *he* to
*barry*, nor from *dog* to *dogs* in "Rex is a dog. Dogs fear cats." So candidate antecedents and other forms of words
that the story has told before are put in front of a sentence: "barry lamp then he left", "dog dogs fear cats". Forms
and aliases that were learned from training stories (`amn.data.word_forms`) are added likewise, and pronouns of other
languages are learned from them, too.

Names may also share a word: Mary Smith and Mary Jones are two people. If a question names one of them, the other's name
is read as one word, "mary jones", so that its sentences are not taken to be about the first.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from amn.data.examples import Example, Words
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.data.word_forms import other_number

PRONOUNS = frozenset(("he", "she", "it", "they", "we", "him", "her", "them", "us"))
TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "professor"))  # words that are part of a name
ARTICLES = frozenset(("a", "an", "the"))
NAMES = 5  # how many words of names a pronoun may mean, the latest ones
_FEW = 10  # a word that would open fewer stories than this if it stood anywhere may miss all openings by chance


class Coreference:
    """Links the sentences of one story, read one after another.

    Args:
        vocabulary: says which words are names; a word that it does not know may be one.
        questions: the questions about the story.
    """

    def __init__(self, vocabulary: Vocabulary, questions: Iterable[Words] = ()) -> None:
        self._vocabulary = vocabulary
        self._forms = sorted(vocabulary.forms)
        self._pronouns = PRONOUNS | vocabulary.pronouns
        self._told: set[str] = set()
        self.names: list[str] = []  # told last
        self._next: dict[str, set[str]] = {}  # by word of a name in a question: the words that follow it there
        self._previous: dict[str, set[str]] = {}  # and those before it
        self.ask(questions)

    def ask(self, questions: Iterable[Words]) -> None:
        """Notes the names of several words that questions hold."""
        for question in questions if self._vocabulary.names else ():
            for before, (word, following) in zip(("", *question), pairwise(question), strict=False):
                if self._may_be_name(before, word, following):
                    self._next.setdefault(word, set()).add(following)
                    self._previous.setdefault(following, set()).add(word)

    def link(self, sentence: Words) -> Words:
        """The next sentence as it is read: with the words that it refers to in front."""
        sentence = self._vocabulary.known_parts(sentence)
        if not self._vocabulary.names:
            return sentence
        if self._next:
            sentence = self._joined(sentence)
        said, told = set(sentence), self._told
        rest = sentence[1:] if sentence[:1] == ("her",) else sentence  # "her lamp" says where she is no more than "his"
        added = [] if self._pronouns.isdisjoint(rest) else [name for name in self.names if name not in said]
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

    def _joined(self, sentence: Words) -> Words:
        """A sentence in which names that share only a word with one in a question are one word each."""
        found = ["", ""]
        for word in sentence:
            before, last = found[-2:]
            other = last in self._next and not _among(word, self._next[last])
            other |= word in self._previous and not _among(last, self._previous[word])
            if last and other and self._may_be_name(before, last, word):
                found[-1] = f"{last} {word}"
            else:
                found.append(word)
        return tuple(found[2:])

    def _may_be_name(self, before: str, word: str, following: str) -> bool:
        """Whether two neighbouring words may be one name: Mary Smith, Mr. Brown, robot 7.

        Known words are left as training had them after an article, as in "the red ball", and where it also told one of
        them by itself: in "sita daftar gayi" (Sita went to the office) two names stand side by side.
        """
        if not (word in TITLES or self._is_name(word)) or not (following.isdigit() or self._is_name(following)):
            return False
        if self._is_unknown(word) or self._is_unknown(following):
            return True
        together = self._vocabulary.standalone.isdisjoint((word, following))
        return before not in ARTICLES and (together or word in TITLES or following.isdigit())

    def _is_unknown(self, word: str) -> bool:
        return self._vocabulary.word_id(word) == UNKNOWN

    def _is_name(self, word: str) -> bool:
        return word in self._vocabulary.names or self._is_unknown(word)


def _among(word: str, known: Iterable[str]) -> bool:
    """Whether a word is among others, also in another form: an unknown verb (zap, zapped) is no name."""
    return any(word == one or _begin_alike(word, one) for one in known)


def _begin_alike(one: str, other: str) -> bool:
    stem, longer = sorted((one, other), key=len)
    return len(stem) > 2 and one.isalpha() and other.isalpha() and longer.startswith(stem[:-1])


def standalone_names(training: Iterable[Example], names: Collection[str]) -> frozenset[str]:
    """The names that some sentence tells without another name beside them."""
    sentences = set(chain.from_iterable(example.sentences for example in training))
    return frozenset(chain.from_iterable(_standing_alone(sentence, names) for sentence in sentences))


def _standing_alone(sentence: Words, names: Collection[str]) -> Iterator[str]:
    for before, word, following in zip(("", *sentence), sentence, (*sentence[1:], ""), strict=False):
        if word in names and before not in names and following not in names:
            yield word


def learned_pronouns(training: Iterable[Example], names: frozenset[str]) -> frozenset[str]:
    """Pronouns of other languages: words that never open a story, and stand where a name stands in other sentences.

    In Hindi, "fir wo daftar gaye" (then they went to the office) is told where "sita aur badri daftar gaye" is. No
    opening tells *fir* or *wo*, and what comes after them comes after a name elsewhere. Of such words, those are chosen
    that most of these sentences have, and few sentences with a name.
    """
    openings, told = set[Words](), defaultdict[Words, float](float)
    for one in training:
        openings.update(one.sentences[:1])
        for sentence in one.sentences:
            told[sentence] += 1 / len(one.sentences)  # the chance to open the story, if order were chance
    opening = set(chain.from_iterable(openings))
    subjects = {next((word for word in sentence if word in names), "") for sentence in openings}
    after_names = set(chain.from_iterable(_after_first(names, sentence) for sentence in told))
    heads, beside_names = defaultdict[Words, float](float), defaultdict[str, float](float)
    for sentence, chance in told.items():
        end = max((at for at, word in enumerate(sentence, 1) if word not in opening), default=0)
        head, rest = sentence[:end], sentence[end:]
        later = tuple(word for word in head if word not in opening)
        if rest in after_names and names.isdisjoint(head) and PRONOUNS.isdisjoint(head):
            heads[later] += chance
        if not subjects.isdisjoint(sentence):
            for word in later:
                beside_names[word] += chance
    return frozenset(_most_shared(heads, beside_names))


def _after_first(names: Collection[str], sentence: Words) -> Iterator[Words]:
    """The ends of a sentence that come after its first name."""
    first = next((at for at, word in enumerate(sentence) if word in names), len(sentence))
    return (sentence[at:] for at in range(first + 1, len(sentence)))


def _most_shared(heads: Mapping[Words, float], elsewhere: Mapping[str, float]) -> Iterator[str]:
    """The fewest words that nearly all heads hold: each is the most frequent in those that are left, or the last."""
    while heads:
        weights = dict[str, float]()
        for head, chance in heads.items():
            for word in reversed(head):
                weights[word] = weights.get(word, -elsewhere.get(word, 0.0)) + chance
        best = max(weights, key=weights.__getitem__)
        if weights[best] < _FEW:
            return
        yield best
        heads = {head: chance for head, chance in heads.items() if best not in head}


def linked(example: Example, vocabulary: Vocabulary) -> Example:
    """An example with the sentences and questions as a model reads them."""
    if not vocabulary.names and not vocabulary.in_parts:
        return example
    questions = tuple(map(vocabulary.known_parts, example.questions))
    coreference = Coreference(vocabulary, questions)
    return replace(example, sentences=tuple(map(coreference.link, example.sentences)), questions=questions)
