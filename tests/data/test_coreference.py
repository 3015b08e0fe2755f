"""Pronouns and word forms, linked to what was told before."""

from dataclasses import replace
from itertools import product

import pytest

from amn.data.coreference import NAMES, Coreference, learned_pronouns, linked, standalone_names
from amn.data.examples import Example, Spoken, examples
from amn.data.slots import in_slots
from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary

KNOWN = [
    *"barry carla leila lamp ball garden then he she it they we us went to".split(),
    *"the took gave left a is cat cats fear dogs".split(),
]
VOCABULARY = Vocabulary(
    words=("<padding>", "<unknown>", *KNOWN),
    answers=("yes",),
    names=frozenset("barry carla leila lamp ball garden".split()),
)


def read(*sentences: str, vocabulary: Vocabulary = VOCABULARY) -> list[str]:
    coreference = Coreference(vocabulary)
    return [" ".join(coreference.link(tuple(sentence.split()))) for sentence in sentences]


DATE = "Monday the 3rd of May"


def test_a_pronoun_brings_the_names_told_last_to_mind() -> None:
    assert read("leila gave the lamp to barry", "then he went to the garden") == [
        "leila gave the lamp to barry",
        "leila lamp barry then he went to the garden",
    ]


@pytest.mark.parametrize("said", ["then we went to the garden", "barry took us"])
def test_we_and_us_are_pronouns_too(said: str) -> None:
    assert read("leila left", said)[1] == f"leila {said}"


def test_a_sentence_without_a_pronoun_brings_no_names_to_mind() -> None:
    assert read("barry took the lamp", "carla left")[1] == "carla left"


def test_her_before_a_thing_at_the_beginning_is_no_pronoun() -> None:
    assert read("carla left", "her lamp is to the garden", "barry gave her the lamp")[1:] == [
        "her lamp is to the garden",
        "carla garden barry gave her the lamp",
    ]


def test_names_stay_in_mind_through_a_chain_of_pronouns() -> None:
    assert read("carla took the ball", "then she went to the garden", "she left")[2] == "carla ball garden she left"


def test_a_name_that_the_sentence_says_itself_is_not_said_twice() -> None:
    assert read("barry took the lamp", "he gave the lamp to carla")[1] == "barry he gave the lamp to carla"


def test_the_latest_names_come_to_mind_and_no_more_than_a_few() -> None:
    told = read("leila went to the garden", "carla took the ball", "barry took the lamp", "then it left")[3]
    assert told.split()[:NAMES] == "garden carla ball barry lamp".split()


def test_a_name_that_is_told_again_is_the_latest() -> None:
    assert read("barry took the lamp", "carla left", "barry left", "then he left")[3] == "lamp carla barry then he left"


def test_an_unknown_word_may_be_a_name() -> None:
    assert read("xanthippe took the lamp", "she left")[1] == "xanthippe lamp she left"


@pytest.mark.parametrize(("first", "second"), [("cats", "cat"), ("cat", "cats")])
def test_a_word_brings_its_other_form_to_mind_once_that_was_told(first: str, second: str) -> None:
    assert read(f"{first} fear dogs", f"{second} left", f"{second} left") == [
        f"{first} fear dogs",
        f"{first} {second} left",
        f"{first} {second} left",
    ]


def test_forms_that_a_sentence_says_itself_come_alone() -> None:
    assert read("a cat left", "cats fear a cat")[1] == "cats fear a cat"


def test_a_vocabulary_without_names_brings_nothing_to_mind() -> None:
    plain = replace(VOCABULARY, names=frozenset())
    assert read("barry took the lamp", "he left", "cats left", "a cat left", vocabulary=plain) == [
        *("barry took the lamp", "he left", "cats left", "a cat left")
    ]


def test_a_word_brings_a_learned_form_to_mind_whether_or_not_that_was_told() -> None:
    learned = replace(VOCABULARY, forms=frozenset([("ball", "lamp"), ("left", "garden")]))
    assert read("barry took the ball", "the ball left", "the lamp left", "the lamp", vocabulary=learned) == [
        *("lamp barry took the ball", "lamp garden the ball left", "garden the lamp left", "the lamp")
    ]


def asked(question: str, *sentences: str, vocabulary: Vocabulary = VOCABULARY) -> list[tuple[str, ...]]:
    coreference = Coreference(vocabulary, [tuple(question.split())])
    return [coreference.link(tuple(sentence.split())) for sentence in sentences]


def test_a_name_that_shares_a_word_with_the_one_asked_for_is_one_word() -> None:
    told = ("barry leila left", "barry carla left", "carla leila took the lamp", "barry left", "leila left")
    assert asked("is barry leila", *told) == [
        ("barry", "leila", "left"),
        ("barry carla", "left"),
        ("carla leila", "took", "the", "lamp"),
        ("barry", "left"),
        ("leila", "left"),
    ]
    assert asked("is barry", *told) == [tuple(sentence.split()) for sentence in told]


def test_titles_and_numbers_are_parts_of_names() -> None:
    assert asked("is mr barry", "mrs barry left", "mr barry left", "mr carla left") == [
        ("mrs barry", "left"),
        ("mr", "barry", "left"),
        ("mr carla", "left"),
    ]
    assert asked("is robot 7", "robot 8 left", "robot 7 left") == [("robot 8", "left"), ("robot", "7", "left")]


def test_other_words_beside_a_name_are_no_part_of_it() -> None:
    told = ("leila went to barry", "leila gave barry the lamp", "leila")
    assert asked("is barry leila", *told) == [tuple(sentence.split()) for sentence in told]


def test_known_words_after_an_article_are_left_as_they_are() -> None:
    told = ("the lamp barry left", "lamp barry left", "the lamp xu left")
    assert asked("is the lamp zoe here", *told) == [
        ("the", "lamp", "barry", "left"),
        ("lamp barry", "left"),
        ("the", "lamp xu", "left"),
    ]
    assert asked("is the lamp carla here", *told) == [tuple(sentence.split()) for sentence in told]


def test_names_that_training_told_apart_are_two_where_they_stand_side_by_side() -> None:
    told = ("barry garden left", "barry leila left", "mrs leila left")
    apart = replace(VOCABULARY, standalone=frozenset(["garden"]))
    assert asked("is barry carla here", *told, vocabulary=apart)[:2] == [
        ("barry", "garden", "left"),
        ("barry leila", "left"),
    ]
    apart = replace(VOCABULARY, standalone=frozenset(["barry", "leila"]))
    assert asked("is barry mr leila here", *told, vocabulary=apart)[1:] == [
        ("barry", "leila", "left"),
        ("mrs leila", "left"),
    ]


def test_names_that_some_sentence_tells_by_themselves_stand_alone() -> None:
    told = "barry carla left", "the lamp is to the garden", "leila ball took", "then leila garden went", "ball"
    sentences = tuple(tuple(one.split()) for one in told)
    training = Example(sentences=sentences, questions=(("is", "barry"),), answers=("yes",))
    assert standalone_names([training], VOCABULARY.names) == {"lamp", "garden", "ball"}


PLACES = ("daftar", "rasoi", "galiyara", "bagicha")
HINDI = ("{} {} gayi", "fir {} {} gayi", "fir {} {} gayi")
GERMAN = ("{} geht in {}", "{} geht in {}", "danach geht {} in {}", "dann geht {} in {}")  # no name comes after a verb


def travels(pronoun: dict[str, str], opening: str, named: str, *referring: str) -> list[Example]:
    """Somebody goes to a place, then to others, named or not."""
    told = []
    for who, first, second in product(pronoun, PLACES, PLACES):
        rows = [opening.format(who, first), named.format(who, second)]
        rows += [sentence.format(pronoun[who], second) for sentence in referring]
        sentences = tuple(tuple(row.split()) for row in rows)
        told.append(Example(sentences=sentences, questions=((who,),), answers=(second,)))
    return told * 10


def pronouns_of(training: list[Example]) -> frozenset[str]:
    return learned_pronouns(training, Spoken.of(training).own_names)


def test_pronouns_of_other_languages_are_learned() -> None:
    assert pronouns_of(travels({"sita": "wo", "badri": "wo", "priya": "wo"}, *HINDI)) == {"wo"}
    assert pronouns_of(travels({"anna": "sie", "bernd": "er", "carla": "sie"}, *GERMAN)) == {"er", "sie"}


def test_a_few_sentences_or_names_show_no_pronouns() -> None:
    people = ("sita", "badri", "priya")
    assert not pronouns_of(travels(dict.fromkeys(people, "wo"), *HINDI)[::20])
    assert not pronouns_of(travels({who: who for who in people}, *HINDI))
    assert not pronouns_of(travels(dict.fromkeys(people, "she"), *HINDI))


@pytest.mark.parametrize("task", range(1, 21))
def test_english_stories_teach_no_pronouns(task: int) -> None:
    assert not pronouns_of(list(examples(generate(task, questions=300, seed=1))))


def test_a_learned_pronoun_brings_names_to_mind() -> None:
    german = replace(VOCABULARY, pronouns=frozenset(["er"]))
    assert read("barry took the lamp", "er left", vocabulary=german)[1] == "barry lamp er left"
    assert read("barry took the lamp", "er left")[1] == "er left"


def test_a_verb_that_nobody_knows_is_no_name() -> None:
    told = ("barry zapped carla", "barry zaps", "barry glided")
    assert asked("is barry zap", *told[:2]) == [tuple(sentence.split()) for sentence in told[:2]]
    assert asked("is barry glide", told[2]) == [("barry", "glided")]


def test_an_answer_that_is_told_as_one_word_is_found() -> None:
    example = Example(
        sentences=(("barry", "leila", "gave", "barry", "carla", "the", "lamp"),),
        questions=(("to", "barry", "leila"),),
        answers=("Barry Carla",),
    )
    items = replace(VOCABULARY, answers=("", ","))
    told = linked(example, VOCABULARY)
    assert told.sentences == (("barry", "leila", "gave", "barry carla", "the", "lamp"),)
    (tokens,) = in_slots(told, items).tokens
    assert tokens == [(-1, 4), (0, 0)]  # the fourth word, and the end


def test_a_part_of_an_answer_that_is_told_as_one_word_is_found() -> None:
    told = Example(
        sentences=(("leila", "is", "due", "monday", "the 3rd", "of", "may"),), questions=(("when",),), answers=(DATE,)
    )
    (tokens,) = in_slots(told, replace(VOCABULARY, answers=("", ","))).tokens
    assert tokens == [(-1, 4), (-1, 5), (-1, 6), (-1, 7), (0, 0)]
    apart = replace(told, sentences=(("leila", "is", "due", "monday", "the", "3rd", "of", "may"),))
    assert len(in_slots(apart, replace(VOCABULARY, answers=("", ","))).tokens[0]) == 6


def test_what_was_told_goes_on_elsewhere() -> None:
    first, second = Coreference(VOCABULARY), Coreference(VOCABULARY)
    told: list[tuple[str, ...]] = [("barry", "took", "the", "lamp"), ("cats", "left")]
    for sentence in told:
        first.link(sentence)
    second.resume({word for sentence in told for word in sentence}, first.names)
    for sentence in (("then", "he", "left"), ("a", "cat", "left")):
        assert second.link(sentence) == first.link(sentence)


def test_only_the_sentences_of_an_example_change() -> None:
    example = Example(sentences=(("barry", "left"), ("he", "left")), questions=(("is", "he"),), answers=("yes",))
    assert linked(example, VOCABULARY) == replace(example, sentences=(("barry", "left"), ("barry", "he", "left")))


def test_a_vocabulary_keeps_its_names() -> None:
    assert Vocabulary.from_json(VOCABULARY.to_json()) == VOCABULARY
    other = replace(VOCABULARY, names=frozenset(["xenia"]))
    plain = replace(VOCABULARY, names=frozenset())
    assert Vocabulary.union([VOCABULARY, plain, other]).names == VOCABULARY.names | {"xenia"}
    assert "names" not in plain.to_json()


def test_a_vocabulary_keeps_its_forms() -> None:
    learned = replace(VOCABULARY, forms=frozenset([("ball", "lamp"), ("left", "garden")]))
    assert Vocabulary.from_json(learned.to_json()) == learned
    other = replace(VOCABULARY, forms=frozenset([("ball", "lamp"), ("cat", "dogs")]))
    assert Vocabulary.union([VOCABULARY, learned, other]).forms == learned.forms | other.forms
    assert "forms" not in VOCABULARY.to_json()


def test_a_vocabulary_keeps_its_standalone_names_and_learned_pronouns() -> None:
    learned = replace(VOCABULARY, standalone=frozenset(["ball"]), pronouns=frozenset(["er"]))
    assert Vocabulary.from_json(learned.to_json()) == learned
    both = Vocabulary.union([VOCABULARY, learned])
    assert both.standalone == {"ball"} and both.pronouns == {"er"}
    assert not {"standalone", "pronouns"} & VOCABULARY.to_json().keys()
