"""Task 18: does a thing fit in another? Each question takes two of the told comparisons."""

from random import Random

from amn.data.facts import Fact
from amn.data.story import Story
from amn.data.tasks.scene import DeadEndError, Draft, Plan

SMALL = ("chocolate", "box of chocolates")
CONTAINERS = ("box", "chest", "suitcase", "container")

_BATCH = 5
_USUAL_QUESTIONS = 5
# How many draws a question has before more is told: so few that, as in the released stories, some find too little.
_TRIES_EACH = 16

# A smaller and a bigger thing.
Pair = tuple[str, str]


def sizes(rng: Random, plan: Plan) -> Story:
    """Facts come in batches, repeats and all, until questions can be asked of them."""
    draft = Draft()
    facts: list[Pair] = []
    order = [*SMALL, *rng.sample(CONTAINERS, len(CONTAINERS))]
    wanted = plan.questions or _USUAL_QUESTIONS
    batch = plan.sentences or _BATCH
    while True:
        _tell_batch(rng, draft, facts, order, batch, plan)
        if _ask(rng, draft, facts, plan, wanted):
            return draft.story()
        if plan.sentences is not None:
            raise DeadEndError
        if plan.questions is not None:  # the released stories restart their count, a set number is kept
            wanted = plan.questions - len(draft.questions)


def _tell_batch(rng: Random, draft: Draft, facts: list[Pair], order: list[str], count: int, plan: Plan) -> None:
    for _ in range(count):
        low, high = sorted(rng.sample(range(len(order)), 2))
        facts.append((order[low], order[high]))
        # A box of chocolates is known by its last word: a box is another thing.
        bigger = Fact(order[high].split()[-1], "bigger than", order[low].split()[-1])
        if plan.lua or rng.random() < 0.5:
            draft.tell(f"The {order[high]} is bigger than the {order[low]}.", bigger)
        else:
            draft.tell(f"The {order[low]} fits inside the {order[high]}.", bigger)


def _ask(rng: Random, draft: Draft, facts: list[Pair], plan: Plan, wanted: int) -> bool:
    """Draws questions about recent facts; says whether enough were found."""
    reach = plan.reach or len(facts)
    for _ in range(_TRIES_EACH * max(wanted, _USUAL_QUESTIONS)):
        line = rng.randrange(max(0, len(facts) - reach), len(facts))
        yes = rng.random() < 0.5
        link = _link(facts, line, yes)
        if link is None:
            continue
        small, big = (facts[link][0], facts[line][1]) if yes else (facts[line][0], facts[link][1])
        draft.ask(_say_question(rng, small, big, yes, plan.lua), "yes" if yes else "no", (line, link))
        wanted -= 1
        if wanted == 0:
            return True
    return False


def _link(facts: list[Pair], line: int, below: bool) -> int | None:
    """The first other line about the smaller (or the bigger) thing of a fact, if it joins on to it there."""
    shared = facts[line][0 if below else 1]
    other = next((at for at, fact in enumerate(facts) if shared in fact and at != line), None)
    return other if other is not None and facts[other][1 if below else 0] == shared else None


def _say_question(rng: Random, small: str, big: str, yes: bool, lua: bool) -> str:
    """Asks of the true order, or of the reverse."""
    low, high = (small, big) if yes else (big, small)
    if lua or rng.random() < 0.5:
        return f"Is the {high} bigger than the {low}?"
    return f"Does the {low} fit in the {high}?"
