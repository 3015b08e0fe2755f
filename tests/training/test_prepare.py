"""From stories to the data of a run: parts that are joined, whichever processes made them."""

from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import pytest
import torch

from amn.config import RunSpec, TrainConfig
from amn.data.babi import write_babi
from amn.data.batches import Dataset, encode
from amn.data.examples import examples
from amn.data.source import load_task
from amn.data.story import Question, Story
from amn.data.tasks import generate
from amn.data.vocabulary import COMMA, END, UNKNOWN
from amn.training import mixture, prepare
from amn.training.prepare import Encoded, data_key, encode_all, encode_stories

QUESTIONS = 300


def spec_of(task: int | str, data: Path | None = None, items: int = 8) -> RunSpec:
    settings = {"pointer": True, "items": items}
    train = TrainConfig(window=60, mixed_questions=QUESTIONS)
    return RunSpec(task=task, data=None if data is None else str(data), settings=settings, train=train)


@pytest.fixture(autouse=True)
def few_stories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "_SHARE", 100)


@pytest.fixture
def twenty(tmp_path: Path) -> Path:
    """A folder with a few questions of each task."""
    for task in prepare.ALL_TASKS:
        for seed, split in enumerate(("train", "valid")):
            write_babi(generate(task, questions=30, seed=seed), tmp_path / f"qa{task}_{split}.txt")
    return tmp_path


def encoded(spec: RunSpec, workers: int = 1) -> Encoded:
    (found,) = encode_all([data_key(spec)], workers=workers)
    return found


def parts(data: Dataset) -> dict[str, torch.Tensor]:
    return {**data.stories, **data.sentences, "starts": data.starts, "lengths": data.lengths}


def test_mixed_stories_are_made_in_shares_of_their_own() -> None:
    found = encoded(spec_of("mixed"))
    assert (len(found.training), len(found.validation)) == (QUESTIONS, 60)
    rows = {tuple(row) for row in found.training.stories["slot_words"].tolist()}
    assert len(rows) > QUESTIONS // 8  # a story has up to six questions; none is told twice
    assert found.vocabulary.answers[:2] == (END, COMMA)
    assert {"unknown", "yes", "no"} <= set(found.vocabulary.answers)


def test_processes_make_the_same_data() -> None:
    one, two = encoded(spec_of("mixed")), encoded(spec_of("mixed"), workers=2)
    assert one.vocabulary == two.vocabulary
    for mine, other in ((one.training, two.training), (one.validation, two.validation)):
        for name, value in parts(mine).items():
            assert torch.equal(value, parts(other)[name]), name


def test_all_is_the_twenty_tasks_and_mixed_stories(twenty: Path) -> None:
    found, joint = encoded(spec_of("all", twenty)), encoded(spec_of("joint", twenty))
    assert len(found.training) == QUESTIONS + 20 * 30
    assert len(found.validation) == 60 + 20 * 30
    assert set(joint.vocabulary.words) < set(found.vocabulary.words)
    assert {"n", "w", "apple", COMMA} <= set(joint.vocabulary.answers)
    assert not [answer for answer in found.vocabulary.answers if COMMA in answer[1:] or " " in answer]


def test_joined_parts_are_what_all_examples_are_when_they_are_encoded_at_once(twenty: Path) -> None:
    joint = encoded(spec_of("joint", twenty))
    asked = [one for task in prepare.ALL_TASKS for one in examples(load_task(twenty, task, "train"), window=60)]
    whole, index = encode(asked, joint.vocabulary), torch.arange(len(asked))
    found, expected = joint.training.take(index, 40), whole.take(index, 40)
    for name in ("slot_words", "sentences", "members", "edges", "questions", "tokens", "token_slots", "weights"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name


def test_words_that_only_validation_tells_are_unknown() -> None:
    found = encoded(spec_of("mixed"))
    assert (found.validation.stories["slot_words"] == UNKNOWN).any()
    assert not (found.training.stories["slot_words"] == UNKNOWN).any()


def test_names_of_mixed_stories_are_marked_word_by_word() -> None:
    found = encoded(spec_of("mixed"))
    data, known = found.training.stories, found.vocabulary
    marked = {known.words[word] for word in data["slot_words"][data["names"] > 0].tolist()}
    untold = data["tokens"][(data["token_slots"] == 0) & (data["tokens"] >= 0)]
    assert {"yes", "mouse"} <= {known.answers[token] for token in untold.tolist()}  # stories tell of mice
    assert not marked & {known.answers[token] for token in untold.tolist()}
    assert {"mary", "office"} <= marked
    assert not marked & {"room", "went", "the", "mr", "unknown", "waiting", "big"}


def test_name_words_are_of_names_of_one_and_of_several_words() -> None:
    names = mixture.name_words()
    assert {"smith", "york", "living", "red", "ball", "daniel"} <= names
    assert not names & {"room", "new", "back", "is", "to"}


def test_other_words_for_the_same_are_learned_where_sentences_bring_something_to_mind() -> None:
    rooms = {"bagicha": "bagichey", "galiyara": "galiyarey", "daftar": "daftar"}
    stories = [
        Story(
            sentences=(f"{one} {rooms[other]} ki uttar hai.",),
            questions=(Question(text=f"{asked} kahan hai?", answer="uttar", after=1),),
        )
        for one, other in permutations(rooms, 2)
        for asked in (one, other)
    ] * 10
    spec = spec_of(1)
    for train, forms in ((replace(spec.train, recall=True), 2), (spec.train, 0)):
        found = encode_stories(data_key(replace(spec, train=train)), stories, stories[:1])
        assert len(found.vocabulary.forms) == forms
        told = {found.vocabulary.words[word] for word in found.validation.stories["slot_words"][0].tolist()}
        assert {"bagicha", "galiyarey"} < told
        assert ("galiyara" in told) == (forms > 0)


def test_names_side_by_side_are_one_only_if_training_never_tells_them_apart() -> None:
    spec = spec_of(1)
    key = data_key(replace(spec, train=replace(spec.train, recall=True)))
    story = told("sita rasoi gayi.", "kya sita daftar mein hai?")
    training = [story, told("badri daftar gaya.", "kya badri rasoi mein hai?")]
    for further, together in (("sita daftar gayi.", True), ("sita ab rasoi mein hai.", False)):
        found = encode_stories(key, [*training, told(further, "hari kahan hai?")], [story])
        read = {found.vocabulary.words[word] for word in found.validation.stories["slot_words"][0].tolist()}
        assert ("rasoi" not in read) == together  # "sita rasoi" is one word, which is unknown


def test_pronouns_are_learned_where_sentences_bring_something_to_mind() -> None:
    stories = [
        Story(
            sentences=(f"{who} {first} gayi.", f"fir wo {second} gayi."),
            questions=(Question(text=f"{who} kahan hai?", answer=second, after=2),),
        )
        for who, first, second in product(("Sita", "Badri", "Priya"), ("daftar", "rasoi"), ("daftar", "rasoi"))
    ] * 20
    spec = spec_of(1)
    for train, pronouns in ((replace(spec.train, recall=True), {"wo"}), (spec.train, set[str]())):
        found = encode_stories(data_key(replace(spec, train=train)), stories, stories[:1])
        assert found.vocabulary.pronouns == pronouns
        longest = 5 if pronouns else 4  # "sita fir wo daftar gayi" with what the pronoun brings to mind
        assert found.validation.sentences["sentences"].shape[1] == longest


def test_a_validation_story_is_read_as_for_users_where_only_the_model_to_start_from_knows_a_word() -> None:
    training = told("Bob went to the hall.", "Where is Bob?")
    validation = told("Mary is in first place.", "Who is in second place?")
    spec = spec_of(1)
    found = encode_stories(data_key(replace(spec, train=replace(spec.train, start="babi"))), [training], [validation])
    assert {"first", "place"} <= set(found.vocabulary.words)  # of the model to start from
    users = encode(examples([validation]), found.vocabulary)
    assert found.validation.stories["slot_words"].tolist() == users.stories["slot_words"].tolist()


def told(sentence: str, question: str) -> Story:
    return Story(sentences=(sentence,), questions=(Question(text=question, answer="hall", after=1),))
