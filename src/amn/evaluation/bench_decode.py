"""What it costs to answer: from the banks that a task requires, against all banks.

Both sides do the same: they gather the rows of the banks that they read, and decode these. Nothing else is looked at,
so the time follows the entities read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from amn.data.batches import encode
from amn.data.examples import Example
from amn.evaluation.bench import Timing, measure, report
from amn.evaluation.metrics import ALL_BANKS, PASS_PERCENT
from amn.models.amn import AMN, Memory
from amn.models.base import answer_target
from amn.training.model_directory import TrainedModel

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


@dataclass(frozen=True)
class Read:
    """Some memories with the rows to read of each.

    Args:
        memory: the memories.
        questions: their encoded questions.
        rows: the slots to read of each, 0 for none.
        banks: how many banks these are; 0 for all.
    """

    memory: Memory
    questions: Float[Tensor, "batch question hidden"]
    rows: Int[Tensor, "batch row"]
    banks: int

    def gathered(self) -> Memory:
        """A memory of these rows alone."""
        m, slots = self.memory, self.memory.depth.shape[1]
        flat = (self.rows + slots * torch.arange(len(self.rows), device=self.rows.device).unsqueeze(1)).flatten()
        named = {name: getattr(m, name).flatten().index_select(0, flat).view_as(self.rows) for name in _NUMBERS}
        states = m.states.flatten(0, 1).index_select(0, flat).view(*self.rows.shape, -1)
        absent = self.rows == 0
        named["in_last"] = named["in_last"].masked_fill(absent, 0.0)
        return replace(m, **named | {"states": states, "depth": named["depth"].masked_fill(absent, -1.0)})


_NUMBERS = ("strengths", "relevance", "in_last", "depth")


def bench_decode(cases: Sequence[Case], *, repeats: int, single: int, batch: int = CHUNK) -> dict[str, Any]:
    """Times answers from ready memories.

    Args:
        cases: models with their questions.
        repeats: how often each is timed.
        single: how many questions are also asked one at a time.
        batch: how many are answered together; the gain depends on it, so each row names it.
    """
    return report("decode", [_row(case, repeats, single, batch) for case in cases])


@torch.inference_mode()
def _row(case: Case, repeats: int, single: int, batch: int) -> dict[str, Any]:
    model = case.trained.model
    assert isinstance(model, AMN)
    memory, questions, target = _ingest(model, case)
    errors = _errors(model, memory, questions, target)
    required = next((banks for banks, error in errors.items() if error < PASS_PERCENT), max(errors))
    together = _timed(model, memory, questions, (required, ALL_BANKS), batch, repeats)
    few = _some(memory, slice(single))
    alone = _timed(model, few, questions[:single], (required, ALL_BANKS), 1, repeats)
    return {
        "task": case.task,
        "weights": case.source,
        "questions": len(questions),
        "batch": batch,
        "required_banks": required,
        "created_banks": float(memory.banks.mean()),
        "error_percent": errors[required],
        "error_percent_all_banks": errors[max(errors)],
        "entities_all_banks": _entities(model, memory, questions, ALL_BANKS),
        "entities_required_banks": _entities(model, memory, questions, required),
        "seconds_all_banks": together[ALL_BANKS].seconds,
        "seconds_required_banks": together[required].seconds,
        "speedup": together[ALL_BANKS].seconds / together[required].seconds,
        "spread": max(timing.spread for timing in together.values()),
        "single_ms_all_banks": 1000 * alone[ALL_BANKS].seconds / len(few.banks),
        "single_ms_required_banks": 1000 * alone[required].seconds / len(few.banks),
        "single_speedup": alone[ALL_BANKS].seconds / alone[required].seconds,
    }


def _ingest(model: AMN, case: Case) -> tuple[Memory, Tensor, Tensor]:
    """The memories of all stories, with their questions and right answers."""
    data = encode(case.examples, case.trained.vocabulary)
    memories, questions, targets = [], [], []
    for part in torch.arange(len(data)).split(CHUNK):
        batch = data.take(part)
        told, sentences = model.begin(batch, 1.0)
        for sentence in sentences:
            told = model.advance(told, sentence)
        memories.append(told.memory)
        questions.append(told.questions)
        targets.append(
            answer_target(batch, model.config.num_answers, _logits(model, told.memory, told.questions, 1).shape[-1])
        )
    names = vars(memories[0])
    joined = Memory(**{name: torch.cat([getattr(memory, name) for memory in memories]) for name in names})
    return joined, torch.cat(questions), torch.cat(targets)


def _logits(model: AMN, memory: Memory, questions: Tensor, banks: int) -> Tensor:
    return model.decode(memory, questions, banks).logits


def _errors(model: AMN, memory: Memory, questions: Tensor, target: Tensor) -> dict[int, float]:
    """The error by the number of banks read."""
    most = int(memory.banks.max())
    wrong = {k: _logits(model, memory, questions, k).argmax(-1) != target for k in range(1, most + 1)}
    return {banks: 100 * float(missed.double().mean()) for banks, missed in wrong.items()}


def _entities(model: AMN, memory: Memory, questions: Tensor, banks: int) -> float:
    return float(model.decode(memory, questions, banks).entities_read.mean())


def _timed(
    model: AMN, memory: Memory, questions: Tensor, numbers: Sequence[int], chunk: int, repeats: int
) -> dict[int, Timing]:
    runs = {}
    for banks in numbers:
        reads = readings(memory, questions, banks, chunk)
        runs[str(banks)] = lambda reads=reads: [_logits(model, r.gathered(), r.questions, r.banks) for r in reads]
    return {int(name): timing for name, timing in measure(runs, repeats=repeats).items()}


def readings(memory: Memory, questions: Tensor, banks: int, chunk: int) -> list[Read]:
    """Which rows to read, in chunks of stories that read about as many."""
    held = memory.in_last > 0.5
    if banks != 1:
        first = (memory.banks - banks).clamp(min=0) if banks else torch.zeros_like(memory.banks)
        held = memory.depth >= first.unsqueeze(1)
    held[:, 0] = False
    counts = held.sum(-1)
    found = []
    for part in counts.argsort(descending=True).split(chunk):
        most = max(1, int(counts[part].max()))
        rows = held[part].int().argsort(descending=True, stable=True)[:, :most]
        rows = rows.masked_fill(torch.arange(most) >= counts[part].unsqueeze(1), 0)
        found.append(Read(_some(memory, part), questions[part], rows, banks))
    return found


def _some(memory: Memory, stories: Tensor | slice) -> Memory:
    return Memory(**{name: value[stories] for name, value in vars(memory).items()})
