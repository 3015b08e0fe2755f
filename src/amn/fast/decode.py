"""The decoder of the paper (section 4.3) in numpy, for stories of which equally many entities are read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from amn.fast.step import DEPTH, STRENGTH
from amn.fast.weights import Array, Weights, product, scale_of

_GREATEST = 10.0  # bounds the pointer's scores, as in models/decoder.py


@dataclass(frozen=True, slots=True)
class Found:
    """What was read for the questions of one memory.

    Args:
        logits: a score for each answer class and, where the model can point, for each word after them.
        words: these words; "" where there is none.
        entities: how many entities the memory has.
        entities_read: how many of them were read for each question, copies counted each time.
        banks: how many banks there are.
    """

    logits: Float[Array, "question answer"]
    words: Sequence[str]
    entities: int
    entities_read: Sequence[int]
    banks: int


def decode(
    weights: Weights,
    states: Float[Array, "story entity hidden"],
    marks: Float[Array, "story entity 5"],
    questions: Float[Array, "story question hidden"],
    created: Float[Array, " story"],
    banks: int,
) -> Float[Array, "story question answer"]:
    """Eqs. (16-19) over the entities of the banks that are read.

    Args:
        weights: of the model.
        states: of the entities.
        marks: of the entities.
        questions: what is asked.
        created: how many banks there are.
        banks: how many of them are read, the last ones; 0 for all.

    Returns:
        A logit for each class and, where the model can point, for each entity.
    """
    stories, asked, hidden = questions.shape
    strengths = marks[:, :, STRENGTH] * scale_of(states)  # Eq. (16): C_m = s_m * w, with w at a root mean square of 1
    shares = attend(weights, states, strengths, questions, *banks_of(weights, marks, created, banks))
    shared = np.add.reduce(shares, 2)
    shared *= strengths[:, None]
    read = np.matmul(shared, states).reshape(stories * asked, hidden)  # Eq. (18): g += d(<C_m, ps>)
    summary = product(read, weights.hidden)
    summary += weights.hidden_bias
    summary += questions.reshape(stories * asked, hidden)
    summary = np.where(summary >= 0, summary, summary * weights.slope)
    logits = product(summary, weights.answer)
    logits += weights.answer_bias
    logits = logits.reshape(stories, asked, -1)
    if not weights.config.pointer:
        return logits
    return np.concatenate((logits, _point(weights, states, summary.reshape(questions.shape))), 2)


def attend(
    weights: Weights,
    states: Float[Array, "story entity hidden"],
    strengths: Float[Array, "story entity"],
    questions: Float[Array, "story question hidden"],
    held: Bool[Array, "story bank entity"],
    counts: Float[Array, "story bank"],
) -> Float[Array, "story question bank entity"]:
    """Eq. (17): ps = softmax(<C_m, w_Nq>) within each bank, times what the bank counts."""
    stories, asked, hidden = questions.shape
    match = product(questions.reshape(stories * asked, hidden), weights.match).reshape(questions.shape)
    scores = np.matmul(match, states.swapaxes(1, 2))
    scores *= strengths[:, None]
    top = np.maximum.reduce(scores, 2, keepdims=True, initial=weights.nothing)
    scores -= top
    mass = held[:, None] * np.exp(scores, out=scores)[:, :, None]
    whole = np.add.reduce(mass, 3, keepdims=True) + np.exp(weights.nothing - top)[:, :, None]
    mass *= counts[:, None, :, None]
    mass /= whole
    return mass


def banks_of(
    weights: Weights, marks: Float[Array, "story entity 5"], created: Float[Array, " story"], banks: int
) -> tuple[Bool[Array, "story bank entity"], Float[Array, "story bank"]]:
    """Which entities each bank that is read holds, and the exponential weights d of eq. (18).

    Of the last bank alone all rows are read, so it holds them all.
    """
    if banks == 1:
        return np.ones((len(marks), 1, marks.shape[1]), bool), np.ones((len(marks), 1), marks.dtype)
    level = np.arange(weights.config.max_banks, dtype=marks.dtype)
    last = created[:, None] - 1
    first = last - banks + 1 if banks else np.zeros_like(last)
    read = (level <= last) & (level >= first)
    growth = np.exp((level - last) * weights.growth) * read
    held = (marks[:, None, :, DEPTH] >= level[:, None]) & read[:, :, None]
    return held, (growth / growth.sum(1, keepdims=True)).astype(marks.dtype)


def _point(
    weights: Weights, states: Float[Array, "story entity hidden"], summary: Float[Array, "story question hidden"]
) -> Float[Array, "story question entity"]:
    """Scores of the entities that were read; the others cannot be chosen, and are not here."""
    stories, entities, hidden = states.shape
    normed = (states * scale_of(states)[..., None]).reshape(stories * entities, hidden)
    of_entity = product(normed, weights.point_entity) + weights.point_entity_bias
    of_summary = product(summary.reshape(-1, hidden), weights.point_summary)
    joined = of_entity.reshape(stories, 1, entities, hidden) + of_summary.reshape(stories, -1, 1, hidden)
    scores = np.tanh(joined, out=joined) @ weights.point[:, 0] + weights.point_bias
    return _GREATEST * np.tanh(scores / _GREATEST)
