"""The benchmark of streams: what it works out is what reading gives, and its rows say what they must."""

import json
from pathlib import Path
from random import Random

import pytest
import torch

from amn.api import QA
from amn.bench.filters import GATE, KNOWN_WORDS, NONE, filter_of
from amn.bench.haystack import FEW, Haystack, Needle
from amn.bench.stream import FEW as QUESTIONS
from amn.cli import main as cli
from amn.data.noise import Books, mixed
from amn.data.story import words
from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary
from amn.errors import ConfigError
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.models import build_model
from amn.models.amn import AMN
from random_stories import shaken

Output = pytest.CaptureFixture[str]
SETTINGS = {"hidden": 8, "heads": 2, "max_banks": 4, "gate": 8, "needs": True, "pointer": True}


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("books")
    rng = Random(0)
    known = "mary john went to the garden office back kitchen moved travelled".split()
    for name in ("one", "two", "three"):
        rows = (rng.choices([*known, f"{name}ly", "strange"], k=rng.randrange(2, 9)) for _ in range(70))
        (folder / f"{name}.txt").write_text("\n\n".join(" ".join(row).capitalize() + "." for row in rows))
    return folder


@pytest.fixture(scope="module")
def asked() -> list[Needle]:
    return [
        Needle(story.sentences[: question.after], question.text, question.answer or "")
        for story in generate(1, questions=12, seed=3)
        for question in story.questions
    ]


def gated(seed: int) -> TrainedModel:
    """A gate whose bar rises from where most sentences pass to where few do."""
    vocabulary = Vocabulary.of(generate(1, questions=100, seed=1))
    model = build_model("amn", vocabulary, SETTINGS, seed).eval()
    shaken(model, seed)
    assert isinstance(model, AMN) and model.gate is not None
    model.gate.bars.data = torch.tensor([-0.5, 0.6, 3.0])
    assert model.gate.need is not None
    model.gate.need.verdict.bias.data.fill_(0.5)  # most of what passes is needed
    return TrainedModel.of("amn", model, vocabulary)


@pytest.mark.parametrize("name", [GATE, KNOWN_WORDS])
def test_it_works_out_what_reading_gives(books: Path, asked: list[Needle], name: str) -> None:
    """For texts that go round the books several times too."""
    chosen = set()
    for seed in (2, 6, 7):  # gates that let in many, some and few
        model, noise = gated(seed), Books(books)
        haystack = Haystack(name, model, noise, [one.question for one in asked])
        for number, one in enumerate(asked):
            tokens = (0, 50, 900, 20_000)[number % 4]
            found = haystack.outcome(one, tokens, Random(number))
            rng = Random(number)
            told = list(mixed(one.facts, noise.sentences(*noise.start(rng)), tokens, rng))
            memory = LiveMemory(model, one.question, gate=filter_of(name, model, [words(one.question)]))
            read = memory.read(told)
            assert (found.sentences, found.let_in) == (read.sentences, read.let_in)
            assert found.answer == memory.ask()[0].answer
            if read.sentences > 8 * FEW:
                chosen.add(len(one.facts) < read.let_in <= FEW)
    assert chosen == ({True, False} if name == GATE else {False})  # short cuts, and streams that let in too many


def test_a_model_without_a_gate_has_the_controls_alone(asked: list[Needle]) -> None:
    model = TrainedModel.of(
        "amn", build_model("amn", gated(0).vocabulary, {**SETTINGS, "gate": 0}), gated(0).vocabulary
    )
    with pytest.raises(ConfigError, match="expected a model with a gate"):
        filter_of(GATE, model, [("where", "is", "mary")])
    assert filter_of(KNOWN_WORDS, model, [()]).judge([("mary", "went"), ("mary", "flew")]).tolist() == [[True, False]]
    assert filter_of(NONE, model, [(), ()]).judge([("mary", "flew")]).tolist() == [[True], [True]]


def test_rows_hold_what_was_agreed(capsys: Output, books: Path, tmp_path: Path) -> None:
    QA(gated(1)).save_pretrained(tmp_path / "model")
    line = ["bench", "stream", "--noise", books, "--model", tmp_path / "model", "--tokens", 300, "--tasks", 1]
    assert cli.main([*map(str, line), "--questions", "5", "--standing", "3", "--names", "new", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bench"] == "stream"
    assert [row["filter"] for row in document["rows"]] == [GATE, KNOWN_WORDS, NONE, GATE]
    for row in document["rows"]:
        assert {"tokens", "task", "right_percent", "tokens_per_second", "resident_bytes", "sentences_let_in"} <= set(
            row
        )
        assert row["tokens"] == 300 and row["task"] == 1 and row["sentences_let_in"] <= row["sentences"]
        assert row["tokens_per_second"] > 0 and row.get("same_as_read", True)
    assert cli.main([*map(str, line), "--filters", "gates"]) == 2
    assert "did you mean gate?" in capsys.readouterr().err
    assert [row["questions"] for row in document["rows"]] == [5, 5, 5, 3] and QUESTIONS == 100
