"""Examples as tensors."""

import pytest
import torch

from amn.data.batches import Sizes, anonymise, encode, epoch_order
from amn.data.examples import Example, examples
from amn.data.story import Question, Story
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.errors import DataError

STORY = Story(
    sentences=("Mary went home.", "John left.", "Mary left."),
    questions=(
        Question(text="Where is Mary?", answer="home", after=1),
        Question(text="Who left?", answer="john", after=3),
        Question(text="Is Mary here?", answer="no", after=3),
    ),
)
VOCABULARY = Vocabulary.of([STORY])
LENGTHS = [1, 5, 2, 8, 8, 3, 1, 2, 9, 4]


def test_a_question_sees_the_sentences_before_it_and_no_others() -> None:
    first, second, third = examples([STORY])
    assert [len(one.sentences) for one in (first, second, third)] == [1, 3, 3]
    assert first.questions == (("where", "is", "mary"),)


def test_a_window_keeps_the_last_sentences() -> None:
    (*_, last) = examples([STORY], window=2)
    assert last.sentences == (("john", "left"), ("mary", "left"))


def test_questions_asked_at_one_point_can_share_an_example() -> None:
    alone, both = examples([STORY], together=True)
    assert (alone.answers, both.answers) == (("home",), ("john", "no"))


def test_slots_are_story_words_in_order_and_then_the_questions() -> None:
    batch = encode(examples([STORY]), VOCABULARY).take(torch.tensor([0]))
    names = [VOCABULARY.words[i] for i in batch.slot_words[0].tolist() if i]
    assert names == ["mary", "went", "home", "where", "is"]
    assert batch.sentences[0, 0].tolist()[:3] == [1, 2, 3]
    assert batch.questions[0, 0].tolist()[:3] == [4, 5, 1]
    assert batch.answer_slots.tolist() == [[3]]


def test_an_answer_that_is_no_story_word_has_a_class_and_no_slot() -> None:
    batch = encode(examples([STORY]), VOCABULARY).take(torch.tensor([2]))
    assert batch.answer_slots.tolist() == [[0]]
    assert VOCABULARY.answers[int(batch.answers)] == "no"


def test_words_that_training_never_saw_are_entities_all_the_same() -> None:
    told = Example(sentences=(("zoe", "met", "max"),), questions=(("where", "is", "zoe"),), answers=(None,))
    batch = encode([told], VOCABULARY).take(torch.tensor([0]))
    assert batch.slot_words[0, 1:4].tolist() == [UNKNOWN] * 3
    assert batch.sentences[0, 0].tolist() == [1, 2, 3]
    assert int(batch.answers) == -1


def test_masks_are_boolean_and_follow_the_padding() -> None:
    batch = encode(examples([STORY]), VOCABULARY).take(torch.tensor([0, 1]))
    assert batch.sentence_mask.dtype is torch.bool
    assert batch.sentence_mask.tolist() == [[True, False, False], [True, True, True]]


def test_index_minus_one_weighs_nothing() -> None:
    batch = encode(examples([STORY]), VOCABULARY).take(torch.tensor([1, -1]), 3)
    assert batch.weights.tolist() == [[1.0], [0.0]]


def test_more_room_is_only_padding() -> None:
    narrow = encode(examples([STORY]), VOCABULARY)
    wide = encode(examples([STORY]), VOCABULARY, Sizes(slots=20, sentences=9, words=9, members=9))
    assert wide.sizes.slots == 20
    tight, roomy = narrow.take(torch.arange(3)), wide.take(torch.arange(3), 9)
    assert torch.equal(roomy.sentences[:, :3, : narrow.sizes.words], tight.sentences)
    assert roomy.sentences.sum() == tight.sentences.sum()


def test_anonymous_slots_lose_their_spelling_and_nothing_else() -> None:
    batch = encode(examples([STORY]), VOCABULARY).take(torch.tensor([0]))
    hidden = anonymise(batch, torch.ones_like(batch.slot_words, dtype=torch.bool))
    assert set(hidden.slot_words.unique().tolist()) <= {0, UNKNOWN}
    assert torch.equal(hidden.slot_words > 0, batch.slot_words > 0)
    assert torch.equal(hidden.sentences, batch.sentences)


def test_a_story_beyond_two_byte_slots_is_refused() -> None:
    words = tuple(f"w{i}" for i in range(33_000))
    sentences = tuple(words[i : i + 10] for i in range(0, len(words), 10))
    with pytest.raises(DataError, match="distinct words"):
        encode([Example(sentences=sentences, questions=(("who",),), answers=(None,))], VOCABULARY)


def test_an_epoch_holds_every_example_once_in_batches_of_like_length() -> None:
    order = epoch_order(LENGTHS, 3, seed=1, epoch=0)
    assert sorted(i for _, batch in order for i in batch) == list(range(len(LENGTHS)))
    by_rank = [batch for _, batch in sorted(order)]
    shortest = [min(LENGTHS[i] for i in batch) for batch in by_rank]
    longest = [max(LENGTHS[i] for i in batch) for batch in by_rank]
    assert all(low >= high for low, high in zip(shortest, longest[1:], strict=False))


def test_orders_repeat_with_the_seed_and_change_with_seed_and_epoch() -> None:
    assert epoch_order(LENGTHS, 3, seed=1, epoch=2) == epoch_order(LENGTHS, 3, seed=1, epoch=2)
    assert epoch_order(LENGTHS, 3, seed=1, epoch=2) != epoch_order(LENGTHS, 3, seed=2, epoch=2)
    assert epoch_order(LENGTHS, 3, seed=1, epoch=2) != epoch_order(LENGTHS, 3, seed=1, epoch=3)


def test_models_with_fewer_batches_meet_theirs_in_the_same_order() -> None:
    many = [rank for rank, _ in epoch_order(LENGTHS, 2, seed=1, epoch=4)]
    few = [rank for rank, _ in epoch_order(LENGTHS[:6], 2, seed=1, epoch=4)]
    assert few == [rank for rank in many if rank in few]
