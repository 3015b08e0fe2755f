"""Models on a GPU are played back from recordings, and say what they say without."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from amn.data.batches import Batch, Sizes, encode
from amn.inference import recorded
from amn.inference.recorded import Results, read_recorded
from amn.inference.torch_batches import read_batch, roomy_batch
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.base import Model, Reading
from random_stories import VOCABULARY, random_examples, shaken, with_unknown_words

ROOM = Sizes(slots=24, sentences=6, words=5, members=14, questions=3, question_words=3)


def trained(name: str = "amn", **settings: Any) -> TrainedModel:
    model = build_model(name, VOCABULARY, {"hidden": 16, **settings}, 0).eval()
    shaken(model, 0)
    return TrainedModel.of(name, model, VOCABULARY)


def batch_of(count: int, seed: int = 0) -> Batch:
    """Stories in a batch whose shape depends on their number alone."""
    return encode(random_examples(count, seed=seed), VOCABULARY, ROOM).take(torch.arange(count), 6)


def assert_same(found: Reading, expected: Reading, stories: int, classes: int = len(VOCABULARY.answers)) -> None:
    questions = expected.logits.shape[1]
    torch.testing.assert_close(
        found.logits[:stories, :questions, :classes].cpu(), expected.logits[..., :classes].cpu(), atol=1e-4, rtol=1e-4
    )
    for name in ("entities", "entities_read", "banks"):
        one, other = getattr(found, name).cpu(), getattr(expected, name).cpu()
        torch.testing.assert_close(one[tuple(map(slice, other.shape))], other)


@pytest.mark.parametrize("pointer", [False, True])
@pytest.mark.parametrize("count", [1, 3, 5, 12, 13])
def test_room_to_spare_changes_nothing(count: int, pointer: bool) -> None:
    model, told = trained(pointer=pointer), with_unknown_words(count, seed=count)
    with torch.inference_mode():
        found = model.model(roomy_batch(model, told))
    assert_same(found, read_batch(model, told, 1), count)


def test_batches_of_like_sizes_have_one_shape() -> None:
    model = trained()
    shapes = {tuple(roomy_batch(model, random_examples(count, seed=9)).members.shape) for count in range(9, 13)}
    assert {shape[0] for shape in shapes} == {12}
    assert len(shapes) < 4


class Replayed:
    """Stands in for a recording where there is no GPU."""

    made: list["Replayed"]

    def __init__(self, function: Callable[..., Results], inputs: Sequence[Tensor], pool: Any = None) -> None:
        self._function, self.inputs, self.given = function, inputs, pool
        self.pool = object()
        self.plays = 0
        self.made.append(self)

    def __call__(self, *inputs: Tensor) -> Results:
        self.plays += 1
        return self._function(*inputs)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Replayed]:
    Replayed.made = []
    monkeypatch.setattr(recorded, "Recording", Replayed)
    return Replayed.made


def test_a_shape_is_recorded_when_it_is_met_again(made: list[Replayed]) -> None:
    model = trained().model
    for turn, (recordings, plays) in enumerate([(0, []), (1, [1]), (1, [2])]):
        batch = batch_of(4, seed=turn)
        assert_same(read_recorded(model, batch), model(batch), 4)
        assert len(made) == recordings
        assert [one.plays for one in made] == plays


def test_other_shapes_and_banks_have_their_own_and_share_their_memory(made: list[Replayed]) -> None:
    model = trained().model
    for batch in (batch_of(4), batch_of(5)):
        for banks in (1, 0):
            for _ in range(2):
                assert_same(read_recorded(model, batch, banks), model(batch, banks=banks), len(batch.weights))
    assert len(made) == 4
    assert [one.given for one in made] == [None] + [made[0].pool] * 3


def test_the_oldest_is_forgotten_and_made_anew(made: list[Replayed], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "_MOST", 2)
    model = trained().model
    for count in (3, 4, 5, 3):
        for _ in range(2):
            read_recorded(model, batch_of(count))
    assert [one.inputs[0].shape[0] for one in made] == [3, 4, 5, 3]


def test_weights_in_another_place_are_recorded_anew(made: list[Replayed]) -> None:
    model = trained().model
    for _ in range(2):
        for _ in range(2):
            read_recorded(model, batch_of(3))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.data = parameter.data.clone()
    assert len(made) == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("name", ["amn", "entnet", "dmn-plus", "memn2n", "encdec"])
def test_a_gpu_plays_back_what_it_recorded(name: str) -> None:
    model: Model = trained(name).model
    expected = [model(batch_of(6, seed)) for seed in range(3)]
    model.cuda()
    for seed in (0, 0, 1, 2, 0):
        with torch.inference_mode():
            assert_same(read_recorded(model, batch_of(6, seed)), expected[seed], 6)


def test_the_tokens_of_answers_are_played_back_too(made: list[Replayed]) -> None:
    model, batch = trained(pointer=True, items=3), batch_of(4)
    with torch.inference_mode():
        expected = model.model(batch).tokens
    assert expected is not None
    for _ in range(3):
        torch.testing.assert_close(read_recorded(model.model, batch).tokens, expected)
    assert made[0].plays == 2
