"""The weights of the default model as structures of the compiled core."""

from dataclasses import dataclass
from math import inf

import numpy as np

from amn.core import boundary
from amn.core.boundary import address, layer
from amn.data.vocabulary import COMMA
from amn.inference.shapes import Shape, amn_shapes
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
_NUMBERS = {
    "strength_previous": "strength.update_strength",
    "reset": "strength.reset",
    "candidate_previous": "strength.candidate_strength",
    "nothing": "decoder.nothing",
    "growth": "decoder.growth",
    "slope": "decoder.prelu.weight",
}


def core_weights(trained: TrainedModel) -> tuple[boundary.CWeights, list[np.ndarray]]:
    """The structure of weights, and the arrays that it points to."""
    config, kept = trained.config, [np.ascontiguousarray(value) for value in trained.weights.values()]
    answers = len(trained.vocabulary.answers)
    own = _Checked(dict(zip(trained.weights, kept, strict=True)), amn_shapes({**config, "num_answers": answers}))
    parts = [own.arrays[name] for name in ("encoder.embedding.weight", "encoder.anonymous") if name in own.arrays]
    vectors = np.concatenate(parts)
    kept.append(vectors)
    weights = boundary.CWeights(
        hidden=int(config["hidden"]),
        heads=int(config["heads"]),
        max_banks=int(config["max_banks"]),
        vectors=len(vectors),
        anonymous=len(vectors) - len(parts[0]),
        pointer=int(bool(config["pointer"])),
        items=int(config.get("items", 1)),
        bank_gap=float(config["bank_gap"]),
        epsilon=float(config.get("norm_epsilon", 1e-6)),
        embedding=address(vectors, np.float32, len(vectors), int(config["hidden"])),
        edge_bias=own.address("edge_bias"),
    )
    for name, path in _GRUS.items():
        if name != "next" or weights.items > 1:
            setattr(weights, name, own.gru(path))
    for name, path in _LAYERS.items():
        if name != "point" or weights.pointer:
            setattr(weights, name, own.layer(path))
    for name, path in _NUMBERS.items():
        setattr(weights, name, float(own.arrays[path][0]))
    if weights.items > 1:
        weights.classes = own.address("decoder.classes.weight")
        spelled = np.array(trained.vocabulary.class_words, np.int32)
        kept.append(spelled)
        weights.class_vectors = address(spelled, np.int32, answers)
        weights.item = trained.vocabulary.answer_id(COMMA)
    if config.get("gate"):
        weights.gate = _gate(own, int(config["gate"]))
    return weights, kept


@dataclass(frozen=True)
class _Checked:
    """Arrays by name, whose shapes are checked before the core gets their addresses."""

    arrays: dict[str, np.ndarray]
    shapes: dict[str, Shape]

    def address(self, name: str) -> int:
        return address(self.arrays[name], np.float32, *self.shapes[name])

    def layer(self, path: str) -> boundary.CLayer:
        outputs, inputs = self.shapes[f"{path}.weight"]
        bias = self.arrays[f"{path}.bias"] if f"{path}.bias" in self.shapes else None
        return layer(self.arrays[f"{path}.weight"], bias, outputs, inputs)

    def gru(self, path: str) -> boundary.CGRU:
        return boundary.CGRU(self.layer(f"{path}.input"), self.layer(f"{path}.state"))


def _gate(own: _Checked, width: int) -> boundary.CGate:
    lowest, slope, highest = own.arrays["gate.bars"].tolist()
    gate = boundary.CGate(width=width, lowest=lowest, slope=slope, highest=highest, pronoun_highest=inf)
    gate.embedding, gate.refers = own.address("gate.embedding.weight"), own.address("gate.refers")
    gate.sentence, gate.question = own.gru("gate.sentence_gru"), own.gru("gate.question_gru")
    gate.heard, gate.asked = own.layer("gate.sentence"), own.layer("gate.question")
    gate.verdict = own.layer("gate.verdict")
    if "gate.need.names" in own.shapes:
        gate.need_heard, gate.need_asked = own.layer("gate.need.sentence"), own.layer("gate.need.question")
        gate.need_verdict = own.layer("gate.need.verdict")
        gate.need_shared, gate.names = own.address("gate.need.shared.weight"), own.address("gate.need.names")
        gate.pronoun_highest = float(own.arrays["gate.need.highest"][0])
    return gate
