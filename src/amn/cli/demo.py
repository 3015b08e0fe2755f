"""The verb that shows what a shipped model can do."""

from pathlib import Path

from amn.cli.output import note, print_json
from amn.cli.replay import replay_page
from amn.cli.screen import as_told, choose_screen
from amn.errors import ConfigError

STORY = (
    "Mary moved to the bathroom. John went to the hallway. Sandra journeyed to the garden. John moved to the office."
)
QUESTIONS = ("Where is Mary?", "Where is John?")
SCENES = (  # some names are in no training data
    (
        "Zoe grabbed the lamp. Mr. Smith has gone to the living room. Zoe took the red ball. Zoe went to New York.",
        ("Where's the red ball?", "What is Zoe carrying?", "Where is Mr. Smith?", "Where is Anna?"),
    ),
    (
        "Mary took the football. Mary went to the office. Mary dropped the football. Mary moved to the kitchen.",
        ("Where is the football?",),
    ),
    ("Sumit is tired. Yann is hungry. Yann went to the kitchen.", ("Where will Sumit go?",)),
    (
        "The garden is west of the kitchen. The office is north of the garden. The hallway is east of the office.",
        ("How do you go from the kitchen to the office?",),
    ),
)
REPLAYED = (
    "Priya went to the observatory. Tomasz moved to the bakery. Priya picked up the telescope. "
    "Priya travelled to the harbour. Tomasz went back to the museum.",
    ("Where is Priya?", "Where is the telescope?", "Where is Tomasz?"),
)


def demo(*questions: str, html: Path | None = None, story: Path | None = None, json: bool = False) -> None:
    """Answer sample questions with a shipped model and draw its memory banks.

        amn demo
        amn demo --html replay.html
        amn demo --html replay.html --story story.txt "Where is Mary?" "Where is John?"

    Args:
        questions: what the replay asks, instead of sample questions.
        html: write one file that replays a story in a browser: it needs no server and loads nothing.
        story: a text file to replay, instead of a sample story.
        json: print {"answers": [...]}.
    """
    from amn.api import load

    if html is None and (questions or story is not None):
        raise ConfigError("a story and questions of your own go with --html; amn ask answers them here")
    if (story is None) != (not questions):
        raise ConfigError("a replay of your own takes both a --story and questions")
    qa = load()
    if html is not None:
        told, asked = REPLAYED if story is None else (story.read_text(encoding="utf-8", errors="replace"), questions)
        html.write_text(replay_page(qa, told, list(asked)), encoding="utf-8")
        note(f"{html}: open it in a browser, or mail it")
        return
    memory = qa.memory(QUESTIONS)
    memory.tell(STORY)
    answers = memory.ask(explain=True)
    scenes = [(told, qa(told, list(asked))) for told, asked in SCENES]
    if json:
        every = [*answers, *(answer for _, given in scenes for answer in given)]
        print_json({"answers": [answer.to_dict() for answer in every]})
        return
    screen = choose_screen()
    for answer in answers:
        screen.answer(as_told(answer, memory.sentences))
        screen.say("")
    for told, given in scenes:
        screen.say(told)
        for answer in given:
            screen.answer(as_told(answer, [told]))
        screen.say("")
    screen.say("Your own story: amn ask. The same as a page in the browser: amn serve")
