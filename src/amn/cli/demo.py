"""The verb that shows what a shipped model can do: in the terminal, or as a replay in one HTML file."""

import json as json_module
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amn.cli.output import note, print_json
from amn.cli.screen import as_told, choose_screen
from amn.errors import AMNError, ConfigError

if TYPE_CHECKING:
    from amn.answers import Answer
    from amn.api import QA

MAX_SENTENCES = 200  # of a replay: every answer is explained after each of them
SEEN = 0.001  # share of the attention below which an entity is left out of a replay
_PART = re.compile(r"<!-- part (?P<name>\w+) -->\s*(?P<html>.*?)\s*<!-- end -->", re.DOTALL)  # shared by both pages
_IMPORT = re.compile(r'^import .* from "\./(?P<file>[\w.]+)";\n', re.MULTILINE)

STORY = (
    "Mary moved to the bathroom. John went to the hallway. Sandra journeyed to the garden. John moved to the office."
)
QUESTIONS = ("Where is Mary?", "Where is John?")
SCENES = (  # some of the names are not in any training data
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
        questions: the questions of the replay, instead of sample questions.
        html: write an HTML file that replays a story in a browser; it needs no server and loads nothing.
        story: the text file to replay, instead of a sample story.
        json: print {"answers": [...]}.
    """
    from amn.api import load

    if html is None and (questions or story is not None):
        raise ConfigError("your own story and questions need --html; to answer them here, use amn ask")
    if (story is None) != (not questions):
        raise ConfigError("a replay of your own story needs both --story and questions")
    qa = load()
    if html is not None:
        told, asked = REPLAYED if story is None else (story.read_text(encoding="utf-8", errors="replace"), questions)
        html.write_text(replay_page(qa, told, list(asked)), encoding="utf-8")
        note(f"{html}: open it in a browser")
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
    screen.say("For your own story: amn ask. For the same in a browser: amn serve")


def replay_page(qa: "QA", story: str, questions: list[str]) -> str:
    """A page that replays a story and its answers; it needs no server and loads nothing."""
    data = json_module.dumps(_read(qa, story, questions), ensure_ascii=False, separators=(",", ":"))
    pieces = {
        **{f"part {found['name']}": found["html"] for found in _PART.finditer(_web("index.html"))},
        "style": _web("style.css"),
        "data": data.replace("<", "\\u003c"),  # so that nothing in a story can end the script
        "script": bundle("replay.js"),
    }
    return re.sub("<!-- (.*?) -->", lambda found: pieces[found[1]], _web("replay.html"))


def bundle(name: str) -> str:
    """A module of the page and all that it imports as one script."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        text = _web(name)
        for needed in _IMPORT.finditer(text):
            if needed["file"] not in found:
                add(needed["file"])
        found[name] = re.sub(r"^export ", "", _IMPORT.sub("", text), flags=re.MULTILINE)

    add(name)
    return "\n".join(found.values())


def _read(qa: "QA", story: str, questions: list[str]) -> dict[str, Any]:
    """The data of the page: the answers after each sentence, with their explanations."""
    from amn.data.text import read_story

    sentences = [text for text, _ in read_story(story)]
    if not 0 < len(sentences) <= MAX_SENTENCES:
        raise AMNError(f"story: expected 1 to {MAX_SENTENCES} sentences to replay, found {len(sentences)}")
    memory = qa.memory(questions)
    history, reasons = [], []
    for time, sentence in enumerate(sentences, 1):
        memory.tell([sentence])
        answers = memory.ask(explain=True)
        history.append([{"answer": one.answer, "score": one.score, "known": one.known} for one in answers])
        last = time == len(sentences)
        reasons += [{"question": i, "time": time, "answer": _reason(one, last)} for i, one in enumerate(answers)]
    return {"sentences": sentences, "questions": memory.questions, "history": history, "reasons": reasons}


def _reason(answer: "Answer", last: bool) -> dict[str, Any]:
    """An explained answer without what the page does not draw; the last one has the traces of all sentences."""
    found = answer.to_dict()
    explanation = found["explanation"]
    banks = [
        {"entities": [entity for entity in bank["entities"] if entity["attention"] >= SEEN]}
        for bank in explanation["banks"]
    ]
    told = {**explanation, "graph": []} if last else {"sentences": []}
    return {**found, "explanation": {**told, "banks": banks}}


def _web(name: str) -> str:
    return (files("amn") / "web" / name).read_text(encoding="utf-8")
