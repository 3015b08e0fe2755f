"""The generator's settings, the table row of a task, and the check of one against the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from amn.data.names import FURTHER, RELEASED, known_names
from amn.data.tasks.scene import LONGEST, Plan, StoryMaker
from amn.data.tasks.wording import LUA_WORDING, RELEASED_WORDING
from amn.errors import ConfigError, did_you_mean

# In the released stories every question rests on one of the last five facts.
RELEASED_REACH = 5

_WORDINGS = {"released": RELEASED_WORDING, "lua": LUA_WORDING}


@dataclass(frozen=True, kw_only=True)
class GeneratorConfig:
    """What generated stories look like; None, and the defaults, for what the released stories have."""

    people: int | None = None  # how many people the stories are about
    places: int | None = None
    objects: int | None = None  # things to carry
    sentences: int | None = None  # statements in a story
    questions: int | None = None  # of a story
    distractors: int = 0  # sentences added to a story that have nothing to do with its questions
    held_out: tuple[str, ...] = ()  # names (of people, places or things) never used
    wording: Literal["released", "lua"] = "released"  # phrases and rules; or those of the later public Lua generator
    reach: int | None = RELEASED_REACH  # how many of the latest facts questions are about; None for all of the story
    together: bool = False  # ask all questions after the last sentence, about different things where possible


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One of the 20 tasks."""

    number: int
    name: str  # in the released data
    make: StoryMaker
    people: tuple[str, ...] = ()  # names in the released stories; empty if the task has no people to choose
    places: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    fewest: tuple[int, int, int] = (1, 2, 1)  # people, places and objects that the task can do with
    # The least and the most that `sentences` may be, or what says so of the numbers of people and of places; None if
    # their number is fixed.
    lengths: tuple[int, int] | Callable[[int, int], tuple[int, int]] | None = (2, LONGEST)
    even: bool = False  # its sentences come in twos
    counts_questions: bool = True  # `questions` can be chosen
    in_turn: bool = True  # questions come between the sentences, so that `together` says something
    fixed: tuple[str, ...] = ()  # words the task cannot do without, though they are names elsewhere


def plan_for(task: Task, config: GeneratorConfig) -> Plan:
    """The checked plan of a task's stories.

    Raises:
        ConfigError: with a sentence for each setting that the task cannot follow.
    """
    problems = [*_name_problems(task, config), *_shape_problems(task, config)]
    if problems:
        raise ConfigError(f"task {task.number} ({task.name}): {'; '.join(problems)}")
    return Plan(
        people=_names("people", task, config),
        places=_names("places", task, config),
        objects=_names("objects", task, config),
        wording=_WORDINGS[config.wording],
        lua=config.wording == "lua",
        sentences=config.sentences,
        questions=config.questions,
        reach=config.reach,
        together=config.together,
    )


def _available(kind: str, task: Task, config: GeneratorConfig) -> tuple[str, ...]:
    """Released names first, then further ones, without those held out."""
    out = {name.lower() for name in config.held_out}
    names = dict.fromkeys((*getattr(task, kind), *getattr(FURTHER, kind)))
    return tuple(name for name in names if name.lower() not in out)


def _names(kind: str, task: Task, config: GeneratorConfig) -> tuple[str, ...]:
    """As many names as asked for; the released ones that are not held out when nothing is asked."""
    available, count = _available(kind, task, config), getattr(config, kind)
    if count is not None:
        return available[:count]
    return tuple(name for name in getattr(task, kind) if name in available)


def _name_problems(task: Task, config: GeneratorConfig) -> Iterator[str]:
    for kind, fewest in zip(("people", "places", "objects"), task.fewest, strict=True):
        released, count = getattr(task, kind), getattr(config, kind)
        if not released:
            if count is not None:
                yield f"it has no {kind} to choose, so {kind}={count} means nothing: leave it out"
            continue
        most = len(_available(kind, task, config))
        have = len(_names(kind, task, config)) if count is None else count
        if not fewest <= have <= most:
            hint = "" if count is not None else f" (a number given as {kind} adds further names)"
            yield f"{kind} must be between {fewest} and {most}, found {have}{hint}"
    known = known_names((RELEASED, FURTHER))
    for name in config.held_out:
        if name.lower() not in known:
            yield f"held_out names {name!r}, which no story holds: {did_you_mean(name.lower(), known)}"
        elif name.lower() in task.fixed:
            yield f"it cannot do without {name!r}, so that cannot be held out"


def _shape_problems(task: Task, config: GeneratorConfig) -> Iterator[str]:
    yield from _length_problems(task, config)
    if config.questions is not None and not task.counts_questions:
        yield f"its number of questions is fixed, so questions={config.questions} means nothing"
    elif config.questions is not None and config.questions < 1:
        yield f"questions must be at least 1, found {config.questions}"
    if config.together and not task.in_turn:
        yield "its questions have their fixed place, so together means nothing"
    if config.reach is not None and config.reach < 1:
        yield f"reach must be at least 1, found {config.reach}"
    if config.distractors < 0:
        yield f"distractors must be 0 or more, found {config.distractors}"
    if config.wording not in _WORDINGS:
        yield f"wording {config.wording!r} is unknown: {did_you_mean(config.wording, _WORDINGS)}"


def _length_problems(task: Task, config: GeneratorConfig) -> Iterator[str]:
    if config.sentences is None:
        return
    if task.lengths is None:
        yield f"its number of sentences is fixed, so sentences={config.sentences} means nothing"
        return
    counts = len(_names("people", task, config)), len(_names("places", task, config))
    least, most = task.lengths(*counts) if callable(task.lengths) else task.lengths
    if not least <= config.sentences <= most:
        yield f"sentences must be between {least} and {most}, found {config.sentences}"
    elif task.even and config.sentences % 2:
        yield f"its sentences come in twos, so sentences must be even, found {config.sentences}"
