"""The verb that answers: ask about a story, or talk to a memory."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from amn.cli.output import print_json
from amn.cli.screen import Screen, choose_screen
from amn.cli.stream import told_memory
from amn.errors import AMNError, ConfigError
from amn.pretrained import DEFAULT_MODEL

if TYPE_CHECKING:
    from amn.answers import Answer
    from amn.api import QA
    from amn.memory import LiveMemory

INTERRUPTED = 130  # the exit code of who was stopped
FORGET, QUIT = ":new", ":quit"
WELCOME = f"Type sentences, and questions that end in a question mark. {FORGET} forgets the story, {QUIT} ends."


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

    Without questions it is a conversation: sentences are remembered, questions answered as they come.

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


class Conversation:
    """A story that is told line by line, and the memory for the last question about it.

    Args:
        qa: the model.
        banks: how many banks to read.
        deadline: seconds for an answer.
        explain: whether answers say why.
    """

    def __init__(self, qa: "QA", *, banks: int | None, deadline: float | None, explain: bool) -> None:
        self.qa, self.banks, self.deadline, self.explain = qa, banks, deadline, explain
        self.sentences: list[str] = []
        self.memory: LiveMemory | None = None

    def take(self, line: str) -> Iterator["Answer"]:
        """Remembers the sentences of a line and answers its questions."""
        from amn.data.sentences import split_sentences

        if line.strip() == FORGET:
            self.sentences, self.memory = [], None
            return
        for sentence in split_sentences(line):
            if sentence.endswith("?"):
                yield self._answer(sentence)
            else:
                self._tell(sentence)

    def _tell(self, sentence: str) -> None:
        from amn.data.text import read_story

        read_story([sentence])  # refuses what no memory could be told later
        self.sentences.append(sentence)
        if self.memory is not None:
            self.memory.tell([sentence])

    def _answer(self, question: str) -> "Answer":
        """A memory is guided by its question, so another question means reading the story again."""
        if self.memory is None or self.memory.questions != [question]:
            self.memory = self.qa.memory([question])
            self.memory.tell(self.sentences)
        return self.memory.ask(question, banks=self.banks, deadline=self.deadline, explain=self.explain)


def _converse(
    qa: "QA", story: Path | None, *, banks: int | None, deadline: float | None, explain: bool, json: bool
) -> None:
    talk = Conversation(qa, banks=banks, deadline=deadline, explain=explain)
    given = [] if story is None else _text(story).splitlines()
    if sys.stdin.isatty() and not json:
        screen = choose_screen()
        _show_each(talk, given, screen)
        _interact(talk, screen)
        return
    lines = given if story is not None else sys.stdin
    answers = (answer for line in lines for answer in talk.take(line))
    _show(_some(answers), json)


def _some(answers: Iterator["Answer"]) -> Iterator["Answer"]:
    """The answers; an error where there is none."""
    nothing = True
    for answer in answers:
        nothing = False
        yield answer
    if nothing:
        raise ConfigError("question: expected at least one, as an argument or as a line that ends in ?, found none")


def _interact(talk: Conversation, screen: Screen) -> None:
    """Reads lines from the terminal until it is closed; the banks are drawn after each."""
    screen.say(WELCOME)
    while True:
        try:
            line = screen.ask()
        except EOFError:
            screen.say("")
            return
        if line.strip() == QUIT:
            return
        try:
            _show_each(talk, [line], screen)
        except AMNError as error:
            screen.say(str(error))


def _show_each(talk: Conversation, lines: Iterable[str], screen: Screen) -> None:
    for line in lines:
        answered = False
        for answer in talk.take(line):
            answered = True
            screen.answer(answer)
        _show_memory(talk, screen, answered)


def _show_memory(talk: Conversation, screen: Screen, answered: bool) -> None:
    """The banks as they are; after a sentence also what is now the answer to the last question."""
    if talk.memory is None:
        return
    if not answered:
        screen.answer(talk.memory.ask()[0])
    if not talk.explain or not answered:
        screen.banks(talk.memory.snapshot())
