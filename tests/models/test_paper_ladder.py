"""What each step from profile `paper` toward the default model adds."""

from typing import Any

import torch

from amn.models.paper.banks import PaperBank
from models.conformance import EIGHT, batch_of, build, with_key

BATCH = batch_of(EIGHT)
SLOTS = torch.arange(BATCH.slot_words.shape[1])
NAMED = (BATCH.questions.flatten(1).unsqueeze(-1) == SLOTS).any(1) & (SLOTS > 0)


def sentences(model: Any) -> list[Any]:
    return list(model.begin(BATCH, 1.0)[1])


def same_weights(name: str, other: str) -> tuple[Any, Any]:
    """A model and the one on the next step, with the weights that both have."""
    one, next_one = build(name), build(other)
    next_one.load_state_dict(one.state_dict(), strict=False)
    return one, next_one


def test_with_the_question_the_words_that_it_names_alone_hear_it() -> None:
    plain, asked = same_weights("amn-paper", "amn-paper-with-question")
    for before, after in zip(sentences(plain), sentences(asked), strict=True):
        changed = (before.words != after.words).any(-1)
        assert torch.equal(changed, NAMED & before.spoken)
        assert torch.equal(before.edges, after.edges) and torch.equal(before.last, after.last)


def test_with_joining_each_word_is_joined_to_all_others_of_its_sentence() -> None:
    path, joined = same_weights("amn-paper-with-question", "amn-paper-with-joining")
    for before, after in zip(sentences(path), sentences(joined), strict=True):
        spoken = after.spoken.sum(-1)
        assert torch.equal(after.edges.sum((1, 2)), (spoken * (spoken - 1)).float())
        assert (after.edges >= before.edges).all() and torch.equal(before.words, after.words)
        assert (after.edges.diagonal(dim1=1, dim2=2) == 0).all()


def test_with_attention_an_entity_hears_only_along_edges_that_lead_to_it() -> None:
    model: Any = build("amn-paper-with-attention")
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(1, 4, 16, generator=generator, requires_grad=True)
    edges = torch.zeros(1, 4, 4)
    edges[0, 1, 2] = edges[0, 3, 2] = 1  # from 1 and 3 to 2
    changed = model.along(edges, torch.zeros_like(edges), PaperBank(states, torch.ones(1, 4), torch.ones(1, 4) > 0))
    (heard,) = torch.autograd.grad(changed[0, 2].sum(), states, retain_graph=True)
    assert [bool(row.any()) for row in heard[0]] == [False, True, True, True]
    (alone,) = torch.autograd.grad(changed[0, 1].sum(), states)
    assert [bool(row.any()) for row in alone[0]] == [False, True, False, False]


def test_with_attention_the_current_sentence_has_a_weight_of_its_own() -> None:
    model: Any = build("amn-paper-with-attention")
    states = torch.randn(1, 4, 16, generator=torch.Generator().manual_seed(0))
    bank, edges = PaperBank(states, torch.ones(1, 4), torch.ones(1, 4) > 0), torch.zeros(1, 4, 4)
    edges[0, 1, 2] = edges[0, 3, 2] = 1
    current = torch.zeros_like(edges)
    current[0, 3, 2] = 1
    assert torch.equal(model.along(edges, current, bank), model.along(edges, torch.zeros_like(edges), bank))
    torch.nn.init.constant_(model.edge_bias, 50.0)
    last_alone = edges * current
    torch.testing.assert_close(model.along(edges, current, bank), model.along(last_alone, current, bank))


def test_with_a_budget_training_reads_the_last_bank_and_pays_for_strengths_in_time() -> None:
    model: Any = build("amn-paper-with-budget")
    keyed = with_key(BATCH, 3)
    before, half, after = (model(keyed, progress) for progress in (0.0, 0.475, 1.0))
    told = model.ingest(keyed, 1.0)
    assert torch.equal(after.logits, model.decode(told.memory, told.questions, banks=1).logits)
    assert torch.equal(after.further, model.decode(told.memory, told.questions, banks=0).logits)
    assert (before.losses["budget"] == 0).all() and (before.losses["relevance"] > 0).all()
    assert (after.losses["budget"] > 0).all() and (after.losses["relevance"] == 0).all()
    torch.testing.assert_close(half.losses["budget"], after.losses["budget"] / 2)
    assert model.further_weight == 0.1 and model.chosen_from == 0.55


def test_what_is_paid_is_the_mean_strength_of_what_the_banks_hold() -> None:
    model: Any = build("amn-paper-with-budget")
    keyed = with_key(BATCH, 3)
    state, sentences = model.begin(keyed, 1.0)
    sums = torch.zeros(len(keyed.sentences))
    for sentence in sentences:
        state = model.advance(state, sentence)
        for story in range(len(sums)):
            if sentence.spoken[story].any():
                sums[story] += state.memory.strengths[story][state.memory.held[story]].mean()
    counts = keyed.sentence_mask.sum(-1)
    torch.testing.assert_close(model.finish(keyed, state, 1.0).losses["budget"], 0.2 * sums / counts)


def test_with_a_budget_training_moves_what_inference_moves() -> None:
    drawn, decided = same_weights("amn-paper-with-attention", "amn-paper-with-budget")
    for model, alike in ((drawn, False), (decided, True)):
        chances = [model.chances(with_key(BATCH, key), torch.float32) for key in (1, 2)]
        for name in ("move_chance", "repeat_chance"):
            assert torch.equal(chances[0][name], chances[1][name]) == alike
        assert not torch.equal(chances[0]["create_chance"], chances[1]["create_chance"])
