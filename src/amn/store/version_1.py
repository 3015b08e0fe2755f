"""Memories that version 0.1 saved, as the compiled core keeps them now."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from amn.data.examples import Words
from amn.data.graph import WordGraph
from amn.data.vocabulary import UNKNOWN
from amn.inference.found import Arrays, placed
from amn.inference.trained import TrainedModel


def from_version_1(
    asked: Sequence[str], told: Sequence[Words], tensors: Arrays, layout: dict[str, Any], trained: TrainedModel
) -> tuple[list[str], Arrays]:
    """What version 0.1 saved of a memory, with what it found out again from the sentences: words and neighbours."""
    met = list(dict.fromkeys([*asked, *chain.from_iterable(told)]))
    slots = {word: slot for slot, word in enumerate(met, 1)}
    graph = WordGraph([slots[word] for word in asked])
    for sentence in told:
        graph.tell([slots[word] for word in sentence])
    unknown = [word for word in met if trained.vocabulary.word_id(word) == UNKNOWN]
    anonymous = np.zeros(trained.anonymous, np.int32)
    for word in chain.from_iterable(told):
        if word in unknown and trained.anonymous:
            anonymous[unknown.index(word) % trained.anonymous] = slots[word]
    states = tensors["states"].astype(np.float32)
    votes = states.astype(np.float64) @ trained.weights["create.weight"][0, :-1]
    return met, placed(np.array(layout["depth"], np.int32), graph) | {
        "states": states,
        "strengths": tensors["strengths"].astype(np.float32),
        "relevance": tensors["relevance"].astype(np.float32),
        "last_anonymous": anonymous,
        "banks": np.array([layout["banks"]], np.int32),
        "vote": np.array([float(votes[layout["last"]].sum())]),
    }
