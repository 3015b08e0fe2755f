"""One sentence of Algorithm 1 for stories whose sentences touch equally many rows, so that nothing is padded.

The rows of an entity are its state, and its marks: five numbers. Members come first, the sentence's own words first
among them, then context. `amn.models.amn.AMN.step` is the same with padding, and judges this.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from amn.fast.encode import Asked
from amn.fast.weights import Array, Weights, normalise, product, scale_of, sigmoid

STRENGTH, RELEVANCE, IN_LAST, DEPTH, VOTE = range(5)
ABSENT = -1  # the depth of what no sentence has mentioned yet
_OWN_COLUMNS = 4  # of Asked.columns: update, candidate, move, vote


def read_sentence(
    weights: Weights,
    states: Float[Array, "row story hidden"],
    gates: Float[Array, "3 word hidden"],
    edges: Int[Array, "story member row"],
) -> Float[Array, "member story hidden"]:
    """Adds and updates, and propagates.

    Args:
        weights: of the model.
        states: of the rows that the sentence touches; changed in place.
        gates: what its words tell the update GRU, the first word of each story first; used up.
        edges: the kind of edge from each member to each row.

    Returns:
        The members' new states.
    """
    members = edges.shape[1]
    update(weights, states, gates)
    normed = normalise(states)
    told = telling(weights, normed)
    return propagate(weights, states[:members], normed[:members], told, edges)


def update(weights: Weights, states: Float[Array, "row story hidden"], gates: Float[Array, "3 word hidden"]) -> None:
    """Eq. (13): w = GRU(w_N, w), for the words of the sentence, which come first."""
    words = states.reshape(-1, states.shape[2])[: gates.shape[1]]
    words[:] = weights.update(gates, words)


def telling(weights: Weights, normed: Float[Array, "*rows hidden"]) -> Float[Array, "*rows tell"]:
    """What a row tells those who read it: a key for each head, then a value for each."""
    return product(normed.reshape(-1, normed.shape[-1]), weights.tell).reshape(*normed.shape[:-1], weights.tell.shape[1])


def propagate(
    weights: Weights,
    states: Float[Array, "member story hidden"],
    normed: Float[Array, "member story hidden"],
    told: Float[Array, "row story tell"],
    edges: Int[Array, "story member row"],
) -> Float[Array, "member story hidden"]:
    """Eq. (14), eq. (15): w = GRU(a, w), where a is gathered along the edges of A by attention.

    Args:
        weights: of the model.
        states: of the members.
        normed: the same, at a root mean square of 1.
        told: what each row tells.
        edges: the kind of edge from each member to each row.
    """
    (members, stories, hidden), rows, heads = states.shape, len(told), weights.config.heads
    flat = states.reshape(members * stories, hidden)
    asks = product(normed.reshape(flat.shape), weights.ask).reshape(members, stories, heads, -1)
    told = told.reshape(rows, stories, 2, heads, -1)
    scores = np.matmul(asks.transpose(2, 1, 0, 3), told[:, :, 0].transpose(2, 1, 3, 0))
    scores += weights.edge_bias.take(edges, 1)
    if weights.steep:
        scores -= np.maximum.reduce(scores, 3, keepdims=True)
    np.exp(scores, out=scores)
    gathered = np.matmul(scores, told[:, :, 1].transpose(2, 1, 0, 3))
    gathered /= np.dot(scores.reshape(-1, rows), np.ones(rows, scores.dtype)).reshape(*scores.shape[:3], 1)
    message = gathered.transpose(2, 1, 0, 3).reshape(flat.shape)
    return weights.propagate(weights.propagate.project(message), flat).reshape(states.shape)


def judge(
    weights: Weights,
    states: Float[Array, "member story hidden"],
    marks: Float[Array, "story member 5"],
    banks: Float[Array, " story"],
    asked: Asked,
) -> Float[Array, "story member 5"]:
    """Eqs. (5-8) for strengths, eq. (9) for relevance, and eqs. (10), (12) for how far each member moves."""
    num_questions, own = asked.questions.shape[1], _OWN_COLUMNS
    scale = scale_of(states).T
    scores = np.matmul(states.swapaxes(0, 1), asked.columns)
    previous = marks[:, :, :1]
    update = sigmoid(scores[:, :, :1] + asked.update + weights.update_strength * previous)
    kept = 1 - sigmoid(previous * scores[:, :, own : own + num_questions])
    kept *= previous * weights.candidate_strength
    kept += scores[:, :, 1:2]
    kept += weights.candidate_bias
    candidate = sigmoid(kept)
    strengths = np.maximum.reduce(candidate + update * (previous - candidate), 2)
    relevance = strengths * scores[:, :, 2]
    relevance += np.maximum.reduce(scores[:, :, own + num_questions :], 2)
    relevance *= scale
    relevance += weights.move_bias
    new = np.empty_like(marks)
    new[:, :, STRENGTH], new[:, :, RELEVANCE], new[:, :, VOTE] = strengths, relevance, scores[:, :, 3]
    last = (banks - 1)[:, None]
    new[:, :, IN_LAST] = (relevance > 0) | (last <= 0) | (marks[:, :, IN_LAST] > 0)
    reach = np.ceil(relevance / weights.config.bank_gap) + (last - 1)
    np.minimum(np.maximum(reach, 0, out=reach), last, out=reach)
    np.maximum(marks[:, :, DEPTH], reach, out=new[:, :, DEPTH])
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
