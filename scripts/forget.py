"""Makes words unknown to a model, and writes it: a word that training had in remarks alone is better unknown.

python scripts/forget.py runs/all/amn-all-seed0 forgetful moon river france

A model learns that such a word answers nothing. An unknown word may be anything: a place to go to, a thing to carry.
"""

import sys
from dataclasses import replace
from pathlib import Path

import torch

from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.store.card import model_card
from amn.store.find import find_model
from amn.store.model_directory import load_model, save_model
from amn.training.warm_start import copy_weights


def forgetful(trained: TrainedModel, words: frozenset[str]) -> TrainedModel:
    """The same model without some of its words."""
    if missing := words - set(trained.vocabulary.words):
        raise SystemExit(f"no words of the model: {', '.join(sorted(missing))}")
    kept = tuple(word for word in trained.vocabulary.words if word not in words)
    vocabulary = replace(trained.vocabulary, words=kept)
    settings = {name: value for name, value in trained.config.items() if name not in ("vocabulary_size", "num_answers")}
    model = build_model(trained.architecture, vocabulary, settings, seed=0)
    with torch.no_grad():
        copy_weights(model, vocabulary, trained)
    found = TrainedModel.of(trained.architecture, model, vocabulary, trained.record)
    return replace(found, calibration=trained.calibration)


def main(name: str, out: str, *words: str) -> None:
    """Reads a model, lets it forget, and writes it."""
    found = forgetful(load_model(find_model(name)), frozenset(words))
    save_model(Path(out), found, model_card(found) if "validation" in found.record else "")


if __name__ == "__main__":
    main(*sys.argv[1:])
