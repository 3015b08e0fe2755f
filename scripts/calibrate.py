"""Learns how sure a model's answers are, on validation questions of bAbI and of mixed stories, and writes it with that.

python scripts/calibrate.py babi/en-valid-10k runs/all-on/amn-all-seed1 calibrated
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np

from amn.data.examples import Example, examples
from amn.data.source import load_task
from amn.data.tasks import generate_preset
from amn.evaluation.metrics import BATCH_STORIES, DEFAULT_BANKS, answered, same_answer
from amn.inference.calibration import features, fit
from amn.inference.engine import tell_stories
from amn.inference.trained import TrainedModel
from amn.store.card import model_card
from amn.store.find import find_model
from amn.store.model_directory import load_model, save_model

QUESTIONS_A_TASK = 300
# Questions about mixed stories, a seed for each set, and what is special about it.
MIXED = (
    (12000, 501, {"wordings": "train"}),
    (3000, 502, {"wordings": "train", "names": "new"}),
    (9000, 503, {"wordings": "kept-out"}),
    (2500, 504, {"wordings": "kept-out", "names": "new"}),
    (1600, 505, {"wordings": "train", "sentences": (60, 60)}),
)


def questions(data: str, window: int) -> list[Example]:
    """What to learn from: the same number of each task, and all sets of mixed stories."""
    tasks = (list(examples(load_task(data, task, "valid"), window=window)) for task in range(1, 21))
    released = chain.from_iterable(Random(0).sample(found, QUESTIONS_A_TASK) for found in tasks)
    mixed = (generate_preset("mixed", questions=count, seed=seed, **knobs) for count, seed, knobs in MIXED)
    return [*released, *chain.from_iterable(examples(stories, window=window) for stories in mixed)]


def calibrated(trained: TrainedModel, examples: Sequence[Example]) -> TrainedModel:
    """The model with scores that say how often such answers are right, by examples that it was not trained on."""
    plain = replace(trained, calibration=None)
    looks, right = [], []
    for start in range(0, len(examples), BATCH_STORIES):
        part = examples[start : start + BATCH_STORIES]
        for found, answer, truth in answered(plain, part, tell_stories(plain, part).read(DEFAULT_BANKS), DEFAULT_BANKS):
            second = answer.top[0].score if answer.top else 0.0
            looks.append(
                features(answer.score, second, answer.answer, answer.question, found.words, trained.vocabulary)
            )
            right.append(same_answer(answer.answer, truth))
    return replace(trained, calibration=fit(np.array(looks), np.array(right)))


def main(data: str, name: str, out: str) -> None:
    """Reads a model, learns, and writes it."""
    trained = load_model(find_model(name))
    found = calibrated(trained, questions(data, trained.training.train.window))
    save_model(Path(out), found, model_card(found) if "validation" in found.record else "")


if __name__ == "__main__":
    main(*sys.argv[1:])
