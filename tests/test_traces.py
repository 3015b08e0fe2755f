"""The traces of sentences say where every entity is, also where a new bank took it along."""

import pytest

from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.models import build_model
from random_stories import VOCABULARY, random_examples, shaken

SETTINGS = {"hidden": 16, "heads": 2, "max_banks": 4}


@pytest.mark.parametrize("compiled", [True, False])
def test_traces_say_where_every_entity_is_after_each_sentence(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr("amn.inference.engine.core_of", lambda _: None)
    promoted = 0
    for seed, example in enumerate(random_examples(12, seed=0, sentences=7)):
        memory = LiveMemory(_trained(seed), " ".join(example.questions[0]))
        depth: dict[str, int] = {}
        for sentence in example.sentences:
            (trace,) = memory.tell([" ".join(sentence)])
            moved = {move.word: (move.before, move.after) for move in trace.moves}
            assert moved == {w: (depth.get(w), now) for w, now in trace.depth.items() if depth.get(w) != now}
            depth |= trace.depth
            assert depth == _deepest(memory)
            promoted += trace.created and bool(moved.keys() - {*sentence, *example.questions[0]})
    assert promoted  # a new bank took an entity along that the sentence did not touch


def _trained(seed: int) -> TrainedModel:
    model = build_model("amn", VOCABULARY, SETTINGS, seed).eval()
    shaken(model, seed)
    return TrainedModel.of("amn", model, VOCABULARY)


def _deepest(memory: LiveMemory) -> dict[str, int]:
    """The deepest bank of every entity."""
    return {entity.word: bank.index for bank in memory.snapshot() for entity in bank.entities}
