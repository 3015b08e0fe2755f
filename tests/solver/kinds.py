"""Tasks about what kind of being somebody is and what follows: 15, 16 and 20."""

import re
from collections.abc import Sequence

from solver.grammar import Unanswerable, ask, events, fit, pattern

_AFRAID = pattern("what is {who} afraid of")
_COLOR = pattern("what colou?r is {who}")
_WHERE_WILL = pattern("where will {who} go")
_WHY_GO = pattern("why did {who} go to the {place}")
_WHY_GET = pattern("why did {who} get the {thing}")

_IRREGULAR = {"mice": "mouse", "geese": "goose", "sheep": "sheep", "fish": "fish", "deer": "deer", "oxen": "ox"}
_ENDINGS = ((r"ves$", "f"), (r"ies$", "y"), (r"(x|ch|sh|ss)es$", r"\1"), (r"s$", ""))

# What a person in each state does about it: the one piece of world knowledge that no story tells.
_REMEDY = {
    "tired": ("bedroom", "pajamas"),
    "bored": ("garden", "football"),
    "hungry": ("kitchen", "apple"),
    "thirsty": ("kitchen", "milk"),
}


def _singular(plural: str) -> str:
    if plural in _IRREGULAR:
        return _IRREGULAR[plural]
    for ending, replacement in _ENDINGS:
        if re.search(ending, plural):
            return re.sub(ending, replacement, plural)
    return plural


def afraid_of(sentences: Sequence[str], question: str) -> str:
    """Task 15: what the person's kind is afraid of, in the singular."""
    who = ask(question, _AFRAID)["who"]
    kinds = {event["who"]: event["kind"] for event in events(sentences, "kind")}
    fears = {_singular(event["kind"]): _singular(event["thing"]) for event in events(sentences, "fear")}
    if kinds.get(who) not in fears:
        raise Unanswerable(f"the story does not tell: {question!r}")
    return fears[kinds[who]]


def color(sentences: Sequence[str], question: str) -> str:
    """Task 16: the colour of the other of the same species whose species was told last."""
    who = ask(question, _COLOR)["who"]
    colors = {event["who"]: event["state"] for event in events(sentences, "state")}
    kinds = [(event["who"], event["kind"]) for event in events(sentences, "kind")]
    own = dict(kinds).get(who)
    alike = [other for other, kind in kinds if kind == own and other != who and other in colors]
    if not alike:
        raise Unanswerable(f"the story does not tell: {question!r}")
    return colors[alike[-1]]


def motive(sentences: Sequence[str], question: str) -> str:
    """Task 20: a place for "where will", the person's own latest fitting state for "why"."""
    if slots := fit(question, _WHERE_WILL):
        return _REMEDY[_latest_state(sentences, slots["who"])][0]
    slots = fit(question, _WHY_GO) or ask(question, _WHY_GET)
    return _latest_state(sentences, slots["who"], slots.get("place") or slots["thing"])


def _latest_state(sentences: Sequence[str], who: str, remedy: str | None = None) -> str:
    """The latest state told of a person, of those that a given place or thing remedies."""
    for event in reversed(list(events(sentences, "state"))):
        remedies = _REMEDY.get(event["state"], ())
        if event["who"] == who and remedies and (remedy is None or remedy in remedies):
            return event["state"]
    raise Unanswerable(f"the story tells of {who} no state with the remedy {remedy}")
