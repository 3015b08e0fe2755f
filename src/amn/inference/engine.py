"""The choice of implementation: the compiled core if it supports the model, else torch, which also uses a GPU."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Literal, Protocol, cast

import numpy as np

from amn.data.examples import Example, Words
from amn.data.reading_order import outward, outward_example
from amn.data.vocabulary import UNKNOWN
from amn.inference.core import ARCHITECTURE, Core, CoreMemory, Decoding, core_of
from amn.inference.gate import CoreJudge, Judge, TorchJudge
from amn.inference.story_memory import Prediction, StoryMemory
from amn.inference.trained import TrainedModel

if TYPE_CHECKING:
    from amn.models.amn import AMN

Engine = Literal["auto", "torch"]


class ToldStories(Protocol):
    """Stories that have been read and can be asked."""

    heard: int  # how many sentences they have, without those that a gate turned away

    def read(self, banks: int) -> list[Prediction]:
        """Predictions from some banks, the most relevant first; 0 for all."""

    def decode(self, banks: int) -> None:
        """Computes only the logits, for benchmarks."""


class CoreStories:
    """Stories read by the compiled core."""

    def __init__(self, core: Core, examples: Sequence[Example]) -> None:
        self.heard = sum(len(example.sentences) for example in examples)
        self._memories = [_told(core, example) for example in examples]
        self._decoding = cache(partial(Decoding, core, self._memories))  # for a number of banks

    def read(self, banks: int) -> list[Prediction]:
        return self._decoding(banks).found()

    def decode(self, banks: int) -> None:
        self._decoding(banks).run()


def _told(core: Core, example: Example) -> CoreMemory:
    """The memory of a whole story. Stories are read one after another, while their data is in the cache."""
    memory = CoreMemory(core, example.questions)
    memory.ingest(example.sentences)
    return memory


def open_gate(
    trained: TrainedModel, questions: Sequence[Words], engine: Engine = "auto", needs: bool = True
) -> Judge | None:
    """The gate that decides which sentences are let in for some questions; None if the model has no gate.

    With `needs` it also turns away facts that a question does not need, if the gate was trained for that.
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
    """A story without the sentences that the gate turns away for all of its questions."""
    gate = open_gate(trained, example.questions, engine)
    if gate is None:
        return example
    inside = np.flatnonzero(gate.judge(example.sentences).any(0)).tolist()
    return replace(example, sentences=tuple([example.sentences[place] for place in inside]), facts=())


def open_memory(trained: TrainedModel, questions: Sequence[Words]) -> StoryMemory:
    """An empty memory for some questions; with the core it is on the CPU, wherever the model is."""
    core = core_of(trained)
    if core is not None:
        return CoreMemory(core, questions)
    from amn.inference.torch_memory import TorchMemory, WholeMemory

    return (TorchMemory if trained.architecture == ARCHITECTURE else WholeMemory)(trained, questions)


def tell_stories(trained: TrainedModel, examples: Sequence[Example], engine: Engine = "auto") -> ToldStories:
    """Reads stories, without the sentences that the gate turns away."""
    examples = [let_in(trained, example, engine) for example in examples]
    core = core_of(trained) if engine == "auto" and not _pays_on_gpu(trained, len(examples)) else None
    if core is not None:
        return CoreStories(core, examples)
    from amn.inference.torch_batches import TorchStories

    return TorchStories(trained, examples)


def read_examples(trained: TrainedModel, examples: Sequence[Example], banks: int) -> list[Prediction]:
    """Reads stories, without the sentences that the gate turns away, and answers their questions."""
    if core_of(trained) is not None and not _pays_on_gpu(trained, len(examples)):
        return tell_stories(trained, examples).read(banks)
    from amn.inference.torch_batches import read_by_torch

    return read_by_torch(trained, [let_in(trained, example) for example in examples], banks)


def _pays_on_gpu(trained: TrainedModel, stories: int) -> bool:
    """A GPU reads several stories faster; a single one is faster on the CPU."""
    return stories > 1 and trained.device_type == "cuda"


def in_order(trained: TrainedModel, example: Example) -> Example:
    """The example with its sentences in the order in which the model reads them."""
    if trained.training.train.order == "told":
        return example
    return outward_example(example, _linking_words(trained, example.sentences))


def order_of(trained: TrainedModel, sentences: Sequence[Words], question: Words) -> Sequence[int]:
    """The indices of sentences in the order in which the model reads them for a question."""
    if trained.training.train.order == "told":
        return range(len(sentences))
    return outward(sentences, question, _linking_words(trained, sentences))


def _linking_words(trained: TrainedModel, sentences: Sequence[Words]) -> frozenset[str]:
    """The words that link sentences: the names from training, and unknown words."""
    unknown = {word for word in chain.from_iterable(sentences) if trained.vocabulary.word_id(word) == UNKNOWN}
    return trained.training.names | unknown
