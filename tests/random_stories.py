"""Small random stories and models for tests: few words, so that they meet again and again."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from amn.data.batches import Batch, encode
from amn.data.examples import Example
from amn.data.vocabulary import Vocabulary
from amn.inference.story_memory import Prediction
from amn.inference.trained import TrainedModel
from amn.models import build_model

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


def with_unknown_words(count: int, *, seed: int, sentences: int = 6) -> list[Example]:
    """Such examples with words that the vocabulary does not hold in the place of three that it does."""
    new = {"mary": "zoe", "milk": "xu", "is": "yo"}

    def renamed(told: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(new.get(word, word) for word in words) for words in told)

    return [
        replace(example, sentences=renamed(example.sentences), questions=renamed(example.questions))
        for example in random_examples(count, seed=seed, sentences=sentences)
    ]


def with_recall(count: int, *, seed: int, sentences: int = 9) -> tuple[Vocabulary, list[Example]]:
    """Such examples with pronouns and plurals in the place of some words, and a vocabulary that says what names are."""
    rng = random.Random(seed)
    new = {"to": ("he", "it", "to"), "the": ("gardens", "the"), "took": ("offices", "took"), "john": ("john", "xu")}

    def renamed(sentence: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(rng.choice(new.get(word, (word,))) for word in sentence)

    made = [
        replace(example, sentences=tuple(map(renamed, example.sentences)))
        for example in random_examples(count, seed=seed, sentences=sentences)
    ]
    words = (*VOCABULARY.words, "he", "it", "gardens")
    names, forms = frozenset(("mary", "john", "garden", "milk")), frozenset([("office", "milk"), ("went", "xu")])
    return replace(VOCABULARY, words=words, names=names, forms=forms), made


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


def assert_same_found(found: Prediction, expected: Prediction, tolerance: float) -> None:
    """The same classes, counts, banks and tokens; and where the model points the same words with the same scores."""
    assert (found.banks, found.entities, list(found.entities_read)) == (
        expected.banks,
        expected.entities,
        list(expected.entities_read),
    )
    assert sorted(found.words) == sorted(expected.words)
    assert found.logits.shape == expected.logits.shape
    classes = found.logits.shape[2] - len(found.words)
    place = [*range(classes), *(classes + list(expected.words).index(word) for word in found.words)]
    for question, tokens in enumerate(found.tokens.tolist()):
        said = spoken_tokens(tokens)
        ours, theirs = found.logits[question, : len(said)], expected.logits[question, : len(said), place].T
        np.testing.assert_allclose(ours, theirs, atol=tolerance, rtol=tolerance)
        right = spoken_tokens(expected.tokens[question].tolist())
        assert [place[token] for token in said] == right or _tied(ours, tolerance)


def spoken_tokens(tokens: Sequence[int]) -> list[int]:
    """The tokens of an answer up to its end, which is one of them."""
    end = list(tokens).index(0) + 1 if 0 in tokens else len(tokens)
    return list(tokens[:end]) if len(tokens) > 1 else list(tokens)


def _tied(logits: np.ndarray, tolerance: float) -> bool:
    """Whether another choice is as good, within what numbers may differ."""
    best = np.sort(logits, -1)[:, -2:]
    return bool((best[:, 1] - best[:, 0] < 2 * tolerance).any())


def shaken(model: nn.Module, seed: int = 0) -> None:
    """Gives every weight a random value, also those that start at zero."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)


def random_model(
    seed: int = 0, *, hidden: int = 16, heads: int = 2, vocabulary: Vocabulary = VOCABULARY, **settings: Any
) -> TrainedModel:
    """A default model whose weights are random, so that its memories have several banks.

    Weights that are too large for a width would make chaos of any rounding.
    """
    given = {"hidden": hidden, "heads": heads, "max_banks": 4, **settings}
    model = build_model("amn", vocabulary, given, seed).eval()
    shaken(model, seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(min(1.0, (16 / hidden) ** 0.5))
    return TrainedModel.of("amn", model, vocabulary)


def in_double(trained: TrainedModel) -> TrainedModel:
    """The same model in numbers of 64 bits, which the compiled core does not read."""
    settings = {
        name: trained.config[name]
        for name in ("hidden", "heads", "max_banks", "bank_gap", "norm_epsilon", "pointer", "items", "gate")
    }
    model = build_model(trained.architecture, trained.vocabulary, settings, 0).double().eval()
    model.load_state_dict({name: torch.from_numpy(value).double() for name, value in trained.weights.items()})
    return TrainedModel.of(trained.architecture, model, trained.vocabulary)
