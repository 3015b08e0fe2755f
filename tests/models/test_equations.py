"""A fact or a few about each equation of the paper: what both profiles share (eqs. 1-8), then profile `paper`."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from amn.data.batches import Batch
from amn.models.encoder import Encoder, accumulate
from amn.models.layers import uniform
from amn.models.paper.banks import PaperBank, PaperMemory, bank_weights, empty_bank, empty_memory, move, realise
from amn.models.paper.model import PaperAMN, PaperConfig
from amn.models.paper.word_graph import close_over, messages, path_edges, weigh
from amn.models.strength import StrengthGRU
from random_stories import VOCABULARY, batch_of, random_examples, shaken, story

HIDDEN, SLOTS, BANKS, STORIES = 6, 5, 4, 6
SIZES = {"vocabulary_size": len(VOCABULARY.words), "num_answers": len(VOCABULARY.answers), "hidden": HIDDEN}
TOLD = story("mary went to the garden", "john took the milk", "mary took the milk", "john went to the office")


@pytest.fixture
def paper() -> PaperAMN:
    model = PaperAMN(PaperConfig(**SIZES, max_banks=BANKS))
    shaken(model)
    return model


def steps(model: PaperAMN, batch: Batch) -> list[PaperMemory]:
    """The memory before the first sentence and after each."""
    encoding = model.encoder(batch)
    memories = [model.start(batch, encoding)]
    for sentence in model.sentences(batch, encoding):
        memories.append(model.step(memories[-1], sentence, encoding.questions)[0])
    return memories


def trained_on(examples: int = STORIES, key: int = 1) -> Batch:
    return replace(batch_of(random_examples(examples, seed=2, questions=1)), key=torch.tensor(key))


def some_bank(held: list[int], strength: float = 0.7) -> PaperBank:
    inside = torch.zeros(1, SLOTS, dtype=torch.bool)
    inside[0, held] = True
    states = torch.randn(1, SLOTS, HIDDEN, generator=torch.Generator().manual_seed(0)) * inside.unsqueeze(-1)
    return PaperBank(states, inside * strength, inside)


def edges_of(*pairs: tuple[int, int]) -> Tensor:
    edges = torch.zeros(1, SLOTS, SLOTS)
    for source, target in pairs:
        edges[0, source, target] = 1
    return edges


# The encoder: eqs. 1-4


def test_eq_1_a_word_has_one_embedding_wherever_it_stands() -> None:
    encoder = Encoder(len(VOCABULARY.words), HIDDEN)
    batch = batch_of([story("mary went"), story("went mary")])
    embedded = encoder.embed(batch)
    assert torch.equal(embedded[0, 1], embedded[1, 2])
    assert torch.equal(embedded[0, 1], encoder.embedding.weight[VOCABULARY.word_id("mary")])


def test_eq_2_a_sentence_starts_anew_and_padding_does_not_move_its_end() -> None:
    encoder = Encoder(len(VOCABULARY.words), HIDDEN)
    after_another = encoder(batch_of([story("john took the milk", "mary went")]))
    alone = encoder(batch_of([story("mary went")]))
    torch.testing.assert_close(after_another.sentences[0, 1], alone.sentences[0, 0])
    assert torch.equal(after_another.sentences[0, 1], after_another.words[0, 1, 1])


def test_eq_3_a_word_said_twice_gets_both_outputs() -> None:
    outputs = torch.arange(12.0).view(1, 3, 4)
    summed = accumulate(outputs, torch.tensor([[1, 2, 1]]), torch.tensor([[0, 1, 2]]))
    assert torch.equal(summed[0], torch.stack((torch.zeros(4), outputs[0, 0] + outputs[0, 2], outputs[0, 1])))


def test_eq_4_the_question_has_a_gru_of_its_own() -> None:
    encoder = Encoder(len(VOCABULARY.words), HIDDEN)
    encoding = encoder(batch_of([story("where is mary", question="where is mary")]))
    assert encoding.questions.shape == encoding.sentences.shape
    assert not torch.allclose(encoding.questions, encoding.sentences)


# The strength GRU: eqs. 5-8


@pytest.fixture
def strength() -> StrengthGRU:
    cell = StrengthGRU(HIDDEN)
    shaken(cell)
    return cell


def rated(count: int = 50) -> tuple[Tensor, Tensor, Tensor]:
    """Random states, questions and last strengths."""
    generator = torch.Generator().manual_seed(3)
    states = torch.randn(2, count, HIDDEN, generator=generator) * 5
    questions = torch.randn(2, 3, HIDDEN, generator=generator) * 5
    return states, questions, torch.rand(2, count, generator=generator)


def test_eq_5_the_update_gate_hears_state_question_and_strength(strength: StrengthGRU) -> None:
    states, questions, strengths = (part.requires_grad_() for part in rated())
    strength.update_gate(states, questions, strengths.unsqueeze(-1)).sum().backward()
    assert all(part.grad is not None and part.grad.any() for part in (states, questions, strengths))


def test_eq_6_what_resembles_the_question_is_reset_more(strength: StrengthGRU) -> None:
    with torch.no_grad():
        strength.reset.fill_(1.0)
    question = torch.ones(1, 1, HIDDEN)
    alike_then_not = torch.stack((torch.ones(HIDDEN), torch.zeros(HIDDEN), -torch.ones(HIDDEN))).unsqueeze(0)
    gate = strength.reset_gate(alike_then_not, question, torch.ones(1, 3, 1)).flatten()
    assert gate[0] < gate[1] < gate[2]
    assert gate[1] == 0.5


def test_eq_7_without_a_last_strength_the_candidate_hears_the_state_alone(strength: StrengthGRU) -> None:
    states, questions, strengths = rated()
    nothing = torch.zeros_like(strengths).unsqueeze(-1)
    kept = strength.reset_gate(states, questions, nothing) * nothing
    alone = torch.sigmoid(strength.candidate_state(states))
    torch.testing.assert_close(strength.candidate(states, kept), alone.expand(-1, -1, 3))


def test_eq_8_strengths_stay_between_0_and_1_and_the_greatest_question_counts(strength: StrengthGRU) -> None:
    states, questions, strengths = rated()
    together = strength(states, questions, strengths)
    one_by_one = [strength(states, questions[:, i : i + 1], strengths) for i in range(3)]
    assert together.min() >= 0
    assert together.max() <= 1
    torch.testing.assert_close(together, torch.stack(one_by_one).amax(0))


# The bank controller: eqs. 9-11


def test_eq_9_creation_hears_the_last_bank_at_its_places_and_no_further(paper: PaperAMN) -> None:
    bank = some_bank([1, 3])
    weight = paper.create.weight[0].view(-1, HIDDEN)
    by_hand = bank.states[0, 1] @ weight[0] + bank.states[0, 3] @ weight[2] + paper.create.bias[0]
    torch.testing.assert_close(paper.creation_logit(bank)[0], by_hand)
    small = PaperAMN(PaperConfig(**SIZES, capacity=2))
    torch.testing.assert_close(
        small.creation_logit(bank)[0], bank.states[0, 1] @ small.create.weight[0, :HIDDEN] + small.create.bias[0]
    )


def test_eq_10_decisions_come_as_often_as_p_says_and_cut_the_gradient() -> None:
    p = torch.tensor([0.1, 0.5, 0.9], requires_grad=True).unsqueeze(-1).expand(3, 4000)
    decided = realise(p, uniform(torch.tensor(1), (3, 4000), stream=1))
    torch.testing.assert_close(decided.float().mean(1), torch.tensor([0.1, 0.5, 0.9]), atol=0.03, rtol=0)
    assert not decided.requires_grad
    assert realise(p, torch.full_like(p, 0.5))[:, 0].tolist() == [False, False, True]


def test_eq_10_p_learns_from_its_own_loss_and_not_through_the_decision(paper: PaperAMN) -> None:
    batch = trained_on()
    reading = paper(batch)
    assert reading.banks.max() > 1
    answer = torch.autograd.grad(reading.logits.sum(), paper.create.weight, retain_graph=True, allow_unused=True)
    assert list(answer) == [None]
    (secondary,) = torch.autograd.grad(reading.losses["creation"].sum(), paper.create.weight)
    assert secondary.any()


def test_eq_11_a_bank_is_created_behind_the_last_one_at_most_once_a_sentence(paper: PaperAMN) -> None:
    with torch.no_grad():
        paper.create.weight.zero_()
        paper.create.bias.fill_(9.0)
    memories = steps(paper, batch_of([TOLD]))
    assert [memory.banks.item() for memory in memories] == [1, 2, 3, 4, 4]
    for memory in memories:
        beyond = memory.levels >= memory.banks.unsqueeze(-1)
        assert not memory.held[beyond].any()


def test_eq_11_no_bank_without_the_controllers_consent(paper: PaperAMN) -> None:
    with torch.no_grad():
        paper.create.weight.zero_()
        paper.create.bias.fill_(-9.0)
    memory = steps(paper, batch_of([TOLD]))[-1]
    assert memory.banks.item() == 1
    assert not memory.held[:, 1:].any()


def test_eq_11_the_repeat_fills_a_new_bank_at_once(paper: PaperAMN) -> None:
    with torch.no_grad():
        paper.create.weight.zero_()
        paper.create.bias.fill_(9.0)
        paper.strength.candidate_state.bias.fill_(30.0)
        paper.strength.update_state.bias.fill_(-30.0)
    memory = steps(paper, batch_of([TOLD]))[1]
    assert memory.banks.item() == 2
    assert torch.equal(memory.held[:, 1], memory.held[:, 0])


# Moving, adding, propagating: eqs. 12-15


def test_eq_12_a_moved_entity_is_in_both_banks_as_s_times_w() -> None:
    bank = some_bank([1, 2, 3])
    chance = torch.tensor([[0.5, 0.1, 0.9, 0.1, 0.1]])
    following = move(bank, empty_bank(bank), chance, torch.tensor([True]))
    assert following.held.tolist() == [[False, True, False, True, False]]
    assert (bank.held & following.held).sum() == 2
    torch.testing.assert_close(following.states[0, 1], 0.7 * bank.states[0, 1])
    assert following.strengths[0, 1] == bank.strengths[0, 1]


def test_eq_12_a_bank_has_no_duplicates_and_keeps_what_it_has() -> None:
    bank, following = some_bank([1, 2]), some_bank([1], strength=0.2)
    following = replace(following, states=following.states * 9)
    moved = move(bank, following, torch.zeros(1, SLOTS), torch.tensor([True]))
    assert moved.held.sum() == 2
    assert torch.equal(moved.states[0, 1], following.states[0, 1])
    assert moved.strengths[0, 1] == following.strengths[0, 1]


def test_eq_12_nothing_moves_where_there_is_no_next_bank() -> None:
    bank = some_bank([1, 2])
    assert not move(bank, empty_bank(bank), torch.zeros(1, SLOTS), torch.tensor([False])).held.any()


def test_eq_13_a_new_word_joins_the_first_bank_with_its_accumulated_state(paper: PaperAMN) -> None:
    batch = batch_of([TOLD])
    sentence = next(iter(paper.sentences(batch, paper.encoder(batch))))
    slots = batch.slot_words.shape[1]
    first = empty_memory(1, 1, slots, sentence.words).split()[0]
    added = paper.add_or_update(first, sentence, adds=True)
    assert torch.equal(added.held, sentence.spoken)
    assert torch.equal(added.states, sentence.words)
    assert not paper.add_or_update(first, sentence, adds=False).held.any()


def test_eq_13_a_known_word_is_updated_wherever_it_is_held(paper: PaperAMN) -> None:
    batch = batch_of([story("mary went", "mary took milk")])
    encoding = paper.encoder(batch)
    sentence = list(paper.sentences(batch, encoding))[1]
    held = torch.zeros_like(sentence.spoken)
    held[0, :3] = torch.tensor([False, True, True])
    bank = PaperBank(torch.randn(*held.shape, HIDDEN) * held.unsqueeze(-1), held * 0.5, held)
    updated = paper.add_or_update(bank, sentence, adds=False)
    expected = paper.update(paper.update.input(encoding.sentences[:, 1]), bank.states[:, 1])
    torch.testing.assert_close(updated.states[:, 1], expected)
    assert torch.equal(updated.states[:, 2:], bank.states[:, 2:])


def test_eq_14_the_power_r_brings_what_lies_r_edges_back() -> None:
    edges = path_edges(torch.tensor([[1, 2, 3, 4]]), SLOTS, torch.float32)
    assert torch.equal(edges, edges_of((1, 2), (2, 3), (3, 4)))
    states = torch.eye(SLOTS).unsqueeze(0)
    assert messages(edges, states)[0, 4].argmax() == 3
    assert messages(edges @ edges, states)[0, 4].argmax() == 2
    assert messages(edges @ edges @ edges, states)[0].sum() == 1


def test_eq_14_padding_draws_no_edge() -> None:
    assert torch.equal(path_edges(torch.tensor([[1, 2, 0, 0]]), SLOTS, torch.float32), edges_of((1, 2)))


def test_eq_14_closure_reaches_what_a_path_through_missing_words_reaches() -> None:
    edges = edges_of((1, 2), (2, 3), (3, 4))
    ends = some_bank([1, 4]).held
    assert torch.equal(close_over(edges, ends, longest=SLOTS), edges_of((1, 4)))
    middle = some_bank([1, 3, 4]).held
    assert torch.equal(close_over(edges, middle, longest=SLOTS), edges_of((1, 3), (3, 4)))
    everything = some_bank([1, 2, 3, 4]).held
    assert torch.equal(close_over(edges, everything, longest=SLOTS), edges)


def test_eq_14_incoming_edges_sum_to_one_and_the_current_sentence_counts_more() -> None:
    weighed = weigh(edges_of((1, 3), (2, 3)), edges_of((2, 3)), torch.tensor([1.0]))
    torch.testing.assert_close(weighed[0, :, 3], torch.tensor([0, 1 / 3, 2 / 3, 0, 0]))
    assert weighed.sum() == 1


def test_eq_15_propagation_changes_what_a_bank_holds_and_nothing_else(paper: PaperAMN) -> None:
    batch = batch_of([story("mary went to the")])
    sentence = next(iter(paper.sentences(batch, paper.encoder(batch))))
    slots = sentence.spoken.shape[1]
    held = torch.zeros(1, slots, dtype=torch.bool)
    held[0, 1:3] = True
    bank = PaperBank(torch.randn(1, slots, HIDDEN) * held.unsqueeze(-1), held * 0.5, held)
    told = paper.propagate(bank, sentence.edges, sentence)
    assert ((told.states != bank.states).any(-1) == held).all()
    assert torch.equal(told.strengths, bank.strengths)


# The decoder: eqs. 16-19


@pytest.fixture
def grown(paper: PaperAMN) -> PaperMemory:
    with torch.no_grad():
        paper.create.bias.fill_(9.0)
        paper.create.weight.zero_()
    return steps(paper, trained_on())[-1]


def test_eq_16_a_strength_of_zero_hides_an_entity(paper: PaperAMN, grown: PaperMemory) -> None:
    assert not paper.decoder.content(replace(grown, strengths=torch.zeros_like(grown.strengths))).any()
    ones = replace(grown, strengths=torch.ones_like(grown.strengths))
    assert torch.equal(paper.decoder.content(ones), grown.states)


def test_eq_17_attention_sums_to_one_in_a_bank_and_stays_inside_it(paper: PaperAMN, grown: PaperMemory) -> None:
    questions = torch.randn(STORIES, 2, HIDDEN, generator=torch.Generator().manual_seed(1))
    attention = paper.decoder.attend(paper.decoder.content(grown), grown.held, questions)
    filled = grown.held.any(-1).float().unsqueeze(1).expand(-1, 2, -1)
    torch.testing.assert_close(attention.sum(-1), filled)
    assert not (attention * ~grown.held.unsqueeze(1)).any()


def test_eq_18_weights_grow_towards_the_last_bank_and_sum_to_one(grown: PaperMemory) -> None:
    weights = bank_weights(replace(grown, banks=torch.full((STORIES,), 3.0)), banks=0)
    torch.testing.assert_close(weights[0], torch.tensor([1, 2, 4, 0]) / 7)
    fewer = bank_weights(replace(grown, banks=torch.full((STORIES,), 3.0)), banks=2)
    torch.testing.assert_close(fewer[0], torch.tensor([0, 1, 2, 0]) / 3)


def test_eq_18_only_the_banks_read_count(paper: PaperAMN, grown: PaperMemory) -> None:
    questions = torch.randn(STORIES, 1, HIDDEN)
    unread = replace(grown, states=grown.states * (grown.levels == grown.banks.unsqueeze(-1) - 1)[..., None, None])
    torch.testing.assert_close(paper.decode(unread, questions, 1).logits, paper.decode(grown, questions, 1).logits)
    read = paper.decode(grown, questions, 1).entities_read[:, 0]
    assert torch.equal(read, grown.last().held.sum(-1).float())


def test_eq_19_an_empty_memory_answers_from_the_question_alone(paper: PaperAMN, grown: PaperMemory) -> None:
    questions = torch.randn(STORIES, 1, HIDDEN)
    forgotten = replace(grown, held=torch.zeros_like(grown.held))
    decoder = paper.decoder
    alone = decoder.answer(decoder.prelu(decoder.hidden.bias + questions))
    torch.testing.assert_close(paper.decode(forgotten, questions, 0).logits, alone)
