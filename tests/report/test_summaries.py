"""What the seeds of a model come to."""

from pathlib import Path

from amn.config import RunSpec
from amn.report.runs import RunRecord, Summary
from amn.store.run_directory import RunDirectory


def run(seed: int, error: float, read: float = 2.0) -> RunRecord:
    figures = {"epoch": 1, "error_percent": error, "entities": 10.0, "entities_read": read, "ratio": 0.2, "banks": 3.0}
    return RunRecord(RunDirectory(Path(f"seed{seed}")), RunSpec(task=1, seed=seed), figures, (), {})


def test_seeds_over_five_percent_have_failed() -> None:
    errors = (0.0, 4.9999, 5.0, 5.0001, 60.0)
    summary = Summary("amn", 1, tuple(run(seed, error) for seed, error in enumerate(errors)), ())
    assert summary.row()["failed_seeds"] == 2


def test_the_best_seed_has_the_least_error_and_then_reads_least() -> None:
    runs = (run(0, 1.0, read=1.0), run(1, 0.5, read=3.0), run(2, 0.5, read=2.0))
    assert Summary("amn", 1, runs, ()).row()["best_seed"] == 2
