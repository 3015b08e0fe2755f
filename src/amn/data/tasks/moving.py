"""Tasks about where people are: 1 (one fact), 6 (yes or no), 11 to 13 (pronouns and pairs of people)."""

from amn.data.names import pronoun
from amn.data.tasks.scene import Scene
from amn.data.tasks.wording import say_move
from amn.data.world import Event


class Whereabouts(Scene[str]):
    """Task 1: people move; where is one of them? A person told of more often of late is asked about more often."""

    kinds = ("move",)

    def topics(self) -> list[str]:
        """People told of lately, once for each time; in the Lua generator all known people alike."""
        if self.plan.lua:
            return list(self.world.last_move)
        return [event.actor for event in self.recent()]

    def question(self, topic: str) -> None:
        """Where is the person?"""
        move = self.world.last_move[topic]
        self.draft.ask(f"Where is {topic}?", move.place, self.support(move))

    def support(self, move: Event) -> tuple[int, ...]:
        """Lines that tell of the move and of who moved."""
        return (move.line,)


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
        first = self.world.move(person, self.world.elsewhere(person))
        first.line = self.draft.tell(f"{say_move(self.rng, self.plan.wording, person, first.place)}.")
        then = self.world.move(person, self.world.elsewhere(person))
        who = f"{self.rng.choice(self.plan.wording.adverb)} {pronoun(person)}"
        then.line = self.draft.tell(f"{say_move(self.rng, self.plan.wording, who, then.place)}.")

    def support(self, move: Event) -> tuple[int, ...]:
        """The line with the name and the line with the pronoun."""
        return (move.line - 1, move.line)


class PairMove(Whereabouts):
    """Task 12: two people move together. Each sentence is two facts, one for each of them."""

    def tell(self) -> None:
        """One move of two people."""
        self.tell_pair()

    def tell_pair(self) -> tuple[str, str]:
        """Two people go where neither of them is; both pair and place are drawn anew until they fit."""
        while True:
            one, other = self.rng.sample(self.world.people, 2)
            place = self.rng.choice(self.world.places)
            if place not in (self.world.at[one], self.world.at[other]):
                self.move_both(f"{one} and {other}", (one, other), place)
                return one, other

    def move_both(self, who: str, pair: tuple[str, str], place: str) -> None:
        """Tells one sentence that moves both people."""
        line = self.draft.tell(f"{say_move(self.rng, self.plan.wording, who, place)}.")
        for person in pair:
            self.world.move(person, place).line = line


class PairPronoun(PairMove):
    """Task 13: two people move, and the next sentence tells of "they"."""

    block = 2

    def tell(self) -> None:
        """A named move of two people and an unnamed one."""
        pair = self.tell_pair()
        self.move_both(f"{self.rng.choice(self.plan.wording.adverb)} they", pair, self.world.elsewhere(pair[0]))

    def support(self, move: Event) -> tuple[int, ...]:
        """The line with the names and the line with the pronoun."""
        return (move.line - 1, move.line)
