"""Exports the default model as ONNX graphs, which `amn.exported` runs without torch's overhead for each small product.

The graphs are the model's own functions, on the rows that a sentence touches:

    encode        a set of sentences  -> what each of their words tells the update GRU
    start         questions           -> their encodings, and the states of the entities that they name
    step          rows of a sentence  -> the members' new rows, and whether a bank is created
    decode        rows of a bank      -> logits
    decode_banks  rows of all banks   -> logits

Words come as the numbers of their vectors (`amn.fast.spelling`); where the model can point, logits are those of the
classes and then of every vector.

A row of an entity is its state with five numbers after it: strength, relevance, whether the last bank holds it, depth,
and its vote, which is what its state adds to the decision to create a bank: so that this decision needs two sums only.
"""

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from amn.data.batches import Batch
from amn.errors import AMNError, MissingExtraError
from amn.models.amn import AMN, Memory, Sentence
from amn.models.base import GRU, Linear
from amn.models.encoder import Encoder
from amn.store.model_directory import TrainedModel, save_model

GRAPHS = ("encode", "start", "step", "decode", "decode_banks")
EXTRAS = 5  # numbers after the state in a row
FORMATS = ("onnx",)


def export_onnx(trained: TrainedModel, directory: str | Path) -> list[Path]:
    """Writes a model directory that holds the graphs besides the weights.

    Args:
        trained: a model of the default profile.
        directory: where to write.

    Returns:
        The graphs.

    Raises:
        AMNError: where the model cannot be exported, or the packages that this needs are missing.
    """
    model = _exportable(trained)
    directory = Path(directory)
    save_model(directory, trained)
    return [_write(directory / f"{name}.onnx", graph, example) for name, graph, example in _graphs(model)]


def _exportable(trained: TrainedModel) -> AMN:
    """A copy of the model, on the CPU, whose encoder reads all words of a sentence in one operation.

    Its words are vectors, each of which is a further class where it can point.
    """
    if type(trained.model) is not AMN:
        raise AMNError(f"export: only models of architecture amn can be exported, this one is {trained.architecture}")
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("onnx", "export to ONNX") from error
    model = deepcopy(trained.model).cpu().float().eval()
    answer = model.decoder.over(model.encoder.vectors())
    model.encoder = WholeEncoder(model.encoder)
    model.decoder.answer.weight, model.decoder.answer.bias = map(nn.Parameter, answer)
    for module in model.modules():
        if isinstance(module, Linear):  # whose reshaping is for vmap, and would cost more here than the product
            module.__class__ = nn.Linear  # type: ignore[assignment]
    return model


@torch.library.custom_op("amn::gru", mutates_args=())
def run_gru(values: Tensor, of_input: Tensor, of_state: Tensor, input_bias: Tensor, state_bias: Tensor) -> Tensor:
    """`GRU.over` without a mask as one operation; tracing leaves it whole, so that sequences may have any length."""
    start = values.new_zeros(1, len(values), of_state.shape[1])
    weights = [of_input, of_state, input_bias, state_bias]
    return torch.gru(values, start, weights, True, 1, 0.0, False, False, True)[0]


@run_gru.register_fake
def _(values: Tensor, of_input: Tensor, of_state: Tensor, input_bias: Tensor, state_bias: Tensor) -> Tensor:
    del of_input, input_bias, state_bias
    return values.new_empty(values.shape[0], values.shape[1], of_state.shape[1])


def _onnx_gru(values: Any, of_input: Any, of_state: Any, input_bias: Any, state_bias: Any) -> Any:
    """The same in ONNX, which wants the gates in another order and time first."""
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


class WholeEncoder(Encoder):
    """The same encoder with each GRU as one operation, for sentences of any length, and words given by their vectors.

    Args:
        encoder: whose weights to use.
    """

    def __init__(self, encoder: Encoder) -> None:
        nn.Module.__init__(self)
        self.anonymous = None
        self.embedding = nn.Embedding.from_pretrained(encoder.vectors().detach())
        self.word_gru, self.question_gru = encoder.word_gru, encoder.question_gru

    def run(self, gru: GRU, embedded: Tensor, rows: Tensor) -> Tensor:
        """Eq. (2), eq. (4) for all words; padding comes last and keeps the state of the last word."""
        hidden, told = embedded.shape[-1], rows.flatten(0, 1) > 0
        places = rows.flatten(1).unsqueeze(-1).expand(-1, -1, hidden)
        words = embedded.gather(1, places).view(told.shape[0], told.shape[1], hidden)
        outputs = run_gru(words, gru.input.weight, gru.state.weight, gru.input.bias, gru.state.bias)
        last = (told.sum(-1, keepdim=True) - 1).clamp(min=0)
        place = torch.minimum(torch.arange(told.shape[1], device=told.device), last)
        held = outputs.gather(1, place.unsqueeze(-1).expand(-1, -1, hidden)) * told.any(-1)[:, None, None]
        return held.view(*rows.shape, hidden)


class _Encode(nn.Module):
    def __init__(self, model: AMN) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Tensor, sentences: Tensor) -> Tensor:
        """Gates for each distinct word of each sentence; sentences are rows of places among their own words."""
        batch = _batch(words, sentences=sentences.unsqueeze(1))
        return self.model.sentences(batch, self.model.encoder(batch), 1.0)[0].update


class _Start(nn.Module):
    def __init__(self, model: AMN) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Tensor, questions: Tensor) -> tuple[Tensor, Tensor]:
        """Encodings of the questions, and rows of an empty memory."""
        batch = _batch(words, questions=questions)
        encoding = self.model.encoder(batch)
        states = self.model.start(batch, encoding).states
        absent = _absent(states)[states.shape[-1] :].expand(*states.shape[:2], -1)
        return encoding.questions, torch.cat((states, absent), -1)


class _Step(nn.Module):
    def __init__(self, model: AMN) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        rows: Tensor,
        banks: Tensor,
        entities: Tensor,
        votes: Tensor,
        gates: Tensor,
        which: Tensor,
        spoken: Tensor,
        present: Tensor,
        edges: Tensor,
        questions: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """`AMN.step` on the rows that a sentence touches.

        Returns the members' rows, how many entities there are, the sum and number of the last bank's votes, and whether
        a bank is to be created.
        """
        model, members = self.model, edges.shape[1]
        strengths, _, was_in, depth, vote = rows[:, :members, -EXTRAS:].split(1, -1)
        states = model.add_or_update(
            rows[:, :members, :-EXTRAS], _sentence(gates.index_select(0, which), spoken, edges)
        )
        states = model.propagate(torch.cat((states, rows[:, members:, :-EXTRAS]), 1), edges)
        strengths = model.strength(states, questions, strengths.squeeze(-1))
        relevance = model.relevance(states, strengths, questions).unsqueeze(-1)
        in_last, reached = _moved(model, relevance, was_in, depth, banks)
        new = torch.cat((states, strengths.unsqueeze(-1), relevance, in_last, reached, _votes(model, states)), -1)
        new = torch.where(present.unsqueeze(-1), new, _absent(states))
        entities = entities + (present & (depth.squeeze(-1) < 0)).sum(-1)
        change = torch.cat((new[..., -1:] * in_last - vote * was_in, in_last - was_in), -1)
        votes = votes + (change * present.unsqueeze(-1)).sum(1).double()
        created = (_creation_logit(model, banks, entities, votes) > 0) & (banks < model.config.max_banks)
        return new, entities, votes, created & present.any(-1)


class _Decode(nn.Module):
    def __init__(self, model: AMN, banks: int) -> None:
        super().__init__()
        self.model, self.banks = model, banks

    def forward(self, rows: Tensor, banks: Tensor, questions: Tensor) -> tuple[Tensor, Tensor]:
        """`AMN.decode`: logits, and how many entities were read."""
        reading = self.model.decode(_memory(rows, banks), questions, self.banks)
        return reading.logits, reading.entities_read


def _batch(words: Tensor, *, sentences: Tensor | None = None, questions: Tensor | None = None) -> Batch:
    """A batch of which only some is given; every word that has a slot is a member of the one sentence."""
    nothing = torch.zeros_like(words[:, :1]).unsqueeze(1)
    slots = torch.arange(words.shape[1], device=words.device)
    members = torch.where(words > 0, slots, 0)[:, 1:].unsqueeze(1)
    return Batch(
        slot_words=words,
        sentences=nothing if sentences is None else sentences,
        members=members,
        context=nothing[..., :0],
        edges=members.unsqueeze(-1)[..., :0],
        questions=nothing if questions is None else questions,
        answers=nothing[:, 0],
        answer_slots=nothing[:, 0],
        weights=torch.zeros_like(nothing[:, 0], dtype=torch.float32),
    )


def _sentence(update: Tensor, spoken: Tensor, edges: Tensor) -> Sentence:
    """A sentence whose members are the first rows, in their order."""
    zeros = torch.zeros_like(update[..., 0])
    members = torch.arange(edges.shape[1], device=edges.device).expand_as(spoken)
    return Sentence(members, members[:, :0], edges, update, spoken, zeros, zeros[:, 0])


def _memory(rows: Tensor, banks: Tensor) -> Memory:
    strengths, relevance, in_last, depth, _ = rows[..., -EXTRAS:].unbind(-1)
    return Memory(rows[..., :-EXTRAS], strengths, relevance, in_last, depth, banks)


def _moved(model: AMN, relevance: Tensor, was_in: Tensor, depth: Tensor, banks: Tensor) -> tuple[Tensor, Tensor]:
    """`AMN.move` for rows: whether the last bank holds each, and the deepest bank that does."""
    last = banks.view(-1, 1, 1) - 1
    enters = ((relevance > 0) | (last <= 0)).to(was_in.dtype)
    reach = (last + torch.ceil(relevance / model.config.bank_gap) - 1).clamp(min=0)
    return torch.maximum(was_in, enters), torch.maximum(depth, torch.minimum(reach, last))


def _votes(model: AMN, states: Tensor) -> Tensor:
    return states @ model.create.weight[:, :-1].T


def _absent(states: Tensor) -> Tensor:
    """The row of padding: nothing, in no bank."""
    row = states.new_zeros(states.shape[-1] + EXTRAS)
    row[-2] = -1.0
    return row


def _creation_logit(model: AMN, banks: Tensor, entities: Tensor, votes: Tensor) -> Tensor:
    """`AMN.creation_logit` from the votes of the last bank and the number of entities."""
    pooled = (votes[:, 0] / votes[:, 1].clamp(min=1)).float()
    load = (entities * torch.exp2(1 - banks)).clamp(min=0.1).log()
    return pooled + load * model.create.weight[0, -1] + model.create.bias


def _graphs(model: AMN) -> Iterator[tuple[str, nn.Module, dict[str, Tensor]]]:
    """Each graph with inputs to trace it with; every size differs from every other, and may differ later."""
    stories, slots, members, context, questions, words, sentences = 3, 11, 5, 8, 2, 7, 9
    width = model.config.hidden
    row_shape, asked = (stories, members + context, width + EXTRAS), torch.randn(stories, questions, width)
    places = torch.arange(words).remainder(slots)
    known, banks = torch.ones(stories, slots, dtype=torch.long), torch.ones(stories)
    memory = {"rows": torch.randn(row_shape), "banks": banks}
    some = torch.ones(stories, members, dtype=torch.bool)
    yield "encode", _Encode(model), {"words": known, "sentences": places.expand(stories, -1)}
    yield "start", _Start(model), {"words": known, "questions": places.expand(stories, questions, -1)}
    yield (
        "step",
        _Step(model),
        {
            **memory,
            "entities": torch.ones(stories),
            "votes": torch.ones(stories, 2, dtype=torch.double),
            "gates": torch.randn(sentences, members, 3 * width),
            "which": torch.arange(stories),
            "spoken": some,
            "present": some.clone(),
            "edges": torch.ones(stories, members, members + context, dtype=torch.long),
            "questions": asked,
        },
    )
    yield "decode", _Decode(model, banks=1), {**memory, "questions": asked}
    yield "decode_banks", _Decode(model, banks=0), {**memory, "questions": asked}


_TRANSLATIONS: dict[Callable[..., Any], Callable[..., Any]] = {torch.ops.amn.gru.default: _onnx_gru}


def _write(path: Path, graph: nn.Module, inputs: dict[str, Tensor]) -> Path:
    shapes = {name: _dynamic(value) for name, value in inputs.items()}
    with _quiet(), torch.no_grad():
        traced = torch.export.export(graph, (), kwargs=inputs, dynamic_shapes=shapes, strict=False)
        program = torch.onnx.export(traced, dynamo=True, verbose=False, custom_translation_table=_TRANSLATIONS)
        assert program is not None
        program.save(str(path))
    return path


def _dynamic(value: Tensor) -> dict[int, object]:
    """All sizes may change but the width of states, which is the last of what has one."""
    wide = value.dim() - 1 if value.is_floating_point() and value.dim() > 1 else None
    return {axis: torch.export.Dim.DYNAMIC for axis in range(value.dim()) if axis != wide}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The exporter warns of packages that have nothing to do with us."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
