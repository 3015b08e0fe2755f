"""Which words new names may stand for."""

import numpy as np
import torch

from amn.data.batches import encode
from amn.data.examples import Example, Spoken, examples, names_of
from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary


def names_in(*tasks: int) -> list[frozenset[str]]:
    """The names of each task, when a model learns all of them."""
    return names_of([Spoken.of(list(examples(generate(task, questions=500, seed=0)))) for task in tasks])


def names_alone(task: int) -> frozenset[str]:
    return names_in(task)[0]


def test_names_are_words_that_are_told_and_asked_for_or_answered() -> None:
    names = names_alone(1)
    assert {"mary", "kitchen", "office"} <= names
    assert not names & {"where", "is", "went", "to", "journeyed"}


def test_an_answer_that_some_story_does_not_tell_has_to_be_known() -> None:
    names = names_alone(15)
    assert {"gertrude", "winona"} <= names
    assert not names & {"wolf", "wolves", "mouse", "mice", "cat", "cats"}


def test_the_wording_of_questions_is_no_name() -> None:
    assert not names_alone(15) & {"is", "afraid", "of"}
    assert not names_alone(18) & {"bigger", "fit", "the", "in", "than"}


def test_wording_is_no_name_where_it_stands_in_longer_answers_only() -> None:
    told = (("the", "atlas", "is", "due", "the", "3rd"), ("the", "novel", "went", "to", "tom"))
    asked = [("when", "is", "the", "atlas", "due"), ("who", "has", "the", "novel"), ("is", "the", "novel", "out")]
    answers = ("the 3rd", "Tom", "the")
    own = [Example(sentences=told, questions=(q,), answers=(a,)) for q, a in zip(asked, answers, strict=True)]
    assert Spoken.of(own[:2], by_item=True).own_names >= {"3rd", "tom"}
    assert "the" not in Spoken.of(own[:2], by_item=True).own_names
    assert "the" in Spoken.of(own, by_item=True).own_names  # an answer by itself


def test_directions_on_a_path_are_no_names() -> None:
    assert not names_alone(19) & {"north", "south", "east", "west"}


def test_people_are_names_in_a_task_that_asks_for_things_if_other_tasks_ask_for_people() -> None:
    people = {"mary", "john", "daniel", "sandra"}
    assert not names_alone(2) & people
    assert all(people <= names for names in names_in(1, 2, 11))


def test_what_one_task_asks_for_is_no_name_where_most_tasks_only_tell_it() -> None:
    assert "left" in names_alone(17)
    assert not any("left" in names for names in names_in(2, 3, 17))


def test_an_answer_that_has_to_be_known_in_a_task_is_no_name_there() -> None:
    first, *_, last = names_in(1, 6, 11, 20)
    assert {"kitchen", "bedroom", "garden"} <= first
    assert not last & {"kitchen", "bedroom", "garden"}


def test_the_slots_of_names_are_marked_and_only_these() -> None:
    told = [
        Example(sentences=((who, "went", "home"),), questions=(("where", "is", who),), answers=("home",))
        for who in ("mary", "john", "sandra")
    ]
    known = {"words": ["home", "is", "john", "mary", "sandra", "went", "where"], "answers": ["home"]}
    vocabulary = Vocabulary.from_json(known)
    (names,) = names_of([Spoken.of(told)])
    plain = encode(told[:1], vocabulary)
    marked = plain.with_names(np.array([word in names for word in vocabulary.words]))
    first = torch.tensor([0])
    assert plain.take(first).names is None
    shown = marked.take(first).names
    assert shown is not None and shown.tolist() == [[0, 1, 0, 1, 0, 0]]
    assert torch.equal(marked.take(first).slot_words, plain.take(first).slot_words)


def test_a_word_that_half_of_its_tasks_name_is_no_name() -> None:
    asking, telling = (Spoken(frozenset({"milk"}), frozenset(sought), frozenset()) for sought in (("milk",), ()))
    assert names_of([asking, telling]) == [frozenset(), frozenset()]
    assert names_of([asking, asking, telling]) == [frozenset({"milk"})] * 3
