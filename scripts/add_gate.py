"""Trains a gate for a model of bAbI's twenty tasks and mixed stories, and writes the model with it.

python scripts/add_gate.py babi/en-valid-10k books runs/all/amn-all-seed1 gated [--leaks leaks.txt]

With --need a gate that the model has is kept, but for how much it turns away that a question does not need. With
--leaks it also writes the sentences of the books that the gate lets in most easily, for the memory to train with.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from amn.data.tasks.rename import rename
from amn.store.card import model_card
from amn.store.find import find_model
from amn.store.model_directory import load_model, save_model
from amn.training.gate import easiest_leaks, fit_gate, set_need
from amn.training.gate_data import GateConfig, stories_of
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


if __name__ == "__main__":
    main()
