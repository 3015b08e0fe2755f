"""Answers that are words of the story: which vectors words have, what may be answered, and what is read for it."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from amn.data.batches import Batch, anonymise, encode
from amn.data.examples import Example
from amn.data.vocabulary import UNKNOWN
from amn.inference.spelling import Spelling, distinct, slot_words
from amn.models.amn import AMN, AMNConfig, StoryState
from amn.models.base import answer_loss, answered
from amn.models.encoder import ANONYMOUS
from random_stories import VOCABULARY, batch_of, shaken, story, with_unknown_words

CLASSES = len(VOCABULARY.answers)
NEW_NAMES = ("zoe", "xu", "yo", "kim", "lou", "ada")


def pointing(seed: int = 0, **settings: Any) -> AMN:
    sizes: dict[str, Any] = {"vocabulary_size": len(VOCABULARY.words), "num_answers": CLASSES, "hidden": 16, "heads": 2}
    model = AMN(AMNConfig(**{**sizes, "pointer": True, **settings})).eval()
    model.initialise(torch.Generator().manual_seed(seed))
    return model


def told_of(model: AMN, batch: Batch) -> StoryState:
    told, sentences = model.begin(batch, 1.0)
    for sentence in sentences:
        told = model.advance(told, sentence)
    return told


def test_unknown_words_are_told_apart_and_keep_their_vectors_in_a_story() -> None:
    model = pointing()
    batch = batch_of([story("zoe went to xu", "xu saw zoe", question="where is zoe")])
    assert (batch.slot_words == UNKNOWN).sum() == 3  # zoe, xu, saw
    embedded = model.encoder.embed(batch)[0, 1:]
    assert len(embedded.unique(dim=0)) == len(embedded)
    assert torch.equal(embedded[1], model.encoder.embedding.weight[VOCABULARY.word_id("went")])


def test_a_model_that_cannot_point_has_one_vector_for_all_unknown_words() -> None:
    model = pointing(pointer=False)
    embedded = model.encoder.embed(batch_of([story("zoe went to xu")]))[0]
    assert torch.equal(embedded[1], embedded[4])
    assert not [name for name in model.state_dict() if "anonymous" in name or "pointer" in name]


@pytest.mark.parametrize("pointer", [True, False])
def test_words_have_the_vectors_that_a_memory_gives_them_sentence_by_sentence(pointer: bool) -> None:
    model = pointing(pointer=pointer)
    examples = [*with_unknown_words(20, seed=3), many_names(ANONYMOUS + 9)]
    for row, example in zip(model.encoder.spell(batch_of(examples)), examples, strict=True):
        spelling, words = Spelling(VOCABULARY, ANONYMOUS if pointer else 0), slot_words(example)[1:]
        met = tuple(distinct((*example.questions, *example.sentences)))
        numbers = dict(zip(met, spelling.spell((met,))[2], strict=True))
        assert row[1 : 1 + len(words)].tolist() == [numbers[word] for word in words]


def many_names(count: int) -> Example:
    return story(*(f"name{i} went to the garden" for i in range(count)), question="where is name7")


def test_training_starts_each_story_with_another_vector_so_that_all_are_learned() -> None:
    model = pointing()
    batch = batch_of([many_names(ANONYMOUS)] * 400)
    drawn = model.encoder.spell(replace(batch, key=torch.tensor(3)))
    names = drawn[:, batch.slot_words[0] == UNKNOWN]
    everyone = torch.arange(len(VOCABULARY.words), len(VOCABULARY.words) + ANONYMOUS)
    assert (names.sort(-1).values == everyone).all()
    assert torch.equal(names[:, 0].unique(), everyone)
    assert not torch.equal(drawn, model.encoder.spell(replace(batch, key=torch.tensor(4))))
    assert len(model.encoder.spell(batch).unique(dim=0)) == 1


def story_with_a_bank_that_is_not_all() -> tuple[AMN, Batch, StoryState]:
    batch = batch_of([story("zoe went to the garden", "xu took the milk", "john went to the office")])
    for seed in range(50):
        model = pointing(seed, max_banks=3)
        shaken(model, seed)
        told = told_of(model, batch)
        inside, there = told.memory.in_last > 0, told.memory.depth >= 0
        if inside.any() and (there & ~inside).sum() > 2:
            return model, batch, told
    raise AssertionError("no seed leaves entities behind")


@torch.no_grad()
def test_the_pointer_reads_no_state_outside_the_banks_that_are_read() -> None:
    model, batch, told = story_with_a_bank_that_is_not_all()
    names, inside = model.names(batch, told.memory), told.memory.in_last > 0

    def logits(states: Tensor) -> Tensor:
        return model.decode(replace(told.memory, states=states), told.questions, 1, names).logits

    noise = torch.randn(told.memory.states.shape, generator=torch.Generator().manual_seed(0))
    states = told.memory.states
    assert torch.equal(logits(states + noise * ~inside.unsqueeze(-1)), logits(states))
    assert not torch.equal(logits(states + noise * inside.unsqueeze(-1)), logits(states))


@torch.no_grad()
def test_any_word_that_was_told_may_be_the_answer_and_no_other() -> None:
    model, batch, told = story_with_a_bank_that_is_not_all()
    scores = model.finish(batch, told, 1.0).logits[0, 0, CLASSES:]
    there = told.memory.depth[0] >= 0
    assert ((scores > -1e4) == there).all()
    asked_only = [slot for slot in batch.questions[0, 0].tolist() if not there[slot]]
    assert len(asked_only) == 3  # "where is mary"
    assert scores[asked_only].exp().sum() == 0


def moves(names: tuple[str, ...], seed: int) -> Example:
    """Two persons go somewhere; persons and places have new names, so that no class is an answer."""
    chosen = [names[i] for i in torch.randperm(len(names), generator=torch.Generator().manual_seed(seed))[:4]]
    sentences = [f"{chosen[0]} went to the {chosen[1]}", f"{chosen[2]} went to the {chosen[3]}"]
    asked = seed % 2 * 2
    return story(*sentences, question=f"where is {chosen[asked]}", answer=chosen[asked + 1])


@pytest.mark.unchecked
def test_a_small_model_learns_to_answer_with_names_that_it_has_never_seen() -> None:
    model = pointing(hidden=24)
    data = encode([moves(NEW_NAMES, seed) for seed in range(128)], VOCABULARY)
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for step in range(60):
        batch = replace(data.take(torch.arange(32) + step % 4 * 32), key=torch.tensor(step))
        optimiser.zero_grad()
        answer_loss(model(batch, 0.0).logits, batch, CLASSES).mean().backward()
        optimiser.step()
    others = batch_of([moves(("pat", "sam", "lee", "ash", "max"), seed) for seed in range(64)])
    with torch.no_grad():
        logits = model(others).logits
    assert answered(logits, others, CLASSES).all()


def test_a_known_word_may_be_answered_as_a_class_or_as_a_word_of_the_story() -> None:
    batch = batch_of([story("mary went to garden", question="where is mary", answer="garden")])
    garden, slot = VOCABULARY.answer_id("garden"), CLASSES + int(batch.answer_slots)
    logits = torch.zeros(1, 1, CLASSES + batch.slot_words.shape[1])
    chances = logits.log_softmax(-1)[0, 0]
    assert answer_loss(logits, batch, CLASSES).item() == pytest.approx(-(chances[0] + torch.log(torch.tensor(2.0))))
    for way, right in ((garden, True), (slot, True), (slot - 1, False)):
        said = logits.clone()
        said[0, 0, way] = 1
        assert bool(answered(said, batch, CLASSES)) is right


def test_a_hidden_word_can_only_be_answered_as_a_word_of_the_story() -> None:
    batch = batch_of([story("mary went to garden", question="where is mary", answer="garden")])
    hidden = anonymise(batch, batch.slot_words == VOCABULARY.word_id("garden"))
    said = torch.zeros(1, 1, CLASSES + batch.slot_words.shape[1])
    said[0, 0, VOCABULARY.answer_id("garden")] = 9
    assert not answered(said, hidden, CLASSES).any()
    assert answer_loss(said, hidden, CLASSES) > 8


def test_an_answer_that_can_be_given_in_no_way_costs_nothing_and_is_wrong() -> None:
    batch = batch_of([story("mary went to garden", question="where is mary", answer="nowhere")])
    said = torch.zeros(1, 1, CLASSES + batch.slot_words.shape[1], requires_grad=True)
    loss = answer_loss(said, batch, CLASSES)
    loss.sum().backward()
    assert loss.item() == 0
    assert said.grad is not None and not said.grad.any()
    assert not answered(said, batch, CLASSES).any()
