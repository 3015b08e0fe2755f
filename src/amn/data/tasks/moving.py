"""Tasks about where people are: 1 (one fact), 6 (yes or no), 11 to 13 (pronouns and pairs of people)."""

from collections.abc import Iterable

from amn.data.names import pronoun
from amn.data.tasks.scene import Scene
from amn.data.tasks.wording import say_move


class Whereabouts(Scene[str]):
    """Task 1: people move; where is one of them? A person told of more often of late is asked about more often."""

    kinds = ("move",)

    def topics(self) -> list[str]:
        """People told of lately, once for each time; in the Lua generator all known people alike."""
        if self.plan.lua:
            return list(self.world.last_move)
        return [event.actor for event in self.recent()]

    def question(self, topic: str) -> None:
        """Where is the person? Of a block, the first line has the name and the last the move."""
        move = self.world.last_move[topic]
        self.draft.ask(f"Where is {topic}?", move.place, range(move.line - self.block + 1, move.line + 1))

    def move(self, people: Iterable[str], who: str, place: str) -> None:
        """Tells one sentence that moves people, who are called so in it."""
        line = self.draft.tell(f"{say_move(self.rng, self.plan.wording, who, place)}.")
        for person in people:
            self.world.move(person, place).line = line


class Presence(Scene[str]):
    """Task 6: people move and handle things; is a person in a place?"""

    def topics(self) -> list[str]:
        """People who moved lately, once for each move."""
        return [event.actor for event in self.recent() if event.kind == "move"]

    def question(self, topic: str) -> None:
        """Half the time about the right place."""
        yes = self.rng.random() < 0.5
        place = self.world.at[topic] if yes else self.world.elsewhere(topic)
        self.draft.ask(f"Is {topic} in the {place}?", "yes" if yes else "no", (self.world.last_move[topic].line,))


class PronounMove(Whereabouts):
    """Task 11: a person moves, and the next sentence tells of "he" or "she"."""

    block = 2

    def tell(self) -> None:
        """A named move and an unnamed one."""
        person = self.rng.choice(self.world.people)
        self.move((person,), person, self.world.elsewhere(person))
        place = self.world.elsewhere(person)
        self.move((person,), f"{self.rng.choice(self.plan.wording.adverb)} {pronoun(person)}", place)


class PairMove(Whereabouts):
    """Task 12: two people move together. Each sentence is two facts, one for each of them."""

    def tell(self) -> None:
        """One move of two people."""
        self.tell_pair()

    def tell_pair(self) -> tuple[str, str]:
        """Two people go where neither of them is; pair and place are redrawn until they fit."""
        while True:
            one, other = self.rng.sample(self.world.people, 2)
            place = self.rng.choice(self.world.places)
            if place not in (self.world.at[one], self.world.at[other]):
                self.move((one, other), f"{one} and {other}", place)
                return one, other


class PairPronoun(PairMove):
    """Task 13: two people move, and the next sentence tells of "they"."""

    block = 2

    def tell(self) -> None:
        """A named move of two people and an unnamed one."""
        pair = self.tell_pair()
        self.move(pair, f"{self.rng.choice(self.plan.wording.adverb)} they", self.world.elsewhere(pair[0]))
