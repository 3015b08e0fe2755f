"""Singular and plural of words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amn.data.tasks.mixed.animals import PLURALS
from amn.data.word_forms import _IRREGULAR, _PAIRS, other_number

STEMS = st.text("aeiouybcfhlstxz", min_size=1, max_size=6)
ENDINGS = st.sampled_from(["", "s", "es", "ss", "us", "uses", "y", "ies", "ves", "f", "ches", "x", "xes", "zes", "men"])
WORDS = st.one_of(st.builds(str.__add__, STEMS, ENDINGS), st.sampled_from(sorted(_IRREGULAR)), st.text(max_size=8))


@given(WORDS)
def test_each_is_the_other_number_of_its_other_number(word: str) -> None:
    other = other_number(word)
    assert other != word
    assert other is None or other_number(other) == word


@given(st.lists(WORDS, unique=True))
def test_no_two_words_have_the_same_other_number(words: list[str]) -> None:
    found = [other for other in map(other_number, words) if other is not None]
    assert len(set(found)) == len(found)


def test_no_irregular_word_is_listed_twice() -> None:
    assert len(_IRREGULAR) == 2 * len(_PAIRS)


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("cat", "cats"),
        ("horse", "horses"),
        ("rhino", "rhinos"),
        ("monkey", "monkeys"),
        ("fox", "foxes"),
        ("glass", "glasses"),
        ("bus", "buses"),
        ("house", "houses"),
        ("church", "churches"),
        ("dish", "dishes"),
        ("prize", "prizes"),
        ("pony", "ponies"),
        ("tie", "ties"),
        ("glove", "gloves"),
        ("shoe", "shoes"),
        ("wolf", "wolves"),
        ("mouse", "mice"),
        ("ox", "oxen"),
        ("person", "people"),
        ("human", "humans"),
        ("wug", "wugs"),
    ],
)
def test_singular_and_plural_find_each_other(singular: str, plural: str) -> None:
    assert (other_number(singular), other_number(plural)) == (plural, singular)


@pytest.mark.parametrize("word", ["is", "was", "this", "his", "has", "does", "doe", "us", "yes", "its", "it", "a", ""])
def test_words_of_grammar_have_none(word: str) -> None:
    assert other_number(word) is None


@pytest.mark.parametrize("word", ["B", "Cat", "what's", "t-shirts", "बिल्ली", "cafés", "12", "4s"])
def test_what_is_no_plain_english_word_has_none(word: str) -> None:
    assert other_number(word) is None


@pytest.mark.parametrize("word", ["peoples", "boxe", "leave", "marys"])
def test_a_word_whose_partner_belongs_to_another_has_none(word: str) -> None:
    assert other_number(word) is None


def test_all_animals_of_mixed_stories_have_theirs() -> None:
    assert {kind: other_number(kind) for kind, plural in PLURALS.items() if kind != plural} == {
        kind: plural for kind, plural in PLURALS.items() if kind != plural
    }
