"""The words of one story as numbers: the slot that each has there, and the vector that a model has for it."""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from amn.data.examples import Example
from amn.data.recall import Recall, recalled
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.inference.found import Arrays


class Spelling:
    """Gives words their slots in the order in which they come, those of the questions first; 0 is nobody's.

    A word that the model knows has a vector of its own. Where the model can point, each unknown word of a story takes
    the next of a few vectors for such words, and when there are no more, the first again.
    `amn.models.encoder.Encoder.spell` gives a batch the same numbers.

    Args:
        vocabulary: the words that the model knows.
        anonymous: how many vectors it has for unknown words; 0 where all of these are one to it.
    """

    def __init__(self, vocabulary: Vocabulary, anonymous: int) -> None:
        self._vocabulary, self.anonymous, self._unknown = vocabulary, anonymous, 0
        self.words, self.slots = [""], dict[str, int]()
        self.recall = Recall(vocabulary)

    def spell(self, rows: Iterable[Iterable[str]]) -> tuple[list[int], list[int], list[int]]:
        """The slots of words of some rows, where each row begins and the last ends, and the vectors of new words."""
        slots, new, numbers, begin = self.slots, list[str](), list[int](), [0]
        for row in rows:
            for word in row:
                slot = slots.get(word)
                if slot is None:
                    slot = slots[word] = len(slots) + 1
                    new.append(word)
                numbers.append(slot)
            begin.append(len(numbers))
        self.words += new
        return numbers, begin, [*map(self._vector, new)] if self.anonymous else [*map(self._vocabulary.word_id, new)]

    def _vector(self, word: str) -> int:
        """The vector of a new word, where unknown ones take turns."""
        known = self._vocabulary.word_id(word)
        if known != UNKNOWN:
            return known
        self._unknown += 1
        return len(self._vocabulary.words) + (self._unknown - 1) % self.anonymous

    def recalled(self) -> Arrays:
        """The slots of the names that a pronoun may mean now, to be saved; nothing where a model asks for none."""
        slots = [self.slots[name] for name in self.recall.names]
        return {"recalled": np.array(slots, np.int32)} if self._vocabulary.names else {}

    def resume(self, told: Iterable[int], arrays: Arrays) -> None:
        """Goes on from what `recalled` gave, and the slots that were told."""
        names = arrays.get("recalled", np.zeros(0, np.int32)).tolist()
        if not all(0 < slot < len(self.words) for slot in names):
            raise ValueError("names among the words that were met")
        self.recall.resume([self.words[slot] for slot in told], [self.words[slot] for slot in names])


def told_words(example: Example, vocabulary: Vocabulary, anonymous: int) -> list[str]:
    """The words of an example that may be answers: of unknown ones that share a vector, the one that was told last."""
    spelling = Spelling(vocabulary, anonymous)
    asked = chain.from_iterable(example.questions)
    told = list(chain.from_iterable(recalled(example, vocabulary).sentences))
    words = list(dict.fromkeys([*asked, *told]))
    vectors = dict(zip(words, spelling.spell((words,))[2], strict=True))
    return list({vectors[word]: word for word in told}.values())


def slot_words(example: Example) -> list[str]:
    """The word of each slot of an example in a batch; slot 0 is padding."""
    return ["", *distinct((*example.sentences, *example.questions))]


def distinct(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """The different words of some rows, in their order."""
    return list(dict.fromkeys(chain.from_iterable(rows)))
