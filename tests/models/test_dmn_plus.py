"""Facts about DMN+ as its paper states them, and about the form that reads everything with one GRU."""

import torch
from torch import Tensor

from amn.data.batches import Batch
from amn.models.rivals.baseline import look_up, position_encoding
from amn.models.rivals.dmn_plus import DMNPlus
from models.conformance import EIGHT, batch_of, gradient_of, rival, with_key

BATCH = batch_of(EIGHT)
PADDED = ~BATCH.sentence_mask


def attention_of(model: DMNPlus, batch: Batch) -> Tensor:
    facts = model.fuse(model.sentences(batch), batch.sentence_mask)
    questions = model.questions(batch.question_words)
    return model.attend(facts, questions, questions, batch.sentence_mask)


def test_attention_gates_sum_to_one_over_what_was_told() -> None:
    attention = attention_of(rival("dmn-plus"), BATCH)
    torch.testing.assert_close(attention.sum(-1), torch.ones(8, 1))
    assert (attention[PADDED.unsqueeze(1)] == 0).all()


def test_a_fact_without_attention_leaves_the_state() -> None:
    model = rival("dmn-plus")
    state = torch.randn(2, 16)
    projected = model.attention_gru.input(torch.randn(2, 16))
    assert torch.equal(model.attention_gru(projected, torch.zeros(2, 1), state), state)
    full = model.attention_gru(projected, torch.ones(2, 1), state)
    assert (full.abs() <= 1).all()


def test_input_fusion_looks_both_ways() -> None:
    model = rival("dmn-plus")
    sentences = torch.randn(1, 3, 16, requires_grad=True)
    model.fuse(sentences, torch.ones(1, 3, dtype=torch.bool))[0, 1].sum().backward()
    assert (gradient_of(sentences).abs().sum(-1) > 0).all()


def test_episodes_have_weights_of_their_own() -> None:
    model = rival("dmn-plus", episodes=3)
    assert len({id(update.weight) for update in model.updates}) == 3


def test_decay_is_half_the_squared_weights_once_for_a_batch_and_spares_biases() -> None:
    model = rival("dmn-plus", decay=0.001)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.add_(1.0 if name.endswith("bias") else 0.0)
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    expected = 0.0005 * torch.stack([matrix.square().sum() for matrix in matrices]).sum()
    decay = model(with_key(BATCH, 0)).losses["decay"]
    torch.testing.assert_close(decay.sum(), expected)
    torch.testing.assert_close(decay, expected.expand(8) / 8)
    assert model(BATCH).losses == {}


def test_attention_may_go_to_an_empty_fact_but_not_to_padding() -> None:
    model = rival("dmn-plus-one-gru")
    attention = attention_of(model, BATCH)
    assert (attention.sum(-1) < 1).all() and (attention[PADDED.unsqueeze(1)] == 0).all()
    facts, questions, told = torch.randn(1, 3, 16), torch.randn(1, 1, 16), torch.ones(1, 3, dtype=torch.bool)
    facts[:, 2] = 0  # a fact of zeros gets as much as the empty one
    given = model.attend(facts, questions, questions, told)
    torch.testing.assert_close(given.sum() + given[0, 0, 2], torch.tensor(1.0))


def test_one_gru_reads_questions_and_sentences_both_ways() -> None:
    model = rival("dmn-plus-one-gru")
    words = look_up(model.embedding.weight, BATCH.question_words)
    asked = model.fuse(words[:, 0], BATCH.question_words[:, 0] > 0)  # the words of a question as if they were sentences
    last = (BATCH.question_words[:, 0] > 0).sum(-1) - 1
    first_step = model.forwards(
        model.forwards.input(words[torch.arange(8), 0, last]), torch.zeros(8, 16)
    )  # of the way back
    torch.testing.assert_close(asked[torch.arange(8), last], model.questions(BATCH.question_words)[:, 0] + first_step)


def test_short_sentences_are_filled_up_with_a_word_that_is_learned() -> None:
    model = rival("dmn-plus-one-gru", max_words=6)
    sentences = model.sentences(BATCH)
    words = torch.nn.functional.pad(BATCH.story_words, (0, 1))  # the longest sentences have five words
    weights = 2 * position_encoding(torch.ones(6, dtype=torch.bool), 16)
    torch.testing.assert_close(sentences, (model.embedding.weight[words] * weights).sum(-2))
    sentences.sum().backward()
    assert (gradient_of(model.embedding.weight)[0] != 0).any()
    longer = rival("dmn-plus-one-gru", max_words=2)
    own = 2 * position_encoding(BATCH.story_words > 0, 16)
    expected = (longer.embedding.weight[BATCH.story_words] * own).sum(-2)
    torch.testing.assert_close(longer.sentences(BATCH)[~PADDED], expected[~PADDED])


def test_dropout_is_on_facts_and_the_last_memory_but_not_on_sentences() -> None:
    model, batch = rival("dmn-plus-one-gru", dropout=0.5), with_key(BATCH, 3)
    assert torch.equal(model.sentences(batch), model.sentences(BATCH))
    (dropped, _), (facts, _) = model.begin(batch, 1.0), model.begin(BATCH, 1.0)
    kept = dropped[~PADDED] != 0
    assert 0.4 < kept.float().mean() < 0.6
    torch.testing.assert_close(dropped[~PADDED][kept], 2 * facts[~PADDED][kept])
