"""The grammar of the statements: a sentence becomes an event, whatever names it uses."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

TIMES = ("yesterday", "this morning", "this afternoon", "this evening")

_NAME = r"[^\W_]+(?:['-][^\W_]+)*"
_PHRASE = rf"{_NAME}(?: {_NAME})*"
_SLOTS = {
    "who": rf"(?P<who>{_NAME}(?: and {_NAME})*)",
    "to": rf"(?P<to>{_NAME})",
    "thing": rf"(?P<thing>{_NAME})",
    "place": rf"(?P<place>{_NAME})",
    "other": rf"(?P<other>{_NAME})",
    "kind": rf"(?P<kind>{_NAME})",
    "state": rf"(?P<state>{_NAME})",
    "left": rf"(?P<left>{_PHRASE})",
    "right": rf"(?P<right>{_PHRASE})",
    "compass": r"(?P<relation>north|south|east|west)",
    "beside": r"(?P<relation>above|below|to the left of|to the right of)",
}


class Unanswerable(ValueError):
    """The story does not settle the question, or the question has an unknown form."""


@dataclass(frozen=True, slots=True)
class Event:
    """What one statement says: the rule it matched and the words in its slots, in lower case."""

    rule: str
    slots: Mapping[str, str]
    time: str | None

    def __getitem__(self, slot: str) -> str:
        return self.slots[slot]

    @property
    def who(self) -> tuple[str, ...]:
        """The subjects, one or several."""
        return tuple(self.slots["who"].split(" and "))


def pattern(template: str) -> re.Pattern[str]:
    """Compile a template such as ``{who} got the {thing}``."""
    return re.compile(template.format_map(_SLOTS))


# The first rule that fits the whole sentence wins, so closed-class wordings come before "{who} is {state}".
_RULES = tuple(
    (rule, pattern(template))
    for rule, template in (
        ("move", "{who} (?:went|went back|moved|journeyed|travelled) to the {place}"),
        ("get", "{who} (?:got|took|grabbed|picked up) the {thing}(?: there)?"),
        ("drop", "{who} (?:dropped|left|discarded|put down|let go of) the {thing}(?: there)?"),
        ("give", "{who} (?:gave|passed|handed) the {thing} to {to}"),
        ("give", "{who} (?:gave|passed|handed) {to} the {thing}"),
        ("in", "{who} is in the {place}"),
        ("not in", "{who} is (?:not|no longer) in the {place}"),
        ("either", "{who} is either in the {place} or (?:in )?the {other}"),
        ("fear", "{kind} are afraid of {thing}"),
        ("kind", "{who} is an? {kind}"),
        ("compass", "the {left} is {compass} of the {right}"),
        ("beside", "the {left} is {beside} the {right}"),
        ("bigger", "the {left} is bigger than the {right}"),
        ("bigger", "the {right} fits (?:in|inside) the {left}"),
        ("state", "{who} is {state}"),
    )
)

_ADVERB = re.compile(r"^(?:afterwards|then|after that|following that),? ")
_TIME = re.compile(rf"^(?P<first>{'|'.join(TIMES)}),? | (?P<last>{'|'.join(TIMES)})$")


@lru_cache(maxsize=100_000)
def parse(sentence: str) -> Event | None:
    """The event a statement tells, or None when no rule of the grammar fits it."""
    text = _ADVERB.sub("", sentence.lower().strip().rstrip("."))
    found = _TIME.search(text)
    time = (found["first"] or found["last"]) if found else None
    text = _TIME.sub("", text)
    for rule, wording in _RULES:
        if match := wording.fullmatch(text):
            return Event(rule, match.groupdict(), time)
    return None


def events(sentences: Sequence[str], *rules: str) -> Iterator[Event]:
    """The events of a story that come from the named rules (all rules when none is named)."""
    for sentence in sentences:
        event = parse(sentence)
        if event is not None and (not rules or event.rule in rules):
            yield event


def fit(question: str, wording: re.Pattern[str]) -> Mapping[str, str] | None:
    """The slots of a question, or None when it is worded otherwise; the Lua word "last" is passed over."""
    text = question.lower().strip().rstrip("?").rstrip().replace(" last ", " ")
    match = wording.fullmatch(text)
    return match.groupdict() if match else None


def ask(question: str, wording: re.Pattern[str]) -> Mapping[str, str]:
    """The slots of a question that must have this wording."""
    slots = fit(question, wording)
    if slots is None:
        raise Unanswerable(f"unknown wording of a question: {question!r}")
    return slots
