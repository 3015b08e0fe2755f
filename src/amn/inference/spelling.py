"""The words of one story as numbers: the slot of each in the story, and its vector in the model."""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from amn.data.coreference import Coreference, linked
from amn.data.examples import Example, Words
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.inference.story_memory import Arrays


class Spelling:
    """Assigns slots to words in order of appearance, those of the questions first; slot 0 is padding.

    A word that the model knows has its own vector. If the model can point, each unknown word of a story takes the next
    of a few vectors for unknown words, in rotation. `amn.models.encoder.Encoder.spell` does the same for a batch.

    Args:
        vocabulary: the words that the model knows.
        anonymous: how many vectors it has for unknown words; 0 if all of these share one.
        questions: the questions about the story.
    """

    def __init__(self, vocabulary: Vocabulary, anonymous: int, questions: Iterable[Words] = ()) -> None:
        self._vocabulary, self.anonymous, self._unknown = vocabulary, anonymous, 0
        self.words, self.slots = [""], dict[str, int]()
        self.coreference = Coreference(vocabulary, questions)

    def spell(self, rows: Iterable[Words]) -> tuple[list[int], list[int], list[int]]:
        """The slots of the words of some rows, the offsets of the rows in them, and the vectors of new words."""
        slots, new, numbers, begin = self.slots, list[str](), list[int](), [0]
        for row in rows:
            for word in self._vocabulary.known_parts(row):
                slot = slots.get(word)
                if slot is None:
                    slot = slots[word] = len(slots) + 1
                    new.append(word)
                numbers.append(slot)
            begin.append(len(numbers))
        self.words += new
        return numbers, begin, [*map(self._vector, new)] if self.anonymous else [*map(self._vocabulary.word_id, new)]

    def _vector(self, word: str) -> int:
        """The vector of a new word; unknown words take turns."""
        known = self._vocabulary.word_id(word)
        if known != UNKNOWN:
            return known
        self._unknown += 1
        return len(self._vocabulary.words) + (self._unknown - 1) % self.anonymous

    def recalled(self) -> Arrays:
        """The slots of the names that a pronoun may refer to now, for saving; empty if the model uses none."""
        slots = [self.slots[name] for name in self.coreference.names]
        return {"recalled": np.array(slots, np.int32)} if self._vocabulary.names else {}

    def resume(self, told: Iterable[int], arrays: Arrays) -> None:
        """Restores the state from `recalled` and the slots that were told."""
        names = arrays.get("recalled", np.zeros(0, np.int32)).tolist()
        if not all(0 < slot < len(self.words) for slot in names):
            raise ValueError("expected recalled names among the words of the story")
        self.coreference.resume([self.words[slot] for slot in told], [self.words[slot] for slot in names])


def told_words(example: Example, vocabulary: Vocabulary, anonymous: int) -> list[str]:
    """The words of an example that may be answers; of unknown words with the same vector, the last one."""
    spelling, read = Spelling(vocabulary, anonymous), linked(example, vocabulary)
    asked = chain.from_iterable(read.questions)
    told = list(chain.from_iterable(read.sentences))
    words = tuple(dict.fromkeys([*asked, *told]))
    vectors = dict(zip(words, spelling.spell((words,))[2], strict=True))
    return list({vectors[word]: word for word in told}.values())


def slot_words(example: Example) -> list[str]:
    """The word of each slot of an example in a batch; slot 0 is padding."""
    return ["", *distinct((*example.sentences, *example.questions))]


def distinct(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """The distinct words of some rows, in order."""
    return list(dict.fromkeys(chain.from_iterable(rows)))
