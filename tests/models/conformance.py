"""Tiny stories and small models: what the one suite over every model works with."""

from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import torch
from torch import Tensor, nn

from amn.data.batches import Batch, Sizes, encode
from amn.data.examples import Example
from amn.data.vocabulary import COMMA, END, Vocabulary
from amn.models import MODELS, Model
from amn.models.base import answer_loss

# Small widths, so that the suite is quick.
OVERRIDES: dict[str, dict[str, Any]] = {
    "amn": {"hidden": 16},
    "amn-filled-bank": {"hidden": 16},
    "amn-pointer": {"hidden": 16, "pointer": True},
    "amn-items": {"hidden": 16, "pointer": True, "items": 3},
    "amn-paper": {"hidden": 16, "capacity": 24, "max_banks": 3},
    "amn-question-blind": {"hidden": 16},
    "amn-story-blind": {"hidden": 16},
    "dmn-plus": {"hidden": 16, "decay": 1e-5},
    "dmn-plus-one-gru": {"hidden": 16, "decay": 1e-5},
    "encdec": {"hidden": 16},
    "entnet": {"hidden": 16, "num_slots": 4, "max_words": 4},
    "ggtnn": {"hidden": 12, "text_width": 16, "message_width": 8, "propagation": 2},
    "memn2n": {"hidden": 16, "memory_size": 4},
    **{name: {"hidden": 16} for name in MODELS if name.startswith("amn-without-")},
    **{name: {"hidden": 16, "capacity": 24, "max_banks": 3} for name in MODELS if name.startswith("amn-paper-with-")},
}
VARIANTS = {
    "amn-pointer": "amn",
    "amn-items": "amn",
}  # settings that change what a model is, tested like a model of its own
STOCHASTIC = {
    "amn",
    "amn-filled-bank",
    "amn-items",
    "amn-pointer",
    "amn-paper",
    "amn-question-blind",
    "dmn-plus",
    "dmn-plus-one-gru",
    "memn2n",
}
STOCHASTIC |= {name for name in MODELS if name.startswith(("amn-without-", "amn-paper-with-"))}
BLIND = {"amn-question-blind", "amn-story-blind"}  # parts of them are never fed

_NAMES, _PLACES, _VERBS = ("mary", "john", "sandra"), ("kitchen", "garden", "office", "hallway"), ("went", "moved")


def _sentence(i: int, t: int) -> tuple[str, ...]:
    name, place = _NAMES[(i + t * t) % 3], _PLACES[(3 * i + 5 * t + i * t) % 4]
    return (name, _VERBS[t % 2], "to", "the", place) if (i + t) % 4 else (name, "left", place)


def _example(i: int, *, questions: int = 1) -> Example:
    """A story of 2 to 5 sentences, and where some of its persons were last."""
    sentences = tuple(_sentence(i, t) for t in range(2 + i % 4))
    last = {sentence[0]: sentence[-1] for sentence in sentences}
    asked = list(islice(cycle(sorted(last)), i, i + questions))
    return Example(
        sentences=sentences,
        questions=tuple(("where", "is", name) if i % 2 else ("where", "is", name, "now") for name in asked),
        answers=tuple(last[name] for name in asked),
    )


EIGHT = tuple(_example(i) for i in range(8))
TWO_QUESTIONS = tuple(_example(i, questions=2) for i in range(4))
_WORDS = sorted({word for e in (*EIGHT, *TWO_QUESTIONS) for part in (*e.sentences, *e.questions) for word in part})
_UNKNOWN = {"now", "sandra"}  # words that no model knows
VOCABULARY = Vocabulary(words=("<padding>", "<unknown>", *(w for w in _WORDS if w not in _UNKNOWN)), answers=_PLACES)
_TOKENS = Vocabulary(words=VOCABULARY.words, answers=(END, COMMA, *_PLACES))


def vocabulary_of(name: str) -> Vocabulary:
    """The words and answers of a model; one that answers item by item has tokens."""
    return _TOKENS if name == "amn-items" else VOCABULARY


def batch_of(examples: tuple[Example, ...], sizes: Sizes | None = None, name: str = "amn") -> Batch:
    """All examples as one batch for a model, with at least the room asked for."""
    data = encode(examples, vocabulary_of(name), sizes, named=MODELS[VARIANTS.get(name, name)].sees_questions)
    return data.take(torch.arange(len(data)), data.sizes.sentences)


def parts_of(batch: Batch) -> dict[str, Tensor]:
    """The tensors of a batch by name."""
    return {name: value for name, value in vars(batch).items() if value is not None}


def with_key(batch: Batch, key: int) -> Batch:
    """The batch as training sees it."""
    return replace(batch, key=torch.tensor(key))


def build(name: str, seed: int = 0, **changes: object) -> Model:
    """A small model of an architecture."""
    kind = MODELS[VARIANTS.get(name, name)]
    known = vocabulary_of(name)
    sizes = {"vocabulary_size": len(known.words), "num_answers": len(known.answers)}
    model = kind(kind.Config(**{**OVERRIDES.get(name, {}), **sizes, **changes}))
    model.initialise(torch.Generator().manual_seed(seed))
    return model


def rival(name: str, **changes: Any) -> Any:
    """A small model; what it has beyond every model depends on its name."""
    return build(name, **changes)


def gradient_of(tensor: Tensor) -> Tensor:
    """The gradient that a backward pass has left."""
    assert tensor.grad is not None
    return tensor.grad


class Loss(nn.Module):
    """The training loss of a model, as a function of a batch."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch, progress: Tensor | float = 1.0) -> Tensor:
        reading = self.model(batch, progress)
        classes = self.model.config.num_answers
        total = answer_loss(reading.logits, batch, classes)
        if reading.further is not None:
            total = total + answer_loss(reading.further, batch, classes) * self.model.further_weight
        return (total + sum(reading.losses.values())).mean()
