"""Sentences outwards from what a question names."""

from amn.data.examples import Example
from amn.data.reading_order import outward, outward_example
from amn.data.story import words

NAMES = frozenset("ABCDEF")
TOLD = ["C is left of D.", "E is far from F.", "B is left of C.", "A is left of B."]


def order(question: str, told: list[str] = TOLD) -> list[int]:
    return outward([words(sentence) for sentence in told], words(question), NAMES)


def test_a_chain_is_read_from_the_name_that_is_asked_for_first() -> None:
    assert order("Where is A of D?") == [1, 3, 2, 0]
    assert order("Where is D of A?") == [1, 0, 2, 3]


def test_what_hangs_together_with_another_name_of_the_question_comes_after_the_first() -> None:
    assert order("Where is B of F?") == [2, 3, 0, 1]


def test_without_a_name_that_is_told_the_order_is_that_of_the_story() -> None:
    assert order("Where is X of Y?") == order("Where is it?") == [0, 1, 2, 3]
    assert order("Where is A?", []) == []


def test_a_sentence_that_closes_a_circle_is_read_once() -> None:
    assert order("Where is A?", ["A is left of B.", "B is left of C.", "C is right of A."]) == [0, 2, 1]


def test_an_example_keeps_its_questions_and_answers() -> None:
    told = tuple(words(sentence) for sentence in TOLD)
    example = Example(sentences=told, questions=(words("Where is A of D?"),), answers=("left",))
    found = outward_example(example, NAMES)
    assert found.sentences == (told[1], told[3], told[2], told[0])
    assert (found.questions, found.answers) == (example.questions, example.answers)
