"""What it costs to answer: from the banks that a task requires, against all banks.

Both sides do the same: they decode the entities of the banks that they read, by the code that answers users. Nothing
else is looked at, so the time follows the entities read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from amn.bench.timing import Timing, measure, report
from amn.data.examples import Example
from amn.evaluation.metrics import ALL_BANKS, evaluate
from amn.inference.engine import ToldStories, tell_stories
from amn.inference.trained import TrainedModel

CHUNK = 1000  # questions that are answered together


@dataclass(frozen=True)
class Case:
    """A model and what to ask it."""

    task: int | str
    source: str  # where the weights come from
    trained: TrainedModel  # the model, of the default profile
    examples: Sequence[Example]  # stories with a question each


def bench_decode(cases: Sequence[Case], *, repeats: int, single: int, batch: int = CHUNK) -> dict[str, Any]:
    """Times answers from ready memories.

    Args:
        cases: models with their questions.
        repeats: how often each is timed.
        single: how many questions are also asked one at a time.
        batch: how many are answered together; the gain depends on it, so each row names it.
    """
    return report("decode", [_row(case, repeats, single, batch) for case in cases])


def _row(case: Case, repeats: int, single: int, batch: int) -> dict[str, Any]:
    tally = evaluate(case.trained, case.examples)
    required = tally.required_banks()
    from_required, from_all = tally.row(required), tally.row(ALL_BANKS)
    together = _timed(_told(case, batch), (required, ALL_BANKS), repeats)
    few = _told(case, 1, single)
    alone = _timed(few, (required, ALL_BANKS), repeats)
    return {
        "task": case.task,
        "weights": case.source,
        "questions": len(case.examples),
        "batch": batch,
        "required_banks": required,
        "created_banks": float(tally.created.mean()),
        "error_percent": from_required["error_percent"],
        "error_percent_all_banks": from_all["error_percent"],
        "entities_all_banks": from_all["entities_read"],
        "entities_required_banks": from_required["entities_read"],
        "seconds_all_banks": together[ALL_BANKS].seconds,
        "seconds_required_banks": together[required].seconds,
        "speedup": together[ALL_BANKS].seconds / together[required].seconds,
        "spread": max(timing.spread for timing in together.values()),
        "single_ms_all_banks": 1000 * alone[ALL_BANKS].seconds / len(few),
        "single_ms_required_banks": 1000 * alone[required].seconds / len(few),
        "single_speedup": alone[ALL_BANKS].seconds / alone[required].seconds,
    }


def _told(case: Case, batch: int, most: int | None = None) -> list[ToldStories]:
    """The memories of all stories, those side by side that are answered together."""
    told = case.examples[:most]
    parts = (told[start : start + batch] for start in range(0, len(told), batch))
    return [tell_stories(case.trained, part) for part in parts]


def _timed(told: Sequence[ToldStories], numbers: Sequence[int], repeats: int) -> dict[int, Timing]:
    runs = {str(banks): answering(told, banks) for banks in numbers}
    return {int(name): timing for name, timing in measure(runs, repeats=repeats).items()}


def answering(told: Sequence[ToldStories], banks: int) -> Callable[[], None]:
    """What computes the logits of ready memories from some banks."""

    def answer() -> None:
        for stories in told:
            stories.decode(banks)

    return answer
