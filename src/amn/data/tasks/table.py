"""The 20 tasks: a new one is one more row."""

from functools import partial

from amn.data.names import AFRAID, COLOURED, GIVERS, MOTIVATED, MOVERS, ROOMS, THINGS, TOWN, TOWNSFOLK
from amn.data.tasks.belief import EitherOr, Negation
from amn.data.tasks.carrying import CarryCount, CarryList, Give, ThingPlace, ThingPlaceBefore
from amn.data.tasks.config import Task
from amn.data.tasks.motives import MOTIVES, motives
from amn.data.tasks.moving import PairMove, PairPronoun, Presence, PronounMove, Whereabouts
from amn.data.tasks.reasoning import colours, fears
from amn.data.tasks.scene import LONGEST, scene
from amn.data.tasks.sizes import sizes
from amn.data.tasks.space import neighbours, paths, positions
from amn.data.tasks.times import TIMES, Day

_Moving = partial(Task, people=MOVERS, places=ROOMS)
_Carrying = partial(_Moving, objects=THINGS)
_Town = partial(Task, people=TOWNSFOLK, places=TOWN)
_Fixed = partial(Task, in_turn=False)  # its questions have their fixed place
_Counted = partial(_Fixed, counts_questions=False)  # and their fixed number
_MOTIVE_WORDS = tuple(word for words in MOTIVES.values() for word in words)


def _stages(people: int, _: int) -> tuple[int, int]:
    """Everyone feels something and goes somewhere, but each thing can be taken only once."""
    return 1, 2 * people + min(people, len(MOTIVES))


_ROWS = (
    _Moving(number=1, name="single-supporting-fact", make=scene(Whereabouts)),
    _Carrying(number=2, name="two-supporting-facts", make=scene(ThingPlace)),
    _Carrying(number=3, name="three-supporting-facts", make=scene(ThingPlaceBefore), lengths=(3, LONGEST)),
    _Fixed(number=4, name="two-arg-relations", make=neighbours, places=ROOMS, fewest=(0, 3, 0), lengths=None),
    _Carrying(number=5, name="three-arg-relations", make=scene(Give), people=GIVERS, fewest=(2, 2, 1)),
    _Carrying(number=6, name="yes-no-questions", make=scene(Presence)),
    _Carrying(number=7, name="counting", make=scene(CarryCount)),
    _Carrying(number=8, name="lists-sets", make=scene(CarryList)),
    _Moving(number=9, name="simple-negation", make=scene(Negation)),
    _Town(number=10, name="indefinite-knowledge", make=scene(EitherOr)),
    _Moving(number=11, name="basic-coreference", make=scene(PronounMove), even=True),
    _Moving(number=12, name="conjunction", make=scene(PairMove), fewest=(2, 3, 0)),
    _Moving(number=13, name="compound-coreference", make=scene(PairPronoun), fewest=(2, 3, 0), even=True),
    # Everyone has one sentence for each time of the day.
    _Town(
        number=14, name="time-reasoning", make=scene(Day), fewest=(1, 4, 0), lengths=lambda n, _: (2, n * len(TIMES))
    ),
    _Fixed(number=15, name="basic-deduction", make=fears, people=AFRAID, lengths=None),
    _Counted(number=16, name="basic-induction", make=colours, people=COLOURED, fewest=(2, 0, 0), lengths=None),
    _Fixed(number=17, name="positional-reasoning", make=positions, lengths=None),
    _Fixed(number=18, name="size-reasoning", make=sizes),
    # A map has one sentence fewer than rooms, and space for eight rooms beside the path.
    _Counted(
        number=19,
        name="path-finding",
        make=paths,
        places=ROOMS,
        fewest=(0, 6, 0),
        lengths=lambda _, n: (2, min(10, n - 1)),
    ),
    _Counted(
        number=20, name="agents-motivations", make=motives, people=MOTIVATED, lengths=_stages, fixed=_MOTIVE_WORDS
    ),
)

TASKS: dict[int, Task] = {task.number: task for task in _ROWS}
