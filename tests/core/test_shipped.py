"""Shipped models give the same answers by the compiled core, by torch, side by side, alone and live."""

from pathlib import Path

import pytest

from amn.answers import answers_of
from amn.core import boundary
from amn.data.examples import Example, examples
from amn.data.source import load_task
from amn.data.tasks import generate
from amn.inference.core import CoreMemory, core_of
from amn.inference.engine import CoreStories
from amn.inference.story_memory import Prediction, StoryMemory
from amn.inference.torch_batches import read_by_torch
from amn.inference.torch_memory import TorchMemory
from amn.inference.trained import TrainedModel
from amn.pretrained import shipped_models
from amn.store.find import find_model
from amn.store.model_directory import load_model

RELEASED = Path(__file__).parents[3] / "shared/data/babi-v1.2/en-valid-10k"
TASK_MODELS = [name for name in shipped_models() if name.removeprefix("qa").isdigit()]
LIVE = 3  # stories that torch is told live, which it is slow at

pytestmark = pytest.mark.skipif(boundary.library() is None, reason="the core was not built")


def given(trained: TrainedModel, found: Prediction, example: Example) -> list[tuple[str, int, int]]:
    asked = [" ".join(question) for question in example.questions]
    return [(one.answer, one.entities_read, one.banks_created) for one in answers_of(found, trained, asked, 1)]


def after(memory: StoryMemory, example: Example) -> Prediction:
    memory.ingest(example.sentences)
    return memory.read(1)


def assert_same_answers(name: str, told: list[Example]) -> None:
    trained = load_model(find_model(name))
    core = core_of(trained)
    assert core is not None
    right = [given(trained, *pair) for pair in zip(read_by_torch(trained, told, 1), told, strict=True)]
    together = CoreStories(core, told).read(1)
    assert [given(trained, *pair) for pair in zip(together, told, strict=True)] == right
    for number, example in enumerate(told):
        assert given(trained, after(CoreMemory(core, example.questions), example), example) == right[number]
        if number < LIVE:
            assert given(trained, after(TorchMemory(trained, example.questions), example), example) == right[number]


@pytest.mark.parametrize("name", TASK_MODELS)
def test_to_generated_questions(name: str) -> None:
    stories = generate(int(name.removeprefix("qa")), questions=20, seed=5)
    assert_same_answers(name, list(examples(stories, window=130)))


@pytest.mark.skipif(not RELEASED.is_dir(), reason="the released data is not here")
@pytest.mark.parametrize("name", TASK_MODELS)
def test_to_released_questions(name: str) -> None:
    stories = load_task(str(RELEASED), int(name.removeprefix("qa")), "valid")[:20]
    assert_same_answers(name, list(examples(stories, window=130))[:40])
