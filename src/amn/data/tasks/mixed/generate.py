"""Mixed stories: a few themes in one story, told in turn, and questions about any of them."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from random import Random

from amn.data.story import Question, Story
from amn.data.tasks.mixed import names
from amn.data.tasks.mixed.animals import ALL_COLOURS, Animals, Colours
from amn.data.tasks.mixed.cast import draw_cast, in_first_person, with_actors
from amn.data.tasks.mixed.config import MixedConfig
from amn.data.tasks.mixed.counts import Counts
from amn.data.tasks.mixed.layout import BOXES, SWEETS, Map, Positions, SizeTheme
from amn.data.tasks.mixed.names import Name, the
from amn.data.tasks.mixed.people import People
from amn.data.tasks.mixed.relations import OF_PEOPLE, OF_THINGS, Comparisons, Homes, Relations
from amn.data.tasks.mixed.routines import Days, Motives
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.tasks.mixed.theme import THEMES, Theme, asked
from amn.data.tasks.space import SHAPES
from amn.data.vocabulary import UNKNOWN_ANSWER

_HARD_THEMES = 3  # of a hard story, at most
_BABI_ONLY_PEOPLE = 0.6  # of stories in bAbI's style, those about what people do, which may mix its tasks
_BABI_CORE = ("moving", "pairs", "carrying", "giving")
_FIRST_PERSON = 0.12  # of free stories, those in which somebody is I
_TRIES = 12
_QUESTIONS = (2, 6)
_AT_THE_END = 0.6
_OFF_TOPIC = 0.1  # of the questions without an answer


class Remarks(Theme):
    """Sentences that tell nothing, and questions that no story answers."""

    def tell(self) -> None:
        """About the weather, or about somebody's mood."""
        if self.rng.random() < 0.5:
            self.teller.state("remark")
            return
        person, other = self.rng.sample(self.cast.others, 2)
        if self.rng.random() < 0.25:
            self.teller.tell("liking", person, to=other)
        else:
            self.teller.tell("person remark", person)

    def ask(self, unknown: bool = True) -> Asked:
        """About anything but the story, or about properties of somebody of whom only a place was told."""
        if not unknown or any("o'clock" in sentence for sentence in self.teller.sentences):
            raise NothingToSayError  # somebody may ask what time it is
        names = (*self.cast.others, *self.cast.other_people)
        people = [name for name in names if name not in self.teller.outsiders]
        return asked("off topic", None, who=self.rng.choice(people), colour=self.rng.choice(ALL_COLOURS))


def mixed_stories(*, questions: int, seed: int, config: MixedConfig | None = None) -> Iterator[Story]:
    """Mixed stories, the same for the same arguments everywhere; the last one ends with the last of the `questions`."""
    config = config or MixedConfig()
    number = 0
    while questions > 0:
        # Drawn apart, so that the other stories are the same for any share.
        hard = Random(f"hard/{seed}/{number}").random() < config.hard
        actors = Random(f"actors/{seed}/{number}")
        acted = actors if actors.random() < config.actors else None
        story = _Maker(Random(f"mixed/{seed}/{number}"), config, hard=hard, actors=acted).story(questions)
        number += 1
        if story.questions:
            yield story
            questions -= len(story.questions)


class _Maker:
    """Makes one story."""

    def __init__(self, rng: Random, config: MixedConfig, *, hard: bool, actors: Random | None) -> None:
        self.rng, self.config, self.hard = rng, config, hard
        self.babi = config.wordings != "kept-out" and rng.random() < config.babi and not hard
        self.pool = names.POOLS[config.names]
        chosen = self._themes()
        cast = draw_cast(rng, self.pool, babi=self.babi, motives="motives" in chosen)
        if actors is not None and not self.babi:
            cast = with_actors(actors, self.pool, cast)
        if not self.babi and rng.random() < _FIRST_PERSON:
            cast = in_first_person(rng, cast)
        self.teller = Teller(rng, config, self.babi, cast, self._length(), hard=hard)
        self.themes = self._build(chosen)
        self.remarks = Remarks(self.teller)
        self.questions: list[Question] = []

    def _themes(self) -> list[str]:
        if self.babi and self.rng.random() < _BABI_ONLY_PEOPLE:
            return [theme for theme in _BABI_CORE if theme == "moving" or self.rng.random() < 0.6]
        weights = {
            name: theme.hard if self.hard else theme.free
            for name, theme in THEMES.items()
            if (theme.babi or not self.babi) and (theme.hard or not self.hard)
        }
        count = self.rng.randint(1, min(self.config.themes, _HARD_THEMES) if self.hard else self.config.themes)
        chosen: list[str] = []
        for _ in range(min(count, len(weights))):
            chosen += self.rng.choices(list(weights), list(weights.values()))
            del weights[chosen[-1]]
        return chosen

    def _length(self) -> int:
        if self.config.sentences is not None:
            return self.rng.randint(*self.config.sentences)
        draw = self.rng.random()
        if self.babi:
            return self.rng.randint(2, 30) if draw < 0.9 else self.rng.randint(31, 60)
        return self.rng.randint(1, 20) if draw < 0.8 else self.rng.randint(21, 40 if draw < 0.95 else 60)

    def _build(self, chosen: list[str]) -> list[Theme]:
        teller, cast, rng = self.teller, self.teller.cast, self.rng
        activities = [name for name, theme in THEMES.items() if name in chosen and theme.events]
        days = cast.people[-2:] if "days" in chosen else []
        self.people = People(teller, activities, [name for name in cast.people if name not in days])
        themes: list[Theme] = [self.people] * min(2, len(activities))
        if days:
            themes.append(Days(teller, days))
        if "motives" in chosen:
            themes.append(Motives(teller, self.people))
        if "fears" in chosen or "colours" in chosen:
            members = rng.sample(cast.others, rng.randint(2, len(cast.others)))
            themes.append(Animals(teller, members, fears="fears" in chosen, colours="colours" in chosen))
        if "relations" in chosen:
            themes.append(Relations(teller, rng.sample(cast.others, rng.randint(2, len(cast.others)))))
        if "homes" in chosen:
            themes.append(Homes(teller, rng.sample(cast.others, rng.randint(1, min(3, len(cast.others))))))
        if "counts" in chosen:
            known = [*cast.people, *cast.other_people]
            themes.append(Counts(teller, names.distinct(names.person, rng, self.pool, rng.randint(1, 3), known)))
        return themes + self._layouts(chosen)

    def _layouts(self, chosen: list[str]) -> list[Theme]:
        teller, cast, rng = self.teller, self.teller.cast, self.rng
        themes: list[Theme] = []
        taken = [*cast.things, *cast.other_things]
        if "sizes" in chosen:
            things = _sized(rng) if self.babi else names.distinct(names.thing, rng, self.pool, rng.randint(3, 5), taken)
            taken += things
            themes.append(SizeTheme(teller, things))
        if "positions" in chosen:
            num = rng.randint(3, 5)
            shapes = [the(shape) for shape in SHAPES]
            things = rng.sample(shapes, num) if self.babi else names.distinct(names.thing, rng, self.pool, num, taken)
            taken += things
            themes.append(Positions(teller, things))
        if "map" in chosen:
            themes.append(Map(teller, rng.sample(cast.places, rng.randint(3, len(cast.places)))))
        if "thing colours" in chosen:
            plain = [thing for thing in cast.things if " " not in thing.text]
            themes.append(Colours(teller, rng.sample(plain, rng.randint(1, len(plain))) if plain else []))
        if "comparisons" in chosen:
            people = rng.random() < 0.6
            num = rng.randint(2, 5)
            compared = cast.others[:num] if people else names.distinct(names.thing, rng, self.pool, num, taken)
            scale = rng.choice(OF_PEOPLE if people else OF_THINGS[:-1] if "sizes" in chosen else OF_THINGS)
            themes.append(Comparisons(teller, rng.sample(compared, len(compared)), scale, people=people))
        return themes

    def story(self, most: int) -> Story:
        """Tells and asks."""
        count = min(most, self.rng.randint(*_QUESTIONS))
        ends = [self.rng.random() < _AT_THE_END for _ in range(count)]
        points = sorted(self.teller.length if end else self.rng.randint(1, self.teller.length) for end in ends)
        for point in points:
            self._tell_to(point)
            self._ask()
        self._tell_to(self.teller.length)
        last = self.questions[-1].after if self.questions else 0
        told = self.teller.sentences if self.config.sentences is not None else self.teller.sentences[:last]
        return Story(sentences=tuple(told), questions=tuple(self.questions))

    def _tell_to(self, point: int) -> None:
        with suppress(NothingToSayError):
            while len(self.teller.sentences) < point:
                if not self.babi and self.rng.random() < self.config.irrelevant:
                    self.remarks.tell()
                else:
                    self._tell()

    def _tell(self) -> None:
        """One of the themes tells; a story that must be longer goes on with what people do."""
        for _ in range(_TRIES):
            with suppress(NothingToSayError):
                self.teller.pick(self.themes).tell()
                return
        if self.config.sentences is None and self.teller.sentences:
            raise NothingToSayError
        self.people.tell()

    def _ask(self) -> None:
        """Asks a question of the wanted kind, if one is found in a few tries."""
        unknown, themes = self.rng.random() < self.config.unknown, self.themes or [self.people]
        first = [self.remarks] if unknown and not self.babi and self.rng.random() < _OFF_TOPIC else []
        for theme in chain(first, (self.rng.choice(themes) for _ in range(_TRIES))):
            with suppress(NothingToSayError):
                asked = theme.ask(unknown)
                if (asked.answer == UNKNOWN_ANSWER) == unknown and self.teller.can_ask(asked.kind):
                    self.questions.append(self.teller.ask(asked))
                    return


def _sized(rng: Random) -> list[Name]:
    """The things of bAbI that have sizes, from small to big."""
    boxes = list(BOXES)
    rng.shuffle(boxes)
    return SWEETS + boxes
