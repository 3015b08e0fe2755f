"""Exports the default model as ONNX graphs, by tracing its functions.

    start    words of the questions             -> the questions, and an empty memory
    step     the memory and one sentence        -> the memory after it
    decode   the memory and the questions       -> logits, and how many entities were read; if answers may have several
             tokens, also the chosen tokens, and then the sentences are inputs too
    gate     sentences and questions            -> a logit for each sentence and question, the bars, and pronouns

A program calls start once, step for each sentence and decode for an answer; `docs/export.md` shows it. Only a model
with a gate has the last graph, which selects the sentences to read. A memory is the tensors of `amn.models.amn.Memory`;
the arrays of a sentence are those of a `Batch`, padded with slot 0. All sizes are dynamic but the width of states.
"""

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from amn.data.batches import Batch
from amn.data.graph import CONTEXT
from amn.errors import AMNError, MissingExtraError
from amn.inference.trained import TrainedModel
from amn.models.amn import AMN, Memory
from amn.models.gate import Gate
from amn.models.layers import GRU

GRAPHS, GATE = ("start", "step", "decode"), "gate"
MEMORY = tuple(field.name for field in fields(Memory))  # names and order of a memory's tensors


def export_onnx(trained: TrainedModel, directory: str | Path) -> list[Path]:
    """Writes the graphs of a default model to a directory, which is created if needed."""
    model = _exportable(trained)
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    return [_write(directory / f"{name}.onnx", graph, inputs) for name, graph, inputs in _graphs(model)]


def _exportable(trained: TrainedModel) -> AMN:
    """A copy of the model, on the CPU, whose encoder reads all words of a sentence in one operation."""
    if not trained.model.in_core:
        raise AMNError(f"export: only models of architecture amn can be exported, not {trained.architecture}")
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("onnx", "export to ONNX") from error
    model = cast(AMN, deepcopy(trained.model).cpu().float().eval())
    model.encoder.run = run_whole  # type: ignore[method-assign]
    if model.gate is not None:
        model.gate.last = partial(_last_whole, model.gate)  # type: ignore[method-assign]
    return model


@torch.library.custom_op("amn::gru", mutates_args=())
def run_gru(values: Tensor, of_input: Tensor, of_state: Tensor, input_bias: Tensor, state_bias: Tensor) -> Tensor:
    """`GRU.over` without a mask as one operation, which tracing does not unroll, so that the length is dynamic."""
    start = values.new_zeros(1, len(values), of_state.shape[1])
    weights = [of_input, of_state, input_bias, state_bias]
    return torch.gru(values, start, weights, True, 1, 0.0, False, False, True)[0]


@run_gru.register_fake
def _(values: Tensor, of_input: Tensor, of_state: Tensor, input_bias: Tensor, state_bias: Tensor) -> Tensor:
    del of_input, input_bias, state_bias
    return values.new_empty(values.shape[0], values.shape[1], of_state.shape[1])


def _onnx_gru(values: Any, of_input: Any, of_state: Any, input_bias: Any, state_bias: Any) -> Any:
    """The same in ONNX, where the gates are in another order and time comes first."""
    from onnxscript import opset18

    op: Any = opset18
    width = of_state.shape[1]
    order = op.Constant(value_ints=[*range(width, 2 * width), *range(width), *range(2 * width, 3 * width)])

    def ordered(weight: Any) -> Any:
        return op.Gather(weight, order, axis=0)

    biases = op.Concat(ordered(input_bias), ordered(state_bias), axis=0)
    first = op.Constant(value_ints=[0])
    outputs, _ = op.GRU(
        op.Transpose(values, perm=[1, 0, 2]),
        *(op.Unsqueeze(part, first) for part in (ordered(of_input), ordered(of_state), biases)),
        hidden_size=width,
        linear_before_reset=1,
    )
    return op.Transpose(op.Squeeze(outputs, op.Constant(value_ints=[1])), perm=[1, 0, 2])


def run_whole(gru: GRU, embedded: Tensor, rows: Tensor) -> Tensor:
    """`Encoder.run` for all words at once; padding comes last and keeps the state of the last word."""
    hidden, told = embedded.shape[-1], rows.flatten(0, 1) > 0
    places = rows.flatten(1).unsqueeze(-1).expand(-1, -1, hidden)
    words = embedded.gather(1, places).view(told.shape[0], told.shape[1], hidden)
    outputs = run_gru(words, gru.input.weight, gru.state.weight, gru.input.bias, gru.state.bias)
    last = (told.sum(-1, keepdim=True) - 1).clamp(min=0)
    place = torch.minimum(torch.arange(told.shape[1], device=told.device), last)
    held = outputs.gather(1, place.unsqueeze(-1).expand(-1, -1, hidden)) * told.any(-1)[:, None, None]
    return held.view(*rows.shape, hidden)


def _last_whole(gate: Gate, gru: GRU, rows: Tensor) -> Tensor:
    """`Gate.last` for all words at once: the vocabulary is what slots are to an encoder."""
    return run_whole(gru, gate.embedding.weight.unsqueeze(0), rows.unsqueeze(0))[0, :, -1]


Values = dict[str, Tensor]


class _Graph(nn.Module):
    """A function of a model and of named tensors, as a module that can be traced."""

    def __init__(self, model: nn.Module, function: Callable[[Any, Values], tuple[Tensor, ...]]) -> None:
        super().__init__()
        self.model, self.function = model, function

    def forward(self, values: Values) -> tuple[Tensor, ...]:
        return self.function(self.model, values)


def _start(model: AMN, values: Values) -> tuple[Tensor, ...]:
    """The encoded questions, and an empty memory."""
    batch = _batch(values)
    encoding = model.encoder(batch)
    return encoding.questions, *_tensors(model.start(batch, encoding))


def _step(model: AMN, values: Values) -> tuple[Tensor, ...]:
    """The memory after one sentence."""
    batch = _batch(values)
    (read,) = model.sentences(batch, model.encoder(batch), 1.0)
    return _tensors(model.step(_memory(values), read, values["encoded"])[0])


def _decode(model: AMN, values: Values) -> tuple[Tensor, ...]:
    """Logits from the last bank, and how many entities were read; and the tokens, where there may be several."""
    memory = _memory(values)
    reading = model.decode(memory, values["encoded"], 1, model.names(_batch(values), memory))
    return reading.logits, reading.entities_read, *(() if reading.tokens is None else (reading.tokens,))


def _judge(gate: Gate, values: Values) -> tuple[Tensor, ...]:
    """The logit of each sentence for each question; the lowest bar, its slope and the highest; has it a pronoun?

    If the gate predicts needs, also the need of each question for each sentence, which words are names, and the highest
    bar of sentences with a pronoun.
    """
    sentences, questions = values["sentences"], values["questions"]
    judged = gate(sentences, questions), gate.bars.clone(), gate.referring(sentences)
    if gate.need is None:
        return judged
    needed = gate.needed(sentences, questions, values["shared"])
    return *judged, needed, gate.need.names.clone(), gate.need.highest.clone()


def _memory(values: Values) -> Memory:
    return Memory(**{name: values[name] for name in MEMORY})


def _tensors(memory: Memory) -> tuple[Tensor, ...]:
    return tuple(getattr(memory, name) for name in MEMORY)


def _batch(values: Values) -> Batch:
    """A batch of stories with one sentence, none, or all of their sentences."""
    slot_words, questions = values["slot_words"], values["questions"]
    nothing = torch.zeros_like(slot_words[:, :1])
    no_answers = torch.zeros_like(questions[..., 0])
    return Batch(
        slot_words=slot_words,
        sentences=values["sentences"] if "sentences" in values else values.get("sentence", nothing).unsqueeze(1),
        members=values.get("members", nothing).unsqueeze(1),
        context=values.get("context", nothing).unsqueeze(1),
        edges=values.get("edges", nothing.unsqueeze(-1)).unsqueeze(1),
        questions=questions,
        answers=no_answers,
        answer_slots=no_answers,
        weights=no_answers.float(),
    )


def _graphs(model: AMN) -> Iterator[tuple[str, nn.Module, dict[str, Tensor]]]:
    """Each graph with example inputs; all sizes differ, so that none of them is taken for another."""
    stories, slots, members, asked, spoken, named, width = 3, 11, 5, 2, 7, 4, model.config.hidden
    words = {
        "slot_words": torch.ones(stories, slots, dtype=torch.long),
        "questions": torch.ones(stories, asked, named, dtype=torch.long),
    }
    encoded = {"encoded": torch.randn(stories, asked, width)}
    flat = {name: torch.rand(stories, slots) for name in MEMORY[1:-1]}
    memory = {"states": torch.randn(stories, slots, width), **flat, "banks": torch.ones(stories)}
    sentence = {
        "sentence": torch.ones(stories, spoken, dtype=torch.long),
        "members": torch.ones(stories, members, dtype=torch.long),
        "context": torch.ones(stories, CONTEXT, dtype=torch.long),
        "edges": torch.ones(stories, members, members + CONTEXT, dtype=torch.long),
    }
    yield "start", _Graph(model, _start), words
    yield "step", _Graph(model, _step), {**words, **encoded, **sentence, **memory}
    told = {"sentences": torch.ones(stories, 6, spoken, dtype=torch.long)} if model.config.items > 1 else {}
    yield "decode", _Graph(model, _decode), {**words, **encoded, **memory, **told}
    if model.gate is not None:
        rows = {"sentences": (stories, spoken), "questions": (asked, named)}
        if model.gate.need is not None:
            rows["shared"] = (stories, asked)
        inputs = {name: torch.ones(size, dtype=torch.long) for name, size in rows.items()}
        yield GATE, _Graph(model.gate, _judge), inputs


_FIXED = {"context": 1, "encoded": 2, "states": 2}  # the axis whose size is fixed
_TRANSLATIONS: dict[Callable[..., Any], Callable[..., Any]] = {torch.ops.amn.gru.default: _onnx_gru}


def _write(path: Path, graph: nn.Module, inputs: dict[str, Tensor]) -> Path:
    free = torch.export.Dim.DYNAMIC
    shapes = {
        name: {axis: free for axis in range(value.dim()) if axis != _FIXED.get(name)} for name, value in inputs.items()
    }
    with _quiet(), torch.no_grad():
        traced = torch.export.export(graph, (inputs,), dynamic_shapes=(shapes,), strict=False)
        program = torch.onnx.export(
            traced, input_names=list(inputs), dynamo=True, verbose=False, custom_translation_table=_TRANSLATIONS
        )
        assert program is not None
        program.save(str(path))
    return path


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences the exporter, which warns about unrelated packages."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
