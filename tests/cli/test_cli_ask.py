"""The verbs that answer, through both front ends; conversations as typed and as piped."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from amn.answers import Answer, Bank, Entity, Move, SentenceTrace
from amn.api import QA
from amn.cli import demo, screen
from amn.cli import main as cli
from amn.data.vocabulary import Vocabulary
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.pretrained import DEFAULT_MODEL

STORY = "Mary went to the garden.\nJohn went to the office.\n"
KEYS = {"question", "answer", "score", "top", "banks_read", "banks_created", "entities_read", "entities"}
KEYS |= {"milliseconds", "stopped_for_deadline", "explanation", "known", "sentences"}

Output = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    vocabulary = Vocabulary(words=("<padding>", "<unknown>", "mary", "went", "garden"), answers=("garden", "office"))
    network = build_model("amn", vocabulary, {"hidden": 8, "heads": 2}).eval()
    path = tmp_path_factory.mktemp("models") / "small"
    QA(TrainedModel.of(architecture="amn", model=network, vocabulary=vocabulary)).save_pretrained(path)
    return path


@pytest.fixture(params=["cyclopts", "plain"])
def front(request: pytest.FixtureRequest, monkeypatch: Patch) -> str:
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "cyclopts", None)
    return str(request.param)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(capsys: Output, *words: object) -> tuple[int, str, str]:
    code = cli.main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def pipe(monkeypatch: Patch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_questions_about_a_piped_story(capsys: Output, monkeypatch: Patch, front: str, model: Path) -> None:
    pipe(monkeypatch, STORY)
    code, out, err = run(capsys, "ask", "--model", model, "Where is Mary?", "Where is John?")
    assert (code, err) == (0, "")
    assert [line.split("  ")[0] for line in out.splitlines()] == ["Where is Mary?", "Where is John?"]
    assert "of 7 entities" in out


def test_json_holds_every_field(capsys: Output, front: str, model: Path, tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text(STORY)
    code, out, _ = run(
        capsys, "ask", "--model", model, "--story", story, "--explain", "--json", "--banks", 0, "Where is Mary?"
    )
    (answer,) = json.loads(out)["answers"]
    assert code == 0 and set(answer) == KEYS
    assert answer["explanation"]["sentences"][0]["text"] == "Mary went to the garden."
    assert {"banks", "sentences", "graph", "read", "seen", "let_in"} == set(answer["explanation"])


def test_an_explanation_names_banks_and_sentences(capsys: Output, monkeypatch: Patch, model: Path) -> None:
    pipe(monkeypatch, STORY)
    code, out, _ = run(capsys, "ask", "--model", model, "--explain", "--deadline", 5, "Where is Mary?")
    assert code == 0
    assert "bank 0 (7): " in out and "  1 Mary went to the garden." in out


@pytest.mark.parametrize("questions", [["Who has the ball?", "Where is Fred?"], []])
def test_an_answer_is_spelled_as_it_was_told(capsys: Output, monkeypatch: Patch, questions: list[str]) -> None:
    told = "Mary took the ball. Mary gave the ball to Fred. Fred went to New York.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(told + ("" if questions else "Who has the ball?\nWhere is Fred?\n")))
    _, out, _ = run(capsys, "ask", *questions)
    assert [line.split("  ")[1].partition(" (")[0] for line in out.splitlines()] == ["Fred", "New York"]


def test_words_are_spelled_as_they_were_told_together() -> None:
    told = ["Room 1 is free.", "Mr. Smith and O’Brien are in the waiting room.", "Ann is in Room 1."]
    spelled = {
        "waiting room": "waiting room",
        "room 1": "Room 1",
        "mr smith,o'brien": "Mr. Smith,O'Brien",
        "x y": "x y",
    }
    for known, written in spelled.items():
        assert screen.as_told(Answer(question="", answer=known, score=1.0), told).answer == written


def test_a_piped_conversation_is_answered_in_turn(capsys: Output, monkeypatch: Patch, model: Path) -> None:
    pipe(monkeypatch, "Mary went. Where is Mary?\n/forget\nJohn and Mary sat down.\nWhere is Mary?\n")
    code, out, _ = run(capsys, "ask", "--model", model, "--json")
    assert code == 0
    assert [answer["entities"] for answer in json.loads(out)["answers"]] == [2, 5]


def test_without_cyclopts_a_story_may_be_piped_by_name(capsys: Output, monkeypatch: Patch, model: Path) -> None:
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    for questions in ([], ["Where is Mary?"]):
        pipe(monkeypatch, "Mary went home. Where is Mary?\n")
        code, out, _ = run(capsys, "ask", "--model", model, "--json", "--story", "-", *questions)
        assert code == 0
        assert [answer["question"] for answer in json.loads(out)["answers"]] == ["Where is Mary?"]


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        ("", ["Where is Mary?"], 1, "story: expected at least one sentence"),
        (STORY, ["?"], 1, "question: expected 1 to 64 words in question 1"),
        (STORY, [], 2, "question: expected at least one"),
        (STORY, ["--banks", "-1", "Where is Mary?"], 1, "banks: expected"),
        (STORY, ["--deadline", "soon", "Where is Mary?"], 2, "soon"),
        (STORY, ["--story", "missing.txt", "Where is Mary?"], 1, "story: there is no file 'missing.txt'"),
        (STORY, ["--story", ".", "Where is Mary?"], 1, "story: '.' is a folder"),
        (STORY, ["--story", "missing.txt"], 1, "story: there is no file 'missing.txt'"),
    ],
)
def test_what_cannot_be_answered_is_said_in_one_line(
    capsys: Output, monkeypatch: Patch, model: Path, text: str, words: list[str], code: int, said: str
) -> None:
    pipe(monkeypatch, text)
    got, out, err = run(capsys, "ask", "--model", model, *words)
    assert (got, out) == (code, "")
    assert said in err and "Traceback" not in err


def test_an_unknown_model_is_said(capsys: Output, monkeypatch: Patch) -> None:
    pipe(monkeypatch, STORY)
    code, _, err = run(capsys, "ask", "--model", "nonsense", "Where is Mary?")
    assert code == 1 and "no model is called 'nonsense'" in err


def test_a_story_that_is_no_text_is_said(capsys: Output, model: Path, tmp_path: Path) -> None:
    (tmp_path / "story").write_bytes(b"Mary \xff went.")
    code, _, err = run(capsys, "ask", "--model", model, "--story", tmp_path / "story", "Where is Mary?")
    assert code == 1 and "UTF-8" in err


def typed(monkeypatch: Patch, *lines: str) -> None:
    """A user at a terminal who types these lines and then closes it."""
    monkeypatch.setattr("sys.stdin", Terminal())
    left = iter(lines)

    def read(_prompt: str) -> str:
        for line in left:
            return line
        raise EOFError

    monkeypatch.setattr("builtins.input", read)


def test_at_a_terminal_questions_stand(capsys: Output, monkeypatch: Patch, tmp_path: Path, model: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    lines = [
        "Mary went.",
        "",
        "where is Mary",
        "John sat.",
        "word " * 300,
        "/banks",
        "/forget",
        "Who?",
        "/quit",
        "Why?",
    ]
    typed(monkeypatch, *lines)
    code, out, _ = run(capsys, "ask", "--model", model)
    assert code == 0
    assert out.startswith("Tell a story")
    assert "Where is Mary?" not in out and "where is Mary?  " in out
    assert "at most 256 fit" in out and "Why?" not in out
    assert "nothing has been told yet; the question stays open" in out
    assert out.count("bank 0 (") == 1  # only when it was asked for


def test_rich_draws_the_same(capsys: Output, monkeypatch: Patch, tmp_path: Path, model: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    typed(monkeypatch, "Mary [red]went[/red].", "Where is Mary?", "/banks")
    code, out, _ = run(capsys, "ask", "--model", model)
    assert code == 0
    assert "bank 0 · " in out and "Where is Mary?" in out


def test_what_a_sentence_did_in_words() -> None:
    moves = (Move("mary", None, 0), Move("john", 0, 1))
    trace = SentenceTrace(sentence=0, text="x", banks=2, created=True, moves=moves, depth={}, strengths={})
    assert trace.did == "bank 1 created; john → bank 1"


def test_a_huge_bank_is_cut(capsys: Output) -> None:
    entities = tuple(Entity(word=f"w{i}", strength=0.5, relevance=0.0, attention=0.5) for i in range(20))
    screen.Screen().banks([Bank(index=0, size=300, entities=entities)])
    out = capsys.readouterr().out
    assert "w11 0.50 read 50%, and 288 more" in out and "w12" not in out


def test_demo_with_a_shipped_model(capsys: Output, monkeypatch: Patch, front: str, model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / DEFAULT_MODEL)
    monkeypatch.setattr("amn.pretrained._FOLDER", tmp_path)
    asked = [*demo.QUESTIONS, *(question for _, questions in demo.SCENES for question in questions)]
    code, out, _ = run(capsys, "demo")
    assert code == 0
    assert all(question in out for question in asked)
    assert "amn serve" in out
    code, out, _ = run(capsys, "demo", "--json")
    assert [answer["question"] for answer in json.loads(out)["answers"]] == asked
