"""Averages the weights of a model with those of the one that it was trained from, and writes it.

python scripts/average.py babi/en-valid-10k runs/all-actors/amn-all-seed0 runs/all-recall/amn-all-seed0 0.5 averaged

The share is that of the first. Its further training taught it something new and cost it some of what it knew; between
the two are models that have most of both. Words that only the first knows keep its weights. The gate is that of the
second, to which these words are like unknown ones.
"""

import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from amn.config import RunSpec
from amn.data.examples import examples
from amn.data.vocabulary import UNKNOWN
from amn.errors import ConfigError
from amn.evaluation.metrics import evaluate
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.gate import Gate
from amn.store.find import find_model
from amn.store.model_directory import load_model, save_model
from amn.training.gate_thresholds import with_gate
from amn.training.mixture import share_of_stories
from amn.training.prepare import ALL_TASKS, MIXED, data_key, parts_of, task_stories
from amn.training.warm_start import settings_of, shared_rows


def averaged(new: TrainedModel, old: TrainedModel, share: float, settings: dict[str, Any]) -> TrainedModel:
    """The first model with `share` of its weights and the rest of the second's, and with the gate of the second."""
    model = build_model(new.architecture, new.vocabulary, settings, seed=0)
    ours, theirs = new.model.state_dict(), old.model.state_dict()
    rows = shared_rows(model, new.vocabulary, old.vocabulary)
    with torch.no_grad():
        for parameter, value in model.named_parameters():
            value.copy_(ours[parameter])
            here, there = rows.get(parameter, (slice(None), slice(None)))
            value[here] = torch.lerp(theirs[parameter][there], ours[parameter][here], share)
    record = {**new.record, "averaged": [*new.record.get("averaged", []), share]}
    found = TrainedModel.of(new.architecture, model, new.vocabulary, record)
    gate = getattr(old.model, "gate", None)
    return found if gate is None else with_gate(found, known_to(gate, new, old), old.record["gate"])


def known_to(gate: Gate, new: TrainedModel, old: TrainedModel) -> Gate:
    """The gate of the second model for the words of the first, where new ones are names that it does not know."""
    wider = Gate(len(new.vocabulary.words), gate.embedding.embedding_dim, gate.need is not None)
    rows, known = shared_rows(old.model, new.vocabulary, old.vocabulary), gate.state_dict()
    for name, value in wider.state_dict().items():
        if f"gate.{name}" in rows:
            here, there = rows[f"gate.{name}"]
            value.copy_(torch.ones_like(value) if name == "need.names" else known[name][UNKNOWN].expand_as(value))
            value[here] = known[name][there]
        else:
            value.copy_(known[name])
    return wider


def validated(trained: TrainedModel, data: str) -> TrainedModel:
    """The model with what it reaches on the questions that its training was validated with."""
    spec = RunSpec.from_json(trained.record["run"])
    parts = [part for part in parts_of(data_key(spec)) if part.key.task == MIXED]
    count, seed = spec.train.mixed_questions, spec.train.mixed_seed
    mixed = (share_of_stories("valid", count, seed, part.number, part.of) for part in parts)
    stories = chain(*(task_stories(task, data, "valid")[0] for task in ALL_TASKS), *mixed)
    tally = evaluate(trained, list(examples(stories, window=spec.train.window)))
    found: dict[str, Any] = {**trained.record["validation"], "questions": tally.questions}
    row = tally.row(1)
    found |= {name: row[name] for name in ("error_percent", "entities_read", "ratio")}
    found |= {"entities": round(float(tally.entities.mean()), 4), "banks": round(float(tally.created.mean()), 4)}
    return replace(trained, record={**trained.record, "validation": found})


def main(data: str, new: str, old: str, share: str, out: str) -> None:
    """Reads both, and writes their average."""
    weight = float(share)
    if not 0 <= weight <= 1:
        raise ConfigError(f"the share is a number from 0 to 1, not {share}")
    found = averaged(load_model(find_model(new)), load_model(find_model(old)), weight, settings_of(new))
    save_model(Path(out), validated(found, data), "")


if __name__ == "__main__":
    main(*sys.argv[1:])
