"""The prompt of `amn ask` in a pseudo-terminal: history, editing, commands, Ctrl-C and Ctrl-D."""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amn.cli.conversation import Conversation, is_question
from amn.cli.prompt import COMMANDS, LEAVING, WELCOME, obey
from amn.cli.screen import Screen
from amn.errors import AMNError

pexpect = pytest.importorskip("pexpect")
pytest.importorskip("readline")

SOURCE = Path(__file__).parents[2] / "src"
UP, LEFT, HOME = "\x1b[A", "\x1b[D", "\x01"
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Person:
    """Somebody at a terminal.

    Args:
        words: of the command line.
        state: the user's state directory.
    """

    def __init__(self, words: list[str], state: Path) -> None:
        environment = os.environ | {
            "PYTHONPATH": str(SOURCE),
            "XDG_STATE_HOME": str(state),
            "TERM": "xterm",
            "OMP_NUM_THREADS": "1",
        }
        self.terminal = pexpect.spawn(
            sys.executable,
            ["-m", "amn", *words],
            env=environment,
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 160),
            preexec_fn=lambda: signal.signal(
                signal.SIGINT, signal.default_int_handler
            ),  # also below a job that ignores it
        )

    def reads(self, text: str) -> str:
        """Waits for a text, and gives what stood before it."""
        self.terminal.expect_exact(text)
        return _COLOURS.sub("", str(self.terminal.before))

    def types(self, line: str) -> str:
        """Types a line, and gives what is said to it."""
        self.terminal.send(line)
        self.terminal.send("\r")
        self.terminal.expect("\r\n")
        return self.reads("amn> ").replace("\r\n", "\n").strip()

    def leaves(self) -> int:
        """Waits for the end, and gives the exit code."""
        self.terminal.expect(pexpect.EOF)
        self.terminal.close()
        return int(self.terminal.exitstatus)


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Callable[..., Person]]:
    people: list[Person] = []

    def sits_down(*words: str) -> Person:
        people.append(Person(list(words) or ["ask"], tmp_path))
        return people[-1]

    yield sits_down
    for one in people:
        one.terminal.close(force=True)


def test_a_conversation(person: Callable[..., Person]) -> None:
    one = person()
    assert WELCOME in one.reads("amn> ")
    one.types("Mary went to the garden.")
    assert one.types("") == ""
    answer = one.types("where is mary")
    assert answer.startswith("where is mary?  garden (score ") and "bank 0" not in answer
    changed = one.types("Mary went to the kitchen.")
    assert "where is mary?  now kitchen (score " in changed
    assert one.types("It is cold outside.").count("where is mary?") == 0
    assert "the story does not say" in one.types("Where is Anna?")
    assert "bank 0 · " in one.types("/banks")
    assert one.types("/questions").splitlines()[0].startswith("where is mary?  kitchen")
    assert "*   2 Mary went to the kitchen." in one.types("where is mary") + one.types("/why")
    one.terminal.sendeof()
    assert one.leaves() == 0


def test_help_is_no_sentence(person: Callable[..., Person]) -> None:
    one = person()
    one.reads("amn> ")
    for line in ("help", "/help"):
        said = one.types(line)
        assert all(f"/{name}" in said for name in COMMANDS)
    assert "did you mean /banks?" in one.types("/bnks")
    assert "expected /save FILE" in one.types("/save")
    assert "nothing has been asked yet" in one.types("/banks")
    one.terminal.sendline("exit")
    assert one.leaves() == 0


def test_ctrl_c_clears_the_line_and_twice_leaves(person: Callable[..., Person]) -> None:
    one = person()
    one.reads("amn> ")
    one.terminal.send("Where is")
    one.reads("Where is")
    one.terminal.sendintr()
    assert LEAVING in one.reads("amn> ")
    one.types("John went to the office.")
    assert "office" in one.types("Where is John?")  # what stood in the line before is gone
    one.terminal.sendintr()
    one.reads("amn> ")
    one.terminal.sendintr()
    assert one.leaves() == 0


def test_lines_are_edited_and_called_back_the_next_day(person: Callable[..., Person], tmp_path: Path) -> None:
    one = person()
    one.reads("amn> ")
    one.types("n went to the office." + HOME + "Joh")
    one.types("Where is John?")
    one.terminal.sendeof()
    assert one.leaves() == 0
    kept = tmp_path / "amn" / "history"
    assert kept.read_text().splitlines() == ["John went to the office.", "Where is John?"]
    assert kept.stat().st_mode & 0o077 == 0
    other = person()
    other.reads("amn> ")
    other.types(UP + UP)
    assert "office" in other.types(UP + UP)  # the question once more, and the sentence was told
    other.terminal.send("/que\t")
    other.reads("/questions")


def test_a_conversation_is_saved_and_gone_on_with(person: Callable[..., Person], tmp_path: Path) -> None:
    one, path = person(), tmp_path / "john memory"
    one.reads("amn> ")
    one.types("John went to the office.")
    one.types("Where is John?")
    assert "1 sentence, 1 question" in one.types(f"/save {path}")
    assert "Forgotten" in one.types("/forget")
    assert one.types("/questions") == "There are no open questions."
    assert "Where is John?  office" in one.types(f"/load {path}")
    assert "now garden" in one.types("John went to the garden.")
    assert "not a saved memory" in one.types(f"/load {tmp_path / 'missing'}")


def test_a_story_is_waited_for_aloud(person: Callable[..., Person]) -> None:
    one = person("ask", "Where is John?")
    one.reads("end it with Ctrl-D on an empty line.")
    one.terminal.sendline("John went to the office.")
    one.terminal.sendeof()
    one.reads("Where is John?  ")
    assert one.leaves() == 0


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where is Mary?", True),
        ("where is Mary", True),
        ("Who’s in the garden", True),
        ("Where's the milk", True),
        ("Is Mary in the garden", True),
        ("Mary went to the garden", False),
        ("Will went to the garden", False),
        ("Where Mary went, John went.", False),
    ],
)
def test_what_is_a_question(text: str, asks: bool) -> None:
    assert is_question(text) == asks


def test_a_question_with_a_point_in_it_is_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    talk, asked = Conversation(None), list[str]()  # type: ignore[arg-type]
    monkeypatch.setattr(talk, "ask", asked.append)
    list(talk.take("where is mr. smith"))
    list(talk.take("Mary went home. where is Mary"))
    list(talk.take("where is Mary? where is John"))
    assert asked == ["where is mr. smith", "where is Mary", "where is Mary?", "where is John"]
    assert talk.sentences == ["Mary went home."]


def test_sentences_are_not_commands() -> None:
    talk = Conversation(None)  # type: ignore[arg-type]
    assert not obey("Help John to find the milk.", talk, Screen())
    with pytest.raises(AMNError, match="unknown command /nonsense"):
        obey("/nonsense", talk, Screen())
