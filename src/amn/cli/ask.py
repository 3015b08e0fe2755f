"""The verb that answers questions about a story, or holds a conversation."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from amn.cli.conversation import Conversation
from amn.cli.output import note, print_json
from amn.cli.prompt import interact, respond
from amn.cli.screen import as_told, choose_screen
from amn.errors import AMNError, ConfigError
from amn.pretrained import DEFAULT_MODEL
from amn.training.display import terminal_bar

if TYPE_CHECKING:
    from amn.answers import Answer
    from amn.api import QA
    from amn.memory import LiveMemory
    from amn.memory.stream import Progress

INTERRUPTED = 130  # the exit code after Ctrl-C
FORGET = "/forget"  # the only command in a piped conversation: another story begins
WAITING = "Type or paste the story; end it with Ctrl-D on an empty line."
PLAIN_SECONDS = 10.0  # between progress messages if there is no terminal


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

    Without questions it starts a conversation: type sentences and questions. At its prompt, /help lists the commands;
    in a pipe, a line with /forget starts another story.

        echo "Mary went to the garden." | amn ask "Where is Mary?"
        amn ask --story story.txt --explain "Where is Mary?" "Where is John?"
        amn ask

    Args:
        questions: the questions to answer.
        question: another question; may be given several times.
        model: shipped weights, a model directory, or a name on the Hugging Face hub.
        story: a text file of any length; by default, or for -, standard input. Ctrl-C stops the reading, and the
            questions are answered from what was read.
        memory: a file in which to save the memory at the end or when stopped; an existing one is continued.
        explain: show the banks, their entities and strengths, and what each sentence did.
        banks: how many banks to read, the most relevant first; 0 for all. By default 1.
        deadline: seconds from the end of the story; more banks are read while the answer is uncertain and time remains.
        json: print {"answers": [...]}.
    """
    from amn.api import load

    story = None if story == Path("-") else story
    if story is not None and not story.exists():
        raise AMNError(f"story: there is no file {str(story)!r}")
    if story is not None and story.is_dir():
        raise AMNError(f"story: {str(story)!r} is a folder; give a file of text")
    qa = load(model)
    asked = [*questions, *question]
    if not asked:
        _converse(qa, story, banks=banks, deadline=deadline, explain=explain, json=json)
        return None
    told, finished = _told(qa, asked, story, memory)
    _show(told.ask(banks=banks, deadline=deadline, explain=explain), lambda: told.latest, json)
    return None if finished else INTERRUPTED


def _show(answers: Iterable["Answer"], told: Callable[[], Iterable[str]], json: bool) -> None:
    if json:
        print_json({"answers": [answer.to_dict() for answer in answers]})
        return
    screen = choose_screen()
    for answer in answers:
        screen.answer(as_told(answer, told()))


def _converse(
    qa: "QA", story: Path | None, *, banks: int | None, deadline: float | None, explain: bool, json: bool
) -> None:
    typed = sys.stdin.isatty() and not json
    talk = Conversation(qa, banks=banks, deadline=deadline, explain=explain, standing=typed)
    try:
        given = [] if story is None else story.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise AMNError(f"story: {story} is not text in UTF-8 ({error.reason} at byte {error.start})") from error
    if not typed:
        _show(_piped(talk, sys.stdin if story is None else given), lambda: talk.sentences, json)
        return
    screen = choose_screen()
    for line in given:
        respond(line, talk, screen)
    interact(talk, screen)


def _piped(talk: Conversation, lines: Iterable[str]) -> Iterator["Answer"]:
    """The answers to the questions in some lines; an error if there is none."""
    asked = False
    for line in lines:
        if line.strip() == FORGET:
            talk.forget()
            continue
        for answer in talk.take(line):
            asked = True
            yield answer
    if not asked:
        raise ConfigError("question: expected at least one, as an argument or as a line that ends in ?, found none")


def _told(qa: "QA", questions: list[str], story: Path | None, kept: Path | None) -> "tuple[LiveMemory, bool]":
    """A memory for some questions that has read a story, and whether it was read to its end or stopped by Ctrl-C.

    It is saved in a file, if one is given, from which a later reading continues.
    """
    memory, finished = _opened(qa, questions, kept), True
    source: Path | TextIO = story or sys.stdin
    if story is None and sys.stdin.isatty():  # it is typed: a bar would disturb that
        note(WAITING)
        source = StringIO(sys.stdin.read())
    try:
        with _shown() as show:
            memory.read(source, progress=show)
    except KeyboardInterrupt as stop:
        if not memory.seen:
            raise
        finished = False
        note(f"amn: {stop}")
    if not memory.seen:
        from amn.api import EMPTY_STORY

        raise AMNError(EMPTY_STORY)
    if kept is not None:
        memory.save(kept)
    return memory, finished


def _opened(qa: "QA", questions: list[str], kept: Path | None) -> "LiveMemory":
    if kept is None or not kept.exists():
        return qa.memory(questions)
    memory = qa.restore(kept)
    if memory.questions != [question.strip() for question in questions]:
        raise ConfigError(f"--memory: {kept} was built for other questions: {'; '.join(memory.questions)}")
    return memory


@contextmanager
def _shown() -> Iterator[Callable[["Progress"], None]]:
    """A function that shows the progress on standard error."""
    said = [0.0]

    def say(progress: "Progress") -> None:
        if progress.seconds >= said[0] + PLAIN_SECONDS:
            said[0] = progress.seconds
            note(f"reading: {progress}")

    with terminal_bar("reading", "{task.description}") as bar:
        if bar is None:
            yield say
        else:
            task = bar.add_task("", total=None)
            yield lambda progress: bar.update(
                task, description=str(progress), completed=progress.share or 0, total=progress.share and 1.0
            )
