"""Answers and banks on the screen: plain lines, or drawn with rich on a terminal."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING

from amn.data.story import straight
from amn.training.display import terminal_bar

if TYPE_CHECKING:
    from rich.panel import Panel

    from amn.answers import Answer, Bank, Entity, Explanation

SHOWN = 12  # entities of a bank on a terminal; --json has more
MARK = "*"  # before a sentence that the answer rests on
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Screen:
    """Plain lines on standard output."""

    def line(self, *parts: tuple[str, str]) -> None:
        """Prints a line of texts, each with a style, which plain lines ignore."""
        print("".join(text for text, _ in parts).rstrip())

    def say(self, text: str) -> None:
        """Prints a line of text."""
        self.line((text, ""))

    def hint(self, text: str) -> None:
        """Prints a remark."""
        self.line((text, "dim"))

    def answer(self, answer: "Answer", when: str = "") -> None:
        """Prints an answer and its explanation, if any; `when` is put before an answer that is not the first.

        Guesses and unknown answers have another colour.
        """
        head, mark, details = str(answer).partition(" (")
        said = (f"{answer.question}  ", ""), (f"{when} " if when else "", "dim")
        self.line(*said, (head, "bold green" if answer.known else "yellow"), (mark + details, "dim"))
        if answer.explanation is not None:
            self.explanation(answer.explanation, answer.sentences)

    def explanation(self, explanation: "Explanation", rests_on: Sequence[int]) -> None:
        """Prints the banks, and what each sentence did; those that the answer rests on are marked."""
        self.banks(explanation.banks)
        if explanation.let_in < explanation.seen:
            self.say(f"  {explanation.let_in:,} of {explanation.seen:,} sentences let in")
        for trace in explanation.sentences:
            marked = trace.sentence in rests_on
            number = (f"{MARK if marked else ' '} {trace.sentence + 1:3} ", "bold green" if marked else "dim")
            self.line(number, (trace.text, "bold" if marked else ""), (f"  {trace.did}", "cyan"))

    def banks(self, banks: Sequence["Bank"]) -> None:
        """Prints the banks, the most relevant first."""
        for bank in reversed(banks):
            shown = ", ".join(label(entity) for entity in bank.entities[:SHOWN])
            print(f"  bank {bank.index} ({bank.size}): {shown}{_and_more(bank)}")


class RichScreen(Screen):
    """The banks side by side in colour; nothing is shown by colour only."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(highlight=False)

    def line(self, *parts: tuple[str, str]) -> None:
        """Prints a line of texts, each in its style."""
        from rich.text import Text

        self.console.print(Text.assemble(*parts))

    def banks(self, banks: Sequence["Bank"]) -> None:
        """Prints the banks as columns, the most relevant last."""
        from rich.columns import Columns

        deep = {entity.word for bank in banks[1:] for entity in bank.entities}
        self.console.print(Columns([_panel(bank, deep, bank.index == len(banks) - 1) for bank in banks]))


def as_told(answer: "Answer", sentences: Iterable[str]) -> "Answer":
    """An answer spelled as in the story: "Fred", not "fred"; models only know lower case.

    Words that the story has together are spelled as they are there ("Mr. Smith"). For other words the first word of a
    sentence counts only if there is no other.
    """
    spelling, told = dict[str, str](), [straight(sentence) for sentence in sentences]
    for sentence in told:
        for place, word in enumerate(_WORD.findall(sentence)):
            if place or word.lower() not in spelling:
                spelling[word.lower()] = word
    items = (
        _told_together(item, told) or _WORD.sub(lambda word: spelling.get(word[0], word[0]), item)
        for item in answer.answer.split(",")
    )
    return replace(answer, answer=",".join(items))


def _told_together(item: str, sentences: Sequence[str]) -> str | None:
    """Several words as the last sentence that tells them together writes them."""
    if " " not in item:
        return None
    together = re.compile(rf"\b{'[. ]+'.join(map(re.escape, item.split()))}\b", re.IGNORECASE)
    return next((found[0] for sentence in reversed(sentences) if (found := together.search(sentence))), None)


def choose_screen() -> Screen:
    """Rich on a terminal if it is installed, else plain lines."""
    return RichScreen() if sys.stdout.isatty() and find_spec("rich") else Screen()


@contextmanager
def progress_bar(what: str, steps: int) -> Iterator[Callable[[], None]]:
    """A function to call after each step, which shows the progress on standard error."""
    with terminal_bar(what, "{task.completed}/{task.total}") as progress:
        if progress is None:
            done = count(1)
            yield lambda: print(f"{what} {next(done)}/{steps}", file=sys.stderr, flush=True)
        else:
            yield partial(progress.advance, progress.add_task(what, total=steps))


def label(entity: "Entity") -> str:
    """A word with its strength and, if it was attended to, its share of the attention."""
    looked = f" read {entity.attention:.0%}" if entity.attention >= 0.005 else ""
    return f"{entity.word} {entity.strength:.2f}{looked}"


def _and_more(bank: "Bank") -> str:
    return f", and {bank.size - SHOWN} more" if bank.size > SHOWN else ""


def _panel(bank: "Bank", deep: set[str], last: bool) -> "Panel":
    """A bank; words that are in the first one only are dim, for they are irrelevant to the question."""
    from rich.panel import Panel
    from rich.text import Text

    shown = [(entity.word, "bold" if entity.word in deep else "dim", label(entity)) for entity in bank.entities[:SHOWN]]
    lines = [Text.assemble((word, style), (text[len(word) :], "dim")) for word, style, text in shown]
    if more := _and_more(bank).removeprefix(", "):
        lines.append(Text(more, style="dim"))
    return Panel(
        Text("\n").join(lines),
        title=f"bank {bank.index} · {bank.size}",
        border_style="green" if last else "dim",
        expand=False,
    )
