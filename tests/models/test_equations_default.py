"""Facts about the equations of the paper as profile `default` has them; `test_equations.py` has those it shares."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from amn.data.batches import Batch
from amn.models.amn import AMN, AMNConfig, Memory
from random_stories import VOCABULARY, batch_of, random_examples, shaken, story

HIDDEN, BANKS, STORIES = 6, 4, 6
SIZES: dict[str, Any] = {
    "vocabulary_size": len(VOCABULARY.words),
    "num_answers": len(VOCABULARY.answers),
    "hidden": HIDDEN,
}
TOLD = story("mary went to the garden", "john took the milk", "mary took the milk", "john went to the office")
BY_SLOT = ("states", "strengths", "relevance", "depth")


@pytest.fixture
def default() -> AMN:
    model = AMN(AMNConfig(**SIZES, heads=2, max_banks=BANKS))
    shaken(model)
    with torch.no_grad():
        model.create.bias.fill_(1.0)
    return model


def steps(model: AMN, batch: Batch) -> list[Memory]:
    encoding = model.encoder(batch)
    memories = [model.start(batch, encoding)]
    for sentence in model.sentences(batch, encoding, 1.0):
        memories.append(model.step(memories[-1], sentence, encoding.questions)[0])
    return memories


def trained_on(examples: int = STORIES) -> Batch:
    return replace(batch_of(random_examples(examples, seed=2, questions=1)), key=torch.tensor(1))


def test_eq_9_default_creation_does_not_depend_on_the_order_of_entities(default: AMN) -> None:
    memory = steps(default, batch_of([TOLD]))[-1]
    shuffled = torch.randperm(memory.depth.shape[1], generator=torch.Generator().manual_seed(0))
    parts = {name: getattr(memory, name)[:, shuffled] for name in BY_SLOT}
    torch.testing.assert_close(default.creation_logit(replace(memory, **parts)), default.creation_logit(memory))


def test_eq_11_default_a_created_bank_keeps_what_is_relevant_alone(default: AMN) -> None:
    before = steps(default, batch_of([TOLD]))[1]
    relevance = torch.linspace(-1, 1, before.depth.shape[1]).unsqueeze(0)
    one_bank = {"banks": torch.ones(1), "depth": before.depth.clamp(max=0)}
    before = replace(before, relevance=relevance, **one_bank)
    with torch.no_grad():
        default.create.weight.zero_()
    batch = batch_of([TOLD])
    sentence = default.sentences(batch, default.encoder(batch), 1.0)[0]
    after, _ = default.create_bank(before, sentence, torch.tensor([True]))
    assert after.banks.item() == 2
    assert torch.equal(after.in_last > 0.5, (before.depth >= 0) & (relevance > 0))
    assert torch.equal(after.depth == 1, after.in_last > 0.5)


def test_eq_12_default_the_last_bank_is_where_the_deepest_entities_are(default: AMN) -> None:
    with torch.no_grad():
        default.move_state.bias.fill_(-0.5)
    for memory in steps(default, trained_on(20)):
        assert torch.equal(memory.in_last > 0.5, memory.depth == memory.banks.unsqueeze(-1) - 1)


def test_eq_12_default_an_entity_is_never_taken_back(default: AMN) -> None:
    memories = steps(default, trained_on(20))
    for before, after in zip(memories, memories[1:], strict=False):
        assert (after.depth >= before.depth).all()
        assert (after.depth < after.banks.unsqueeze(-1)).all()


def test_eq_13_default_a_sentence_changes_its_members_alone(default: AMN) -> None:
    batch = trained_on()
    memories = steps(default, batch)
    slots = torch.arange(batch.slot_words.shape[1])
    for t, (before, after) in enumerate(zip(memories, memories[1:], strict=False)):
        outside = ~(batch.members[:, t].unsqueeze(-1) == slots).any(1)
        assert torch.equal(before.states[outside], after.states[outside])
        assert torch.equal(before.strengths[outside], after.strengths[outside])
        assert not torch.equal(before.states, after.states)


def test_eq_15_default_a_member_hears_along_its_edges_alone(default: AMN) -> None:
    states = torch.randn(1, 3, HIDDEN, generator=torch.Generator().manual_seed(0))
    edges = torch.tensor([[[5, 2, 0], [0, 5, 0]]])
    other = states.clone()
    other[0, 2] += 1
    assert torch.equal(default.propagate(states, edges), default.propagate(other, edges))
    other[0, 1] += 1
    changed = (default.propagate(states, edges) != default.propagate(other, edges)).any(-1)
    assert changed.tolist() == [[True, True]]


def test_eq_17_default_attention_may_also_read_nothing(default: AMN) -> None:
    memory = steps(default, trained_on())[-1]
    questions = torch.randn(STORIES, 1, HIDDEN)
    members = default.bank_members(memory, banks=0)
    attention = default.decoder.attend(memory.states, members, questions)
    assert (attention.sum(-1) < 1).all()
    assert not (attention * (members == 0).unsqueeze(1)).any()


def test_eq_18_default_weights_grow_by_a_learned_factor(default: AMN) -> None:
    memory = steps(default, batch_of([TOLD]))[-1]
    with torch.no_grad():
        default.decoder.growth.fill_(1.0)
    weights = default.bank_weights(replace(memory, banks=torch.tensor([3.0])), banks=0)[0]
    torch.testing.assert_close(weights[1:3] / weights[:2], torch.full((2,), torch.e))
    torch.testing.assert_close(weights.sum(), torch.tensor(1.0))


def test_eq_19_default_answers_hear_the_question(default: AMN) -> None:
    memory = steps(default, batch_of([TOLD]))[-1]
    one, other = (default.decode(memory, torch.full((1, 1, HIDDEN), value), 1).logits for value in (0.0, 1.0))
    assert not torch.allclose(one, other)


def test_eq_8_default_questions_that_pad_a_batch_change_nothing(default: AMN) -> None:
    beside = replace(TOLD, questions=(("where", "is", "john"), ("is", "mary")), answers=("office", "yes"))
    for seed in range(8):
        shaken(default, seed)
        alone, together = (default(batch_of(examples)).logits[0, 0] for examples in ([TOLD], [TOLD, beside]))
        torch.testing.assert_close(together, alone)
