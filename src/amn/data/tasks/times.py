"""Task 14: people's days, told out of order, and where they were before."""

from collections import defaultdict
from random import Random

from amn.data.tasks.scene import Plan, Scene
from amn.data.tasks.wording import say_move
from amn.data.tasks.world import Event

TIMES = ("yesterday", "this morning", "this afternoon", "this evening")


class Day(Scene[tuple[str, int]]):
    """A person's moves take the time slots in order. What is told between two questions is told in another order."""

    has_facts = False  # where somebody was this morning cannot be an edge between two words

    def __init__(self, rng: Random, plan: Plan) -> None:
        super().__init__(rng, plan)
        self.days: dict[str, list[Event]] = defaultdict(list)
        self.pending: list[Event] = []

    def tell(self) -> None:
        """Someone whose day is not full moves; the sentence waits for its place."""
        person = self.rng.choice(self._not_full())
        event = self.world.move(person, self._next_place(person))
        self.days[person].append(event)
        self.pending.append(event)

    def told(self) -> int:
        """Waiting sentences count."""
        return len(self.world.events)

    def topics(self) -> list[tuple[str, int]]:
        """For each recent move, its person and the last time slot spent in that place, unless that is the first."""
        topics = []
        for event in self.recent():
            day = self.days[event.actor]
            slot = max(slot for slot, move in enumerate(day) if move.place == event.place)
            if slot > 0:
                topics.append((event.actor, slot))
        return topics

    def question(self, topic: tuple[str, int]) -> None:
        """Where was the person before?"""
        self.finish()
        person, slot = topic
        before, there = self.days[person][slot - 1 : slot + 1]
        self.draft.ask(f"Where was {person} before the {there.place}?", before.place, (there.line, before.line))

    def finish(self) -> None:
        """Tells the waiting moves in a random cyclic order (Sattolo's shuffle): none keeps its place."""
        for last in range(len(self.pending) - 1, 0, -1):
            other = self.rng.randrange(last)
            self.pending[last], self.pending[other] = self.pending[other], self.pending[last]
        for event in self.pending:
            event.line = self.draft.tell(self._say(event))
        self.pending.clear()

    def can_go_on(self) -> bool:
        """Whether someone's day is not full."""
        return bool(self._not_full())

    def usual_length(self) -> int:
        """As many as the days have room for."""
        return min(super().usual_length(), len(TIMES) * len(self.world.people))

    def _not_full(self) -> list[str]:
        return [person for person in self.world.people if len(self.days[person]) < len(TIMES)]

    def _next_place(self, person: str) -> str:
        if not self.plan.lua:
            return self.world.elsewhere(person)
        been = {event.place for event in self.days[person]}
        return self.rng.choice([place for place in self.world.places if place not in been])

    def _say(self, event: Event) -> str:
        time = TIMES[self.days[event.actor].index(event)]
        move = say_move(self.rng, self.plan.wording, event.actor, event.place)
        return f"{time.capitalize()} {move}." if self.rng.random() < 0.5 else f"{move} {time}."
