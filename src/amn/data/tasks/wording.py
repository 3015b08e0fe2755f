"""Verb phrases shared by tasks, as in the released stories and as in the later public Lua generator."""

from dataclasses import dataclass
from random import Random

from amn.data.tasks.world import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Phrases that mean the same; each use draws one."""

    move: tuple[str, ...]  # no verb tells more than another ("went back to" is used for first visits too)
    get: tuple[str, ...]
    drop: tuple[str, ...]
    give: tuple[str, ...]  # with the fields actor, item and receiver
    adverb: tuple[str, ...]  # openings of a sentence that speaks of the person before
    get_there: float  # share of pick-ups that end in "there"
    drop_there: float  # share of drops that do


RELEASED_WORDING = Wording(
    move=("went to", "went back to", "moved to", "journeyed to", "travelled to"),
    get=("got", "took", "grabbed", "picked up"),
    drop=("dropped", "left", "discarded", "put down"),
    give=(
        "{actor} gave the {item} to {receiver}.",
        "{actor} passed the {item} to {receiver}.",
        "{actor} handed the {item} to {receiver}.",
    ),
    adverb=("Afterwards", "Then", "After that", "Following that"),
    get_there=1.0,
    drop_there=0.2,
)

LUA_WORDING = Wording(
    move=("went to", "journeyed to", "travelled to", "moved to"),
    get=("grabbed", "took", "got"),
    drop=("dropped", "put down", "let go of"),
    give=("{actor} gave {receiver} the {item}.",),
    adverb=("After that", "Following that", "Then"),
    get_there=0.0,
    drop_there=0.0,
)


def say_move(rng: Random, wording: Wording, who: str, place: str) -> str:
    """A move without its full stop: "Mary went to the kitchen"."""
    return f"{who} {rng.choice(wording.move)} the {place}"


def say_get(rng: Random, wording: Wording, who: str, item: str, there: float) -> str:
    """A pick-up: "Mary got the milk there."."""
    return f"{who} {rng.choice(wording.get)} the {item}{_there(rng, there)}."


def say_event(rng: Random, wording: Wording, event: Event) -> str:
    """The sentence that tells an event of the world."""
    if event.kind == "move":
        return f"{say_move(rng, wording, event.actor, event.place)}."
    if event.kind == "get":
        return say_get(rng, wording, event.actor, event.item, wording.get_there)
    if event.kind == "drop":
        return f"{event.actor} {rng.choice(wording.drop)} the {event.item}{_there(rng, wording.drop_there)}."
    return rng.choice(wording.give).format(actor=event.actor, item=event.item, receiver=event.receiver)


def _there(rng: Random, share: float) -> str:
    return " there" if rng.random() < share else ""
