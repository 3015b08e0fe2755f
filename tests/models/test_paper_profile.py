"""Profile `paper`, batched, against the literal transcription of Algorithm 1: outputs, losses and gradients."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional as F

import reference_amn
from amn.data.batches import Batch, Sizes, encode
from amn.models import MODELS
from amn.models.base import Reading
from amn.models.paper.model import PaperAMN, PaperConfig
from models.conformance import parts_of
from random_stories import VOCABULARY, batch_of, random_examples, story

HIDDEN, MAX_BANKS, CAPACITY, STORIES = 5, 4, 6, 6
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-9}
KEYS = [None, 1, 2]


def paper_model(seed: int = 0, *, eager: float = 0.5) -> PaperAMN:
    """A small model with random weights that likes to create banks."""
    config = PaperConfig(
        vocabulary_size=len(VOCABULARY.words),
        num_answers=len(VOCABULARY.answers),
        hidden=HIDDEN,
        max_banks=MAX_BANKS,
        capacity=CAPACITY,
    )
    model = PaperAMN(config).double()
    generator = torch.Generator().manual_seed(seed)
    model.initialise(generator)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype) * 0.3)
        model.create.bias.fill_(eager)
    return model


def keyed(batch: Batch, key: int | None) -> Batch:
    return replace(batch, key=None if key is None else torch.tensor(key))


def answer_losses(logits: Tensor, answers: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, -2), answers.flatten(), ignore_index=-1, reduction="sum")


def total(reading: Reading, batch: Batch) -> Tensor:
    secondary = sum((loss.sum() for loss in reading.losses.values()), torch.zeros(()))
    return answer_losses(reading.logits, batch.answers) + secondary


def reference_total(told: list[reference_amn.Told], batch: Batch) -> Tensor:
    loss = torch.zeros((), dtype=torch.float64)
    for i, one in enumerate(told):
        loss = loss + answer_losses(one.logits, batch.answers[i, : len(one.logits)])
        if batch.key is not None:
            loss = loss + one.losses["relevance"] + one.losses["creation"]
    return loss


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("seed", [0, 1])
def test_outputs_agree_with_the_literal_algorithm(seed: int, key: int | None) -> None:
    model, batch = paper_model(seed), keyed(batch_of(random_examples(STORIES, seed=seed)), key)
    reading, told = model(batch, banks=0), reference_amn.read(model, batch)
    for i, one in enumerate(told):
        torch.testing.assert_close(reading.logits[i, : len(one.logits)], one.logits, **CLOSE)
        for name, loss in reading.losses.items():
            torch.testing.assert_close(loss[i], one.losses[name], **CLOSE)
    assert reading.banks.tolist() == [len(one.banks) for one in told]
    assert reading.entities.tolist() == [len(one.banks[0]) for one in told]
    assert reading.entities_read[:, 0].tolist() == [one.entities_read for one in told]


@pytest.mark.parametrize("key", KEYS)
def test_gradients_agree_with_the_literal_algorithm(key: int | None) -> None:
    model, batch = paper_model(), keyed(batch_of(random_examples(STORIES, seed=5)), key)
    parameters = dict(model.named_parameters())
    fast = torch.autograd.grad(total(model(batch, banks=0), batch), list(parameters.values()), allow_unused=True)
    slow_loss = reference_total(reference_amn.read(model, batch), batch)
    slow = torch.autograd.grad(slow_loss, list(parameters.values()), allow_unused=True)
    for name, one, other in zip(parameters, fast, slow, strict=True):
        zeros = torch.zeros_like(parameters[name])
        torch.testing.assert_close(
            zeros if one is None else one, zeros if other is None else other, msg=f"{name} differs", **CLOSE
        )


@pytest.mark.parametrize("banks", [1, 2])
def test_reading_few_banks_agrees_with_the_literal_algorithm(banks: int) -> None:
    model, batch = paper_model(), batch_of(random_examples(STORIES, seed=3))
    reading, told = model(batch, banks=banks), reference_amn.read(model, batch, banks)
    for i, one in enumerate(told):
        torch.testing.assert_close(reading.logits[i, : len(one.logits)], one.logits, **CLOSE)
    assert reading.entities_read[:, 0].tolist() == [one.entities_read for one in told]


def test_the_random_stories_are_worth_the_comparison() -> None:
    examples = random_examples(STORIES, seed=5)
    banks = paper_model()(keyed(batch_of(examples), 1)).banks
    assert banks.max() == MAX_BANKS
    assert len(set(banks.tolist())) > 1
    assert len({len(example.sentences) for example in examples}) > 2
    assert len({len(example.questions) for example in examples}) == 3
    assert any(len({w for s in example.sentences for w in s}) > CAPACITY for example in examples)


def test_an_example_alone_gives_what_it_gives_in_a_batch() -> None:
    model, examples = paper_model(), random_examples(STORIES, seed=7)
    together = model(batch_of(examples), banks=0)
    for i, example in enumerate(examples):
        alone = model(batch_of([example]), banks=0)
        torch.testing.assert_close(alone.logits[0], together.logits[i, : len(example.questions)], **CLOSE)
        assert alone.entities_read[0, 0] == together.entities_read[i, 0]
        assert alone.banks[0] == together.banks[i]


def test_padding_never_changes_an_answer() -> None:
    model, examples = paper_model(), random_examples(STORIES, seed=8)
    tight = encode(examples, VOCABULARY)
    room = Sizes(slots=20, sentences=9, words=8, members=9, questions=5, question_words=6)
    wide = encode(examples, VOCABULARY, room)
    every = torch.arange(STORIES)
    narrow_reading, wide_reading = (model(data.take(every, data.sizes.sentences)) for data in (tight, wide))
    questions = narrow_reading.logits.shape[1]
    torch.testing.assert_close(wide_reading.logits[:, :questions], narrow_reading.logits, **CLOSE)


def test_the_same_key_draws_the_same_and_inference_draws_nothing() -> None:
    model, batch = paper_model(), batch_of(random_examples(STORIES, seed=9))
    assert torch.equal(model(keyed(batch, 4)).logits, model(keyed(batch, 4)).logits)
    assert not torch.equal(model(keyed(batch, 4)).logits, model(keyed(batch, 5)).logits)
    assert torch.equal(model(batch).logits, model(batch).logits)
    assert model(batch).losses == {}


def test_every_parameter_learns() -> None:
    model, batch = paper_model(), keyed(batch_of(random_examples(STORIES, seed=5)), 1)
    total(model(batch), batch).backward()
    assert [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []


def test_models_stacked_in_a_fleet_learn_what_each_learns_alone() -> None:
    models = [paper_model(seed) for seed in (0, 1)]
    examples = random_examples(STORIES, seed=5)
    batches = [keyed(batch_of(part), key) for key, part in enumerate((examples, examples[::-1]))]
    stacked = {name: torch.stack([getattr(batch, name) for batch in batches]) for name in parts_of(batches[0])}
    parameters, _ = stack_module_state(models)

    def loss(weights: dict[str, Tensor], parts: dict[str, Tensor]) -> Tensor:
        batch = Batch(**parts)
        return total(functional_call(models[0], weights, (batch,)), batch)

    fleet = vmap(grad(loss))({name: value.detach() for name, value in parameters.items()}, stacked)
    for i, (model, batch) in enumerate(zip(models, batches, strict=True)):
        total(model(batch), batch).backward()
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(fleet[name][i], parameter.grad, **CLOSE)


def test_a_story_of_nothing_and_a_question_of_nothing_get_finite_answers() -> None:
    model = paper_model()
    empty = replace(story("mary went"), sentences=(), questions=((),))
    for key in KEYS:
        reading = model(keyed(batch_of([empty, story("mary went to the garden")]), key))
        assert reading.logits.isfinite().all()
        assert all(loss.isfinite().all() for loss in reading.losses.values())


def test_it_is_among_the_models() -> None:
    assert MODELS["amn-paper"] is PaperAMN
