"""Themes about properties: kinds of animals, their fears and colours, and colours of things."""

from functools import partial

from amn.data.tasks.mixed.english import a
from amn.data.tasks.mixed.names import Name
from amn.data.tasks.mixed.teller import Asked, NothingToSayError, Teller
from amn.data.tasks.mixed.theme import Theme, asked
from amn.data.tasks.mixed.world import Lines
from amn.data.tasks.reasoning import ANIMALS, COLOURS, SPECIES
from amn.data.vocabulary import UNKNOWN_ANSWER

_MORE = (
    "dog horse cow duck bear tiger eagle snake rabbit monkey elephant goat pig camel zebra whale owl crow lizard "
    "turtle kitten donkey hamster beaver badger parrot penguin spider hedgehog otter"
)
PLURALS = {
    **ANIMALS,
    **{animal: f"{animal}s" for animal in (*SPECIES, *_MORE.split())},
    **{"fox": "foxes", "goose": "geese", "pony": "ponies", "deer": "deer", "calf": "calves", "ox": "oxen"},
}
ALL_COLOURS = (*COLOURS, "black", "brown", "red", "blue", "pink", "orange", "purple")
_CLASS_SHARE = 0.4  # of kinds whose colour is told of all of the kind

_Told = tuple[str, Lines]  # what was told, and the lines that tell it
_NOTHING: _Told = (UNKNOWN_ANSWER, ())


class Animals(Theme):
    """Some of the cast are animals; what is told of a kind holds for all animals of it, and all have one colour."""

    def __init__(self, teller: Teller, names: list[Name], *, fears: bool, colours: bool) -> None:
        super().__init__(teller)
        self.names, self.fears, self.colours = names, fears, colours
        self.kinds: dict[Name, _Told] = {}
        self.shades: dict[Name, _Told] = {}
        self.afraid: dict[str, _Told] = {}
        self.classes: dict[str, _Told] = {}
        self._plan()

    def _plan(self) -> None:
        rng, plan = self.rng, self.waiting
        animals, colours = list(PLURALS), list(ALL_COLOURS)
        if self.teller.babi:
            animals, colours = list(ANIMALS if self.fears else SPECIES), list(COLOURS)
        kinds = rng.sample(animals, rng.randint(2, min(4, len(animals))))
        shade = dict(zip(kinds, rng.sample(colours, len(kinds)), strict=True))
        for name in self.names:
            kind = rng.choice(kinds)
            plan.append(partial(self._tell_of, name, "kind", self.kinds, kind, kind=a(kind)))
            if self.colours and rng.random() < 0.6:
                plan.append(partial(self._tell_of, name, "colour", self.shades, shade[kind], colour=shade[kind]))
        for kind in kinds if self.colours and not self.teller.babi else ():
            if rng.random() < _CLASS_SHARE:
                slots = {"kind": kind, "one": a(kind), "colour": shade[kind]}
                plan.append(partial(self._tell_of_kind, kind, "class colour", self.classes, shade[kind], **slots))
        for kind in kinds if self.fears else ():
            other = rng.choice([animal for animal in animals if animal != kind])
            plan.append(partial(self._tell_of_kind, kind, "fear", self.afraid, other, others=PLURALS[other]))
        rng.shuffle(plan)

    def _tell_of(self, name: Name, event: str, known: dict[Name, _Told], value: str, /, **slots: str) -> None:
        known[name] = value, self.teller.tell(event, name, to=None, things=(), **slots)

    def _tell_of_kind(self, kind: str, event: str, known: dict[str, _Told], value: str, /, **slots: str) -> None:
        known[kind] = value, self.teller.state(event, things=(), kinds=PLURALS[kind], **slots)

    def ask(self, unknown: bool) -> Asked:
        """What colour or kind is somebody, or what do they fear?"""
        if not self.teller.babi and self.rng.random() < _CLASS_SHARE / 2:
            return self._ask_class(unknown)
        told = [name for name in self.names if name in self.kinds or name in self.shades]
        spare = unknown and self.rng.random() < 0.3
        if not told:
            raise NothingToSayError
        name = self.rng.choice(self.cast.other_people if spare else told)
        kinds = ["fear"] * ((8 if self.teller.hard else 2) * self.fears) + ["colour"] * (2 * self.colours) + ["kind"]
        kind = self.rng.choice(kinds)
        return asked(kind, *{"kind": self._kind, "colour": self._colour, "fear": self._fear}[kind](name), who=name)

    def _ask_class(self, unknown: bool) -> Asked:
        """What colour is a kind of animal, or what does it fear? What is told of one animal is no answer."""
        colours = self.rng.random() < 0.5
        told = self.classes if colours else self.afraid
        others = [kind for kind in PLURALS if all(kind != own for own, _ in self.kinds.values())]
        kinds = [kind for kind in others if kind not in told] if unknown else list(told)
        if not (self.colours if colours else self.fears):
            raise NothingToSayError
        kind = self.pick(kinds)
        return asked("class colour" if colours else "class fear", *told.get(kind, _NOTHING), kinds=PLURALS[kind])

    def _kind(self, name: Name) -> _Told:
        return self.kinds.get(name, _NOTHING)

    def _fear(self, name: Name) -> _Told:
        kind, why = self._kind(name)
        fear, lines = self.afraid.get(kind, _NOTHING)
        return fear, why + lines if lines else ()

    def _colour(self, name: Name) -> _Told:
        """The animal's own, or that of its kind, or that of another of the kind, the one told last."""
        if name in self.shades:
            return self.shades[name]
        kind, why = self._kind(name)
        if kind in self.classes:
            return self.classes[kind][0], why + self.classes[kind][1]
        alike = [other for other in self.kinds if self.kinds[other][0] == kind and other in self.shades]
        if kind == UNKNOWN_ANSWER or not alike:
            return _NOTHING
        colour, lines = self.shades[alike[-1]]
        return colour, why + self.kinds[alike[-1]][1] + lines


class Colours(Theme):
    """Things have colours."""

    def __init__(self, teller: Teller, things: list[Name]) -> None:
        super().__init__(teller)
        self.told: dict[Name, _Told] = {}
        self.waiting = [partial(self._tell_colour, thing, self.rng.choice(ALL_COLOURS)) for thing in things]

    def _tell_colour(self, thing: Name, colour: str) -> None:
        self.told[thing] = colour, self.teller.state("thing colour", things=(thing,), colour=colour)

    def ask(self, unknown: bool) -> Asked:
        """What colour is a thing?"""
        if not self.told:
            raise NothingToSayError
        thing = self.rng.choice(self.cast.other_things if unknown else list(self.told))
        return asked("thing colour", *self.told.get(thing, _NOTHING), thing=thing)
