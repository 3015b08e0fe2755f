"""Words and answers as numbers."""

from amn.data.story import Question, Story
from amn.data.vocabulary import PADDING, UNKNOWN, Vocabulary

STORY = Story(
    sentences=("Mary moved to the bathroom.", "She took the Apple there."),
    questions=(Question(text="What is Mary carrying?", answer="apple,milk", after=2),),
)


def test_words_and_answers_are_sorted_and_reserved_numbers_stay_free() -> None:
    vocabulary = Vocabulary.of([STORY])
    known = vocabulary.words[2:]
    assert list(known) == sorted(set(known))
    assert {"mary", "apple", "carrying"} <= set(known)
    assert vocabulary.answers == ("apple,milk",)
    assert PADDING not in {vocabulary.word_id(word) for word in known}


def test_an_unknown_word_has_a_number_and_an_unknown_answer_none() -> None:
    vocabulary = Vocabulary.of([STORY])
    assert vocabulary.word_id("zebra") == UNKNOWN
    assert vocabulary.answer_id("Apple,Milk") == 0
    assert vocabulary.answer_id("zebra") == -1
    assert vocabulary.answer_id(None) == -1


def test_the_same_stories_in_any_order_give_the_same_numbers() -> None:
    other = Story(sentences=("John went home.",), questions=())
    assert Vocabulary.of([STORY, other]) == Vocabulary.of([other, STORY])


def test_json_and_back() -> None:
    vocabulary = Vocabulary.of([STORY])
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary
