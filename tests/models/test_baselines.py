"""Facts about each rival of the paper that its own paper states."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from amn.config import TrainConfig
from amn.data.batches import Batch
from amn.data.graph import NO_EDGE, PAST
from amn.data.vocabulary import UNKNOWN
from amn.errors import ConfigError
from amn.inference.engine import read_examples
from amn.inference.trained import TrainedModel
from amn.models.rivals.baseline import dropout, position_encoding
from amn.models.rivals.entnet import EntNet
from amn.models.rivals.ggtnn import GGTNN, GGTNNConfig
from amn.models.rivals.memn2n import MemN2N
from models.conformance import EIGHT, TWO_QUESTIONS, VOCABULARY, batch_of, rival, with_key

BATCH = batch_of(EIGHT)
PADDED = ~BATCH.sentence_mask


def test_position_encoding_weighs_words_as_the_formula_says() -> None:
    mask = torch.tensor([[True, True, True, False]])
    weights = position_encoding(mask, 2)[0]
    expected = torch.tensor([[2 / 3 - 1 / 6, 2 / 3 - 1 / 3], [1 / 3 + 1 / 6, 1 / 3 + 1 / 3], [1 / 2, 1.0], [0.0, 0.0]])
    torch.testing.assert_close(weights, expected)


def test_dropout_drops_its_share_and_keeps_the_mean() -> None:
    values = torch.ones(100, 100)
    dropped = dropout(values, 0.1, torch.tensor(3), stream=1)
    assert 0.09 < (dropped == 0).float().mean() < 0.11
    assert dropped.unique().tolist() == pytest.approx([0, 1 / 0.9])
    assert dropout(values, 0.1, None, stream=1) is values


# MemN2N


def test_the_last_sentence_is_at_time_zero() -> None:
    model = rival("memn2n", memory_size=3)
    when = model.when(BATCH)
    assert when[1].tolist()[:3] == [2, 1, 0]
    assert when[3].tolist() == [2, 2, 2, 1, 0]  # what is older than the memory is as old as its last place


def test_empty_memories_only_make_sentences_older() -> None:
    model = rival("memn2n", memory_size=50, empty=0.5)
    story = batch_of(EIGHT[3:4] * 200)
    exact, noisy = model.when(story), model.when(with_key(story, 1))
    shift = noisy - exact
    assert (shift[:, :-1] >= shift[:, 1:]).all()
    assert set(shift[:, 0].tolist()) == {0, 1, 2, 3}  # up to ceil(0.5 * 5)


def test_linear_start_takes_the_softmax_away() -> None:
    model = rival("memn2n")
    state, memories = torch.randn(1, 1, 16), torch.randn(1, 3, 16)
    told = torch.tensor([[True, True, False]])
    linear = model.attend(state, memories, told, 0.16)  # 19 of 120 epochs
    torch.testing.assert_close(linear[0, 0, :2], (state @ memories.transpose(1, 2))[0, 0, :2])
    soft = model.attend(state, memories, told, 0.3)
    torch.testing.assert_close(soft.sum(-1), torch.ones(1, 1))
    assert linear[0, 0, 2] == soft[0, 0, 2] == 0
    for progress, expected in ((0.1, linear), (0.3, soft)):
        assert torch.equal(model.attend(state, memories, told, torch.tensor(progress)), expected)


def test_words_weigh_twice_as_much_as_the_papers_formula_says() -> None:
    model, words = rival("memn2n"), torch.tensor([[2, 3]])
    weighed = position_encoding(words > 0, 16) * model.words[0][words]
    torch.testing.assert_close(model.bag(words, model.words[0]), 2 * weighed.sum(-2))


def test_adjacent_hops_share_their_tables() -> None:
    model = rival("memn2n", hops=3, layerwise=False)
    assert len(model.words) == len(model.times) == 4
    assert model.questions is None and model.between is None


def test_layerwise_hops_share_all_they_have_and_a_matrix_leads_from_one_to_the_next() -> None:
    sizes = {sum(map(torch.numel, rival("memn2n", hops=hops).parameters())) for hops in (1, 2, 3)}
    assert len(sizes) == 1
    model, state, read = rival("memn2n", relu=False), torch.randn(1, 1, 16), torch.randn(1, 1, 16)
    torch.testing.assert_close(model.hop(state, read), state @ model.between.weight.T + read)


def test_questions_have_a_table_of_their_own_in_layerwise_sharing() -> None:
    for layerwise in (True, False):
        model = rival("memn2n", layerwise=layerwise)
        tables = model.words[0], model.words[0] if model.questions is None else model.questions.weight
        carried = [torch.zeros_like(memories) for memories in model.ingest(BATCH)]
        model.finish(BATCH, carried, 1.0).logits.sum().backward()
        assert (tables[0].grad is None) == layerwise and tables[1].grad is not None


def test_the_rate_is_halved_after_every_25_of_the_100_epochs_with_softmax() -> None:
    recipe = MemN2N.recipe
    linear = round(MemN2N.Config.linear_until * recipe["epochs"])
    assert (linear, recipe["epochs"] - linear, recipe["halve_after"]) == (20, 100, 20)
    assert "halve_every" not in recipe and TrainConfig.halve_every == 25


# EntNet


def memories_of(model: EntNet, batch: Batch) -> Tensor:
    told, statements = model.begin(batch, 1.0)
    for statement in statements:
        told = model.advance(told, statement)
    return told.memories


def test_memories_stay_on_the_unit_sphere() -> None:
    for model in (rival("entnet"), rival("entnet", key_words=(2, 5))):
        torch.testing.assert_close(memories_of(model, BATCH).norm(dim=-1), torch.ones(8, model.num_slots))


def test_keys_are_free_or_words() -> None:
    free, tied = rival("entnet", num_slots=4), rival("entnet", key_words=[2, 5, 7])
    assert free.keys() is free.free_keys and free(BATCH).entities.tolist() == [4.0] * 8
    assert torch.equal(tied.keys(), tied.embedding.weight[[2, 5, 7]]) and tied(BATCH).entities.tolist() == [3.0] * 8


def test_a_story_without_sentences_leaves_the_keys() -> None:
    silent = replace(BATCH, sentences=torch.zeros_like(BATCH.sentences))
    model, unit = rival("entnet"), rival("entnet", unit_start=True)
    assert torch.equal(memories_of(model, silent), model.keys().expand(8, -1, -1))
    on_sphere = unit.keys() / unit.keys().norm(dim=-1, keepdim=True)
    torch.testing.assert_close(memories_of(unit, silent), on_sphere.expand(8, -1, -1))


def test_the_order_of_words_in_a_statement_matters_from_the_start_but_not_in_a_question() -> None:
    model, words = rival("entnet", max_words=20), torch.tensor([2, 3, 4])
    bags = rival("entnet", max_words=20, ordered=False)
    for mask, orderly in ((model.statement_mask, True), (model.question_mask, False), (bags.statement_mask, False)):
        assert torch.allclose(model.encode(words, mask), model.encode(words.flip(0), mask)) != orderly


def test_gradients_are_clipped_as_those_of_a_sum_over_a_batch() -> None:
    for model in (EntNet, MemN2N):
        assert model.recipe["clip"] * model.recipe["batch_size"] == pytest.approx(40.0)
    assert MemN2N.recipe["optimiser"] == "sgd"
    assert MemN2N.recipe["learning_rate"] / MemN2N.recipe["batch_size"] == pytest.approx(0.005)


def test_slopes_start_at_one_and_serve_the_whole_network() -> None:
    model = rival("entnet")
    values = torch.randn(3, 16)
    assert torch.equal(model.phi(values), values)
    torch.nn.init.zeros_(model.slopes)
    assert torch.equal(model.phi(values), values.relu())
    assert [name for name, _ in model.named_parameters() if "slope" in name] == ["slopes"]


def test_questions_and_statements_have_masks_of_their_own() -> None:
    model = rival("entnet")
    statements = model.encode(BATCH.story_words, model.statement_mask)
    torch.nn.init.zeros_(model.question_mask)
    assert torch.equal(model.encode(BATCH.story_words, model.statement_mask), statements)
    assert (model.encode(BATCH.question_words, model.question_mask) == 0).all()


# GGT-NN


def test_every_distinct_word_has_a_node_of_its_type() -> None:
    graph = rival("ggtnn").start(BATCH.slot_words)
    assert torch.equal(graph.strengths, (BATCH.slot_words > 0).float())
    assert torch.equal(graph.types.argmax(-1), BATCH.slot_words)


@pytest.mark.parametrize("settings", [{}, {"new_nodes": 2, "propagate_while_reading": True}])
def test_strengths_and_types_stay_probabilities(settings: dict[str, Any]) -> None:
    model = rival("ggtnn", **settings)
    graph, sentences = model.begin(BATCH, 1.0)
    for sentence in sentences:
        graph = model.advance(graph, sentence)
    assert graph.strengths.shape[1] == BATCH.slot_words.shape[1] + 5 * settings.get("new_nodes", 0)
    for part in (graph.strengths, graph.edges, graph.types):
        assert (part >= 0).all() and (part <= 1).all()
    exists = graph.strengths > 0
    torch.testing.assert_close(graph.types.sum(-1)[exists], torch.ones(int(exists.sum())))


def test_added_nodes_make_no_difference_to_padding() -> None:
    model = rival("ggtnn", new_nodes=2, propagate_while_reading=True)
    alone = torch.cat([model(batch_of((example,))).logits for example in EIGHT])
    torch.testing.assert_close(model(BATCH).logits, alone, rtol=1e-4, atol=1e-5)


def test_the_first_word_hears_the_last_only_where_words_are_read_both_ways() -> None:
    first, second = torch.tensor([[2, 3, 4]]), torch.tensor([[2, 3, 5]])
    for both_ways in (True, False):
        model = rival("ggtnn", both_ways=both_ways)
        heard = not torch.equal(model.encode(first).outputs[:, 0], model.encode(second).outputs[:, 0])
        assert heard == both_ways


def test_states_are_narrow_and_sentences_and_messages_wide_as_in_the_authors_code() -> None:
    model = GGTNN(GGTNNConfig(vocabulary_size=30, num_answers=3))
    assert model.word_gru.state.in_features == model.answer.in_features == 100
    assert model.update.gru.state.in_features == 20
    assert model.query_propagate.update.gru.input.in_features == 50 + 30  # a message, and the type of who hears it
    assert model.connect.decide.in_features == 100 + 2 * (20 + 30)  # as many as a sentence and two nodes have


def test_nodes_tell_each_other_in_as_many_rounds_while_reading_as_before_an_answer() -> None:
    model, rounds = rival("ggtnn", propagation=3, propagate_while_reading=True), []
    for part in (model.propagate, model.query_propagate):
        part.register_forward_hook(lambda part, *_: rounds.append(part))
    model(BATCH)
    assert rounds.count(model.propagate) == 3 * BATCH.sentences.shape[1] and rounds.count(model.query_propagate) == 3


def test_messages_follow_the_edges() -> None:
    model = rival("ggtnn", edge_kinds=1)
    graph = model.start(torch.tensor([[0, 2, 3, 4]]))
    edges = torch.zeros_like(graph.edges)
    edges[0, 1, 2, 0] = 1.0  # from node 1 to node 2
    spread = model.query_propagate
    messages = spread.messages(replace(graph, edges=edges))[0]
    assert (messages[[0, 3]] == 0).all()
    ahead, back = (torch.tanh(layer(graph.features))[0] for layer in (spread.ahead, spread.back))
    torch.testing.assert_close(messages[2], ahead[1])
    torch.testing.assert_close(messages[1], back[2])


# EncDec


def test_an_unknown_cell_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="lstm"):
        rival("encdec", cell="lstn")


def test_both_cells_read_word_by_word() -> None:
    for cell in ("gru", "lstm"):
        model = rival("encdec", cell=cell)
        words = BATCH.story_words.flatten(1)
        blank = model.blank(BATCH)
        half = words.shape[1] // 2
        whole = model.read(words, blank)
        torch.testing.assert_close(model.read(words[:, half:], model.read(words[:, :half], blank)), whole)


# Controls


def test_the_question_blind_control_gives_any_question_the_same_answer() -> None:
    model = rival("amn-question-blind")
    logits = model(batch_of(TWO_QUESTIONS, name="amn-question-blind")).logits
    assert torch.equal(logits[:, 0], logits[:, 1])
    renamed = tuple(replace(example, questions=(("what", "did", "john", "do"),)) for example in EIGHT)
    found, expected = (model(batch_of(examples, name="amn-question-blind")).logits for examples in (renamed, EIGHT))
    torch.testing.assert_close(found, expected)


def test_the_question_blind_control_is_asked_blindly() -> None:
    trained = TrainedModel.of("amn-question-blind", rival("amn-question-blind").eval(), VOCABULARY)
    for example in EIGHT:
        asked = [replace(example, questions=(question,)) for question in (("where", "is", "mary"), ("who", "left"))]
        one, other = (read_examples(trained, [each], 1)[0].logits for each in asked)
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_the_story_blind_control_gives_any_story_the_same_answer() -> None:
    model = rival("amn-story-blind")
    asked = tuple(replace(example, questions=(("where", "is", "mary"),)) for example in EIGHT)
    logits = model(batch_of(asked)).logits
    torch.testing.assert_close(logits, logits[:1].expand_as(logits))
    assert torch.equal(model(BATCH).entities, rival("amn")(BATCH).entities)


def test_without_questions_a_sentence_still_reads_its_recent_neighbours() -> None:
    blind = batch_of(EIGHT, name="amn-question-blind")
    members = blind.members.shape[-1]
    spoken = (blind.members.unsqueeze(-1) == blind.sentences.unsqueeze(-2)).any(-1)
    assert (spoken | (blind.members == 0)).all()
    assert (blind.context[:, 0] == 0).all() and (blind.context[:, -1] > 0).any()
    outside = blind.edges[..., members:]
    assert set(outside.unique().tolist()) == {NO_EDGE, PAST}
    reachable = (outside == PAST).any(-2)
    assert torch.equal(reachable, blind.context > 0)


def test_the_control_without_empty_banks_reads_the_deepest_that_holds_anything() -> None:
    model, default = rival("amn-filled-bank"), rival("amn")
    told = default.ingest(BATCH)
    slots = torch.arange(BATCH.slot_words.shape[1]).expand_as(BATCH.slot_words)
    depth = torch.where(slots == 1, 1.0, torch.where((slots > 0) & (slots < 5), 0.0, -1.0))
    for banks, read in ((4.0, 1), (2.0, 1), (1.0, 4)):  # one word is in bank 1; banks 2 and 3 hold nothing
        memory = replace(told.memory, depth=depth, banks=torch.full_like(told.memory.banks, banks))
        reading = model.decode(memory, told.questions)
        assert (reading.entities_read == read).all() and (reading.banks == banks).all()
        expected = default.decode(replace(memory, banks=memory.banks.clamp(max=2)), told.questions)
        assert torch.equal(reading.logits, expected.logits)


def test_hidden_words_are_unknown_to_every_rival() -> None:
    hidden = replace(BATCH, slot_words=torch.where(BATCH.slot_words > 0, UNKNOWN, 0))
    for name in ("encdec", "memn2n", "dmn-plus", "entnet", "ggtnn"):
        assert rival(name)(hidden).logits.isfinite().all()
