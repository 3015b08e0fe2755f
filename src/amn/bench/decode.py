"""What it costs to answer: from the banks that a task requires, against all banks.

Both sides do the same: they decode the entities of the banks that they read, by the code that answers users. Nothing
else is looked at, so the time follows the entities read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from amn.bench.timing import measure, report
from amn.data.examples import Example
from amn.data.vocabulary import Vocabulary
from amn.evaluation.metrics import ALL_BANKS, evaluate
from amn.evaluation.score import Ask, examples_for, stories_for
from amn.inference.engine import ToldStories, tell_stories
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.pretrained import shipped_models
from amn.store.find import find_model
from amn.store.model_directory import load_model

CHUNK = 1000  # questions that are answered together
HIDDEN = 64  # of a model that has to be made up


@dataclass(frozen=True)
class Case:
    """A model and what to ask it."""

    task: int | str
    source: str  # where the weights come from
    trained: TrainedModel  # the model, of the default profile
    examples: Sequence[Example]  # stories with a question each

    @classmethod
    def of(cls, task: int | str, model: str | None, questions: int, split: str = "valid") -> "Case":
        """Examples of a task and a model for it: the one given, else the shipped one, else an untrained one."""
        ask = Ask(task=task, split=split, questions=questions)
        shipped = f"qa{task}" if isinstance(task, int) else task
        if model or shipped in shipped_models():
            trained = load_model(find_model(model or shipped))
            return cls(task, model or shipped, trained, examples_for(trained, ask))
        vocabulary = Vocabulary.of(stories_for(ask))
        network = build_model("amn", vocabulary, {"hidden": HIDDEN}).eval()
        trained = TrainedModel.of(architecture="amn", model=network, vocabulary=vocabulary)
        return cls(task, "untrained", trained, examples_for(trained, ask))


def bench_decode(cases: Sequence[Case], *, repeats: int, single: int, batch: int = CHUNK) -> dict[str, Any]:
    """Times answers from ready memories: a batch of questions together, and a single few of them one at a time.

    The gain depends on the batch, so each row names it.
    """
    return report("decode", [_row(case, repeats, single, batch) for case in cases])


def _row(case: Case, repeats: int, single: int, batch: int) -> dict[str, Any]:
    tally = evaluate(case.trained, case.examples)
    required = tally.required_banks()
    from_required, from_all = tally.row(required), tally.row(ALL_BANKS)
    few = _told(case, 1, single)
    together, alone = (
        measure({banks: partial(_answer, told, banks) for banks in (required, ALL_BANKS)}, repeats=repeats)
        for told in (_told(case, batch), few)
    )
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


def _answer(told: Sequence[ToldStories], banks: int) -> None:
    """Computes the logits of ready memories from some banks."""
    for stories in told:
        stories.decode(banks)
