"""Task 20: people feel something, go somewhere for it, and take something for it; why?"""

from random import Random

from amn.data.facts import Fact
from amn.data.story import Story
from amn.data.tasks.scene import DeadEndError, Draft, Plan
from amn.data.tasks.wording import say_get, say_move

# What one feels, where one goes for it, and what one takes there.
MOTIVES = {
    "tired": ("bedroom", "pajamas"),
    "bored": ("garden", "football"),
    "hungry": ("kitchen", "apple"),
    "thirsty": ("kitchen", "milk"),
}
_STAGES = 3


def motives(rng: Random, plan: Plan) -> Story:
    """People go through their stages in turn, each stage followed by its question, until nobody can go on."""
    draft = Draft()
    feeling = _feelings(rng, plan)
    stage = dict.fromkeys(plan.people, 0)
    first_line: dict[str, int] = {}
    taken: set[str] = set()
    while plan.sentences is None or len(draft.sentences) < plan.sentences:
        # Of people who feel the same, only the first finds something left to take.
        last = {name: _STAGES - (feeling[name] in taken) for name in plan.people}
        ready = [name for name in plan.people if stage[name] < last[name]]
        if not ready:
            break
        person = rng.choice(ready)
        line = _tell_stage(rng, plan, draft, person, stage[person], feeling[person])
        first_line.setdefault(person, line)
        _ask_stage(draft, person, stage[person], feeling[person], first_line[person])
        stage[person] += 1
        if stage[person] == _STAGES:
            taken.add(feeling[person])
    if plan.sentences is not None and len(draft.sentences) < plan.sentences:
        raise DeadEndError
    return draft.story()


def _feelings(rng: Random, plan: Plan) -> dict[str, str]:
    """Drawn freely; in the Lua generator people feel different things, as far as these go."""
    states = list(MOTIVES)
    if not plan.lua:
        return {person: rng.choice(states) for person in plan.people}
    rng.shuffle(states)
    return {person: states[number % len(states)] for number, person in enumerate(plan.people)}


def _tell_stage(rng: Random, plan: Plan, draft: Draft, person: str, stage: int, state: str) -> int:
    place, item = MOTIVES[state]
    name = person.lower()
    if stage == 0:
        return draft.tell(f"{person} is {state}.", Fact(name, "is", state))
    if stage == 1:
        return draft.tell(f"{say_move(rng, plan.wording, person, place)}.", Fact(name, "in", place))
    said = say_get(rng, plan.wording, person, item, plan.wording.get_there)
    return draft.tell(said, Fact(name, "holds", item))


def _ask_stage(draft: Draft, person: str, stage: int, state: str, line: int) -> None:
    place, item = MOTIVES[state]
    name = person.lower()
    texts = (f"Where will {name} go?", f"Why did {name} go to the {place}?", f"Why did {name} get the {item}?")
    draft.ask(texts[stage], place if stage == 0 else state, (line,))
