"""The fast path is the model: the same logits, banks and counts, for stories alone and side by side."""

from pathlib import Path

import numpy as np
import pytest
import torch
from amn.fast.stories import Stories
from amn.fast.weights import Cell, Weights, array, product, products, weights_of
from amn.inference.reading import found_in, read_alone, read_batch

from amn.api import load
from amn.data.examples import Example, examples
from amn.data.source import load_task
from amn.data.tasks import generate
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.amn import AMN
from amn.models.base import GRU
from amn.pretrained import shipped_models
from random_stories import VOCABULARY, assert_same_found, random_examples, shaken, story, with_unknown_words

RELEASED = Path(__file__).parents[2] / "shared/data/babi-v1.2/en-valid-10k"
SETTINGS = {"hidden": 16, "heads": 2, "max_banks": 4}


def trained(seed: int, *, pointer: bool = False) -> TrainedModel:
    model = build_model("amn", VOCABULARY, {**SETTINGS, "pointer": pointer}, seed).eval()
    shaken(model, seed)
    return TrainedModel.of(architecture="amn", model=model.double(), vocabulary=VOCABULARY)


def amn_of(model: TrainedModel) -> AMN:
    assert isinstance(model.model, AMN)
    return model.model


def assert_same(model: TrainedModel, told: list[Example], banks: int) -> None:
    reading = read_batch(model, told, banks)
    found = Stories(Weights(amn_of(model)), VOCABULARY, told).read(banks)
    assert len(found) == len(told)
    for i, (example, one) in enumerate(zip(told, found, strict=True)):
        expected = found_in(reading, VOCABULARY, i, example)
        one = type(one)(
            one.logits[: len(example.questions)], one.words, one.entities, expected.entities_read, one.banks
        )
        assert_same_found(one, expected, 1e-9)
        assert_same_found(read_alone(amn_of(model), VOCABULARY, example, banks), expected, 1e-9)


@pytest.mark.parametrize("banks", [1, 2, 0])
@pytest.mark.parametrize("pointer", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_stories_of_any_length_get_the_logits_of_the_model(seed: int, pointer: bool, banks: int) -> None:
    assert_same(trained(seed, pointer=pointer), random_examples(12, seed=seed, sentences=9), banks)


def test_unknown_repeated_and_missing_words() -> None:
    model = trained(1, pointer=True)
    assert_same(model, [story("mary"), story("zoe xu yo xu", "xu", question="xu xu yo"), story("the the the")], banks=1)
    assert_same(model, [story(question="mary")], banks=1)


@pytest.mark.parametrize("banks", [1, 0])
@pytest.mark.parametrize("seed", range(3))
def test_unknown_words_are_told_apart_as_the_model_does(seed: int, banks: int) -> None:
    assert_same(trained(seed, pointer=True), with_unknown_words(12, seed=seed, sentences=9), banks)


def test_of_unknown_words_that_share_a_vector_the_one_told_last_may_be_the_answer() -> None:
    sentences = [f"name{i} went to the garden" for i in range(70)]
    told = [story(*sentences, "name2 went", question="where is name3"), story(*sentences[:9])]
    model = trained(2, pointer=True)
    assert_same(model, told, banks=1)
    words = set(read_alone(amn_of(model), VOCABULARY, told[0], 1).words)
    shared = {"name3": "name64", "name0": "name65", "name1": "name66", "name67": "name2"}  # the question comes first
    shared |= {"name4": "name68", "name5": "name69"}
    assert words == {"went", "to", "the", "garden", *(f"name{i}" for i in range(70))} - set(shared)


def test_some_memories_have_several_banks_and_some_are_read_in_part() -> None:
    found = Stories(Weights(amn_of(trained(1))), VOCABULARY, random_examples(12, seed=1, sentences=9)).read(1)
    assert len({one.banks for one in found}) > 1
    assert any(one.entities_read[0] < one.entities for one in found)


def test_changed_weights_are_seen() -> None:
    model = amn_of(trained(0))
    before = weights_of(model)
    assert weights_of(model) is before
    with torch.no_grad():
        model.create.bias.add_(1)
    assert weights_of(model).create_bias == pytest.approx(before.create_bias + 1)
    assert weights_of(model.float()).dtype == np.float32


@pytest.mark.parametrize("rows", [3, 600])
def test_small_and_large_products_and_cells_are_those_of_torch(rows: int) -> None:
    gru = GRU(12, 64).double()
    shaken(gru)
    inputs, states = torch.randn(rows, 12, dtype=torch.double), torch.randn(rows, 64, dtype=torch.double)
    with torch.no_grad():
        expected = gru(gru.input(inputs), states)
    cell = Cell(gru)
    np.testing.assert_allclose(cell(cell.project(inputs.numpy()), states.numpy()), expected.numpy(), atol=1e-12)
    weight = array(gru.state.weight).T.copy()
    np.testing.assert_allclose(product(states.numpy(), weight), states.numpy() @ weight, atol=1e-12)
    np.testing.assert_allclose(products(states.numpy(), weight[None])[0], states.numpy() @ weight, atol=1e-12)


def differing(name: str, told: list[Example]) -> int:
    """How many questions a shipped model answers otherwise by its fast path, side by side or alone."""
    model = load(name).trained
    classes = len(model.vocabulary.answers)
    expected = read_batch(model, told, banks=1).logits[:, 0, :classes].argmax(-1).tolist()
    together = Stories(weights_of(amn_of(model)), model.vocabulary, told).read(1)
    alone = [read_alone(amn_of(model), model.vocabulary, example, 1) for example in told]
    given = [
        (int(one.logits[0, :classes].argmax()), int(two.logits[0, :classes].argmax()))
        for one, two in zip(together, alone, strict=True)
    ]
    return sum(pair != (right, right) for pair, right in zip(given, expected, strict=True))


TASK_MODELS = [name for name in shipped_models() if name.removeprefix("qa").isdigit()]


@pytest.mark.parametrize("name", TASK_MODELS)
def test_shipped_models_give_the_same_answers_to_generated_questions(name: str) -> None:
    told = list(examples(generate(int(name.removeprefix("qa")), questions=20, seed=5), window=130))
    assert differing(name, told) == 0


@pytest.mark.skipif(not RELEASED.is_dir(), reason="the released data is not here")
@pytest.mark.parametrize("name", TASK_MODELS)
def test_shipped_models_give_the_same_answers_to_released_questions(name: str) -> None:
    stories = load_task(str(RELEASED), int(name.removeprefix("qa")), "valid")[:20]
    assert differing(name, list(examples(stories, window=130))[:60]) == 0
