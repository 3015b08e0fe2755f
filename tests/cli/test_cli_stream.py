"""Questions about stories of any length: shown as they are read, stopped, and read on."""

import io
import json
import sys
from pathlib import Path

import pytest

from amn.cli import ask
from amn.cli import main as cli
from amn.memory.stream import BLOCK_SENTENCES, Progress

FILLER = "It was the next chapter of a long book.\n" * (BLOCK_SENTENCES + 5)

Output = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("books") / "book.txt"
    path.write_text("Mary went to the garden.\n" + FILLER)
    return path


def run(capsys: Output, *words: object) -> tuple[int, str, str]:
    code = cli.main([str(word) for word in ("ask", "--model", "qa1", *words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("front", ["cyclopts", "plain"])
def test_questions_by_name_about_a_story_by_pipe(capsys: Output, monkeypatch: Patch, front: str) -> None:
    if front == "plain":
        monkeypatch.setitem(sys.modules, "cyclopts", None)
        monkeypatch.setattr("sys.stdin", io.StringIO("Mary went to\nthe garden."))
        words = ["--story", "-"]
    else:
        monkeypatch.setattr("sys.stdin", io.StringIO("Mary went to the garden."))
        words = []
    code, out, err = run(capsys, *words, "--question", "Where is Mary?", "--question", "Where is John?", "--json")
    assert (code, err) == (0, "")
    assert [answer["question"] for answer in json.loads(out)["answers"]] == ["Where is Mary?", "Where is John?"]


def test_a_long_story_says_how_far_it_is(capsys: Output, monkeypatch: Patch, book: Path) -> None:
    monkeypatch.setattr(ask, "PLAIN_SECONDS", 0.0)
    code, out, err = run(capsys, "--story", book, "Where is Mary?")
    assert code == 0 and out.startswith("Where is Mary?")
    assert "reading: " in err and " sentences let in; " in err and " a second" in err


def test_a_terminal_gets_a_bar(capsys: Output, monkeypatch: Patch, book: Path) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    code, _, _ = run(capsys, "--story", book, "Where is Mary?")
    assert code == 0 and "reading" in shown.getvalue()


def test_a_stopped_reading_answers_and_goes_on(capsys: Output, monkeypatch: Patch, book: Path, tmp_path: Path) -> None:
    line = ["--story", book, "--memory", tmp_path / "kept", "Where is Mary?"]
    with monkeypatch.context() as patch:
        patch.setattr(ask, "note", _stop)
        patch.setattr(ask, "PLAIN_SECONDS", 0.0)
        code, out, _ = run(capsys, *line)
    assert code == 130 and "Where is Mary?" in out
    code, out, err = run(capsys, *line, "--explain", "--json")
    assert (code, err) == (0, "")
    explained = json.loads(out)["answers"][0]["explanation"]
    assert explained["seen"] == FILLER.count("\n") + 1
    code, _, err = run(capsys, "--story", book, "--memory", tmp_path / "kept", "Where is John?")
    assert code == 2 and "was built for other questions: Where is Mary?" in err


def _stop(text: str) -> None:
    if text.startswith("reading"):
        raise KeyboardInterrupt


def test_progress_as_json() -> None:
    found = Progress(sentences=2, let_in=1, tokens=10, seconds=5.0, finished=True).to_dict()
    assert found["tokens_per_second"] == 2.0 and found["share"] is None and found["finished"]
