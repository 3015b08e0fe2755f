"""Learns how sure a model's answers are, from questions that it was not trained on, and keeps that with the model."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from amn.answers import UNKNOWN_ANSWER
from amn.data.examples import Example
from amn.evaluation.metrics import BATCH_STORIES, DEFAULT_BANKS, answered, same_answer
from amn.inference.calibration import features, fit
from amn.inference.engine import tell_stories
from amn.inference.trained import TrainedModel


def calibrated(trained: TrainedModel, examples: Sequence[Example]) -> TrainedModel:
    """The model with scores that say how often such answers are right, by examples that it was not trained on."""
    plain = replace(trained, calibration=None)
    looks, right = [], []
    for start in range(0, len(examples), BATCH_STORIES):
        part = examples[start : start + BATCH_STORIES]
        for found, answer, truth in answered(plain, part, tell_stories(plain, part).read(DEFAULT_BANKS), DEFAULT_BANKS):
            second = answer.top[0].score if answer.top else 0.0
            unknown = answer.answer == UNKNOWN_ANSWER
            looks.append(features(answer.score, second, unknown, answer.question, found.words, trained.vocabulary))
            right.append(same_answer(answer.answer, truth))
    return replace(trained, calibration=fit(np.array(looks), np.array(right)))
