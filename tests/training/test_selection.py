"""Which epoch's weights are kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from amn.store.run_directory import RunDirectory
from amn.training.fleet import Score
from training.small import log_of, small, trainer_of


def score(error: float, read: float) -> Score:
    return Score(error_percent=error, entities=10.0, entities_read=read, ratio=read / 10, banks=1.0)


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ([(10.0, 5.0), (10.0, 3.0), (10.0, 4.0)], 1),  # of equal errors, the fewest entities read
        ([(10.0, 3.0), (10.0, 3.0), (10.0, 3.0)], 0),  # of equals, the first
        ([(10.0, 3.0), (9.0, 8.0), (11.0, 1.0)], 1),  # the error counts before the entities read
    ],
)
def test_the_best_epoch_has_the_least_error_and_then_reads_least(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scores: list[tuple[float, float]], best: int
) -> None:
    spec = small(data, architecture="memn2n", epochs=3, train_questions=16)
    trainer = trainer_of([spec], tmp_path)
    given: Iterator[tuple[float, float]] = iter(scores)
    monkeypatch.setattr(trainer.fleet, "scores", lambda: [score(*next(given))])
    trainer.fit()
    assert RunDirectory(tmp_path / spec.name).result()["validation"]["epoch"] == best
    assert [entry["epoch"] for entry in log_of(tmp_path, spec) if entry.get("best")][-1] == best


def test_weights_of_a_model_that_phases_in_its_budget_are_chosen_when_it_has_it_whole(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = small(data, epochs=4, train_questions=16)
    trainer = trainer_of([spec], tmp_path)
    given = iter([(0.0, 1.0), (0.0, 1.0), (9.0, 5.0), (8.0, 5.0)])
    monkeypatch.setattr(trainer.fleet, "scores", lambda: [score(*next(given))])
    trainer.fit()
    assert trainer.fleet.members[0].model.chosen_from == pytest.approx(0.55)
    assert RunDirectory(tmp_path / spec.name).result()["validation"]["epoch"] == 3
