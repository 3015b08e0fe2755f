"""Each model without a deviation differs from the default in what it leaves out, and in nothing else."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from amn.data.examples import Example
from amn.data.graph import NO_EDGE, PAST, SELF
from amn.models import MODELS
from amn.models.amn import AMN, StoryState
from amn.models.layers import rms_norm
from amn.models.losses import bernoulli_divergence, creation_prior
from amn.models.variants import all_edges, paths
from models.conformance import EIGHT, batch_of, build, with_key

BATCH = batch_of(EIGHT)
WITHOUT = sorted(name for name in MODELS if name.startswith("amn-without-"))
TALE = Example(
    sentences=(("lily", "is", "a", "swan"), ("greg", "was", "a", "swan"), ("bob", "left")),
    questions=(("who", "is", "lily"),),
    answers=("garden",),
)
TALE_BATCH = batch_of((TALE,))
LILY, IS, A, SWAN, GREG = range(1, 6)


def pair(what: str, **changes: Any) -> tuple[Any, Any]:
    """The default model and the one without something, with the same weights as far as both have them."""
    default, other = build("amn", **changes), build(f"amn-without-{what}", **changes)
    own = {name: value for name, value in default.state_dict().items() if name in other.state_dict()}
    other.load_state_dict(own, strict=False)
    return default, other


def told(model: Any, batch: Any = BATCH, progress: float = 1.0) -> StoryState:
    found: StoryState = model.ingest(batch, progress)
    return found


def sentences(model: Any, batch: Any = BATCH, progress: float = 1.0) -> list[Any]:
    return list(model.begin(batch, progress)[1])


@pytest.mark.parametrize("name", WITHOUT)
def test_what_is_left_out_changes_training(name: str) -> None:
    default, other = pair(name.removeprefix("amn-without-"))
    batch, total = with_key(BATCH, 3), []
    for model in (default, other):
        early, late = model(batch, 0.2), model(batch, 1.0)  # before the budget sets in, and when it is whole
        parts = (early.logits, late.logits, *early.losses.values(), *late.losses.values())
        total.append(torch.cat([part.detach().flatten() for part in parts]))
    assert isinstance(other, AMN)
    assert not torch.allclose(total[0], total[1])


def test_without_the_question_named_entities_start_at_zero() -> None:
    default, other = pair("question")
    started, blank = (model.begin(BATCH, 1.0)[0].memory for model in (default, other))
    assert (started.states != 0).any()
    assert (blank.states == 0).all()
    for part in ("strengths", "relevance", "depth", "banks"):
        assert torch.equal(getattr(started, part), getattr(blank, part))


def test_without_joining_only_words_that_stood_side_by_side_are_joined() -> None:
    default, other = pair("joining")
    whole, path = (sentences(model, TALE_BATCH) for model in (default, other))
    first = path[0].edges[0]  # lily is a swan
    assert (whole[0].edges[0, :4, :4] != NO_EDGE).all()
    assert first[0, 1] != NO_EDGE and first[0, 0] == SELF and first[0, 2] == NO_EDGE and first[0, 3] == NO_EDGE
    swan = path[1].members[0].tolist().index(SWAN)
    read = {
        entity
        for entity, kind in zip(path[1].members[0].tolist(), path[1].edges[0, swan].tolist(), strict=False)
        if entity and kind != NO_EDGE
    }
    assert read == {SWAN, A}  # and not Greg, who stands in the same sentence
    assert torch.equal(
        paths(TALE_BATCH)[0, 0].nonzero(), torch.tensor([[1, 2], [2, 1], [2, 3], [3, 2], [3, 4], [4, 3]])
    )


def test_without_attention_messages_are_normalised_sums_over_powers() -> None:
    _, other = pair("attention")
    edges = sentences(other, TALE_BATCH)[1].edges
    graph = other.graph(edges)[0]
    sums = graph.sum(-1)
    torch.testing.assert_close(sums[sums > 0], torch.ones(int((sums > 0).sum())))
    assert (graph.diagonal() == 0).all()
    states = torch.randn(1, edges.shape[2], 16, generator=torch.Generator().manual_seed(0))
    expected, members = states[0], edges.shape[1]
    for power in (graph, graph @ graph, graph @ graph @ graph):
        heard = other.propagate_gru.input((power @ rms_norm(expected))[:members])
        expected = torch.cat((other.propagate_gru(heard, expected[:members]), expected[members:]))
    torch.testing.assert_close(other.propagate(states, edges)[0], expected[:members])


def test_without_norm_states_keep_their_scale() -> None:
    default, other = pair("norm")
    states, strengths = torch.full((1, 2, 16), 5.0), torch.ones(1, 2)
    torch.testing.assert_close(other.decoder.content(states, strengths), states)
    torch.testing.assert_close(default.decoder.content(states, strengths), torch.ones_like(states))
    message = states[:, :1] * 3
    assert torch.equal(other.norm(message), message) and not torch.equal(default.norm(message), message)
    edges = torch.tensor([[[SELF, PAST]]])
    one, tenth = (other.propagate(part, edges) for part in (states, states / 10))
    assert not torch.allclose(one - states[:, :1], tenth - states[:, :1] / 10)


def test_without_neighbours_members_read_each_other_alone() -> None:
    default, other = pair("neighbours")
    assert any((sentence.context > 0).any() for sentence in sentences(default))
    for kept, sentence in zip(sentences(default), sentences(other), strict=True):
        members = sentence.members.shape[1]
        assert (sentence.context == 0).all() and (sentence.edges[..., members:] == NO_EDGE).all()
        assert torch.equal(sentence.edges[..., :members], kept.edges[..., :members])


def test_without_members_all_entities_told_so_far_change() -> None:
    default, other = pair("members")
    for model, changes in ((default, False), (other, True)):
        before, steps = model.begin(TALE_BATCH, 1.0)
        for step in steps[:-1]:
            before = model.advance(before, step)
        after = model.advance(before, steps[-1])  # bob left: no word of the others
        assert torch.equal(after.memory.states[0, GREG], before.memory.states[0, GREG]) != changes
        assert (
            torch.equal(after.memory.states[0, LILY], before.memory.states[0, LILY]) is False
        )  # the question names her


def test_all_edges_are_those_that_members_have() -> None:
    edges, batch = all_edges(BATCH), BATCH
    for story in range(len(batch.sentences)):
        for t in range(batch.sentences.shape[1]):
            members, context = batch.members[story, t], batch.context[story, t]
            for i, reader in enumerate(members.tolist()):
                for j, read in enumerate([*members.tolist(), *context.tolist()]):
                    if reader and read:
                        assert edges[story, t, reader, read] == batch.edges[story, t, i, j]


def test_without_gradient_moves_follow_strengths_and_teach_nothing() -> None:
    default, other = pair("gradient")
    batch = with_key(BATCH, 1)
    for model, learns in ((default, True), (other, False)):
        share = told(model, batch).memory.in_last.sum()
        assert share.requires_grad == learns
    memory = told(other, BATCH).memory
    entities = memory.depth >= 0
    torch.testing.assert_close(torch.sigmoid(memory.relevance)[entities], memory.strengths[entities])


def test_without_budget_nothing_is_paid_for_what_is_read() -> None:
    default, other = pair("budget")
    paid, free = (model(with_key(BATCH, 1)).losses["budget"] for model in (default, other))
    assert (paid > 0).any() and (free == 0).all()
    assert other.config == replace(default.config, budget=0.0)


def test_without_delay_the_budget_counts_from_the_first_step() -> None:
    default, other = pair("delay")
    late, early = (model(with_key(BATCH, 1), 0.0).losses["budget"] for model in (default, other))
    assert (late == 0).all() and (early > 0).any()
    assert (sentences(default, with_key(BATCH, 1), 0.0)[0].noise == 0).all()
    assert (sentences(other, with_key(BATCH, 1), 0.0)[0].noise != 0).any()
    assert other.chosen_from == default.chosen_from
    torch.testing.assert_close(default(with_key(BATCH, 1), 1.0).logits, other(with_key(BATCH, 1), 1.0).logits)


def test_without_load_the_prior_counts_sentences() -> None:
    default, other = pair("load")
    carry, steps = other.begin(BATCH, 1.0)
    for number, step in enumerate(steps, 1):
        assert (step.number == number).all()
        following = other.advance(carry, step)
        rows, memory = (step.members > 0).any(-1), following.memory
        here = memory.banks == carry.memory.banks  # else the logit was that of the banks before
        logit, _ = other.creation_logit(memory)
        prior = creation_prior(step.number, other.config.prior, other.config.information)
        expected = bernoulli_divergence(logit, prior) * rows
        torch.testing.assert_close((following.creation - carry.creation)[here], expected[here])
        carry = following
    torch.testing.assert_close(carry.memory.states, told(default).memory.states)
    assert not torch.allclose(carry.creation, told(default).creation)


def test_without_the_last_bank_training_reads_all_banks() -> None:
    default, other = pair("last-bank")
    batch = with_key(BATCH, 1)
    trained, expected = other(batch), default(batch)
    assert trained.further is None and torch.equal(trained.logits, expected.further)
    assert not torch.allclose(trained.logits, expected.logits)
    torch.testing.assert_close(other(BATCH).logits, default(BATCH).logits)
