"""Sentences that have nothing to do with any question, to put between those of a story."""

from dataclasses import replace
from random import Random

from amn.data.facts import Facts
from amn.data.story import Question, Story

_SUBJECTS = ("wind", "rain", "sun", "moon", "fog", "snow", "thunder", "river", "traffic", "crowd", "choir", "bird")
_REMARKS = (
    *("was loud", "was quiet", "woke everyone", "pleased everyone", "annoyed everyone", "surprised everyone"),
    *("came early", "came late", "lasted all day", "seemed strange"),
)


def distract(rng: Random, story: Story, count: int) -> Story:
    """Puts unrelated sentences at random places; questions still rest on the same sentences."""
    length = len(story.sentences)
    gaps = sorted(rng.randrange(length) for _ in range(count))  # each goes before the sentence with this index
    moved_to = [index + sum(gap <= index for gap in gaps) for index in range(length)]
    sentences = [_remark(rng) for _ in range(length + count)]
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


def _remark(rng: Random) -> str:
    return f"The {rng.choice(_SUBJECTS)} {rng.choice(_REMARKS)}."
