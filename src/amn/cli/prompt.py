"""The prompt: line editing with history, and the commands besides sentences and questions."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from amn.cli.conversation import Conversation
from amn.cli.screen import as_told
from amn.errors import AMNError, did_you_mean

if TYPE_CHECKING:
    from amn.answers import Answer
    from amn.cli.screen import Screen

PROMPT = "amn> "
WELCOME = "Tell a story and ask about it. /help lists the commands; Ctrl-D quits."
LEAVING = "Press Ctrl-C again, or Ctrl-D, to quit."
HISTORY_LINES = 1000
_HELP = """\
Type sentences, and questions in between: Mary went to the garden. Where is Mary?
Questions stay open: when a later sentence changes an answer, the new one is shown."""


class Command(NamedTuple):
    """A command of the prompt."""

    run: Callable[[Conversation, "Screen", str], None]  # takes what was typed after its name
    help: str  # one line
    argument: str = ""  # what must be typed after its name


def _say(talk: Conversation, screen: "Screen", answer: "Answer", when: str = "") -> None:
    screen.answer(as_told(answer, talk.sentences), when)


def _help(_talk: Conversation, screen: "Screen", _: str) -> None:
    names = {f"/{name} {command.argument}".rstrip(): command.help for name, command in COMMANDS.items()}
    screen.say("\n".join([_HELP, *(f"  {name:12} {text}" for name, text in names.items())]))


def _questions(talk: Conversation, screen: "Screen", _: str) -> None:
    if not talk.memories:
        screen.say("There are no open questions.")
    answers = {answer.question: answer for answer in talk.answers()}
    for question in talk.memories:
        _say(talk, screen, answers[question]) if question in answers else screen.say(question)


def _forget(talk: Conversation, screen: "Screen", _: str) -> None:
    talk.forget()
    screen.say("Forgotten: the story and its questions.")


def _save(talk: Conversation, screen: "Screen", name: str) -> None:
    path = Path(name).expanduser()
    talk.save(path)
    screen.say(f"Saved to {path}: {_size(talk)}.")


def _load(talk: Conversation, screen: "Screen", name: str) -> None:
    talk.load(Path(name).expanduser())
    screen.say(f"Loaded: {_size(talk)}.")
    _questions(talk, screen, "")


def _quit(_talk: Conversation, _screen: "Screen", _: str) -> None:
    raise EOFError


def _size(talk: Conversation) -> str:
    counts = (("sentence", len(talk.sentences)), ("question", len(talk.memories)))
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in counts)


COMMANDS = {
    "help": Command(_help, "this list"),
    "questions": Command(_questions, "the open questions and their current answers"),
    "banks": Command(
        lambda talk, screen, _: screen.banks(talk.last_memory().snapshot()), "the memory banks, for the last question"
    ),
    "why": Command(lambda talk, screen, _: _say(talk, screen, talk.why()), "what the last answer rests on"),
    "forget": Command(_forget, "forget the story and its questions"),
    "save": Command(_save, "save the story and its questions; in Python, qa.restore reads the file", "FILE"),
    "load": Command(_load, "continue from a saved file", "FILE"),
    "quit": Command(_quit, "quit; so does Ctrl-D"),
}
_WORDS = {"help": "help", "?": "help", "quit": "quit", "exit": "quit"}  # typed alone, they are commands


def obey(line: str, talk: Conversation, screen: "Screen") -> bool:
    """Runs a line if it is a command, and returns whether it was one; raises EOFError to quit."""
    name, _, argument = line.strip().partition(" ")
    name = f"/{_WORDS[name.lower()]}" if not argument and name.lower() in _WORDS else name
    if not name.startswith("/"):
        return False
    command = COMMANDS.get(name[1:])
    if command is None:
        raise AMNError(f"unknown command {name}: {did_you_mean(name, (f'/{known}' for known in COMMANDS))}")
    if bool(argument.strip()) != bool(command.argument):
        raise AMNError(f"expected {name} {command.argument}".rstrip() + f", found {line.strip()}")
    command.run(talk, screen, argument.strip())
    return True


def interact(talk: Conversation, screen: "Screen") -> None:
    """Reads lines from the terminal until the user quits. Ctrl-C clears the line, and twice in a row quits."""
    screen.say(WELCOME)
    interrupted = False
    with history(state_file("history")) as keep:
        while True:
            try:
                line = input(PROMPT)
                interrupted = False
                keep()
                respond(line, talk, screen)
            except EOFError:
                screen.say("")
                return
            except KeyboardInterrupt:
                screen.say("" if interrupted else f"\n{LEAVING}")
                if interrupted:
                    return
                interrupted = True


def respond(line: str, talk: Conversation, screen: "Screen") -> None:
    """Handles a line: sentences, questions or a command. Errors are shown; EOFError quits."""
    try:
        if not line.strip() or obey(line, talk, screen):
            return
        first = not talk.sentences
        for answer in talk.take(line):
            _say(talk, screen, answer)
        for did in filter(None, (trace.did for trace in talk.did)):
            screen.hint(f"  {did}")
        for answer in talk.changed():
            _say(talk, screen, answer, "now")
        if first and talk.sentences and not talk.memories:
            screen.hint("Remembered. Go on, or ask a question.")
    except AMNError as error:
        screen.hint(str(error))


def state_file(name: str) -> Path:
    """A file in the user's state directory."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "amn" / name


@contextmanager
def history(path: Path) -> Iterator[Callable[[], None]]:
    """Editing, completion and history of lines, also from earlier sessions, if Python has readline.

    Yields a function that saves the history so far: the terminal may be closed at any time.
    """
    try:
        import readline
    except ImportError:  # on Windows, the terminal has its own line editing
        yield lambda: None
        return
    with suppress(OSError):
        readline.read_history_file(path)
    readline.set_history_length(HISTORY_LINES)
    readline.set_completer_delims(" ")
    readline.set_completer(lambda text, number: _completion(readline.get_line_buffer(), text, number))
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")

    def keep() -> None:
        with suppress(OSError):  # a history that cannot be written is not an error
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            readline.write_history_file(path)

    yield keep


def _completion(line: str, text: str, number: int) -> str | None:
    """Completes the names of commands, and of files after them."""
    found: list[str] = []
    if line.startswith("/") and " " not in line:
        found = [f"/{name} " for name in COMMANDS if f"/{name}".startswith(text)]
    elif line.startswith(("/save ", "/load ")):
        found = sorted(glob(f"{os.path.expanduser(text)}*"))
    return found[number] if number < len(found) else None
