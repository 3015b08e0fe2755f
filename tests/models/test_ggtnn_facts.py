"""GGT-NN that is shown the right graph: what is right, what an error costs, and that the graph is learned."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap

from amn.data.batches import Batch, Sizes, encode
from amn.data.examples import Example, examples
from amn.data.facts import KINDS, Fact
from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary
from amn.models import MODELS
from amn.models.rivals.ggtnn import GGTNN, GatedGraph, GGTNNConfig, corrected, right_graph
from models.conformance import Loss, parts_of, with_key
from models.conformance import build as build_small

STORIES = list(generate(15, questions=24, seed=0))
VOCABULARY = Vocabulary.of(STORIES)
TOLD = tuple(examples(STORIES, facts=True))
KITCHEN = Example(
    sentences=(("mary", "got", "milk"), ("mary", "went", "kitchen"), ("mary", "dropped", "milk")),
    questions=(("where", "is", "mary"),),
    answers=("kitchen",),
    facts=(
        frozenset({Fact("mary", "holds", "milk")}),
        frozenset({Fact("mary", "holds", "milk"), Fact("mary", "in", "kitchen")}),
        frozenset({Fact("milk", "in", "kitchen"), Fact("mary", "in", "kitchen")}),
    ),
)
MARY, MILK, KITCHEN_SLOT = 1, 3, 5  # in the order of first mention


def build(seed: int = 0, **changes: Any) -> GGTNN:
    sizes: dict[str, Any] = {"vocabulary_size": len(VOCABULARY.words), "num_answers": len(VOCABULARY.answers)}
    small: dict[str, Any] = {"hidden": 12, "text_width": 24, "message_width": 12, "propagation": 1}
    model = GGTNN(GGTNNConfig(**{**small, "facts": True, **sizes, **changes}))
    model.initialise(torch.Generator().manual_seed(seed))
    return model


def batch_of(chosen: tuple[Example, ...], sizes: Sizes | None = None) -> Batch:
    data = encode(chosen, VOCABULARY, sizes)
    return data.take(torch.arange(len(data)), data.sizes.sentences)


def edges_of(batch: Batch) -> tuple[Tensor, Tensor]:
    assert batch.facts is not None
    return right_graph(batch.facts, batch.slot_words.shape[1], len(KINDS), torch.float32)


def test_the_right_graph_of_a_story_by_hand() -> None:
    nodes, edges = edges_of(batch_of((KITCHEN,)))
    seen = [set(row.nonzero().flatten().tolist()) for row in nodes[0]]
    assert seen == [{MARY, MILK}, {MARY, MILK, KITCHEN_SLOT}, {MARY, MILK, KITCHEN_SLOT}]
    held, inside = KINDS.index("holds"), KINDS.index("in")
    assert edges[0, 0].nonzero().tolist() == [[MARY, MILK, held]]
    assert edges[0, 1].nonzero().tolist() == [[MARY, MILK, held], [MARY, KITCHEN_SLOT, inside]]
    assert edges[0, 2].nonzero().tolist() == [[MARY, KITCHEN_SLOT, inside], [MILK, KITCHEN_SLOT, inside]]


def surprise(graph: GatedGraph) -> Tensor:
    assert graph.surprise is not None
    return graph.surprise


def test_a_right_graph_costs_nothing_and_a_wrong_one_its_log_chance() -> None:
    batch = batch_of((KITCHEN,))
    nodes, edges = (part[:, -1] for part in edges_of(batch))
    model = build()
    graph = replace(model.start(batch.slot_words), strengths=nodes, edges=edges, surprise=torch.zeros(1, 2))
    assert surprise(corrected(graph, nodes, edges)).abs().max() < 1e-5
    doubted = edges.clone()
    doubted[0, MARY, KITCHEN_SLOT, 0] = 0.25  # instead of 1
    doubted[0, 2, 4] = 0.9  # "got" and "went" are no nodes, so nothing holds between them
    found = corrected(replace(graph, edges=doubted, strengths=nodes * 0.5), nodes, edges)
    assert surprise(found)[0, 1].item() == pytest.approx(-torch.tensor(0.25).log().item(), abs=1e-4)
    assert surprise(found)[0, 0].item() == pytest.approx(3 * torch.tensor(2.0).log().item(), abs=1e-4)
    assert torch.equal(found.edges, edges) and torch.equal(found.strengths, nodes)  # the next sentence starts right


def test_after_training_nodes_and_edges_are_there_or_not() -> None:
    batch = batch_of(TOLD[:4])
    for facts in (True, False):
        model = build(facts=facts)
        graph, sentences = model.begin(batch, 1.0)
        for sentence in sentences:
            graph = model.advance(graph, sentence)
            whole = all(set(part.unique().tolist()) <= {0.0, 1.0} for part in (graph.strengths, graph.edges))
            assert whole == facts  # what learns from answers alone needs the doubts, for its gradient


def test_losses_come_with_facts_and_in_training_alone() -> None:
    shown = batch_of(TOLD[:4])
    model = build()
    assert set(model(with_key(shown, 0)).losses) == {"nodes", "edges"}
    assert model(shown).losses == {}
    assert model(with_key(replace(shown, facts=None), 0)).losses == {}
    torch.testing.assert_close(model(shown).logits, model(replace(shown, facts=None)).logits)


def test_without_facts_a_batch_is_as_it_was() -> None:
    plain = tuple(replace(example, facts=()) for example in TOLD)
    assert batch_of(plain).facts is None and set(parts_of(batch_of(TOLD))) == {*parts_of(batch_of(plain)), "facts"}


@pytest.mark.parametrize("name", sorted(set(MODELS)))
def test_models_that_do_not_ask_for_facts_do_not_see_them(name: str) -> None:
    sizes: dict[str, Any] = {"vocabulary_size": len(VOCABULARY.words), "num_answers": len(VOCABULARY.answers)}
    model, batch = build_small(name, **sizes), with_key(batch_of(TOLD[:2]), 0)
    plain = replace(batch, facts=None)
    told, untold = model(batch), model(plain)
    torch.testing.assert_close(told.logits, untold.logits)
    assert set(told.losses) == set(untold.losses)


@pytest.mark.parametrize("changes", [{}, {"new_nodes": 2, "propagate_while_reading": True}])
def test_padding_and_company_change_no_loss(changes: dict[str, Any]) -> None:
    model = build(**changes)
    room = Sizes(slots=40, sentences=12, words=9, facts=14)
    roomy = model(with_key(batch_of(TOLD[:6], room), 0)).losses
    for i, example in enumerate(TOLD[:6]):
        alone = model(with_key(batch_of((example,)), 0)).losses
        for part in ("nodes", "edges"):
            torch.testing.assert_close(alone[part][0], roomy[part][i], rtol=1e-4, atol=1e-4)


def test_stacked_models_learn_from_facts_as_each_does_alone() -> None:
    models = [build(seed) for seed in (0, 1)]
    batches = [with_key(batch_of(TOLD[i : i + 3], Sizes(slots=30, sentences=9, facts=12)), i) for i in (0, 3)]
    both = Batch(**{name: torch.stack([getattr(b, name) for b in batches]) for name in parts_of(batches[0])})
    weights, _ = stack_module_state([Loss(model) for model in models])
    together = vmap(lambda w, b: functional_call(Loss(models[0]), w, (b,)))(weights, both)
    alone = torch.stack([Loss(model)(batch) for model, batch in zip(models, batches, strict=True)])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)


@pytest.mark.unchecked
def test_the_graph_is_learned() -> None:
    torch.set_num_threads(1)
    model, batch = (
        build(hidden=20, text_width=40),
        batch_of(TOLD[::4]),
    )  # each story once, not with each of its questions
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(80):
        optimiser.zero_grad()
        loss = Loss(model)(with_key(batch, step))
        loss.backward()
        optimiser.step()
    losses = model(with_key(batch, 0)).losses
    assert losses["nodes"].mean() < 0.1 and losses["edges"].mean() < 0.2
    graph, sentences = model.begin(batch, 1.0)  # not shown anything now
    for sentence in sentences:
        graph = model.advance(graph, sentence)
    nodes, edges = (part[:, -1] for part in edges_of(batch))
    assert ((graph.strengths > 0.5) == (nodes > 0.5)).float().mean() > 0.99
    between = (nodes.unsqueeze(-1) * nodes.unsqueeze(-2) > 0).unsqueeze(-1).expand_as(edges)
    assert ((graph.edges > 0.5) == (edges > 0.5))[between].float().mean() > 0.995
