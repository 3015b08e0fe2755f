"""How answers and banks look: plain lines, or drawn with rich on a terminal."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.panel import Panel

    from amn.answers import Answer, Bank, Entity, Explanation, SentenceTrace

SHOWN = 12  # entities of a bank on a terminal; --json has more
STRONG, WEAK = 0.66, 0.33  # strengths from and below which an entity is drawn bold and dim
PROMPT = "amn> "


class Screen:
    """Plain lines on standard output."""

    def say(self, text: str) -> None:
        """A line of text."""
        print(text)

    def ask(self) -> str:
        """The next line that the user types.

        Raises:
            EOFError: where there is none.
        """
        return input(PROMPT)

    def answer(self, answer: "Answer") -> None:
        """An answer, with its explanation where it has one."""
        print(f"{answer.question}  {answer}")
        if answer.explanation is not None:
            self.explanation(answer.explanation)

    def explanation(self, explanation: "Explanation") -> None:
        """The banks, and what each sentence did."""
        self.banks(explanation.banks)
        if explanation.let_in < explanation.seen:
            self.say(f"  {explanation.let_in:,} of {explanation.seen:,} sentences let in")
        for trace in explanation.sentences:
            self.trace(trace)

    def banks(self, banks: Sequence["Bank"]) -> None:
        """The banks, the most relevant first."""
        for bank in reversed(banks):
            shown = ", ".join(label(entity) for entity in bank.entities[:SHOWN])
            print(f"  bank {bank.index} ({bank.size}): {shown}{_and_more(bank)}")

    def trace(self, trace: "SentenceTrace") -> None:
        """What a sentence did."""
        print(f"  {trace.sentence + 1:3} {trace.text}  {describe(trace)}")


class RichScreen(Screen):
    """The banks side by side in colour; strengths are written too, so that colour is never needed."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(highlight=False)

    def say(self, text: str) -> None:
        """A line of text."""
        from rich.text import Text

        self.console.print(Text(text))

    def answer(self, answer: "Answer") -> None:
        """An answer, with its explanation where it has one."""
        from rich.text import Text

        head, _, details = str(answer).partition(" (")
        parts = ((answer.question + "  ", ""), (head, "bold green"), (f" ({details}", "dim"))
        self.console.print(Text.assemble(*parts))
        if answer.explanation is not None:
            self.explanation(answer.explanation)

    def banks(self, banks: Sequence["Bank"]) -> None:
        """The banks as columns, the most relevant last."""
        from rich.columns import Columns

        self.console.print(Columns([_panel(bank, bank.index == len(banks) - 1) for bank in banks]))

    def trace(self, trace: "SentenceTrace") -> None:
        """What a sentence did."""
        from rich.text import Text

        did = describe(trace)
        self.console.print(Text.assemble((f"{trace.sentence + 1:3} ", "dim"), trace.text, (f"  {did}", "cyan")))


def choose_screen() -> Screen:
    """Rich on a terminal where it is installed, else plain lines."""
    return RichScreen() if sys.stdout.isatty() and find_spec("rich") else Screen()


@contextmanager
def progress_bar(what: str, steps: int) -> Iterator[Callable[[], None]]:
    """Gives a function to be called after each step: a bar on a terminal, plain lines elsewhere, on standard error."""
    if not (sys.stderr.isatty() and find_spec("rich")):
        done = count(1)
        yield lambda: print(f"{what} {next(done)}/{steps}", file=sys.stderr, flush=True)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=steps)
        yield lambda: progress.advance(task)


def label(entity: "Entity") -> str:
    """A word with its strength and, where the answer rests on it, its share of the attention."""
    looked = f" read {entity.attention:.0%}" if entity.attention >= 0.005 else ""
    return f"{entity.word} {entity.strength:.2f}{looked}"


def describe(trace: "SentenceTrace") -> str:
    """The moves of a sentence in words."""
    deeper = [f"{move.word} to bank {move.after}" for move in trace.moves if move.after > 0]
    made = [f"bank {trace.banks - 1} created"] if trace.created else []
    return "; ".join([*made, *deeper])


def _and_more(bank: "Bank") -> str:
    return f", and {bank.size - SHOWN} more" if bank.size > SHOWN else ""


def _panel(bank: "Bank", last: bool) -> "Panel":
    from rich.panel import Panel
    from rich.text import Text

    lines: list[Text] = [Text(label(entity), style=_style(entity.strength)) for entity in bank.entities[:SHOWN]]
    if more := _and_more(bank).removeprefix(", "):
        lines.append(Text(more, style="dim"))
    return Panel(
        Text("\n").join(lines),
        title=f"bank {bank.index} · {bank.size}",
        border_style="green" if last else "dim",
        expand=False,
    )


def _style(strength: float) -> str:
    return "bold" if strength >= STRONG else "dim" if strength < WEAK else ""
