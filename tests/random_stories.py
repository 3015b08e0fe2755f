"""Small random stories for tests of models: few words, so that they meet again and again."""

import random
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from amn.data.batches import Batch, encode
from amn.data.examples import Example
from amn.data.vocabulary import Vocabulary
from amn.fast.decode import Found

STORY_WORDS = ("mary", "john", "went", "to", "the", "garden", "office", "took", "milk")
QUESTION_WORDS = ("where", "is", *STORY_WORDS[:2])
VOCABULARY = Vocabulary(
    words=("<padding>", "<unknown>", *STORY_WORDS, "where", "is"), answers=("garden", "office", "milk", "yes")
)


def random_examples(count: int, *, seed: int, sentences: int = 6, questions: int = 3) -> list[Example]:
    """Examples of 1 to `sentences` sentences and 1 to `questions` questions; some answers are no story words."""
    rng = random.Random(seed)

    def some(words: Sequence[str], most: int) -> tuple[str, ...]:
        return tuple(rng.choice(words) for _ in range(rng.randint(1, most)))

    made = []
    for _ in range(count):
        asked = tuple(some(QUESTION_WORDS, 3) for _ in range(rng.randint(1, questions)))
        made.append(
            Example(
                sentences=tuple(some(STORY_WORDS, 5) for _ in range(rng.randint(1, sentences))),
                questions=asked,
                answers=tuple(rng.choice(VOCABULARY.answers) for _ in asked),
            )
        )
    return made


def batch_of(examples: Sequence[Example]) -> Batch:
    """The examples as one batch, without a key."""
    return encode(examples, VOCABULARY).take(torch.arange(len(examples)))


def story(*sentences: str, question: str = "where is mary", answer: str | None = "garden") -> Example:
    """An example from plain text."""
    return Example(
        sentences=tuple(tuple(sentence.split()) for sentence in sentences),
        questions=(tuple(question.split()),),
        answers=(answer,),
    )


def assert_same_found(found: Found, expected: Found, tolerance: float) -> None:
    """The same classes, counts and banks; and the same scores for the words that were read, where the model points."""
    classes = len(VOCABULARY.answers)
    assert (found.banks, found.entities, list(found.entities_read)) == (
        expected.banks,
        expected.entities,
        list(expected.entities_read),
    )
    close = {"atol": tolerance, "rtol": tolerance}
    np.testing.assert_allclose(found.logits[:, :classes], expected.logits[:, :classes], **close)
    if expected.logits.shape[1] > classes:
        columns = {word: classes + place for place, word in enumerate(expected.words)}
        read = [place for place, word in enumerate(found.words) if word]
        theirs = expected.logits[:, [columns[found.words[place]] for place in read]]
        np.testing.assert_allclose(found.logits[:, [classes + place for place in read]], theirs, **close)


def shaken(model: nn.Module, seed: int = 0) -> None:
    """Gives every weight a random value, also those that start at zero."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
