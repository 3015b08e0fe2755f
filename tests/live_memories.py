"""What tests of live memories share: small models, a story told, and what makes two answers alike."""

from dataclasses import replace
from typing import Any

import pytest

from amn.answers import Answer
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.models import build_model
from random_stories import VOCABULARY, random_model, shaken

STORY = "Mary went to the garden. John took the milk. Mary went to the office."
MORE = "John went to the garden. The new milk went. Zaphod went to Xanadu."
QUESTIONS = ["Where is Mary?", "Where is John?"]


def trained(seed: int = 0, architecture: str = "amn", **settings: Any) -> TrainedModel:
    if architecture == "amn":
        return random_model(seed, **settings)
    model = build_model(architecture, VOCABULARY, settings, seed).eval()
    shaken(model, seed)
    return TrainedModel.of(architecture, model, VOCABULARY)


def told(
    model: TrainedModel, questions: str | list[str] = "Where is Mary?", *, shared: bool | None = None
) -> LiveMemory:
    memory = LiveMemory(model, questions, shared)
    memory.tell(STORY)
    return memory


def depths(memory: LiveMemory) -> dict[str, int]:
    """The deepest bank of each entity, from the banks."""
    return {entity.word: bank.index for bank in memory.snapshot() for entity in bank.entities}


def assert_alike(ours: Answer, theirs: Answer) -> None:
    """The same but for the last digits, for sums may be taken in another order."""
    plain: dict[str, Any] = {"score": 0.0, "milliseconds": 0.0, "top": (), "explanation": None}
    assert replace(ours, **plain) == replace(theirs, **plain)
    assert ours.score == pytest.approx(theirs.score, abs=1e-5)
    scores, others = ({one.answer: one.score for one in answer.top} for answer in (ours, theirs))
    assert scores == pytest.approx(others, abs=1e-5)
    assert ours.explanation is not None and theirs.explanation is not None
    assert (ours.explanation.graph, ours.explanation.read) == (theirs.explanation.graph, theirs.explanation.read)
    for one, other in zip(ours.explanation.sentences, theirs.explanation.sentences, strict=True):
        assert replace(one, strengths={}) == replace(other, strengths={})
        assert one.strengths == pytest.approx(other.strengths, abs=1e-5)
