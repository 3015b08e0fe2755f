"""The shapes of the default model's weights, which follow from its settings."""

from collections.abc import Mapping
from typing import Any

from amn.core.boundary import NUM_KINDS, SHARED

Shape = tuple[int, ...]


def amn_shapes(config: Mapping[str, Any]) -> dict[str, Shape]:
    """The tensors of a model by name, with their shapes; -1 where any size will do."""
    hidden, answers, pointer, items = (
        config.get(name, default)
        for name, default in (("hidden", 64), ("num_answers", 0), ("pointer", False), ("items", 1))
    )
    shapes: dict[str, Shape] = {
        "edge_bias": (NUM_KINDS, config.get("heads", 4)),
        "encoder.embedding.weight": (config.get("vocabulary_size", 0), hidden),
        "decoder.prelu.weight": (1,),
        **_layer("create", 1, hidden + 1),
        **_layer("decoder.answer", answers, hidden),
        "tell.weight": (2 * hidden, hidden),
        "strength.update_question.weight": (1, hidden),
    }
    numbers = ("strength.update_strength", "strength.reset", "strength.candidate_strength")
    shapes |= {name: (1,) for name in (*numbers, "decoder.nothing", "decoder.growth")}
    shapes |= {f"{name}.weight": (hidden, hidden) for name in ("ask", "move_question", "decoder.match")}
    for name in ("strength.update_state", "strength.candidate_state", "move_state"):
        shapes |= _layer(name, 1, hidden)
    for name in ("from_question", "decoder.hidden", *(["decoder.pointer.of_summary"] if pointer else [])):
        shapes |= _layer(name, hidden, hidden)
    for name in ("encoder.word_gru", "encoder.question_gru", "propagate_gru", "update"):
        shapes |= _gru(name, hidden, 2 * hidden if name == "update" else hidden)
    if pointer:
        shapes["encoder.anonymous"] = (-1, hidden)
    if items > 1:
        shapes |= {"decoder.classes.weight": (answers, hidden), **_gru("decoder.next", hidden, hidden)}
    return shapes | (_gate_shapes(config) if config.get("gate") else {})


def _gate_shapes(config: Mapping[str, Any]) -> dict[str, Shape]:
    width, words = config["gate"], config.get("vocabulary_size", 0)
    shapes: dict[str, Shape] = {
        "gate.embedding.weight": (words, width),
        "gate.question.weight": (width, width),
        "gate.bars": (3,),
        "gate.refers": (words,),
    }
    for name in ("gate.sentence_gru", "gate.question_gru"):
        shapes |= _gru(name, width, width)
    if config.get("needs"):
        shapes |= {f"gate.need.{name}.weight": (width, width) for name in ("sentence", "question")}
        shapes |= {
            "gate.need.shared.weight": (SHARED, width),
            "gate.need.names": (words,),
            "gate.need.highest": (1,),
            **_layer("gate.need.verdict", 1, width),
        }
    return shapes | _layer("gate.sentence", width, width) | _layer("gate.verdict", 1, width)


def _layer(name: str, outputs: int, inputs: int) -> dict[str, Shape]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _gru(name: str, hidden: int, inputs: int) -> dict[str, Shape]:
    return {**_layer(f"{name}.input", 3 * hidden, inputs), **_layer(f"{name}.state", 3 * hidden, hidden)}
