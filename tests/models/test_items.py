"""Answers of several tokens: lists, names of several words, and where an answer ends."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from amn.data.batches import Batch, anonymise, encode
from amn.data.examples import Example
from amn.data.vocabulary import COMMA, END, END_CLASS, Vocabulary, spelled_answer
from amn.errors import ConfigError
from amn.models.amn import AMN, AMNConfig, StoryState
from amn.models.base import answer_loss, answer_targets, answered, right_tokens

PEOPLE, THINGS, LOOKS = ("mary", "john", "zoe"), ("lamp", "ball", "key"), ("red", "old")
WORDS = sorted({*PEOPLE, *THINGS, *LOOKS, "took", "the", "what", "has"})
VOCABULARY = Vocabulary.from_json({"words": WORDS, "answers": sorted({END, COMMA, "nothing", *THINGS, *LOOKS})})
CLASSES, ITEMS = len(VOCABULARY.answers), 6


def model_of(seed: int = 0, **settings: Any) -> AMN:
    sizes: dict[str, Any] = {"vocabulary_size": len(VOCABULARY.words), "num_answers": CLASSES, "hidden": 16, "heads": 2}
    model = AMN(AMNConfig(**{**sizes, "pointer": True, "items": ITEMS, **settings})).eval()
    model.initialise(torch.Generator().manual_seed(seed))
    return model


def asked(*sentences: str, answer: str | None, question: str = "what has mary") -> Example:
    told = tuple(tuple(sentence.split()) for sentence in sentences)
    return Example(sentences=told, questions=(tuple(question.split()),), answers=(answer,))


def batch_of(*examples: Example) -> Batch:
    return encode(examples, VOCABULARY).take(torch.arange(len(examples)))


def place_of(batch: Batch, word: str) -> int:
    """Where a told word stands among the logits, of the first story."""
    return CLASSES + batch.slot_words[0].tolist().index(VOCABULARY.word_id(word))


def class_of(token: str) -> int:
    return VOCABULARY.answer_id(token)


def told_of(model: AMN, batch: Batch) -> StoryState:
    told, sentences = model.begin(batch, 1.0)
    for sentence in sentences:
        told = model.advance(told, sentence)
    return told


RED_BALL = asked("mary took the red ball", answer="red ball")
TWO_THINGS = asked("mary took the red ball", "mary took the lamp", answer="red ball,lamp")


def test_a_name_of_two_words_is_its_words_and_an_end() -> None:
    batch = batch_of(RED_BALL)
    assert batch.tokens is not None and batch.token_slots is not None
    assert batch.tokens.tolist() == [[[class_of("red"), class_of("ball"), END_CLASS]]]
    assert batch.token_slots.tolist() == [[[4, 5, 0]]]


def test_a_list_has_commas_and_its_items_stay_whole_in_whatever_order() -> None:
    lists = [asked(f"{who} took the red ball", f"{who} took the lamp", answer="red ball,lamp") for who in WORDS]
    tokens = [batch.tokens[0, 0].tolist() for one in lists if (batch := batch_of(one)).tokens is not None]
    spelled = [[VOCABULARY.answers[token] for token in row] for row in tokens]
    assert set(map(spelled_answer, spelled)) == {"red ball,lamp", "lamp,red ball"}


def test_a_path_that_the_story_does_not_tell_keeps_its_order() -> None:
    ways = Vocabulary.from_json({"words": WORDS, "answers": [END, COMMA, "n", "w"]})
    for who in WORDS:
        batch = encode([asked(f"{who} took the lamp", answer="n,w")], ways).take(torch.tensor([0]))
        assert batch.tokens is not None and batch.tokens.tolist() == [[[2, 1, 3, 0]]]


def test_the_first_token_is_scored_as_a_single_choice_is() -> None:
    model, single = model_of(), model_of(items=1)
    single.load_state_dict({name: value for name, value in model.state_dict().items() if name in single.state_dict()})
    batch = batch_of(RED_BALL, TWO_THINGS)
    assert torch.equal(model(batch).logits[:, :, 0], single(batch).logits)
    assert single(batch).tokens is None
    assert not [name for name in single.state_dict() if name.startswith(("decoder.next", "decoder.classes"))]


@pytest.mark.parametrize("seed", range(5))
def test_right_tokens_give_what_the_same_tokens_give_when_they_are_chosen(seed: int) -> None:
    model, batch = model_of(seed), batch_of(RED_BALL, TWO_THINGS)
    with torch.no_grad():
        model.decoder.answer.bias[END_CLASS] = -99  # it goes on to the last token
    told = told_of(model, batch)
    names = model.names(batch, told.memory)
    free = model.decode(told.memory, told.questions, 1, names)
    given = model.decode(told.memory, told.questions, 1, names, tokens=free.tokens)
    assert free.tokens is not None and (free.tokens != END_CLASS).all()
    torch.testing.assert_close(given.logits, free.logits)


def test_training_goes_on_from_either_way_to_give_a_token() -> None:
    batch = batch_of(*[RED_BALL] * 40)
    batch = anonymise(batch, (batch.slot_words == VOCABULARY.word_id("ball")) & (torch.arange(40) < 20).unsqueeze(1))
    tokens = right_tokens(replace(batch, key=torch.tensor(3)), CLASSES)[:, 0]
    ball = {class_of("ball"), place_of(batch_of(RED_BALL), "ball")}
    assert set(tokens[:, 0].tolist()) == {class_of("red"), place_of(batch_of(RED_BALL), "red")}
    assert set(tokens[20:, 1].tolist()) == ball
    assert set(tokens[:20, 1].tolist()) == {max(ball)}  # what is hidden can only be pointed at
    assert set(tokens[:, 2].tolist()) == {END_CLASS}


def test_after_the_end_there_are_only_ends_and_no_more_tokens_than_items() -> None:
    for seed in range(20):
        tokens = model_of(seed, items=4)(batch_of(RED_BALL, TWO_THINGS)).tokens
        assert tokens.shape == (2, 1, 4)
        for row in tokens.flatten(0, 1).tolist():
            end = row.index(END_CLASS) if END_CLASS in row else len(row)
            assert set(row[end:]) <= {END_CLASS}


def test_a_class_that_only_another_model_of_the_fleet_has_is_never_taken() -> None:
    model, batch = model_of(), batch_of(RED_BALL)
    with torch.no_grad():
        model.decoder.answer.bias[-2:] = 99
    assert (model(batch).tokens >= CLASSES - 2).any()
    own = model(replace(batch, num_classes=torch.tensor(CLASSES - 2))).tokens
    assert not ((own >= CLASSES - 2) & (own < CLASSES)).any()


@pytest.mark.parametrize("spelled", ["class", "word"])
def test_a_name_goes_on_with_what_followed_its_word_in_the_story(spelled: str) -> None:
    batch = batch_of(asked("mary took the lamp", "mary took the red ball", "john took key", answer="lamp"))
    place = {"class": lambda _, token: class_of(token), "word": place_of}[spelled]
    model = model_of(items=2)
    model.know(VOCABULARY)
    told = told_of(model, batch)
    names = model.names(batch, told.memory)
    assert names is not None
    words = torch.cat((model.decoder.class_words, names.numbers[0])).view(1, 1, -1)
    for first, others in (("red", {"ball"}), ("took", {"the", "key"}), ("lamp", set()), ("old", None)):
        number = torch.tensor([[VOCABULARY.word_id(first)]])
        barred = model.decoder.apart(number, words, names)[0, 0]
        for other in ("ball", "lamp", "key"):
            assert bool(barred[place(batch, other)]) is (others is not None and other not in others), (first, other)
        assert not barred[[END_CLASS, class_of(COMMA), class_of("nothing"), class_of("old")]].any()
    unknown = replace(names, pairs=None)
    assert not model.decoder.apart(torch.tensor([[VOCABULARY.word_id("red")]]), words, unknown).any()


def said(batch: Batch, *tokens: int) -> bool:
    """Whether a first answer of these tokens is right."""
    row = torch.full((len(batch.weights), 1, ITEMS), END_CLASS)
    row[0, 0, : len(tokens)] = torch.tensor(tokens)
    logits = torch.zeros(len(batch.weights), 1, ITEMS, CLASSES + batch.slot_words.shape[1])
    return bool(answered(logits, batch, CLASSES, row)[0, 0])


def test_a_list_is_right_in_any_order_as_classes_or_as_told_words() -> None:
    batch = batch_of(TWO_THINGS)
    red, ball, lamp, comma = class_of("red"), place_of(batch, "ball"), class_of("lamp"), class_of(COMMA)
    assert said(batch, red, ball, comma, lamp)
    assert said(batch, place_of(batch, "lamp"), comma, place_of(batch, "red"), class_of("ball"))


def test_a_list_is_wrong_with_a_token_too_few_too_many_or_another() -> None:
    batch = batch_of(TWO_THINGS)
    red, ball, lamp, comma = (class_of(token) for token in ("red", "ball", "lamp", COMMA))
    assert not said(batch, red, ball)
    assert not said(batch, red, ball, comma, lamp, lamp)
    assert not said(batch, red, red, comma, lamp)
    assert not said(batch, red, ball, comma, class_of("key"))
    assert not said(batch)


def test_an_item_that_is_named_twice_has_to_be_given_twice() -> None:
    ways = Vocabulary.from_json({"words": WORDS, "answers": [END, COMMA, "n", "w"]})
    batch = encode([asked("mary took the lamp", answer="n,n")], ways).take(torch.tensor([0]))
    logits = torch.zeros(1, 1, 4, 4 + batch.slot_words.shape[1])
    for tokens, right in (([2, 1, 2, 0], True), ([2, 1, 3, 0], False), ([2, 1, 1, 0], False)):
        assert bool(answered(logits, batch, 4, torch.tensor([[tokens]]))) is right


def test_an_answer_that_can_be_given_in_no_way_is_wrong_whatever_is_said() -> None:
    batch = batch_of(asked("mary took the lamp", answer="castle"))
    assert not any(said(batch, *tokens) for tokens in ([], [class_of("lamp")], [class_of("nothing")]))


def test_a_question_weighs_as_one_whatever_its_length() -> None:
    batch = batch_of(RED_BALL, asked("mary took the lamp", answer="nothing"), TWO_THINGS)
    even = torch.zeros(3, 1, 6, CLASSES + batch.slot_words.shape[1])
    one, two = (torch.tensor(float(ways)).log() - torch.tensor(float(even.shape[-1])).log() for ways in (1, 2))
    expected = [-(two + two + one) / 2, -(one + one), -(3 * two + one + one) / 4]
    assert answer_loss(even, batch, CLASSES).tolist() == pytest.approx(torch.stack(expected).tolist())


def test_a_hidden_word_counts_only_as_a_told_one() -> None:
    batch = batch_of(RED_BALL)
    hidden = anonymise(batch, batch.slot_words == VOCABULARY.word_id("ball"))
    classes, words = answer_targets(hidden, CLASSES, pointer=True)
    assert classes.tolist() == [[[class_of("red"), -1, END_CLASS]]]
    assert words.tolist() == [[[place_of(batch, "red"), CLASSES + 5, -1]]]


def test_answers_of_several_tokens_need_a_model_that_points() -> None:
    with pytest.raises(ConfigError, match="pointer"):
        model_of(pointer=False)


def stories() -> list[Example]:
    """Who has taken nothing, one thing, or two; with a look or without."""
    made = []
    for i, who in enumerate(PEOPLE * 8):
        things = [f"{LOOKS[i % 2]} {THINGS[i % 3]}" if i % 2 else THINGS[i % 3], THINGS[(i + 1) % 3]][: i % 3]
        others = [f"{PEOPLE[(i + 1) % 3]} took the {THINGS[(i + 2) % 3]}"]
        told = [f"{who} took the {thing}" for thing in things] + others
        made.append(asked(*told, answer=",".join(things) or "nothing", question=f"what has {who}"))
    return made


@pytest.mark.unchecked
def test_a_small_model_learns_lists_names_of_two_words_and_when_to_end() -> None:
    model, batch = model_of(hidden=24), batch_of(*stories())
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(150):
        optimiser.zero_grad()
        reading = model(replace(batch, key=torch.tensor(step)), 0.0)
        answer_loss(reading.logits, batch, CLASSES).mean().backward()
        optimiser.step()
    reading = model(batch)
    right = answered(reading.logits, batch, CLASSES, reading.tokens)
    assert right.all()
    assert len({count_of(row) for row in reading.tokens[:, 0]}) >= 3


def count_of(tokens: Tensor) -> int:
    return int((tokens != END_CLASS).sum())
