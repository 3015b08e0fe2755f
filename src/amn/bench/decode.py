"""What it costs to answer: from the banks that a task requires, against all banks.

Both sides do the same: they gather the rows of the banks that they read, and decode these, by the path that answers
users on a CPU. Nothing else is looked at, so the time follows the entities read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any

from amn.bench.timing import Timing, measure, report
from amn.data.examples import Example
from amn.evaluation.metrics import ALL_BANKS, PASS_PERCENT
from amn.fast.stories import Stories
from amn.fast.weights import Array, weights_of
from amn.models.amn import AMN
from amn.store.model_directory import TrainedModel

CHUNK = 1000  # questions that are answered together


@dataclass(frozen=True)
class Case:
    """A model and what to ask it.

    Args:
        task: the task's number or name.
        source: where the weights come from.
        trained: the model, of the default profile.
        examples: stories with a question each.
    """

    task: int | str
    source: str
    trained: TrainedModel
    examples: Sequence[Example]


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
    stories = _told(case, len(case.examples))[0]
    errors = {banks: _error(case, stories, banks) for banks in range(1, int(stories.banks.max()) + 1)}
    required = next((banks for banks, error in errors.items() if error < PASS_PERCENT), max(errors))
    together = _timed(_told(case, batch), (required, ALL_BANKS), repeats)
    few = _told(case, 1, single)
    alone = _timed(few, (required, ALL_BANKS), repeats)
    return {
        "task": case.task,
        "weights": case.source,
        "questions": len(case.examples),
        "batch": batch,
        "required_banks": required,
        "created_banks": float(stories.banks.mean()),
        "error_percent": errors[required],
        "error_percent_all_banks": errors[max(errors)],
        "entities_all_banks": _entities(stories, ALL_BANKS),
        "entities_required_banks": _entities(stories, required),
        "seconds_all_banks": together[ALL_BANKS].seconds,
        "seconds_required_banks": together[required].seconds,
        "speedup": together[ALL_BANKS].seconds / together[required].seconds,
        "spread": max(timing.spread for timing in together.values()),
        "single_ms_all_banks": 1000 * alone[ALL_BANKS].seconds / len(few),
        "single_ms_required_banks": 1000 * alone[required].seconds / len(few),
        "single_speedup": alone[ALL_BANKS].seconds / alone[required].seconds,
    }


def _told(case: Case, batch: int, most: int | None = None) -> list[Stories]:
    """The memories of all stories, those side by side that are answered together."""
    model = case.trained.model
    assert isinstance(model, AMN)
    told = case.examples[:most]
    parts = (told[start : start + batch] for start in range(0, len(told), batch))
    return [Stories(weights_of(model), case.trained.vocabulary, part) for part in parts]


def _error(case: Case, stories: Stories, banks: int) -> float:
    """The error in percent when so many banks are read, of the first question of each story."""
    wrong = []
    for example, found in zip(case.examples, stories.read(banks), strict=True):
        names = [*case.trained.vocabulary.answers, *found.words]
        wrong.append(names[int(found.logits[0].argmax())] != (example.answers[0] or "").lower())
    return 100 * mean(wrong)


def _entities(stories: Stories, banks: int) -> float:
    return mean(found.entities_read[0] for found in stories.read(banks))


def _timed(told: Sequence[Stories], numbers: Sequence[int], repeats: int) -> dict[int, Timing]:
    runs = {str(banks): answering(told, banks) for banks in numbers}
    return {int(name): timing for name, timing in measure(runs, repeats=repeats).items()}


def answering(told: Sequence[Stories], banks: int) -> Callable[[], list[Array]]:
    """What answers from some banks of ready memories; which slots these hold is known already."""
    reads = [partial(stories.logits, stories.slots(banks), banks) for stories in told]
    return lambda: [read() for read in reads]
