"""Themes about what somebody or something is like: kinds of animals, their fears and colours, and colours of things."""

from collections.abc import Callable
from functools import partial

from amn.data.tasks.mixed.names import Name, a
from amn.data.tasks.mixed.teller import UNKNOWN, Asked, Teller
from amn.data.tasks.mixed.world import Lines
from amn.data.tasks.reasoning import ANIMALS, COLOURS, SPECIES

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

_Told = dict[Name, tuple[str, Lines]]


class Animals:
    """Some of the cast are animals; what is told of a kind holds for each of the kind, and one colour for all of it."""

    def __init__(self, teller: Teller, names: list[Name], *, fears: bool, colours: bool) -> None:
        self.teller, self.rng, self.names = teller, teller.rng, names
        self.fears, self.colours = fears, colours
        self.kinds: _Told = {}
        self.shades: _Told = {}
        self.afraid: dict[str, tuple[str, Lines]] = {}
        self.classes: dict[str, tuple[str, Lines]] = {}
        self.waiting = self._plan()

    def _plan(self) -> list[Callable[[], None]]:
        rng = self.rng
        animals, colours = list(PLURALS), list(ALL_COLOURS)
        if self.teller.babi:
            animals, colours = list(ANIMALS if self.fears else SPECIES), list(COLOURS)
        kinds = rng.sample(animals, rng.randint(2, min(4, len(animals))))
        shade = dict(zip(kinds, rng.sample(colours, len(kinds)), strict=True))
        plan: list[Callable[[], None]] = []
        for name in self.names:
            kind = rng.choice(kinds)
            plan.append(partial(self._tell_kind, name, kind))
            if self.colours and rng.random() < 0.6:
                plan.append(partial(self._tell_colour, name, shade[kind]))
        for kind in kinds if self.colours and not self.teller.babi else ():
            if rng.random() < _CLASS_SHARE:
                plan.append(partial(self._tell_class, kind, shade[kind]))
        for kind in kinds if self.fears else ():
            other = rng.choice([animal for animal in animals if animal != kind])
            plan.append(partial(self._tell_fear, kind, other))
        rng.shuffle(plan)
        return plan

    def _tell_kind(self, name: Name, kind: str) -> None:
        self.kinds[name] = kind, self.teller.tell("kind", name, kind=a(kind))
        self.teller.outsiders.add(name)

    def _tell_colour(self, name: Name, colour: str) -> None:
        self.shades[name] = colour, self.teller.tell("colour", name, colour=colour)
        self.teller.outsiders.add(name)

    def _tell_fear(self, kind: str, other: str) -> None:
        why = self.teller.state("fear", kinds=PLURALS[kind], others=PLURALS[other])
        self.afraid[kind] = other, why

    def _tell_class(self, kind: str, colour: str) -> None:
        why = self.teller.state("class colour", kinds=PLURALS[kind], kind=kind, one=a(kind), colour=colour)
        self.classes[kind] = colour, why

    def tell(self) -> bool:
        """The next fact of the plan."""
        if not self.waiting:
            return False
        self.waiting.pop()()
        return True

    def ask(self, unknown: bool) -> Asked | None:
        """What colour or kind is somebody, or what do they fear?"""
        if not self.teller.babi and self.rng.random() < _CLASS_SHARE / 2:
            return self._ask_class(unknown)
        told = [name for name in self.names if name in self.kinds or name in self.shades]
        spare = unknown and self.rng.random() < 0.3
        if not told:
            return None
        name = self.rng.choice(self.teller.cast.other_people if spare else told)
        kinds = ["fear"] * ((8 if self.teller.hard else 2) * self.fears) + ["colour"] * (2 * self.colours) + ["kind"]
        kind = self.rng.choice(kinds)
        answer, why = {"kind": self._kind, "colour": self._colour, "fear": self._fear}[kind](name)
        return Asked(kind=kind, answer=answer, support=tuple(sorted(set(why))), slots={"who": name.said})

    def _ask_class(self, unknown: bool) -> Asked | None:
        """What colour is a kind, or what does it fear? Nobody stands for all of a kind."""
        colours = self.rng.random() < 0.5
        told = self.classes if colours else self.afraid
        others = [kind for kind in PLURALS if all(kind != own for own, _ in self.kinds.values())]
        kinds = [kind for kind in others if kind not in told] if unknown else list(told)
        if not kinds or not (self.colours if colours else self.fears):
            return None
        kind = self.rng.choice(kinds)
        answer, why = told.get(kind, (UNKNOWN, ()))
        slots = {"kinds": PLURALS[kind]}
        return Asked(kind="class colour" if colours else "class fear", answer=answer, support=why, slots=slots)

    def _kind(self, name: Name) -> tuple[str, Lines]:
        return self.kinds.get(name, (UNKNOWN, ()))

    def _fear(self, name: Name) -> tuple[str, Lines]:
        kind, why = self._kind(name)
        fear, lines = self.afraid.get(kind, (UNKNOWN, ()))
        return fear, why + lines if lines else ()

    def _colour(self, name: Name) -> tuple[str, Lines]:
        """One's own, or that of the kind, or of the one of the kind who was told to be so last."""
        if name in self.shades:
            return self.shades[name]
        kind, why = self._kind(name)
        if kind in self.classes:
            return self.classes[kind][0], why + self.classes[kind][1]
        alike = [other for other in self.kinds if self.kinds[other][0] == kind and other in self.shades]
        if kind == UNKNOWN or not alike:
            return UNKNOWN, ()
        colour, lines = self.shades[alike[-1]]
        return colour, why + self.kinds[alike[-1]][1] + lines


class Colours:
    """Things have colours."""

    def __init__(self, teller: Teller, things: list[Name]) -> None:
        self.teller, self.rng = teller, teller.rng
        self.told: _Told = {}
        self.waiting = [(thing, self.rng.choice(ALL_COLOURS)) for thing in things]

    def tell(self) -> bool:
        """The next colour."""
        if not self.waiting:
            return False
        thing, colour = self.waiting.pop()
        self.told[thing] = colour, self.teller.state("thing colour", things=(thing,), colour=colour)
        return True

    def ask(self, unknown: bool) -> Asked | None:
        """What colour is a thing?"""
        if not self.told:
            return None
        thing = self.rng.choice(self.teller.cast.other_things if unknown else list(self.told))
        colour, why = self.told.get(thing, (UNKNOWN, ()))
        return Asked(kind="thing colour", answer=colour, support=why, slots={"thing": thing.said})
