"""Trains a gate for a model of bAbI's twenty tasks and mixed stories, and writes the model with it.

python scripts/add_gate.py babi/en-valid-10k books runs/all/amn-all-seed1 gated [--leaks leaks.txt]

With --need a gate that the model has is kept, but for how much it turns away that a question does not need. With
--leaks it also writes the sentences of the books that the gate lets in most easily, for the memory to train with.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from amn.data.story import Story
from amn.data.tasks.rename import rename
from amn.errors import ConfigError
from amn.inference.trained import TrainedModel
from amn.store.card import model_card
from amn.store.find import find_model
from amn.store.model_directory import load_model, save_model
from amn.training.distract import text_files, text_sentences
from amn.training.gate import SHORT, fit_gate
from amn.training.gate_data import GateConfig, Needs, Pairs, spoken_pairs, stories_of, text_rows
from amn.training.gate_thresholds import Trial, text_logits, with_gate, without_gate
from amn.training.mixture import name_words
from amn.training.prepare import EVERYTHING, JOINT, MIXED

LEAKS = 5000


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads a model, trains its gate, and writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("books")
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--leaks")
    parser.add_argument(
        "--need", action="store_true", help="keep the gate, and set anew how much it turns away as not needed"
    )
    parser.add_argument("--lost", type=float, default=GateConfig.lost)
    parser.add_argument("--epochs", type=int, default=GateConfig.epochs)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args(arguments)
    started = time.monotonic()

    def note(text: str) -> None:
        print(f"{time.monotonic() - started:4.0f} s  {text}", flush=True)

    trained, config = load_model(find_model(given.model)), GateConfig(epochs=given.epochs, lost=given.lost)
    validation, mixed = (stories_of(task, given.data, "valid") for task in (JOINT, MIXED))
    others = [*mixed, *rename(validation[::10], seed=0)]
    if given.need:
        found = set_need(trained, [validation, others], config)
    else:
        training, names = stories_of(EVERYTHING, given.data, "train"), name_words()
        found = fit_gate(trained, training, validation, given.books, names, config, note, given.device, others)
    print(found.record["gate"])
    save_model(Path(given.out), found, model_card(found) if "validation" in found.record else "")
    if given.leaks:
        leaks = easiest_leaks(found, stories_of(EVERYTHING, given.data, "train"), given.books, LEAKS)
        Path(given.leaks).write_text("\n".join(leaks) + "\n", "utf-8")


def set_need(trained: TrainedModel, stories: Sequence[Sequence[Story]], config: GateConfig) -> TrainedModel:
    """A model whose gate turns away as much of what is not needed as some kinds of stories show to cost little."""
    gate = getattr(trained.model, "gate", None)
    if gate is None or gate.need is None:
        raise ConfigError("this model has no gate that tells what is needed")
    found = Trial(without_gate(trained), gate, (), config.seed).set_threshold(stories, config.lost)
    return with_gate(trained, gate, {**trained.record.get("gate", {}), **found, "lost": config.lost})


def easiest_leaks(trained: TrainedModel, stories: Sequence[Story], folder: str | Path, count: int) -> list[str]:
    """The sentences of texts that the gate of a model lets in most easily, the easiest first."""
    gate = getattr(trained.model, "gate", None)
    if gate is None:
        raise ConfigError("this model has no gate")
    sentences = list(dict.fromkeys(text_sentences(text_files(folder))))
    needs = Needs(trained.numbers, frozenset())
    questions = Pairs.of(spoken_pairs(stories), needs).questions
    found = text_logits(gate, text_rows(sentences, needs), questions, np.random.default_rng(0), SHORT)
    return [sentences[place] for place in np.argsort(-found)[:count]]


if __name__ == "__main__":
    main()
