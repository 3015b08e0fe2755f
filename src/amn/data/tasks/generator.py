"""Generated stories: whole tasks, and presets: the two extensions of the AMN paper, and a rival's form of task 3."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from random import Random
from typing import Any

from amn.data.facts import Facts
from amn.data.story import Question, Story
from amn.data.tasks.config import GeneratorConfig, Task, plan_for
from amn.data.tasks.mixed import MixedConfig, mixed_stories
from amn.data.tasks.scene import DeadEndError, Plan
from amn.data.tasks.table import TASKS
from amn.errors import ConfigError, did_you_mean

# Dead ends are rare unless settings contradict each other: then an error is better than a long search.
_MOST_TRIES = 2000

MIXED = "mixed"  # used like the name of a task or a preset; its settings are those of `MixedConfig`
_LIKE_RELEASED = GeneratorConfig()
# Sentences that have nothing to do with any question: a subject and a remark.
_SUBJECTS = ("wind", "rain", "sun", "moon", "fog", "snow", "thunder", "river", "traffic", "crowd", "choir", "bird")
_REMARKS = (
    *("was loud", "was quiet", "woke everyone", "pleased everyone", "annoyed everyone", "surprised everyone"),
    *("came early", "came late", "lasted all day", "seemed strange"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A named task with its settings."""

    task: int
    config: GeneratorConfig
    about: str


PRESETS: dict[str, Preset] = {
    "scaled": Preset(
        task=1,
        config=GeneratorConfig(people=50, places=50, sentences=90, reach=None),
        about="task 1 with 100 names and 90 sentences a story",
    ),
    "multi": Preset(
        task=1,
        config=GeneratorConfig(sentences=10, questions=3, reach=None, together=True),
        about="task 1 with three questions given together at the end of each story",
    ),
    "short": Preset(
        task=3,
        config=GeneratorConfig(wording="lua", sentences=24, questions=2),
        about="task 3 with 24 sentences a story, by the rules of the public Lua generator, as GGT-NN was trained",
    ),
}


def generate(task: int, *, questions: int, seed: int, config: GeneratorConfig = _LIKE_RELEASED) -> Iterator[Story]:
    """Stories of a task, the same for the same arguments everywhere.

    Args:
        task: 1 to 20.
        questions: how many to give in all; the last story ends with the question that fills this number.
        seed: other seeds give other stories.
        config: what the stories look like.

    Raises:
        ConfigError: at once for settings that the task cannot follow; while drawing for contradictory ones.
    """
    if task not in TASKS:
        raise ConfigError(f"task {task} is unknown: expected a number from {min(TASKS)} to {max(TASKS)}")
    if questions < 0:
        raise ConfigError(f"questions must be 0 or more, found {questions}")
    plan = plan_for(TASKS[task], config)
    return _stories(TASKS[task], plan, questions, seed, config.distractors)


def generate_preset(name: str, *, questions: int, seed: int, **settings: Any) -> Iterator[Story]:
    """Stories of a named extension: one of `PRESETS`, or "mixed" with settings of `MixedConfig`.

    Raises:
        ConfigError: for a name or a setting that is not known.
    """
    if name == MIXED:
        return mixed_stories(questions=questions, seed=seed, config=_mixed_config(settings))
    if name not in PRESETS:
        raise ConfigError(f"preset {name!r} is unknown: {did_you_mean(name, (*PRESETS, MIXED))}")
    if settings:
        raise ConfigError(f"a preset fixes its own settings: {', '.join(settings)} cannot go with {name}")
    preset = PRESETS[name]
    return generate(preset.task, questions=questions, seed=seed, config=preset.config)


def _mixed_config(settings: dict[str, Any]) -> MixedConfig:
    known = {field.name for field in fields(MixedConfig)}
    for name in settings.keys() - known:
        raise ConfigError(f"mixed stories have no setting {name!r}: {did_you_mean(name, known)}")
    return MixedConfig(**settings)


def _stories(task: Task, plan: Plan, questions: int, seed: int, distractors: int) -> Iterator[Story]:
    number = 0
    while questions > 0:
        # A text seed is hashed by its letters, the same on every machine, and keeps stories apart from each other.
        rng = Random(f"{task.number}/{seed}/{number}")
        story = _finished(task, plan, rng)
        if distractors:
            story = _distract(rng, story, distractors)
        story = _cut(story, questions)
        yield story
        questions -= len(story.questions)
        number += 1


def _finished(task: Task, plan: Plan, rng: Random) -> Story:
    for _ in range(_MOST_TRIES):
        try:
            return task.make(rng, plan)
        except DeadEndError:
            continue
    raise ConfigError(
        f"task {task.number} ({task.name}): no story found in {_MOST_TRIES} tries with these settings; "
        "allow more sentences, fewer questions, or fewer people and places"
    )


def _cut(story: Story, questions: int) -> Story:
    if len(story.questions) <= questions:
        return story
    kept = story.questions[:questions]
    told = kept[-1].after
    return Story(sentences=story.sentences[:told], questions=kept, facts=story.facts[:told])


def _distract(rng: Random, story: Story, count: int) -> Story:
    """Puts unrelated sentences at random places; questions still rest on the same sentences."""
    length = len(story.sentences)
    gaps = sorted(rng.randrange(length) for _ in range(count))  # each goes before the sentence with this index
    moved_to = [index + sum(gap <= index for gap in gaps) for index in range(length)]
    sentences = [f"The {rng.choice(_SUBJECTS)} {rng.choice(_REMARKS)}." for _ in range(length + count)]
    for index, sentence in enumerate(story.sentences):
        sentences[moved_to[index]] = sentence
    questions = tuple(_moved(question, moved_to) for question in story.questions)
    facts = _facts(story, moved_to, len(sentences)) if story.facts else ()
    return Story(sentences=tuple(sentences), questions=questions, facts=facts)


def _facts(story: Story, moved_to: list[int], length: int) -> tuple[Facts, ...]:
    """What holds after each sentence: a remark changes nothing."""
    lines = [sum(place <= line for place in moved_to) for line in range(length)]
    return tuple(story.facts[told - 1] if told else frozenset() for told in lines)


def _moved(question: Question, moved_to: list[int]) -> Question:
    after = moved_to[question.after - 1] + 1
    support = tuple(moved_to[line] for line in question.support)
    return replace(question, after=after, support=support)
