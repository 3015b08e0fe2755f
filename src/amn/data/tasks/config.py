"""The generator's settings, the table row of a task, and the check of one against the other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from amn.data.names import FURTHER, RELEASED, known_names
from amn.data.tasks.scene import LONGEST, Plan, StoryMaker
from amn.data.tasks.wording import LUA_WORDING, RELEASED_WORDING
from amn.errors import ConfigError, did_you_mean

# In the released stories every question rests on one of the last five facts.
RELEASED_REACH = 5

_WORDINGS = {"released": RELEASED_WORDING, "lua": LUA_WORDING}


def any_length(people: int, places: int) -> tuple[int, int]:  # noqa: ARG001
    """The lengths of stories that can go on and on."""
    return 2, LONGEST


@dataclass(frozen=True, kw_only=True)
class GeneratorConfig:
    """What generated stories look like; the defaults give stories like the released ones.

    Args:
        people: how many people the stories are about; None for those of the released stories.
        places: how many places; None for the released ones.
        objects: how many things to carry; None for the released ones.
        sentences: statements in a story; None for as many as in the released stories.
        questions: questions of a story; None for as many as in the released stories.
        distractors: sentences added to a story that have nothing to do with its questions.
        held_out: names (of people, places or things) never used.
        wording: phrases and rules of the released stories, or of the later public Lua generator.
        reach: how many of the latest facts the questions are about; None for all of the story.
        together: ask all questions after the last sentence, about different things where possible.
    """

    people: int | None = None
    places: int | None = None
    objects: int | None = None
    sentences: int | None = None
    questions: int | None = None
    distractors: int = 0
    held_out: tuple[str, ...] = ()
    wording: Literal["released", "lua"] = "released"
    reach: int | None = RELEASED_REACH
    together: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One of the 20 tasks.

    Args:
        number: 1 to 20.
        name: its name in the released data.
        make: writes one story.
        people: names in the released stories; empty if the task has no people to choose.
        places: the same for places.
        objects: the same for things to carry.
        fewest: the fewest people, places and objects that the task can do with.
        lengths: the least and the most that `sentences` may be, given the numbers of people and of places; None if the
            task fixes it.
        even: whether its sentences come in twos.
        counts_questions: whether `questions` can be chosen.
        in_turn: whether questions come between the sentences, so that `together` says something.
        fixed: words the task cannot do without, though they are names elsewhere.
    """

    number: int
    name: str
    make: StoryMaker
    people: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    fewest: tuple[int, int, int] = (1, 2, 1)
    lengths: Callable[[int, int], tuple[int, int]] | None = any_length
    even: bool = False
    counts_questions: bool = True
    in_turn: bool = True
    fixed: tuple[str, ...] = ()


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


def _name_problems(task: Task, config: GeneratorConfig) -> list[str]:
    problems = []
    for kind, fewest in zip(("people", "places", "objects"), task.fewest, strict=True):
        released, count = getattr(task, kind), getattr(config, kind)
        if not released:
            if count is not None:
                problems.append(f"it has no {kind} to choose, so {kind}={count} means nothing: leave it out")
            continue
        most = len(_available(kind, task, config))
        have = len(_names(kind, task, config)) if count is None else count
        if not fewest <= have <= most:
            hint = "" if count is not None else f" (a number given as {kind} adds further names)"
            problems.append(f"{kind} must be between {fewest} and {most}, found {have}{hint}")
    return problems + _held_out_problems(task, config)


def _held_out_problems(task: Task, config: GeneratorConfig) -> list[str]:
    known = known_names((RELEASED, FURTHER))
    problems = []
    for name in config.held_out:
        if name.lower() not in known:
            problems.append(f"held_out names {name!r}, which no story holds: {did_you_mean(name.lower(), known)}")
        elif name.lower() in task.fixed:
            problems.append(f"it cannot do without {name!r}, so that cannot be held out")
    return problems


def _shape_problems(task: Task, config: GeneratorConfig) -> list[str]:
    problems = _length_problems(task, config)
    if config.questions is not None and not task.counts_questions:
        problems.append(f"its number of questions is fixed, so questions={config.questions} means nothing")
    elif config.questions is not None and config.questions < 1:
        problems.append(f"questions must be at least 1, found {config.questions}")
    if config.together and not task.in_turn:
        problems.append("its questions have their fixed place, so together means nothing")
    if config.reach is not None and config.reach < 1:
        problems.append(f"reach must be at least 1, found {config.reach}")
    if config.distractors < 0:
        problems.append(f"distractors must be 0 or more, found {config.distractors}")
    if config.wording not in _WORDINGS:
        problems.append(f"wording {config.wording!r} is unknown: {did_you_mean(config.wording, _WORDINGS)}")
    return problems


def _length_problems(task: Task, config: GeneratorConfig) -> list[str]:
    if config.sentences is None:
        return []
    if task.lengths is None:
        return [f"its number of sentences is fixed, so sentences={config.sentences} means nothing"]
    least, most = task.lengths(len(_names("people", task, config)), len(_names("places", task, config)))
    if not least <= config.sentences <= most:
        return [f"sentences must be between {least} and {most}, found {config.sentences}"]
    if task.even and config.sentences % 2:
        return [f"its sentences come in twos, so sentences must be even, found {config.sentences}"]
    return []
