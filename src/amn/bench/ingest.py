"""What it costs to go from a story to an answer, against other models of equal width, in time and in work."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from amn.bench.timing import measure, report
from amn.core import boundary
from amn.data.batches import Batch, encode
from amn.data.examples import Example
from amn.data.vocabulary import Vocabulary
from amn.inference.engine import read_examples
from amn.inference.recorded import read_recorded
from amn.inference.trained import TrainedModel
from amn.models import MODELS, build_model
from amn.models.amn import AMN
from amn.models.base import Model, Reading

RIVALS = ("entnet", "dmn-plus", "memn2n", "encdec")
REFERENCE = "entnet"  # times are given relative to it, as torch runs it
CORE = "amn core"
ENCODING = "encoding"  # words as numbers and the word graph, which only the default model needs

Answers = Callable[[Sequence[Example]], Tensor]  # from stories to a class for each


@dataclass(frozen=True)
class Contest:
    """Who competes on what."""

    model: AMN  # the model that is compared, of the default profile
    vocabulary: Vocabulary  # the words that all know
    examples: Sequence[Example]  # stories with a question each
    batches: Sequence[int] = (1, 256)  # how many stories are read together
    device: torch.device | str = "cpu"  # where the models run; the compiled core runs on a CPU


def bench_ingest(contest: Contest, *, repeats: int) -> dict[str, Any]:
    """Times story to answer, for each model and batch."""
    models: dict[str, Model] = {"amn": deepcopy(contest.model).to(contest.device)}
    models |= {name: _rival(name, contest) for name in RIVALS}
    rows = [row for batch in contest.batches for row in _rows(contest, models, batch, repeats)]
    return report("ingest", rows, contest.device)


def _rival(name: str, contest: Contest) -> Model:
    """A rival as wide as the model; untrained, since weights do not change what it costs."""
    wide = {"hidden", "embedding"} & {f.name for f in fields(MODELS[name].Config)}
    settings = dict.fromkeys(wide, contest.model.config.hidden)
    return build_model(name, contest.vocabulary, settings).eval().to(contest.device)


def _rows(contest: Contest, models: dict[str, Model], size: int, repeats: int) -> list[dict[str, Any]]:
    examples = list(contest.examples[:size])
    runs: dict[str, Callable[[], object]] = {}
    for name, model in models.items():
        runs[name] = partial(answers, model, contest.vocabulary, examples, contest.device)
    paths = {CORE: _by_core(contest)} if boundary.library() else {}
    ways = paths | _recorded(models, contest)
    runs |= {name: partial(way, examples) for name, way in ways.items()}
    runs[ENCODING] = partial(_batch, examples, contest.vocabulary, "cpu")
    times = measure(runs, repeats=repeats, device=contest.device)
    rows = []
    for name, timing in times.items():
        row = {"model": name, "batch": len(examples), "seconds": timing.seconds, "spread": timing.spread}
        row["relative"] = timing.seconds / times[REFERENCE].seconds
        if name in models:
            row |= work(models[name], _batch(examples, contest.vocabulary, contest.device))
        elif name in ways:
            same = models[REFERENCE if name.startswith(REFERENCE) else "amn"]
            expected = answers(same, contest.vocabulary, examples, contest.device)
            row["same_answers"] = float((ways[name](examples) == expected).double().mean())
        rows.append(row | {"device": "cpu" if name in (*paths, ENCODING) else str(contest.device)})
    return rows


def _recorded(models: dict[str, Model], contest: Contest) -> dict[str, Answers]:
    """On a GPU, models that are played back from recordings."""
    if torch.device(contest.device).type != "cuda":
        return {}
    return {
        f"{name} recorded": partial(answers, models[name], contest.vocabulary, read=read_recorded)
        for name in ("amn", REFERENCE)
    }


def _by_core(contest: Contest) -> Answers:
    """The compiled core, which answers users on a CPU."""
    trained = TrainedModel.of("amn", contest.model, contest.vocabulary)
    classes = len(contest.vocabulary.answers)

    def answer(examples: Sequence[Example]) -> Tensor:
        return torch.tensor([int(one.logits[0, 0, :classes].argmax()) for one in read_examples(trained, examples, 1)])

    return answer


def _batch(
    examples: Sequence[Example], vocabulary: Vocabulary, device: torch.device | str, graph: bool = True
) -> Batch:
    return encode(examples, vocabulary, graph=graph).take(torch.arange(len(examples))).to(device)


@torch.inference_mode()
def answers(
    model: Model,
    vocabulary: Vocabulary,
    examples: Sequence[Example],
    device: torch.device | str = "cpu",
    read: Callable[[Model, Batch], Reading] = Model.__call__,
) -> Tensor:
    """The class of the first question of each story, from its words; a rival needs no word graph, so none is built."""
    batch = _batch(examples, vocabulary, device, graph=model.needs_graph)
    logits = read(model, batch).logits
    return logits[:, 0, : model.config.num_answers].argmax(-1).cpu()


@torch.no_grad()  # operations cannot be counted in inference mode
def work(model: Model, batch: Batch) -> dict[str, float | None]:
    """What a sentence costs, without a clock: entities updated, pairs that attend, multiplications and additions.

    Only models that update entities have the first two; padding counts among the operations, as it is computed.
    """
    with FlopCounterMode(display=False) as counter:
        model(batch)
    sentences = float(batch.sentence_mask.sum())
    updated: float | None = None
    pairs: float | None = None
    if model.needs_graph:
        updated, pairs = float((batch.members > 0).sum()) / sentences, float((batch.edges > 0).sum()) / sentences
    elif model.num_slots is not None:
        updated, pairs = float(model.num_slots), 0.0
    return {
        "entities_updated": updated,
        "attention_pairs": pairs,
        "operations_per_sentence": counter.get_total_flops() / sentences,
    }
