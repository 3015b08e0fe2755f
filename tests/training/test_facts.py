"""Training with facts: the stories are generated, the graph's losses are logged, and other runs are as they were."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from amn.config import RunSpec
from amn.data.batches import alike
from amn.data.source import SPLITS
from amn.errors import ConfigError
from amn.training.pool import Pool
from amn.training.prepare import data_key, encode_all
from training.small import log_of, small, trainer_of

FACTS = {"hidden": 8, "text_width": 16, "message_width": 8, "facts": True}


def shown(data: Path | None, task: int, seed: int = 0, **train: object) -> RunSpec:
    spec = small(data or Path(), task, seed, "ggtnn", **{"train_questions": 48, "learning_rate": 1e-2, **train})
    return replace(spec, settings=FACTS, data=str(data) if data else None)


@pytest.fixture(autouse=True)
def few_stories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPLITS, "train", 60)


def test_models_of_a_fleet_learn_graphs_from_generated_stories(data: Path, tmp_path: Path) -> None:
    specs = [shown(data, 15, seed, epochs=6, learning_rate=5e-2) for seed in (0, 1)]
    trainer_of(specs, tmp_path).fit()
    for spec in specs:
        losses = [entry["loss"] for entry in log_of(tmp_path, spec)]
        assert set(losses[0]) == {"answer", "nodes", "edges"}
        assert losses[-1]["edges"] < losses[0]["edges"] / 2 and losses[-1]["nodes"] < losses[0]["nodes"]


def test_training_stories_are_generated_and_validation_stories_are_those_given(data: Path) -> None:
    shown_data, plain = encode_all([data_key(shown(data, 15)), data_key(replace(shown(data, 15), settings={}))])
    assert (shown_data.source, plain.source) == ("generated", "released")
    assert len(shown_data.validation) == len(plain.validation) == 30
    assert "facts" in shown_data.training.sentences
    assert "facts" not in shown_data.validation.sentences | plain.training.sentences


def test_sets_of_different_room_are_stacked_with_their_facts() -> None:
    sets = [one.training for one in encode_all([data_key(shown(None, task)) for task in (1, 15)])]
    wide = alike(sets)
    assert replace(wide[0].sizes, sentences=0) == replace(wide[1].sizes, sentences=0)
    for before, after in zip(sets, wide, strict=True):
        known, padded = before.sentences["facts"], after.sentences["facts"]
        assert torch.equal(padded[:, : before.sizes.facts], known)
        assert padded.sum() == known.sum()
    taken = Pool.of(wide, torch.device("cpu")).take(torch.tensor([1, 0]), torch.tensor([[0, 1], [2, -1]]), 4)
    alone = [wide[1].take(torch.tensor([0, 1]), 4), wide[0].take(torch.tensor([2, -1]), 4)]
    assert taken.facts is not None
    for found, expected in zip(taken.facts, alone, strict=True):
        assert expected.facts is not None and torch.equal(found, expected.facts)
    assert taken.weights.tolist() == [[[1.0], [1.0]], [[1.0], [0.0]]]


def test_a_task_without_facts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="task 14: what holds after each sentence is not known"):
        trainer_of([shown(None, 14)], tmp_path)
