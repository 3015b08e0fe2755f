"""A story replayed in one file: the page's own views, with all that was read written into it."""

import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from amn.errors import AMNError

if TYPE_CHECKING:
    from amn.answers import Answer
    from amn.api import QA

MAX_SENTENCES = 200  # every answer is explained after each of them
SEEN = 0.001  # a smaller share of the attention is not worth its bytes
_PART = re.compile(r"<!-- part (?P<name>\w+) -->\s*(?P<html>.*?)\s*<!-- end -->", re.DOTALL)  # that both pages have
_IMPORT = re.compile(r'^import .* from "\./(?P<file>[\w.]+)";\n', re.MULTILINE)


def replay_page(qa: "QA", story: str, questions: list[str]) -> str:
    """A page that replays how the answers about a story came about; it needs no server and loads nothing."""
    data = json.dumps(_read(qa, story, questions), ensure_ascii=False, separators=(",", ":"))
    pieces = {
        **{f"part {found['name']}": found["html"] for found in _PART.finditer(_web("index.html"))},
        "style": _web("style.css"),
        "data": data.replace("<", "\\u003c"),  # so that nothing in a story can end the script
        "script": bundle("replay.js"),
    }
    return re.sub("<!-- (.*?) -->", lambda found: pieces[found[1]], _web("replay.html"))


def bundle(name: str) -> str:
    """A module of the page and all that it imports as one script, in the order in which they need each other."""
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
    """What the page shows: the answers after each sentence, and why each was given."""
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
    """An explained answer without what the page does not draw; the last one tells what every sentence did."""
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
