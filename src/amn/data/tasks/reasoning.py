"""Tasks about kinds: 15 (what a kind fears, its members fear) and 16 (what colour a kind has, another member has)."""

from random import Random

from amn.data.facts import Fact, told_facts
from amn.data.story import Story, words
from amn.data.tasks.scene import DeadEndError, Draft, Plan

ANIMALS = {"mouse": "mice", "sheep": "sheep", "wolf": "wolves", "cat": "cats"}
SPECIES = ("swan", "lion", "frog", "rhino")
COLOURS = ("gray", "white", "yellow", "green")

_USUAL_QUESTIONS = 4


def fears(rng: Random, plan: Plan) -> Story:
    """Task 15: who is afraid of what?"""
    draft = Draft()
    prey_of = {animal: rng.choice([other for other in ANIMALS if other != animal]) for animal in ANIMALS}
    kind_of, line_of = (_lua_fears if plan.lua else _told_fears)(rng, plan, draft, prey_of)
    for person in _asked(rng, plan):
        kind = kind_of[person]
        draft.ask(f"What is {person.lower()} afraid of?", prey_of[kind], (line_of[person], line_of[kind]))
    draft.facts = list(told_facts(draft.facts, [words(sentence) for sentence in draft.sentences]))
    return draft.story()


def _asked(rng: Random, plan: Plan) -> list[str]:
    """With replacement; in the Lua generator each person once, as far as they go."""
    count = plan.questions or (len(plan.people) if plan.lua else _USUAL_QUESTIONS)
    if plan.lua:
        order = rng.sample(plan.people, len(plan.people))
        return [order[number % len(order)] for number in range(count)]
    return [rng.choice(plan.people) for _ in range(count)]


def _tell_fear(draft: Draft, animal: str, other: str) -> int:
    fact = Fact(ANIMALS[animal], "fears", ANIMALS[other])
    said = f"{ANIMALS[animal].capitalize()} are afraid of {ANIMALS[other]}."
    return draft.tell(said, fact, *_kind(animal), *_kind(other))


def _tell_member(draft: Draft, person: str, animal: str) -> int:
    return draft.tell(f"{person} is a {animal}.", Fact(person.lower(), "is", animal), *_kind(animal))


def _kind(animal: str) -> tuple[Fact, ...]:
    """A kind has two words, which are two nodes; they count once both are told."""
    return (Fact(animal, "is", ANIMALS[animal]),) if animal != ANIMALS[animal] else ()


def _told_fears(
    rng: Random, plan: Plan, draft: Draft, prey_of: dict[str, str]
) -> tuple[dict[str, str], dict[str, int]]:
    """Fears and members are drawn until all are told; a member is told only of a kind whose fear was told."""
    kind_of: dict[str, str] = {}
    line_of: dict[str, int] = {}
    while len(line_of) < len(ANIMALS) + len(plan.people):
        animal = rng.choice(list(ANIMALS))
        if rng.random() < 0.5:
            if animal not in line_of:
                line_of[animal] = _tell_fear(draft, animal, prey_of[animal])
            continue
        person = rng.choice(plan.people)
        if person not in kind_of and animal in line_of:
            kind_of[person] = animal
            line_of[person] = _tell_member(draft, person, animal)
    return kind_of, line_of


def _lua_fears(rng: Random, plan: Plan, draft: Draft, prey_of: dict[str, str]) -> tuple[dict[str, str], dict[str, int]]:
    """People of different kinds (as far as they go), and all sentences shuffled."""
    kinds = rng.sample(list(ANIMALS), len(ANIMALS))
    kind_of = {person: kinds[number % len(kinds)] for number, person in enumerate(plan.people)}
    order = [*ANIMALS, *kind_of]
    rng.shuffle(order)
    line_of = {
        name: _tell_fear(draft, name, prey_of[name]) if name in prey_of else _tell_member(draft, name, kind_of[name])
        for name in order
    }
    return kind_of, line_of


def colours(rng: Random, plan: Plan) -> Story:
    """Task 16: everyone has a kind, all but one have a colour; what colour has the one? That of the others of the kind.

    Where the others differ, the one whose kind was told last counts.
    """
    draft = Draft()
    kind_of: dict[str, str] = {}
    colour_of: dict[str, str] = {}
    line_of: dict[str, int] = {}
    kind_colour = dict(zip(SPECIES, rng.sample(COLOURS, len(COLOURS)), strict=True))
    while len(draft.sentences) < 2 * len(plan.people) - 1:
        person = rng.choice(plan.people)
        if rng.random() < 0.5:
            if person not in kind_of:
                kind_of[person] = kind = rng.choice(SPECIES)
                line_of[person] = draft.tell(f"{person} is a {kind}.", Fact(person.lower(), "is", kind))
                if not plan.lua:  # in the released stories a kind takes a new colour whenever a member is told
                    kind_colour[kind] = rng.choice(COLOURS)
        elif person in kind_of and person not in colour_of:
            colour_of[person] = colour = kind_colour[kind_of[person]]
            fact = Fact(person.lower(), "is", colour)
            line_of[f"{person} {colour}"] = draft.tell(f"{person} is {colour}.", fact)
    _ask_colour(draft, plan, kind_of, colour_of, line_of)
    return draft.story()


def _ask_colour(
    draft: Draft, plan: Plan, kind_of: dict[str, str], colour_of: dict[str, str], line_of: dict[str, int]
) -> None:
    (person,) = kind_of.keys() - colour_of.keys()
    alike = [other for other in kind_of if kind_of[other] == kind_of[person] and other != person]
    # The released stories hold no question with two others of the kind.
    if not alike or (len(alike) == 2 and not plan.lua):
        raise DeadEndError
    witness = alike[-1]
    colour = colour_of[witness]
    support = (line_of[person], line_of[witness], line_of[f"{witness} {colour}"])
    draft.ask(f"What color is {person}?", colour, support)
