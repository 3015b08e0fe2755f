"""How a story is built: a draft that collects lines, a plan that says how many, and the loop that tells and asks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar, Generic, TypeVar

from amn.data.facts import Fact, Facts, with_earlier_places
from amn.data.story import Question, Story
from amn.data.tasks.wording import Wording, say_event
from amn.data.tasks.world import CARRYING, Event, World, facts_of
from amn.errors import ConfigError

# A story that has grown this long without enough questions will hardly find them: the settings contradict each other.
LONGEST = 4000


class DeadEndError(Exception):
    """A story that cannot be finished as planned; the generator draws another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a story is to hold, checked and filled in from a `GeneratorConfig`."""

    people: tuple[str, ...]  # names to use, in the order of the lists
    places: tuple[str, ...]
    objects: tuple[str, ...]
    wording: Wording
    lua: bool  # follow the rules of the Lua generator where they differ from the released stories
    sentences: int | None  # how many to tell; None for as many as the task takes by itself
    questions: int | None  # how many to ask; None for the task's own number
    reach: int | None  # how many of the latest facts questions are about; None for all
    together: bool  # ask all questions after the last sentence


@dataclass(slots=True)
class Draft:
    """A story being written."""

    sentences: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    facts: list[Facts] = field(default_factory=list)

    def tell(self, sentence: str, *facts: Fact) -> int:
        """Adds a sentence, and what holds from then on, and returns its index."""
        self.sentences.append(sentence)
        self.facts.append(self.facts[-1].union(facts) if self.facts else frozenset(facts))
        return len(self.sentences) - 1

    def ask(self, text: str, answer: str, support: Iterable[int]) -> None:
        """Adds a question about what was told so far."""
        after = len(self.sentences)
        self.questions.append(Question(text=text, answer=answer, after=after, support=tuple(support)))

    def story(self) -> Story:
        """The finished story."""
        facts = tuple(self.facts) if any(self.facts) else ()
        return Story(sentences=tuple(self.sentences), questions=tuple(self.questions), facts=facts)


StoryMaker = Callable[[Random, Plan], Story]
Topic = TypeVar("Topic")


class Scene(ABC, Generic[Topic]):
    """A story told in pairs of facts, with a question tried after each pair."""

    kinds: ClassVar[tuple[str, ...]] = CARRYING  # what may happen
    giving: ClassVar[bool] = False  # people may also give things to each other
    usual_questions: ClassVar[int] = 5
    block: ClassVar[int] = 1  # sentences of one `tell`
    has_facts: ClassVar[bool] = True  # whether places and holders say what its sentences tell
    earlier_places: ClassVar[bool] = False  # whether its facts also say where things were before

    def __init__(self, rng: Random, plan: Plan) -> None:
        self.rng, self.plan = rng, plan
        self.world = World(rng, plan.people, plan.places, plan.objects)
        self.draft = Draft()
        self.asked: list[Topic] = []

    def tell(self) -> None:
        """Tells one block of sentences; here one thing that happens."""
        event = self.world.act(self.kinds, giving=self.giving)
        event.line = self.draft.tell(say_event(self.rng, self.plan.wording, event))

    @abstractmethod
    def topics(self) -> list[Topic]:
        """What can be asked now, each as often as it is likely."""

    @abstractmethod
    def question(self, topic: Topic) -> None:
        """Asks about a topic."""

    def told(self) -> int:
        """How many sentences the story holds, those still to be ordered included."""
        return len(self.draft.sentences)

    def can_go_on(self) -> bool:
        """Whether there is more to tell."""
        return True

    def usual_length(self) -> int:
        """How many sentences to tell before questions that are asked together."""
        return 2 * self.usual_questions

    def counted(self) -> bool:
        """Whether the number of sentences is set, so that questions cannot wait for more."""
        return self.plan.sentences is not None or self.plan.together

    def recent(self) -> list[Event]:
        """The latest facts: the released stories ask about the last five only."""
        return self.world.events[-self.plan.reach :] if self.plan.reach else self.world.events

    def ask(self) -> bool:
        """Asks one question if there is one to ask."""
        topics = self.topics()
        if self.plan.together:
            topics = [topic for topic in topics if topic not in self.asked] or topics
        if not topics:
            return False
        topic = self.rng.choice(topics)
        self.asked.append(topic)
        self.question(topic)
        return True

    def finish(self) -> None:  # noqa: B027 (most scenes have nothing left to tell)
        """Tells what was held back, when the story ends without a question."""

    def play(self) -> Story:
        """Tells and asks as planned."""
        wanted = self.plan.questions or self.usual_questions
        if self.counted():
            self._play_to_length(wanted, self.plan.sentences or self.usual_length())
        else:
            self._play_freely(wanted)
        if self.has_facts:
            facts = facts_of(self.world.events, len(self.draft.sentences))
            self.draft.facts = list(with_earlier_places(facts) if self.earlier_places else facts)
        return self.draft.story()

    def _tell_pair(self, room: int) -> None:
        for _ in range(max(1, min(2, room) // self.block)):
            self.tell()

    def _play_freely(self, wanted: int) -> None:
        while wanted > len(self.draft.questions):
            if self.told() >= LONGEST:
                raise ConfigError(
                    f"a story found only {len(self.draft.questions)} of its {wanted} questions in {LONGEST} sentences: "
                    "ask for fewer people and places, or for more objects"
                )
            if self.can_go_on():
                self._tell_pair(2)
            self.ask()

    def _play_to_length(self, wanted: int, length: int) -> None:
        """Spreads the questions evenly; those that found no place are asked at the end."""
        while self.told() < length:
            self._tell_pair(length - self.told())
            while len(self.draft.questions) < self._due(wanted, length) and self.ask():
                pass
        if len(self.draft.questions) < wanted:
            raise DeadEndError
        self.finish()

    def _due(self, wanted: int, length: int) -> int:
        if self.told() == length:
            return wanted
        return 0 if self.plan.together else wanted * self.told() // length


def scene(kind: type[Scene[Topic]]) -> StoryMaker:
    """The maker of stories of one kind of scene."""
    return lambda rng, plan: kind(rng, plan).play()
