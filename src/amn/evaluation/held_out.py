"""A model judged by stories that its training never saw: its error, its mistakes, and what to do about them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

from amn.answers import Answer
from amn.data.story import Question, Story, same_answer, words
from amn.data.vocabulary import UNKNOWN_ANSWER
from amn.evaluation.metrics import PASS_PERCENT, guessing_error, kind_of

SHOWN_MISTAKES = 3
SHOWN_KINDS = 8  # of questions, the worst ones
SHOWN_SENTENCES = 12  # of a story, the last ones
_MANY_WRONG = 2.0  # a kind that is wrong so many times as often as the mean is named
_NEAR_GUESSING = 0.8  # of the error of guessing, above which nothing was learned
_UNSURE_PERCENT = 10.0  # an error that may as well be so high is not known
_Z = 1.96  # of a 95 % interval


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A question that was answered wrongly."""

    story: tuple[str, ...]  # what it saw
    question: str
    right: str  # the right answer
    said: str  # the model's
    score: float  # how sure it was

    def lines(self) -> Iterator[str]:
        """As a story, for people."""
        told = len(self.story) - SHOWN_SENTENCES
        yield from [f"    ({told} sentences before)"] if told > 0 else []
        yield from (f"    {sentence}" for sentence in self.story[-SHOWN_SENTENCES:])
        said = "that the story does not say" if self.said == UNKNOWN_ANSWER else self.said
        yield f"    {self.question}  said {said} (score {self.score:.2f}), right is {self.right}"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Questions that begin alike."""

    kind: str
    questions: int
    wrong: int

    @property
    def error_percent(self) -> float:
        """How many of them are wrong."""
        return 100 * self.wrong / self.questions


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """How a model did on the questions that were kept apart."""

    questions: int  # how many
    wrong: int  # how many of them were answered wrongly
    guess_percent: float  # the error of always giving the most frequent answer
    kinds: tuple[Kind, ...]  # the same by kind of question, the worst first
    mistakes: tuple[Mistake, ...]  # the wrong answers, the surest first

    @property
    def error_percent(self) -> float:
        """How many were answered wrongly."""
        return 100 * self.wrong / self.questions

    @property
    def likely_percent(self) -> tuple[float, float]:
        """Where the error of ever more such questions would lie with 95 % confidence (Wilson's interval)."""
        n, p = self.questions, self.wrong / self.questions
        middle, spread = p + _Z**2 / (2 * n), _Z * sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        scale = 100 / (1 + _Z**2 / n)
        return max(0.0, scale * (middle - spread)), scale * (middle + spread)

    @property
    def good(self) -> bool:
        """Whether the error is below what counts as solved."""
        return self.error_percent < PASS_PERCENT

    @property
    def learned(self) -> bool:
        """Whether it does clearly better than guessing."""
        return self.error_percent < _NEAR_GUESSING * self.guess_percent

    @property
    def enough(self) -> bool:
        """Whether there are questions enough to tell a small error from a large one."""
        return self.likely_percent[1] < _UNSURE_PERCENT

    @property
    def weak(self) -> list[Kind]:
        """The kinds that are wrong more than once, and far more often than the others."""
        least = max(_MANY_WRONG * self.error_percent, PASS_PERCENT)
        return [kind for kind in self.kinds if kind.wrong > 1 and kind.error_percent > least]

    def verdict(self) -> str:
        """Whether it can be trusted, in a sentence."""
        low, high = self.likely_percent
        likely = f"on more such questions {low:.1f} to {high:.1f} % would be wrong, with 95 % confidence"
        if self.wrong == self.guess_percent == 0:
            return "it cannot be judged: all questions kept apart have the same answer"
        if not self.learned:
            return f"it has not learned: always giving the most frequent answer is wrong in {self.guess_percent:.1f} %"
        if not self.good:
            return f"not good enough to rely on: {likely}"
        if not self.enough:
            return f"too few questions to be sure: {likely}"
        but = f", but not for {_listed(self.weak)}" if self.weak else ""
        return f"good enough to use{but}: {likely}"

    def advice(
        self, spell: Callable[[str, object], str], *, epochs: int, training_stories: int, training_loss: float | None
    ) -> list[str]:
        """What to try, the most promising first; nothing where there is nothing to mend.

        Args:
            spell: how the user gives a value to a setting.
            epochs: that it was trained.
            training_stories: that it was trained on.
            training_loss: the loss of its answers in the last epoch; None where it is not known.
        """
        weak = [f"look at these questions, and give more stories with them: {_listed(self.weak)}"] if self.weak else []
        if self.good and self.learned and self.enough:
            return weak
        more = f"give it more stories: it was trained on {training_stories}"
        if self.wrong == self.guess_percent == 0:
            return [f"judge it by questions whose answers differ: more stories, or {spell('validation', 'FILE')}"]
        if self.good and self.learned:
            return [*weak, f"judge it by more questions: {spell('validation', 'FILE')}, or {more}"]
        found = [more, f"train longer, in another directory: {spell('epochs', 2 * epochs)}"]
        knows_training = training_loss is not None and training_loss < 0.1
        found = found if knows_training else found[::-1]
        if not self.learned:
            found.append("check that the answer can be told from the story: the mistakes above show how")
        return weak + found

    def lines(self) -> Iterator[str]:
        """The error, its kinds and the worst mistakes, for people."""
        yield (
            f"held-out error {self.error_percent:.1f} %: {self.wrong} of {self.questions} questions wrong "
            f"(guessing: {self.guess_percent:.1f} %)"
        )
        if self.wrong:
            yield from (
                f"  {kind.kind} ...: {kind.wrong} of {kind.questions} wrong" for kind in self.kinds[:SHOWN_KINDS]
            )
            yield "worst mistakes:"
        for mistake in self.mistakes[:SHOWN_MISTAKES]:
            yield from mistake.lines()
            yield ""
        yield self.verdict()

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        percent = {name: round(getattr(self, name), 4) for name in ("error_percent", "guess_percent")}
        percent["likely_percent"] = [round(bound, 4) for bound in self.likely_percent]
        return asdict(self) | percent | {"good": self.good, "verdict": self.verdict()}


def judge(stories: Sequence[Story], answers: Sequence[Answer]) -> HeldOut:
    """Compares answers, one for each question in their order, with the right ones."""
    asked = [(story, question) for story in stories for question in story.questions]
    said = zip(asked, answers, strict=True)
    wrong = [not same_answer(answer.answer, question.answer or "") for (_, question), answer in said]
    right = [(question.answer or "").lower() for _, question in asked]
    return HeldOut(
        questions=len(asked),
        wrong=sum(wrong),
        guess_percent=guessing_error(right, right),
        kinds=_kinds([question for _, question in asked], wrong),
        mistakes=_mistakes([pair for pair, bad in zip(zip(asked, answers, strict=True), wrong, strict=True) if bad]),
    )


def _kinds(questions: Sequence[Question], wrong: Sequence[bool]) -> tuple[Kind, ...]:
    names = [kind_of(words(question.text), question.kind) for question in questions]
    asked, missed = Counter(names), Counter(name for name, bad in zip(names, wrong, strict=True) if bad)
    found = [Kind(kind=name, questions=count, wrong=missed[name]) for name, count in asked.items()]
    return tuple(sorted(found, key=lambda kind: (-kind.error_percent, kind.kind)))


def _mistakes(pairs: Sequence[tuple[tuple[Story, Question], Answer]]) -> tuple[Mistake, ...]:
    found = [
        Mistake(
            story=story.sentences[: question.after],
            question=question.text,
            right=question.answer or "",
            said=answer.answer,
            score=round(answer.score, 4),
        )
        for (story, question), answer in pairs
    ]
    return tuple(sorted(found, key=lambda mistake: -mistake.score))


def _listed(kinds: Sequence[Kind]) -> str:
    return ", ".join(f"{kind.kind} ... ({kind.wrong} of {kind.questions} wrong)" for kind in kinds)
