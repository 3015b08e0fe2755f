"""The verb that answers: ask about a story, or talk to a memory."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from amn.cli.conversation import Conversation
from amn.cli.output import print_json
from amn.cli.prompt import interact, respond
from amn.cli.screen import choose_screen
from amn.cli.stream import told_memory
from amn.errors import AMNError, ConfigError
from amn.pretrained import DEFAULT_MODEL

if TYPE_CHECKING:
    from amn.answers import Answer
    from amn.api import QA

INTERRUPTED = 130  # the exit code of who was stopped
FORGET = "/forget"  # the one command that a piped conversation knows: another story begins


def ask(
    *questions: str,
    question: tuple[str, ...] = (),
    model: str = DEFAULT_MODEL,
    story: Path | None = None,
    memory: Path | None = None,
    explain: bool = False,
    banks: int | None = None,
    deadline: float | None = None,
    json: bool = False,
) -> int | None:
    """Answer questions about a story of any length, from a file or standard input.

    Without questions it is a conversation: sentences are remembered, questions answered as they come. At its prompt,
    /help lists what else may be typed; in a pipe, a line that says /forget begins another story.

        echo "Mary went to the garden." | amn ask "Where is Mary?"
        amn ask --story story.txt --explain "Where is Mary?" "Where is John?"
        amn ask

    Args:
        questions: what to answer.
        question: the same, by name; may be given several times.
        model: shipped weights, a model directory, or a name on the Hugging Face hub.
        story: a text file, a book if need be; standard input where it is left out, or for -. Ctrl-C stops the reading
            and answers from what was read.
        memory: a file to keep the memory in: it is saved there at the end or when stopped, and goes on from there.
        explain: show the banks, their entities and strengths, and what each sentence did.
        banks: how many banks to read, the most relevant first; 0 for all. By default 1.
        deadline: seconds from the end of the story; further banks are read while the answer is uncertain and time
            remains.
        json: print {"answers": [...]}.
    """
    from amn.api import load

    story = None if story == Path("-") else story
    if story is not None and not story.exists():
        raise AMNError(f"story: there is no file {str(story)!r}")
    qa = load(model)
    asked = [*questions, *question]
    if not asked:
        _converse(qa, story, banks=banks, deadline=deadline, explain=explain, json=json)
        return None
    told, finished = told_memory(qa, asked, story, memory)
    _show(told.ask(banks=banks, deadline=deadline, explain=explain), json)
    return None if finished else INTERRUPTED


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise AMNError(f"story: {path} is not text in UTF-8 ({error.reason} at byte {error.start})") from error


def _show(answers: Iterable["Answer"], json: bool) -> None:
    if json:
        print_json({"answers": [answer.to_dict() for answer in answers]})
        return
    screen = choose_screen()
    for answer in answers:
        screen.answer(answer)


def _converse(
    qa: "QA", story: Path | None, *, banks: int | None, deadline: float | None, explain: bool, json: bool
) -> None:
    typed = sys.stdin.isatty() and not json
    talk = Conversation(qa, banks=banks, deadline=deadline, explain=explain, standing=typed)
    given = [] if story is None else _text(story).splitlines()
    if typed:
        screen = choose_screen()
        for line in given:
            respond(line, talk, screen)
        interact(talk, screen)
        return
    _show(_some(_piped(talk, given if story is not None else sys.stdin)), json)


def _piped(talk: Conversation, lines: Iterable[str]) -> Iterator["Answer"]:
    for line in lines:
        if line.strip() == FORGET:
            talk.forget()
        else:
            yield from talk.take(line)


def _some(answers: Iterator["Answer"]) -> Iterator["Answer"]:
    """The answers; an error where there is none."""
    nothing = True
    for answer in answers:
        nothing = False
        yield answer
    if nothing:
        raise ConfigError("question: expected at least one, as an argument or as a line that ends in ?, found none")
