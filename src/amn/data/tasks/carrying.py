"""Tasks about things that people carry: 2, 3 (where one is, or was), 5 (who gave it), 7 and 8 (what a person holds)."""

from dataclasses import replace
from random import Random

from amn.data.tasks.scene import Plan, Scene
from amn.data.tasks.world import Event

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SHARE_THERE_IN_TASK_3 = 0.19

# (released wording, Lua wording, the part of the give that is the answer). The first is asked twice as often.
_WHAT = ("What did {actor} give to {receiver}?", "What did {actor} last give to {receiver}?", "item")
_WHO = (
    ("Who gave the {item}?", "Who last gave the {item}?", "actor"),
    ("Who gave the {item} to {receiver}?", "Who last gave the {item} to {receiver}?", "actor"),
    ("Who received the {item}?", "Who last received the {item}?", "receiver"),
    ("Who did {actor} give the {item} to?", "Who did {actor} last give the {item} to?", "receiver"),
)


class ThingPlace(Scene[str]):
    """Task 2: where is a thing? Asked only if it takes exactly two facts: the handling, and a move."""

    def topics(self) -> list[str]:
        """Things handled lately, once for each time."""
        if self.plan.lua and not self.counted() and (self.told() < 3 or self.rng.random() < 0.5):
            return []
        return [event.item for event in self.recent() if event.item and self.answerable(event.item)]

    def answerable(self, item: str) -> bool:
        """Whether a move tells where the thing is."""
        return self._telling_move(item) is not None

    def question(self, topic: str) -> None:
        """Where is the thing?"""
        move = self._telling_move(topic)
        assert move is not None, "topics are answerable"
        self.draft.ask(f"Where is the {topic}?", move.place, (self.world.last_handling[topic].line, move.line))

    def _telling_move(self, item: str) -> Event | None:
        """The move before a drop, or the latest move of a holder since the pick-up."""
        handling = self.world.last_handling[item]
        if handling.kind == "drop":
            return handling.before
        return self.world.carried[item][-1] if self.world.carried[item] else None


class ThingPlaceBefore(ThingPlace):
    """Task 3: where was a thing before it came to a place? It takes three facts: the handling, and two moves."""

    earlier_places = True

    def __init__(self, rng: Random, plan: Plan) -> None:
        wording = plan.wording if plan.lua else replace(plan.wording, get_there=_SHARE_THERE_IN_TASK_3)
        super().__init__(rng, replace(plan, wording=wording))

    def answerable(self, item: str) -> bool:
        """Whether its latest holder took the thing to two places."""
        return len(self.world.carried[item]) >= 2

    def question(self, topic: str) -> None:
        """About any place it was carried to; what counts is its last time there."""
        moves = self.world.carried[topic]
        step = len(moves) - 1 if self.plan.lua else self.rng.choice(self._steps(moves))
        lines = (self.world.last_handling[topic].line, moves[step].line, moves[step - 1].line)
        self.draft.ask(f"Where was the {topic} before the {moves[step].place}?", moves[step - 1].place, lines)

    def _steps(self, moves: list[Event]) -> list[int]:
        """For each move, the last move to the same place, where a move was made before that."""
        last = {move.place: step for step, move in enumerate(moves)}
        return [last[move.place] for move in moves if last[move.place] > 0]


class CarryCount(Scene[str]):
    """Task 7: how many things does a person carry? Everything the person handled is support."""

    giving = True

    def topics(self) -> list[str]:
        """People who handled something lately, once for each time; receiving does not count."""
        return [event.actor for event in self.recent() if event.item]

    def question(self, topic: str) -> None:
        """How many?"""
        held = len(self.world.held_by(topic))
        verb, none = ("holding", "zero") if self.plan.lua else ("carrying", "none")
        answer = none if held == 0 else NUMBERS[held] if held < len(NUMBERS) else str(held)
        lines = (event.line for event in self.world.handlings[topic])
        self.draft.ask(f"How many objects is {topic} {verb}?", answer, lines)


class CarryList(CarryCount):
    """Task 8: what does a person carry? Things are listed in the order in which the person first took them."""

    giving = False

    def question(self, topic: str) -> None:
        """Which things?"""
        by_item: dict[str, list[int]] = {}
        for event in self.world.handlings[topic]:
            by_item.setdefault(event.item, []).append(event.line)
        held = [item for item in by_item if self.world.holder[item] == topic]
        if self.plan.lua:
            held.sort(key=lambda item: by_item[item][-1])
        verb = "holding" if self.plan.lua else "carrying"
        lines = (line for lines in by_item.values() for line in lines)
        self.draft.ask(f"What is {topic} {verb}?", ",".join(held) or "nothing", lines)


class Give(Scene[str]):
    """Task 5: who gave what to whom?"""

    giving = True

    def topics(self) -> list[str]:
        """Things given lately, once for each time."""
        return [event.item for event in self.recent() if event.kind == "give"]

    def question(self, topic: str) -> None:
        """About the latest give of the thing."""
        gives = [event for event in reversed(self.world.events) if event.kind == "give"]
        give = next(event for event in gives if event.item == topic)
        forms = (_WHAT, _WHAT, *_WHO) if self._is_latest_between(give, gives) else _WHO
        released, lua, part = self.rng.choice(forms)
        text = (lua if self.plan.lua else released).format(actor=give.actor, item=give.item, receiver=give.receiver)
        self.draft.ask(text, getattr(give, part), (give.line,))

    def _is_latest_between(self, give: Event, gives: list[Event]) -> bool:
        """Whether "what did N give to M" means this give and no later one of another thing."""
        pair = (give.actor, give.receiver)
        return next(event for event in gives if (event.actor, event.receiver) == pair) is give
