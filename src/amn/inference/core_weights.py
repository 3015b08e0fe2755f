"""The weights of the default model by the names of the compiled core."""

from math import inf

import numpy as np

from amn.core import boundary
from amn.core.boundary import address, layer
from amn.data.vocabulary import COMMA
from amn.inference.trained import TrainedModel

# The layers of `boundary.CWeights`, as the torch model calls them.
_GRUS = {
    "next": "decoder.next",
    "word": "encoder.word_gru",
    "question": "encoder.question_gru",
    "update": "update",
    "propagate": "propagate_gru",
}
_LAYERS = {
    "from_question": "from_question",
    "query": "ask",
    "key_value": "tell",
    "strength_state": "strength.update_state",
    "strength_question": "strength.update_question",
    "candidate_state": "strength.candidate_state",
    "move_state": "move_state",
    "move_question": "move_question",
    "create": "create",
    "match": "decoder.match",
    "summary": "decoder.hidden",
    "answer": "decoder.answer",
    "point": "decoder.pointer.of_summary",
}
_TO_NUMBERS = ("strength_state", "strength_question", "candidate_state", "move_state")  # from states to one number
_NO_BIAS = ("query", "key_value", "strength_question", "move_question", "match")
_NUMBERS = {
    "strength_previous": "strength.update_strength",
    "reset": "strength.reset",
    "candidate_previous": "strength.candidate_strength",
    "nothing": "decoder.nothing",
    "growth": "decoder.growth",
    "slope": "decoder.prelu.weight",
}


def weights_of(trained: TrainedModel) -> tuple[boundary.CWeights, list[np.ndarray]]:
    """The weights by the core's names, and the arrays that they point to."""
    config, kept = trained.config, [np.ascontiguousarray(value) for value in trained.weights.values()]
    own = dict(zip(trained.weights, kept, strict=True))
    hidden, heads = int(config["hidden"]), int(config["heads"])
    parts = [own["encoder.embedding.weight"], *([own["encoder.anonymous"]] if "encoder.anonymous" in own else [])]
    vectors = np.concatenate(parts)
    kept.append(vectors)
    weights = boundary.CWeights(
        hidden=hidden,
        heads=heads,
        max_banks=int(config["max_banks"]),
        vectors=len(vectors),
        anonymous=len(parts[1]) if len(parts) > 1 else 0,
        pointer=int(bool(config["pointer"])),
        items=int(config.get("items", 1)),
        bank_gap=float(config["bank_gap"]),
        epsilon=float(config.get("norm_epsilon", 1e-6)),
        embedding=address(vectors, np.float32, len(vectors), hidden),
        edge_bias=address(own["edge_bias"], np.float32, boundary.NUM_KINDS, heads),
    )
    for name, path in _GRUS.items():
        if name == "next" and weights.items == 1:
            continue
        inputs = 2 * hidden if name == "update" else hidden
        setattr(weights, name, _gru(own, path, hidden, inputs))
    answers = len(trained.vocabulary.answers)
    sizes = dict.fromkeys(_TO_NUMBERS, (1, hidden)) | {
        "key_value": (2 * hidden, hidden),
        "create": (1, hidden + 1),
        "answer": (answers, hidden),
    }
    for name, path in _LAYERS.items():
        if name != "point" or weights.pointer:
            size = sizes.get(name, (hidden, hidden))
            setattr(weights, name, _layer(own, path, size, biased=name not in _NO_BIAS))
    if weights.items > 1:
        weights.classes = address(own["decoder.classes.weight"], np.float32, answers, hidden)
        spelled = np.array(trained.vocabulary.class_words, np.int32)
        kept.append(spelled)
        weights.class_vectors = address(spelled, np.int32, answers)
        weights.item = trained.vocabulary.answer_id(COMMA)
    for name, path in _NUMBERS.items():
        setattr(weights, name, float(own[path][0]))
    if config.get("gate"):
        weights.gate = _gate(own, int(config["gate"]), len(parts[0]))
    return weights, kept


def _gate(own: dict[str, np.ndarray], width: int, words: int) -> boundary.CGate:
    lowest, slope, highest = own["gate.bars"].tolist()
    gate = boundary.CGate(width=width, lowest=lowest, slope=slope, highest=highest, pronoun_highest=inf)
    gate.embedding = address(own["gate.embedding.weight"], np.float32, words, width)
    gate.refers = address(own["gate.refers"], np.float32, words)
    gate.sentence, gate.question = (
        _gru(own, f"gate.{name}", width, width) for name in ("sentence_gru", "question_gru")
    )
    gate.heard = _layer(own, "gate.sentence", (width, width))
    gate.asked = _layer(own, "gate.question", (width, width), biased=False)
    gate.verdict = _layer(own, "gate.verdict", (1, width))
    if "gate.need.names" in own:
        gate.need_heard, gate.need_asked = (
            _layer(own, f"gate.need.{name}", (width, width), biased=False) for name in ("sentence", "question")
        )
        gate.need_verdict = _layer(own, "gate.need.verdict", (1, width))
        gate.need_shared = address(own["gate.need.shared.weight"], np.float32, boundary.SHARED, width)
        gate.names = address(own["gate.need.names"], np.float32, words)
        gate.pronoun_highest = float(own["gate.need.highest"][0])
    return gate


def _gru(own: dict[str, np.ndarray], path: str, hidden: int, inputs: int) -> boundary.CGRU:
    return boundary.CGRU(
        _layer(own, f"{path}.input", (3 * hidden, inputs)), _layer(own, f"{path}.state", (3 * hidden, hidden))
    )


def _layer(own: dict[str, np.ndarray], path: str, size: tuple[int, int], *, biased: bool = True) -> boundary.CLayer:
    return layer(own[f"{path}.weight"], own[f"{path}.bias"] if biased else None, *size)
