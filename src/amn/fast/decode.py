"""The decoder of the paper (section 4.3) in numpy, over the entities that are read of some stories."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from amn.fast.encode import Asked
from amn.fast.step import DEPTH, STRENGTH
from amn.fast.weights import Array, Weights, product, row_sums, scale_of

_LOWEST = -1e30


@dataclass(frozen=True, slots=True)
class Found:
    """What was read for the questions of one memory.

    Args:
        logits: a score for each answer class and, where the model can point, for each word that was told.
        words: these words.
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
    present: Bool[Array, "story entity"],
    asked: Asked,
    created: Float[Array, " story"],
    banks: int,
) -> Float[Array, "story question answer"]:
    """Eqs. (16-19) over the entities of the banks that are read.

    Args:
        weights: of the model.
        states: of the entities.
        marks: of the entities.
        present: which entities there are; the others are padding.
        asked: the questions.
        created: how many banks there are.
        banks: how many of them are read, the last ones; 0 for all.

    Returns:
        A logit for each class and, where the model can point, for each vector that a word may have.
    """
    questions = asked.questions
    stories, num_questions, hidden = questions.shape
    strengths = marks[:, :, STRENGTH] * scale_of(states)  # Eq. (16): C_m = s_m * w, with w at a root mean square of 1
    held, counts = banks_of(weights, marks, present, created, banks)
    shared = np.add.reduce(attend(weights, states, strengths, asked.match, held, counts), 2)
    shared *= strengths[:, None]
    alone = states.shape[1] == 1  # then there is nothing to sum
    read = shared * states if alone else np.matmul(shared, states)  # Eq. (18): g += d(<C_m, ps>)
    read = read.reshape(stories * num_questions, hidden)
    summary = product(read, weights.hidden)
    summary += weights.hidden_bias
    summary += questions.reshape(read.shape)
    summary = (np.maximum if weights.slope <= 1 else np.minimum)(summary, summary * weights.slope)  # PReLU
    logits = product(summary, weights.answer)
    logits += weights.answer_bias
    return logits.reshape(stories, num_questions, -1)


def attend(
    weights: Weights,
    states: Float[Array, "story entity hidden"],
    strengths: Float[Array, "story entity"],
    match: Float[Array, "story question hidden"],
    held: Bool[Array, "story bank entity"],
    counts: Float[Array, "story bank"],
) -> Float[Array, "story question bank entity"]:
    """Eq. (17): ps = softmax(<C_m, w_Nq>) within each bank, times what the bank counts."""
    scores = np.matmul(match, states.swapaxes(1, 2))
    scores *= strengths[:, None]
    scores = np.where(np.logical_or.reduce(held, 1)[:, None], scores, _LOWEST)
    top = np.maximum.reduce(scores, 2, keepdims=True, initial=weights.nothing)
    scores -= top
    mass = held[:, None] * np.exp(scores, out=scores)[:, :, None]
    whole = row_sums(mass)
    whole += np.exp(weights.nothing - top)[:, :, None]
    mass *= counts[:, None, :, None]
    mass /= whole
    return mass


def banks_of(
    weights: Weights,
    marks: Float[Array, "story entity 5"],
    present: Bool[Array, "story entity"],
    created: Float[Array, " story"],
    banks: int,
) -> tuple[Bool[Array, "story bank entity"], Float[Array, "story bank"]]:
    """Which entities each bank that is read holds, and the exponential weights d of eq. (18).

    Where the last bank alone is read, all entities are its own.
    """
    if banks == 1:
        return present[:, None], np.ones((len(marks), 1), marks.dtype)
    level = np.arange(weights.config.max_banks, dtype=marks.dtype)
    last = created[:, None] - 1
    first = last - banks + 1 if banks else np.zeros_like(last)
    read = (level <= last) & (level >= first)
    growth = np.exp((level - last) * weights.growth) * read
    held = (marks[:, None, :, DEPTH] >= level[:, None]) & read[:, :, None] & present[:, None]
    return held, (growth / growth.sum(1, keepdims=True)).astype(marks.dtype)
