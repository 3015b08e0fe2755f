"""Who reads: the compiled core where there is one for a model, torch where there is none or a GPU does better."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, Protocol, cast

import numpy as np

from amn.data.examples import Example, Words
from amn.inference.core import ARCHITECTURE, Core, CoreMemory, Decoding, core_of
from amn.inference.found import Found, StoryMemory
from amn.inference.gate import CoreJudge, Judge, TorchJudge
from amn.inference.trained import TrainedModel

if TYPE_CHECKING:
    from amn.models.amn import AMN

Engine = Literal["auto", "torch"]


class ToldStories(Protocol):
    """Stories that were read to their ends, ready to be asked."""

    heard: int  # how many sentences they were told, without those that a gate turned away

    def read(self, banks: int) -> list[Found]:
        """Answers from some banks, the most relevant first; 0 for all."""

    def decode(self, banks: int) -> None:
        """The logits of such answers and no more, to be timed."""


class CoreStories:
    """Stories that the compiled core has read."""

    def __init__(self, core: Core, examples: Sequence[Example]) -> None:
        self.heard = sum(len(example.sentences) for example in examples)
        self._memories = [_told(core, example) for example in examples]
        self._decoding = cache(partial(Decoding, core, self._memories))  # for a number of banks

    def read(self, banks: int) -> list[Found]:
        return self._decoding(banks).found()

    def decode(self, banks: int) -> None:
        self._decoding(banks).run()


def _told(core: Core, example: Example) -> CoreMemory:
    """The memory of a story that was read to its end; one after another, while what each needs is in the cache."""
    memory = CoreMemory(core, example.questions)
    memory.hear(example.sentences)
    return memory


def open_gate(
    trained: TrainedModel, questions: Sequence[Words], engine: Engine = "auto", needs: bool = True
) -> Judge | None:
    """What judges the sentences of a text for some questions; None where the model has no gate and all are let in.

    With `needs` it turns away facts that a question does not need too, where the gate can tell.
    """
    if not trained.config.get("gate"):
        return None
    core = core_of(trained) if engine == "auto" else None
    if core is not None:
        return CoreJudge(core, questions, needs)
    gate = cast("AMN", trained.model).gate
    assert gate is not None
    return TorchJudge(gate, trained.numbers, questions, needs)


def let_in(trained: TrainedModel, example: Example, engine: Engine = "auto") -> Example:
    """A story without the sentences that none of its questions lets in."""
    gate = open_gate(trained, example.questions, engine)
    if gate is None:
        return example
    inside = np.flatnonzero(gate.judge(example.sentences).any(0)).tolist()
    return replace(example, sentences=tuple([example.sentences[place] for place in inside]), facts=())


def open_memory(trained: TrainedModel, questions: Sequence[Words]) -> StoryMemory:
    """An empty memory for some questions. It is on the CPU where the core reads it, wherever the model is."""
    core = core_of(trained)
    if core is not None:
        return CoreMemory(core, questions)
    from amn.inference.torch_memory import TorchMemory, WholeMemory

    return (TorchMemory if trained.architecture == ARCHITECTURE else WholeMemory)(trained, questions)


def tell_stories(trained: TrainedModel, examples: Sequence[Example], engine: Engine = "auto") -> ToldStories:
    """Reads stories to their ends; what the gate turns away is not told."""
    examples = [let_in(trained, example, engine) for example in examples]
    core = core_of(trained) if engine == "auto" and not _pays_on_gpu(trained, len(examples)) else None
    if core is not None:
        return CoreStories(core, examples)
    from amn.inference.torch_batches import TorchStories

    return TorchStories(trained, examples)


def read_examples(trained: TrainedModel, examples: Sequence[Example], banks: int) -> list[Found]:
    """Reads stories and answers their questions; what the gate turns away is not told."""
    if core_of(trained) is not None and not _pays_on_gpu(trained, len(examples)):
        return tell_stories(trained, examples).read(banks)
    from amn.inference.torch_batches import read_by_torch

    return read_by_torch(trained, [let_in(trained, example) for example in examples], banks)


def _pays_on_gpu(trained: TrainedModel, stories: int) -> bool:
    """A GPU reads several stories faster; a single one is faster on the CPU."""
    return stories > 1 and trained.device_type == "cuda"
