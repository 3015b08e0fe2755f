"""Draws the prompt of `amn ask` for the documentation, by the code that draws it in a terminal.

python scripts/docs/prompt_picture.py
"""

import re
from io import StringIO
from pathlib import Path

from rich.console import Console

import amn
from amn.cli.conversation import Conversation
from amn.cli.prompt import PROMPT, WELCOME, respond
from amn.cli.screen import RichScreen

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "prompt.svg"
LINES = (
    "Zoe grabbed the lamp. Mr. Smith has gone to the living room.",
    "where is mr. smith",
    "Zoe took the red ball. Zoe went to New York.",
    "what is Zoe carrying",
    "where's Anna",
    "Mr. Smith went to the kitchen.",
    "where's the red ball",
    "/banks",
)


class Picture(RichScreen):
    """A screen that is kept."""

    def __init__(self) -> None:
        self.console = Console(record=True, width=118, highlight=False, force_terminal=True, file=StringIO())


def main() -> None:
    """Plays a conversation and draws it."""
    talk, screen = Conversation(amn.load()), Picture()
    screen.say(WELCOME)
    for line in LINES:
        screen.line((PROMPT, "bold"), (line, ""))
        respond(line, talk, screen)
    drawn = screen.console.export_svg(title="amn ask", unique_id="prompt")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)  # fonts of elsewhere
    PICTURE.write_text(drawn.replace("Fira Code", "ui-monospace, Menlo, Consolas, Liberation Mono"), encoding="utf-8")


if __name__ == "__main__":
    main()
