"""What the training record of a model tells."""

from amn.config import RunSpec, TrainConfig
from amn.inference.trained import TrainingRecord


def test_a_record_gives_the_task_and_the_settings_of_its_run() -> None:
    spec = RunSpec(task="joint", train=TrainConfig(window=7, together=True))
    assert TrainingRecord.of({"run": spec.to_json()}) == TrainingRecord(task="joint", train=spec.train)


def test_a_model_that_was_never_trained_counts_as_usual() -> None:
    assert TrainingRecord.of({}) == TrainingRecord(task=None, train=TrainConfig())


def test_settings_of_other_versions_are_left_out_and_missing_ones_are_usual() -> None:
    found = TrainingRecord.of({"run": {"task": 1, "train": {"window": 7, "magic": True}}})
    assert found == TrainingRecord(task=1, train=TrainConfig(window=7))
