"""Task 5: who gave what to whom?"""

from amn.data.tasks.scene import Scene
from amn.data.world import CARRYING, Event

# (released wording, Lua wording, the part of the give that is the answer). The first is asked twice as often.
_WHAT = ("What did {actor} give to {receiver}?", "What did {actor} last give to {receiver}?", "item")
_WHO = (
    ("Who gave the {item}?", "Who last gave the {item}?", "actor"),
    ("Who gave the {item} to {receiver}?", "Who last gave the {item} to {receiver}?", "actor"),
    ("Who received the {item}?", "Who last received the {item}?", "receiver"),
    ("Who did {actor} give the {item} to?", "Who did {actor} last give the {item} to?", "receiver"),
)


class Give(Scene[str]):
    """People move, handle things and give them to each other."""

    def tell(self) -> None:
        """One action."""
        self.tell_event(CARRYING, giving=True)

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
