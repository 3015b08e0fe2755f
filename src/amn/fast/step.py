"""One sentence of Algorithm 1, for one story or several.

The rows of an entity are its state, and its marks: five numbers. The members of all stories stand one after another
without padding; only attention, which is within a story, needs as many of each. `amn.models.amn.AMN.step` judges this.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from amn.fast.encode import Asked
from amn.fast.weights import Array, Weights, divide, product, row_sums, scale_of, sigmoid

STRENGTH, RELEVANCE, IN_LAST, DEPTH, VOTE = range(5)
ABSENT = -1  # the depth of what no sentence has mentioned yet


def read_sentence(
    weights: Weights,
    states: Float[Array, "row hidden"],
    gates: Float[Array, "3 word hidden"],
    edges: Int[Array, "member row"],
) -> Float[Array, "member hidden"]:
    """Adds and updates, and propagates, for one story.

    Args:
        weights: of the model.
        states: of the rows that the sentence touches, its words first, then its other members; changed in place.
        gates: what its words tell the update GRU; used up.
        edges: the kind of edge from each member to each row.

    Returns:
        The members' new states.
    """
    words, propagate = states[: gates.shape[1]], weights.propagate
    words[:] = weights.update(gates, words)  # Eq. (13)
    messages = _gather(weights, states, edges)
    return propagate(propagate.project(messages), states[: len(messages)])  # Eq. (15): w = GRU(a, w)


def _gather(
    weights: Weights, states: Float[Array, "row hidden"], edges: Int[Array, "member row"]
) -> Float[Array, "member hidden"]:
    """`attend` for one story, whose few rows cost less than the axes of several stories would."""
    (members, rows), heads = edges.shape, weights.config.heads
    lengths = np.vecdot(states, states)
    lengths += weights.least
    units = states / np.sqrt(lengths, out=lengths)[:, None]  # `normalise`, but for what the weights hold already
    found = product(units, weights.ask_and_tell)  # context asks nothing, but one product is faster
    parts = found.reshape(rows, 3 * heads, -1).transpose(1, 0, 2)
    scores = np.matmul(parts[:heads, :members], parts[heads : 2 * heads].transpose(0, 2, 1))
    scores += weights.edge_bias.take(edges, 1)
    if weights.steep:
        scores -= np.maximum.reduce(scores, 2, keepdims=True)
    np.exp(scores, out=scores)
    gathered = np.matmul(scores, parts[2 * heads :])
    if rows <= len(weights.ones):  # a product gives each sum as often as it is needed, sooner than a division does
        gathered /= np.matmul(scores, weights.ones[:rows])
    else:
        divide(gathered, row_sums(scores))
    return gathered.transpose(1, 0, 2).reshape(members, -1)


def attend(
    weights: Weights,
    asks: Float[Array, "story member hidden"],
    told: Float[Array, "story row tell"],
    edges: Int[Array, "story member row"],
) -> Float[Array, "story member hidden"]:
    """Eq. (14): a, which members gather along the edges of A, by attention.

    Args:
        weights: of the model.
        asks: what the members look for.
        told: what the rows tell: a key for each head, then a value for each.
        edges: the kind of edge from each member to each row.
    """
    (stories, members, hidden), rows, heads = asks.shape, told.shape[1], weights.config.heads
    asks, told = asks.reshape(stories, members, heads, -1), told.reshape(stories, rows, 2, heads, -1)
    keys = told[:, :, 0].transpose(2, 0, 3, 1)
    scores = np.matmul(asks.transpose(2, 0, 1, 3), keys if stories == 1 else keys.copy())  # many are faster in order
    scores += weights.edge_bias.take(edges, 1)
    if weights.steep:
        scores -= np.maximum.reduce(scores, 3, keepdims=True)
    np.exp(scores, out=scores)
    gathered = np.empty((stories, members, heads, hidden // heads), scores.dtype)
    np.matmul(scores, told[:, :, 1].transpose(2, 0, 1, 3), out=gathered.transpose(2, 0, 1, 3))
    divide(gathered, row_sums(scores).transpose(1, 2, 0, 3))
    return gathered.reshape(stories, members, hidden)


def judge(
    weights: Weights,
    states: Float[Array, "member hidden"],
    marks: Float[Array, "member 5"],
    banks: Float[Array, " member"],
    asked: Asked,
    story: Int[Array, " member"],
) -> Float[Array, "member 5"]:
    """Eqs. (5-8) for strengths, eq. (9) for relevance, and eqs. (10), (12) for how far each member moves.

    Args:
        weights: of the model.
        states: of the members.
        marks: of the members, before.
        banks: how many there are in each one's story.
        asked: the questions of all stories.
        story: which of them is each one's.
    """
    scale, previous = scale_of(states), marks[:, :1]
    scores, likeness = product(states, weights.of_state), np.vecdot(states[:, None], asked.likeness.take(story, 0))
    update = sigmoid(scores[:, :1] + asked.update.take(story, 0) + weights.update_strength * previous)
    kept = 1 - sigmoid(previous * likeness)
    kept *= previous * weights.candidate_strength
    kept += scores[:, 1:2]
    kept += weights.candidate_bias
    candidate = sigmoid(kept)
    strengths = np.maximum.reduce(candidate + update * (previous - candidate), 1)
    relevance = strengths * scores[:, 2]
    relevance += np.maximum.reduce(np.vecdot(states[:, None], asked.move.take(story, 0)), 1)
    relevance *= scale
    relevance += weights.move_bias
    new = np.empty_like(marks)
    new[:, STRENGTH], new[:, RELEVANCE], new[:, VOTE] = strengths, relevance, scores[:, 3]
    last = banks - 1
    new[:, IN_LAST] = (relevance > 0) | (last <= 0) | (marks[:, IN_LAST] > 0)
    reach = np.ceil(relevance / weights.config.bank_gap) + (last - 1)
    np.minimum(np.maximum(reach, 0, out=reach), last, out=reach)
    np.maximum(marks[:, DEPTH], reach, out=new[:, DEPTH])
    return new


def creates(
    weights: Weights,
    banks: Float[Array, " story"],
    entities: Float[Array, " story"],
    votes: Float[Array, " story"],
    voters: Float[Array, " story"],
) -> Bool[Array, " story"]:
    """Eq. (9) for creation: from what the last bank holds and how full the memory is for its number of banks.

    Args:
        weights: of the model.
        banks: how many banks each story has.
        entities: how many entities.
        votes: the sum of the votes of its last bank; a vote is what a state adds to this decision.
        voters: how many entities its last bank holds.
    """
    load = np.log(np.maximum(entities * np.exp2(1 - banks), 0.1))
    logit = votes / np.maximum(voters, 1) + load * weights.load + weights.create_bias
    return (logit > 0) & (banks < weights.config.max_banks)
