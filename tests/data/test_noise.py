"""Facts between sentences of books: in order, at random places, the same for the same seed, as long as asked for."""

import json
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from amn.cli import main as cli
from amn.data.noise import Books, mixed, with_noise
from amn.data.story import words
from amn.data.tasks import generate
from amn.errors import ConfigError

FACTS = ["Mary went to the garden.", "John went to the hall.", "Mary took the ball."]


@pytest.fixture
def books(tmp_path: Path) -> Path:
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        lines = (f"The {name} book had {number} more pages, said Mr. Ink.\n\n" for number in range(30))
        (folder / f"{name}.txt").write_text("".join(lines))
    return tmp_path


@pytest.mark.parametrize("tokens", [0, 10, 100, 1000])
def test_facts_stay_in_order_and_the_length_is_what_was_asked_for(books: Path, tokens: int) -> None:
    found = list(mixed(FACTS, Books(books).sentences(0, 0), tokens, Random(3)))
    assert [sentence for sentence in found if sentence in FACTS] == FACTS
    length = sum(len(words(sentence)) for sentence in found)
    alone = sum(len(words(fact)) for fact in FACTS)
    assert length == alone if tokens <= alone else tokens <= length < tokens + 10


def test_facts_come_at_random_places(books: Path) -> None:
    first = set()
    for seed in range(200):
        told = list(mixed(FACTS[:1], Books(books).sentences(0, 0), 55, Random(seed)))
        assert len(told) == 6
        first.add(told.index(FACTS[0]))
    assert first == set(range(6))


def test_books_go_round_from_any_place(books: Path) -> None:
    noise = Books(books)
    told = list(islice(noise.sentences(1, 28), 62))
    assert told[0] == "The second book had 28 more pages, said Mr. Ink." and "first book had 0" in told[2]
    assert told[60:] == told[:2]
    assert next(noise.sentences(0, 500)) == next(noise.sentences(1, 0))


def test_questions_keep_their_supporting_facts(books: Path) -> None:
    stories = list(generate(1, questions=20, seed=5))
    asked = [(story.sentences[: q.after], q) for story in stories for q in story.questions]
    noisy = list(with_noise(stories, Books(books), tokens=300, seed=1))
    assert noisy == list(with_noise(stories, Books(books), tokens=300, seed=1))
    assert noisy != list(with_noise(stories, Books(books), tokens=300, seed=2))
    for (facts, before), story in zip(asked, noisy, strict=True):
        (after,) = story.questions
        assert (after.text, after.answer, after.after) == (before.text, before.answer, len(story.sentences))
        assert [story.sentences[i] for i in after.support] == [facts[i] for i in before.support]
        assert [sentence for sentence in story.sentences if "book" not in sentence] == list(facts)


def test_a_folder_without_books_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--noise: expected a folder with books"):
        Books(tmp_path)


def test_the_verb_writes_such_sets(books: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [
        "generate",
        "--task",
        "2",
        "--questions",
        "7",
        "--noise",
        str(books),
        "--tokens",
        "500",
        "--format",
        "jsonl",
    ]
    texts = []
    for _ in range(2):
        assert cli.main(line) == 0
        texts.append(capsys.readouterr().out)
    rows = [json.loads(text) for text in texts[0].splitlines()]
    assert texts[0] == texts[1] and len(rows) == 7
    for row in rows:
        assert 500 <= sum(len(words(sentence)) for sentence in row["story"]) < 511
    assert cli.main([*line[:5], "--noise", str(books)]) == 2
    assert "--tokens NUMBER go together" in capsys.readouterr().err
