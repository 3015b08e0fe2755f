"""What a model is asked: the words of a story's last sentences, and one or several questions about them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from amn.data.facts import Facts, told_facts
from amn.data.story import Question, Story, words

Words = tuple[str, ...]
_WORDING = 0.45  # a word that a larger share of questions holds says how one asks, and not what for


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A story as words, with the questions that one memory is built for.

    Args:
        sentences: the words of each.
        questions: the words of each.
        answers: one for each question.
        facts: what holds after each sentence, where that was asked for and is known; else none.
        names: the words that a name which nobody knows may stand for; needed to train for such names alone.
    """

    sentences: tuple[Words, ...]
    questions: tuple[Words, ...]
    answers: tuple[str | None, ...]
    facts: tuple[Facts, ...] = ()
    names: frozenset[str] = frozenset()


def with_names(tasks: Sequence[Sequence[Example]]) -> list[list[Example]]:
    """The examples of each task, with the words of the task that new names may stand for.

    A task names the words that its stories tell and that are asked for or answered; but none that is part of the
    wording of questions, and none that is ever the answer to a story which does not tell it. Such a word has to be
    known: no story says that wolves are many of a *wolf*. Among several tasks, a word is a name wherever it is told if
    most of them name it: people are names even where only things are asked for, and *to* is none if one task asks so.
    """
    told = [{word for one in asked for sentence in one.sentences for word in sentence} for asked in tasks]
    untold = [_untold(asked) for asked in tasks]
    own = [here & _sought(asked) - never for asked, here, never in zip(tasks, told, untold, strict=True)]
    tellers, namers = (Counter(word for found in sets for word in found) for sets in (told, own))
    shared = {word for word, count in namers.items() if 2 * count > tellers[word]}
    names = [frozenset(here & shared - never) for here, never in zip(told, untold, strict=True)]
    return [[replace(one, names=found) for one in asked] for asked, found in zip(tasks, names, strict=True)]


def _sought(asked: Iterable[Example]) -> set[str]:
    """The words of questions, without those that many of them share, and the answers."""
    questions = [set(question) for one in asked for question in one.questions]
    counts = Counter(word for question in questions for word in question)
    answers = {answer.lower() for one in asked for answer in one.answers if answer is not None}
    return answers | {word for word, count in counts.items() if count <= _WORDING * len(questions)}


def _untold(asked: Iterable[Example]) -> set[str]:
    """The answers that some story does not tell, and the words of those that are several words: classes spell them."""
    found = set()
    for one in asked:
        told = {word for sentence in one.sentences for word in sentence}
        found |= {answer.lower() for answer in one.answers if answer is not None} - told
    return found | {word for answer in found for word in answer.split()}


def examples(
    stories: Iterable[Story], *, window: int | None = None, together: bool = False, facts: bool = False
) -> Iterator[Example]:
    """The examples of some stories.

    Args:
        stories: stories with their questions.
        window: keep only the last so many sentences before a question.
        together: give questions asked at the same point of a story as one example.
        facts: also give what holds after each sentence.
    """
    for story in stories:
        told = [words(sentence) for sentence in story.sentences]
        for group in _groups(story.questions, together):
            sentences = tuple(sentence for sentence in told[: group[0].after] if sentence)[-(window or 0) :]
            known = story.facts[: group[0].after][-(window or 0) :] if facts else ()
            yield Example(
                sentences=sentences,
                questions=tuple(words(question.text) for question in group),
                answers=tuple(question.answer for question in group),
                facts=told_facts(known, sentences) if known else (),
            )


def _groups(questions: Iterable[Question], together: bool) -> Iterator[list[Question]]:
    if together:
        for _, group in groupby(questions, key=lambda question: question.after):
            yield list(group)
    else:
        for question in questions:
            yield [question]
