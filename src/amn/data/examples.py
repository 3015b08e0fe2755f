"""Examples for a model: the words of a story's last sentences, and one or several questions about them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby

from amn.data.facts import Facts, told_facts
from amn.data.story import Question, Story, straight, words
from amn.data.vocabulary import answer_items

Words = tuple[str, ...]
_WORDING = 0.45  # a word that a larger share of questions holds says how one asks, and not what for


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A story as words, with the questions that one memory is built for."""

    sentences: tuple[Words, ...]  # the words of each
    questions: tuple[Words, ...]  # the words of each
    answers: tuple[str | None, ...]  # one for each question
    facts: tuple[Facts, ...] = ()  # what holds after each sentence, where that was asked for and is known; else none
    kinds: tuple[str, ...] = field(default=(), compare=False)  # of the questions; "" where the data names none


@dataclass(frozen=True, slots=True)
class Spoken:
    """The words of a task by their roles."""

    told: frozenset[str]  # by its stories
    sought: frozenset[str]  # asked for or answered
    untold: frozenset[str]  # answers to stories that do not tell them
    names: frozenset[str] | None = None  # words that are known to be names; None to find them

    @classmethod
    def of(cls, asked: Sequence[Example], *, by_item: bool = False, names: frozenset[str] | None = None) -> "Spoken":
        """The words of examples: each word of an answer counts where `by_item`, else the whole answer as one."""
        told, untold = set[str](), set[str]()
        for one in asked:
            here = set(chain.from_iterable(one.sentences))
            told |= here
            untold |= answer_words(one.answers, by_item=by_item) - here
        sought = _sought(asked, by_item=by_item)
        if not by_item:  # an answer of several words is a class, which needs their spelling
            untold |= {word for answer in untold for word in answer.split()}
        return cls(frozenset(told), frozenset(sought), frozenset(untold), names)

    def union(self, other: "Spoken") -> "Spoken":
        """The words of two parts of one task."""
        return Spoken(self.told | other.told, self.sought | other.sought, self.untold | other.untold, self.names)

    @property
    def own_names(self) -> frozenset[str]:
        """The words that the task itself shows to be names."""
        return self.told & (self.sought if self.names is None else self.names) - self.untold


def answer_words(answers: Iterable[str | None], *, by_item: bool) -> set[str]:
    """The answers, or the words of their items."""
    given = {answer.lower() for answer in answers if answer is not None}
    return {word for answer in given for item in answer_items(answer) for word in item} if by_item else given


def names_of(tasks: Sequence[Spoken]) -> list[frozenset[str]]:
    """The words of each task that new names may stand for, where a model learns them together.

    A task names the words that its stories tell and that are asked for or answered; but none that is part of the
    wording of questions, and none that is ever the answer to a story which does not tell it. Such a word has to be
    known: no story says that wolves are many of a *wolf*. Among several tasks, a word is a name wherever it is told if
    most of them name it: people are names even where only things are asked for, and *to* is none if one task asks so.
    """
    tellers = Counter(word for task in tasks for word in task.told)
    namers = Counter(word for task in tasks for word in task.own_names)
    shared = {word for word, count in namers.items() if 2 * count > tellers[word]}
    return [task.told & shared - task.untold for task in tasks]


def _sought(asked: Sequence[Example], *, by_item: bool) -> set[str]:
    """The words of questions and answers, without those that many questions share.

    A word that is an answer by itself is always sought. One that stands only in longer answers may be wording there
    too, as in "Monday the 3rd of May".
    """
    questions = [set(question) for one in asked for question in one.questions]
    counts = Counter(word for question in questions for word in question)
    wording = {word for word, count in counts.items() if count > _WORDING * len(questions)}
    answers = {answer for one in asked for answer in answer_words(one.answers, by_item=False)}
    alone = (
        answers if not by_item else {item[0] for answer in answers for item in answer_items(answer) if len(item) == 1}
    )
    return alone | (counts.keys() | answer_words(answers, by_item=by_item)) - wording


def examples(
    stories: Iterable[Story], *, window: int | None = None, together: bool = False, facts: bool = False
) -> Iterator[Example]:
    """The examples of some stories.

    Each has at most the last `window` sentences before a question. Questions asked `together` at one point of a story
    are one example, and with `facts` there is also what holds after each sentence.
    """
    for story in stories:
        told = [words(sentence) for sentence in story.sentences]
        for group in _groups(story.questions, together):
            sentences = tuple(sentence for sentence in told[: group[0].after] if sentence)[-(window or 0) :]
            known = story.facts[: group[0].after][-(window or 0) :] if facts else ()
            yield Example(
                sentences=sentences,
                questions=tuple(words(question.text) for question in group),
                answers=tuple(None if question.answer is None else straight(question.answer) for question in group),
                facts=told_facts(known, sentences) if known else (),
                kinds=tuple(question.kind for question in group),
            )


def _groups(questions: Iterable[Question], together: bool) -> Iterator[list[Question]]:
    if together:
        for _, group in groupby(questions, key=lambda question: question.after):
            yield list(group)
    else:
        for question in questions:
            yield [question]
