"""What tests of the compiled core share: memories by it and by torch, and whether both find the same."""

from collections.abc import Sequence

from amn.data.examples import Example
from amn.inference.core import Core, CoreMemory, core_of
from amn.inference.engine import CoreStories, read_examples
from amn.inference.story_memory import Prediction
from amn.inference.torch_batches import read_by_torch
from amn.inference.torch_memory import TorchMemory
from amn.inference.trained import TrainedModel
from random_stories import assert_same_found

BANKS = (1, 2, 0)


def core_for(trained: TrainedModel) -> Core:
    core = core_of(trained)
    assert core is not None
    return core


def live(trained: TrainedModel, example: Example, *, one_by_one: bool = True) -> CoreMemory:
    memory = CoreMemory(core_for(trained), example.questions)
    if one_by_one:
        for sentence in example.sentences:
            memory.tell(sentence)
    else:
        memory.ingest(example.sentences)
    return memory


def by_torch(trained: TrainedModel, example: Example) -> TorchMemory:
    memory = TorchMemory(trained, example.questions)
    memory.ingest(example.sentences)
    return memory


def assert_as_torch(trained: TrainedModel, told: Sequence[Example], tolerance: float = 1e-4) -> list[Prediction]:
    """Alone, side by side and live; gives what was found side by side, in the last bank."""
    together = CoreStories(core_for(trained), told)
    memories = [live(trained, example) for example in told]
    for banks in BANKS:
        expected, found = read_by_torch(trained, told, banks), together.read(banks)
        for example, right, one, memory in zip(told, expected, found, memories, strict=True):
            assert_same_found(one, right, tolerance)
            assert_same_found(read_examples(trained, [example], banks)[0], one, 1e-6)
            assert_same_found(memory.read(banks), one, 1e-6)
    return together.read(1)
