"""What a live memory costs as it grows: time of a sentence and of an answer, and bytes of an entity."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from random import Random
from statistics import median
from typing import Any

import torch
from torch import Tensor

from amn.bench.streaming import resident
from amn.bench.timing import report, seconds_of
from amn.data.examples import Words
from amn.data.vocabulary import Vocabulary
from amn.inference.engine import open_memory
from amn.inference.story_memory import StoryMemory
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.amn import AMN
from amn.models.rivals.entnet import DynamicMemory, EntNet

NAMES_A_SENTENCE = 16  # new names in a sentence that fills the memory
_WARM_UP = 3


def bench_scale(
    model: AMN, trained: TrainedModel, *, sizes: Sequence[int], sentences: int, seed: int = 0
) -> dict[str, Any]:
    """Fills memories with ever more entities, and times so many further sentences and answers of each size."""
    rows = []
    for entities in sizes:
        rows.append(_live_row(trained, entities, sentences, seed))
        rows.append(_entnet_row(model, trained.vocabulary, entities, sentences))
        rows.append(_attention_row(model, entities, sentences))
    return report("scale", rows)


def names(seed: int) -> Iterator[str]:
    """Ever new names, of people and places that no training data holds."""
    syllables = ["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "zu", "xa"]
    Random(seed).shuffle(syllables)
    for number in count(len(syllables) ** 2):
        digits = []
        while number:
            number, digit = divmod(number, len(syllables))
            digits.append(syllables[digit])
        yield "".join(digits)


def _live_row(trained: TrainedModel, entities: int, sentences: int, seed: int) -> dict[str, Any]:
    known = list(islice(names(seed), entities))
    before = resident("VmRSS")
    memory = open_memory(trained, [("where", "is", known[0])])
    _fill(memory, known)
    grown = resident("VmRSS") - before
    rng = Random(seed)
    tellings = [(rng.choice(known), "went", "to", "the", rng.choice(known)) for _ in range(sentences + _WARM_UP)]
    touched: list[int] = []

    def tell(sentence: Words) -> None:
        touched.append(len(memory.tell(sentence).strengths))

    row = _timings("amn", memory.entities, [partial(tell, told) for told in tellings], lambda: memory.read(1))
    return row | {
        "bytes_per_entity": memory.nbytes / memory.entities,
        "resident_bytes_per_entity": grown / memory.entities,
        "entities_updated": sum(touched) / max(1, len(touched)),
        "entities_read": float(memory.read(1).entities_read[0]),
    }


def _fill(memory: StoryMemory, known: Sequence[str]) -> None:
    """Tells of all names, the one that is asked for first and last."""
    memory.ingest([(known[0], "went", "to", "the", known[1])])
    for start in range(0, len(known), NAMES_A_SENTENCE):
        memory.ingest([(*known[start : start + NAMES_A_SENTENCE], "went", "to", "the", known[1])])


def _timings(
    model: str, entities: int, tellings: Sequence[Callable[[], object]], ask: Callable[[], object]
) -> dict[str, Any]:
    told = [seconds_of(telling) for telling in tellings][_WARM_UP:]
    asked = [seconds_of(ask) for _ in tellings][_WARM_UP:]
    return {
        "model": model,
        "entities": entities,
        "seconds_per_sentence": median(told),
        "seconds_per_answer": median(asked),
    }


@torch.inference_mode()
def _entnet_row(model: AMN, vocabulary: Vocabulary, entities: int, sentences: int) -> dict[str, Any]:
    """EntNet with a slot for each entity: all of them change with each sentence, and are read for each answer."""
    rival = build_model("entnet", vocabulary, {"hidden": model.config.hidden, "num_slots": entities}).eval()
    assert isinstance(rival, EntNet)
    keys = rival.keys()
    told = DynamicMemory(torch.nn.functional.normalize(keys, dim=-1).unsqueeze(0), keys)
    statement, question = torch.randn(1, model.config.hidden), torch.randn(1, 1, model.config.hidden)

    def tell() -> Tensor:
        with torch.inference_mode():
            return rival.step(told.memories, told.keys, statement)

    times = _few(sentences, entities)
    row = _timings("entnet", entities, [tell] * times, lambda: rival.decode(told.memories, question))
    held = told.memories.nbytes + told.keys.nbytes
    return row | {"bytes_per_entity": held / entities, "entities_updated": entities, "entities_read": entities}


@torch.inference_mode()
def _attention_row(model: AMN, entities: int, sentences: int) -> dict[str, Any]:
    """Plain attention: a sentence writes a row, an answer attends over all rows."""
    hidden = model.config.hidden
    table, question, new = torch.randn(entities, hidden), torch.randn(1, hidden), torch.randn(hidden)

    def tell() -> None:
        table[entities // 2] = new

    def ask() -> Tensor:
        return model.decoder.answer(torch.softmax(question @ table.T, -1) @ table + question)

    row = _timings("attention over all", entities, [tell] * _few(sentences, entities), ask)
    return row | {"bytes_per_entity": table.nbytes / entities, "entities_updated": 1, "entities_read": entities}


def _few(sentences: int, entities: int) -> int:
    """Fewer repeats of what takes long."""
    return _WARM_UP + max(3, min(sentences, 1_000_000 // entities))
