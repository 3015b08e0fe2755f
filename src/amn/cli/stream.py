"""How a story of any length is read for questions: from a file or a pipe, with a bar, and on from where it stopped."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from amn.cli.output import note
from amn.errors import AMNError, ConfigError
from amn.training.display import terminal_bar

if TYPE_CHECKING:
    from amn.api import QA
    from amn.memory import LiveMemory
    from amn.memory.stream import Progress

WAITING = "Type or paste the story; Ctrl-D on a line of its own ends it."
PLAIN_SECONDS = 10.0  # between lines that say how far it is, where there is no terminal


def told_memory(qa: "QA", questions: list[str], story: Path | None, kept: Path | None) -> "tuple[LiveMemory, bool]":
    """A memory for some questions that has read a story, and whether it was read to its end.

    Ctrl-C stops the reading; the memory then knows what was read until then.

    Args:
        qa: the model.
        questions: what the memory is built for.
        story: a text file; standard input where it is left out.
        kept: where the memory is kept from one time to the next, so that a reading can go on.

    Raises:
        KeyboardInterrupt: where nothing was read yet.
    """
    memory, finished = _opened(qa, questions, kept), True
    source = story if story not in (None, Path("-")) else _typed() if sys.stdin.isatty() else sys.stdin
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


def _typed() -> StringIO:
    """A story that somebody types, who is told that it is waited for; no bar runs through it."""
    note(WAITING)
    return StringIO(sys.stdin.read())


def _opened(qa: "QA", questions: list[str], kept: Path | None) -> "LiveMemory":
    if kept is None or not kept.exists():
        return qa.memory(questions)
    memory = qa.restore(kept)
    if memory.questions != [question.strip() for question in questions]:
        raise ConfigError(f"--memory: {kept} was built for other questions: {'; '.join(memory.questions)}")
    return memory


@contextmanager
def _shown() -> Iterator[Callable[["Progress"], None]]:
    """Gives a function that shows how far it is, on standard error."""
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
