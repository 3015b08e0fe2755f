"""Tasks about what a sentence leaves open: 9 (negation) and 10 (either-or). Behind every sentence is a hidden move."""

from abc import abstractmethod

from amn.data.tasks.scene import Scene
from amn.data.tasks.wording import say_move
from amn.data.tasks.world import Event

_NOT_IN = ("{} is not in the {}.", "{} is no longer in the {}.")


class _Belief(Scene[str]):
    """Someone moves, unseen; half the time the move is told, a quarter as "is in", a quarter in the task's own way."""

    def tell(self) -> None:
        person = self.rng.choice(self.world.people)
        draw = self.rng.randrange(4)
        if draw == 3:
            self.tell_own(person)
            return
        event = self.world.move(person, self.world.elsewhere(person))
        moved = f"{person} is in the {event.place}" if draw == 2 else None
        said = moved or say_move(self.rng, self.plan.wording, person, event.place)
        event.line = self.draft.tell(f"{said}.")

    @abstractmethod
    def tell_own(self, person: str) -> None:
        """The task's own way to tell of a move."""

    def topics(self) -> list[str]:
        """People told of lately, once for each time."""
        return [event.actor for event in self.recent()]

    def ask_yes_or_no(self, event: Event, otherwise: dict[str, str]) -> None:
        """About the right place, or half the time about another; `otherwise` says where the answer is neither."""
        right = self.rng.random() < 0.5
        place = event.place if right else self.world.elsewhere(event.actor)
        answer = otherwise.get(place, "yes" if right else "no")
        self.draft.ask(f"Is {event.actor} in the {place}?", answer, (event.line,))


class Negation(_Belief):
    """Task 9: a person may be said not to be in a place: the one just left, whether it was told or not."""

    def tell_own(self, person: str) -> None:
        """Denies the place that the person has left."""
        left = self.world.at[person]
        event = self.world.move(person, self.world.elsewhere(person), "not")
        event.place = left
        event.line = self.draft.tell(self.rng.choice(_NOT_IN).format(person, left))

    def question(self, topic: str) -> None:
        """After a denial only the denied place is asked about: nothing is known of the others."""
        event = self.world.last_move[topic]
        if event.kind == "not":
            self.draft.ask(f"Is {topic} in the {event.place}?", "no", (event.line,))
        else:
            self.ask_yes_or_no(event, {})


class EitherOr(_Belief):
    """Task 10: a person may be said to be in either of two places."""

    def tell_own(self, person: str) -> None:
        """Names the new place and another in either order; in the released stories the other may be the same."""
        event = self.world.move(person, self.world.elsewhere(person), "either")
        others = [place for place in self.world.places if not self.plan.lua or place != event.place]
        pair = [event.place, self.rng.choice(others)]
        self.rng.shuffle(pair)
        event.item = " ".join(pair)
        joint = "or in the" if self.plan.lua else "or the"
        event.line = self.draft.tell(f"{person} is either in the {pair[0]} {joint} {pair[1]}.")

    def question(self, topic: str) -> None:
        """Both named places may be; any other is not."""
        event = self.world.last_move[topic]
        self.ask_yes_or_no(event, dict.fromkeys(event.item.split(), "maybe"))
