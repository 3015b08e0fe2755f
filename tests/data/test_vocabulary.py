"""Words and answers as numbers."""

from amn.data.coreference import linked
from amn.data.examples import Example
from amn.data.story import Question, Story
from amn.data.vocabulary import PADDING, UNKNOWN, Vocabulary

STORY = Story(
    sentences=("Mary moved to the bathroom.", "She took the Apple there."),
    questions=(Question(text="What is Mary carrying?", answer="apple,milk", after=2),),
)

AT_NINE = Example(sentences=(("at", "9:00"),), questions=(("when", "is", "9:00"),), answers=(None,))


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


def test_numbers_are_read_in_the_parts_that_training_knew() -> None:
    apart = Vocabulary(words=("", "", "at", "9", "00"), answers=())
    assert apart.known_parts(("at", "9:00")) == ("at", "9", "00")
    assert apart.known_parts(("at", "9:15")) == ("at", "9:15")  # 15 is not known
    read = linked(AT_NINE, apart)
    assert read.sentences == (("at", "9", "00"),) and read.questions == (("when", "is", "9", "00"),)


def test_numbers_stay_whole_where_training_had_such_numbers_or_none() -> None:
    for known in (("9", "00", "8:30"), ("9", "10", "0"), ("at",)):  # 0 is a number of its own
        assert linked(AT_NINE, Vocabulary(words=("", "", *known), answers=())) == AT_NINE
