"""Calibration: the probability that an answer is right, learned on validation questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from amn.data.story import words
from amn.data.vocabulary import UNKNOWN, UNKNOWN_ANSWER, Vocabulary

GUESS = 0.5  # an answer with a lower score is a guess, unless a model says otherwise
_LEAST = 1e-6  # keeps probabilities away from 0 and 1, where the log odds are infinite
_MOST_WORDS = 3  # unknown words that count
_MOST_PAIRS = 4  # strange pairs of words that count
_STEPS, _RIDGE = 50, 1e-3  # of the fit
_AS_IT_IS = np.array((0.0, 1.0))  # the weights of 1 and of the log odds that leave a probability as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A logistic regression on the `features` of an answer."""

    weights: tuple[float, ...]  # one for each feature; older models have fewer
    guess: float = GUESS  # an answer with a lower score is a guess

    def score(self, looks: Float[np.ndarray, " feature"]) -> float:
        """The probability that an answer is right."""
        return float(1 / (1 + np.exp(-looks[: len(self.weights)] @ np.array(self.weights))))

    def to_json(self) -> dict[str, Any]:
        """As JSON, for the description of a model."""
        return {"weights": list(self.weights), "guess": self.guess}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Calibration":
        """The inverse of `to_json`."""
        return cls(weights=tuple(map(float, data["weights"])), guess=float(data["guess"]))


def features(
    chance: float,
    second: float,
    answer: str,
    question: str,
    told: Sequence[str],
    vocabulary: Vocabulary,
    pairs: int = 0,
) -> Float[np.ndarray, " feature"]:
    """The features of an answer.

    Args:
        chance: the probability that the model gives it.
        second: that of the next best answer.
        answer: the answer.
        question: the question.
        told: the words of the story.
        vocabulary: the words that the model knows.
        pairs: how many pairs of words, of the question and of a sentence about it, never occurred in training.
    """
    heard = set(told)
    strange = sum(vocabulary.word_id(word) == UNKNOWN and word not in heard for word in words(question))
    new = sum(vocabulary.word_id(word) == UNKNOWN for word in heard) / max(1, len(heard))
    odds, margin = _odds(chance), _odds(chance / max(chance + second, _LEAST))
    strange, unknown = min(strange, _MOST_WORDS), float(answer == UNKNOWN_ANSWER)
    length = float(np.log(max(1, len(heard))))
    signs = (strange, new, unknown, length)
    is_list = float("," in answer)
    pairs = min(pairs, _MOST_PAIRS)
    plain = (1.0, odds, margin, *(part for sign in signs for part in (sign, sign * odds)), is_list)
    return np.array([*plain, pairs, pairs * odds, pairs * unknown])


def _odds(chance: float) -> float:
    held = min(max(chance, _LEAST), 1 - _LEAST)
    return float(np.log(held / (1 - held)))


def fit(
    looks: Float[np.ndarray, "answer feature"],
    right: Bool[np.ndarray, " answer"],
    *,
    prior: Float[np.ndarray, " feature"] | float = 0.0,
    ridge: float = _RIDGE,
) -> Calibration:
    """The maximum likelihood fit, by Newton's method with a ridge penalty on the distance from a prior."""
    weights = np.zeros(looks.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(looks @ weights, -30, 30)))
        slope = looks.T @ (right - chance) - ridge * (weights - prior)
        bend = (looks * (chance * (1 - chance))[:, None]).T @ looks + ridge * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        weights += step
        if float(np.abs(step).max()) < 1e-8:
            break
    return Calibration(weights=tuple(weights.tolist()))


def fit_few(chances: Sequence[float], right: Sequence[bool]) -> Calibration:
    """The same from few answers, by the probabilities that the model gives them alone.

    These stay as they are but for what the answers say: models that have few stories to learn from are often as sure of
    what is wrong as of what is right.
    """
    looks = np.array([(1.0, _odds(chance)) for chance in chances])
    return fit(looks, np.array(right, bool), prior=_AS_IT_IS, ridge=1.0)
