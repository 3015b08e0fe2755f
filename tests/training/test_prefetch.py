"""Mixed stories that are replaced by others while a model trains on them."""

from pathlib import Path
from typing import Any

import pytest
import torch

from amn.config import RunSpec, TrainConfig
from amn.errors import ConfigError
from amn.training.loop import Interrupted, Trainer
from training.small import stop_at, trainer_of


def spec(renew: int) -> RunSpec:
    train = TrainConfig(epochs=3, batch_size=30, mixed_questions=60, window=8, renew=renew)
    return RunSpec(task="mixed", settings={"hidden": 8, "heads": 2, "pointer": True, "items": 4}, train=train)


def trainer(path: Path, renew: int = 1, **options: Any) -> Trainer:
    return trainer_of([spec(renew)], path, resume=True, **options)


def told(one: Trainer) -> torch.Tensor:
    data = one.fleet.training.data
    return data.take(torch.arange(len(data)), data.shape).story_words


def test_every_round_has_other_stories_in_the_same_room(tmp_path: Path) -> None:
    one = trainer(tmp_path)
    rounds = []
    for epoch in range(3):
        one.prefetcher.renew(one.fleet.training, epoch)
        rounds.append((told(one), one.fleet.training.shapes[0].copy()))
    one.prefetcher.close()
    for before, after in zip(rounds, rounds[1:], strict=False):
        assert before[0].shape[2:] == after[0].shape[2:]
        assert (before[1] != after[1]).any()
    for words, shapes in rounds:
        assert ((words > 0).any(-1).sum(1).numpy() == shapes[:, 0]).all()


def test_a_resumed_run_meets_the_same_stories(tmp_path: Path) -> None:
    whole = trainer(tmp_path / "whole")
    whole.fit()
    with pytest.raises(Interrupted):
        trainer(tmp_path / "part", stepped=stop_at(3)).fit()  # in the midst of the second round
    again = trainer(tmp_path / "part")
    assert again.resume()
    again.fit()
    assert torch.equal(whole.fleet.weights, again.fleet.weights)


def test_without_renewal_the_stories_stay(tmp_path: Path) -> None:
    one = trainer(tmp_path, renew=0)
    first = told(one)
    one.fit()
    assert torch.equal(told(one), first)


def test_only_mixed_stories_are_renewed(tmp_path: Path) -> None:
    bad = RunSpec(task=1, settings={"hidden": 8, "heads": 2}, train=TrainConfig(train_questions=30, renew=1))
    with pytest.raises(ConfigError, match="mixed"):
        trainer_of([bad], tmp_path)
