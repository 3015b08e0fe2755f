"""Words for one thing, learned from training stories."""

from collections.abc import Iterable, Iterator
from itertools import permutations, product

import pytest

from amn.data.examples import Example, Spoken, examples
from amn.data.tasks import generate
from amn.data.word_forms import learned_forms

ROOMS = {"bagicha": "bagichey", "galiyara": "galiyarey", "daftar": "daftar", "rasoi": "rasoi"}  # as subject and object
ANIMALS = {"vivek": "bernhard", "ruchi": "lily", "rohit": "julius"}  # by their kind and by their colour
TRAVELS = list(product(("julian", "juliana", "daniel"), ("kitchen", "garden", "office"))) * 10


def example(sentences: Iterable[str], question: str, answer: str) -> Example:
    told = tuple(tuple(sentence.split()) for sentence in sentences)
    return Example(sentences=told, questions=(tuple(question.split()),), answers=(answer,))


def places() -> list[Example]:
    return [
        example([f"{one} {ROOMS[other]} ki {way} disha"], f"{other} kahan hai", way)
        for one, other, way, _ in product(ROOMS, ROOMS, ("uttar", "dakshin", "poorav", "paschim"), range(5))
        if one != other
    ]


def colours() -> Iterator[Example]:
    """An animal has the colour of the other of its kind; its own is not told."""
    for (asked, kin, third), colour, _ in product(permutations(ANIMALS), ("safed", "peela", "haraa"), range(10)):
        kinds = (f"{asked} ek batak hai", f"{kin} ek batak hai", f"{third} ek gaynda hai")
        told = (f"{ANIMALS[kin]} ka rang {colour} hai", f"{ANIMALS[third]} ka rang dhoomla hai")
        yield example((*kinds, *told), f"{asked} kaun sey rang ka hai", colour)


def learned(training: list[Example]) -> frozenset[tuple[str, str]]:
    return learned_forms(training, Spoken.of(training).own_names)


def test_forms_with_one_stem_in_different_places_are_found() -> None:
    assert learned(places()) == {("bagichey", "bagicha"), ("galiyarey", "galiyara")}


def test_names_of_which_one_is_told_where_the_other_is_not_asked_for_are_found() -> None:
    assert learned(list(colours())) == {(colour_name, name) for name, colour_name in ANIMALS.items()}


def test_what_a_few_examples_have_in_common_may_be_chance() -> None:
    assert not learned(places()[:10])
    assert not learned(list(colours())[:20])


def test_like_spelled_words_in_the_same_place_are_two() -> None:
    told = [example([f"{who} went to the {where}"], f"where is {who}", where) for who, where in TRAVELS]
    assert not learned(told)


def test_like_spelled_words_among_other_words_are_two() -> None:
    told = [
        example([f"{who} parked near the {where}", f"the park is green {who}"], f"where is {who}", where)
        for who, where in TRAVELS
    ]
    assert not learned(told)


@pytest.mark.parametrize("task", range(1, 21))
def test_english_stories_have_none_but_plurals(task: int) -> None:
    assert not learned(list(examples(generate(task, questions=300, seed=1))))
