"""A model judged by stories kept apart: what is wrong, how sure that is, and what to do about it."""

import pytest

from amn.answers import Answer
from amn.data.story import Question, Story
from amn.evaluation.held_out import HeldOut, judge
from amn.training.own import as_keyword, as_option

TOLD = tuple(f"R{i} went to Depot {i}." for i in range(20))
STORY = Story(
    sentences=TOLD,
    questions=(
        Question(text="Where is R1?", answer="Depot 1", after=20),
        Question(text="Where is R2?", answer="Depot 2", after=20),
        Question(text="Is R1 here?", answer="yes", after=3),
        Question(text="Is R2 here?", answer="yes", after=20),
    ),
)


def answers(*said: str) -> list[Answer]:
    return [Answer(question="", answer=text, score=0.5 + i / 10) for i, text in enumerate(said)]


def judged(wrong: int, questions: int, guess: float = 80.0) -> HeldOut:
    return HeldOut(questions=questions, wrong=wrong, guess_percent=guess, kinds=(), mistakes=())


def test_answers_are_compared_by_kind_of_question_and_the_surest_mistakes_come_first() -> None:
    found = judge([STORY], answers("depot 1", "Depot 3", "no", "YES"))
    assert (found.questions, found.wrong, found.error_percent, found.guess_percent) == (4, 2, 50.0, 50.0)
    assert [(kind.kind, kind.questions, kind.wrong) for kind in found.kinds] == [
        ("is r1", 1, 1),
        ("where is", 2, 1),
        ("is r2", 1, 0),
    ]
    assert [(mistake.said, mistake.right, mistake.score) for mistake in found.mistakes] == [
        ("no", "yes", 0.7),
        ("Depot 3", "Depot 2", 0.6),
    ]
    assert found.mistakes[0].story == TOLD[:3]
    lines = list(found.lines())
    assert lines[0] == "held-out error 50.0 %: 2 of 4 questions wrong (guessing: 50.0 %)"
    assert "    (8 sentences before)" in lines
    assert "    Where is R2?  said Depot 3 (score 0.60), right is Depot 2" in lines
    assert "it has not learned" in lines[-1]
    silent = judge([STORY], answers("unknown", "Depot 2", "no", "YES")).lines()
    assert "    Where is R1?  said that the story does not say (score 0.50), right is Depot 1" in silent


@pytest.mark.parametrize(
    ("wrong", "questions", "low", "high"), [(0, 40, 0.0, 8.8), (2, 120, 0.5, 5.9), (60, 120, 41.2, 58.8)]
)
def test_the_interval_is_that_of_wilson(wrong: int, questions: int, low: float, high: float) -> None:
    assert judged(wrong, questions).likely_percent == pytest.approx((low, high), abs=0.05)


def test_it_says_whether_to_trust_the_model() -> None:
    assert judged(1, 100).verdict().startswith("good enough to use: on more such questions 0.2 to 5.4 %")
    assert judged(5, 100).verdict().startswith("not good enough to rely on")
    assert judged(75, 100).verdict() == "it has not learned: always giving the most frequent answer is wrong in 80.0 %"


def test_few_or_equal_questions_are_no_reason_to_trust_it() -> None:
    few, equal, rare = judged(0, 4), judged(0, 100, guess=0.0), judged(2, 100, guess=2.0)
    assert few.verdict().startswith("too few questions to be sure: on more such questions 0.0 to 49.0 %")
    assert equal.verdict() == "it cannot be judged: all questions kept apart have the same answer"
    assert rare.verdict() == "it has not learned: always giving the most frequent answer is wrong in 2.0 %"
    found = [one.advice(as_option, epochs=20, training_stories=36, training_loss=0.0)[0] for one in (few, equal, rare)]
    assert found[0] == "judge it by more questions: --validation FILE, or give it more stories: it was trained on 36"
    assert found[1].startswith("judge it by questions whose answers differ")
    assert found[2] == "give it more stories: it was trained on 36"


def test_only_the_worst_kinds_are_listed() -> None:
    asked = tuple(Question(text=f"Is R{i} here?", answer="yes", after=1) for i in range(30))
    found = judge([Story(sentences=TOLD[:1], questions=asked)], answers("no", *["yes"] * 29))
    listed = [line for line in found.lines() if line.startswith("  is ")]
    assert len(found.kinds) == 30 and len(listed) == 8 and listed[0] == "  is r0 ...: 1 of 1 wrong"


def test_advice_depends_on_whether_it_knows_what_it_was_trained_on() -> None:
    bad = judged(30, 100)
    by_heart = bad.advice(as_option, epochs=20, training_stories=360, training_loss=0.01)
    unlearned = bad.advice(as_option, epochs=20, training_stories=360, training_loss=0.9)
    assert by_heart[0] == "give it more stories: it was trained on 360"
    assert unlearned[0] == "train longer, in another directory: --epochs 40"
    in_python = bad.advice(as_keyword, epochs=20, training_stories=360, training_loss=0.9)
    assert in_python[0] == "train longer, in another directory: epochs=40"
    assert judged(1, 100).advice(as_option, epochs=20, training_stories=360, training_loss=None) == []
    guessing = judged(79, 100).advice(as_option, epochs=20, training_stories=360, training_loss=None)
    assert "check that the answer can be told from the story" in guessing[-1]


def test_kinds_of_question_that_fail_are_named_first() -> None:
    asked = [Question(text=f"Where is R{i}?", answer="x", after=1) for i in range(9)]
    asked += [Question(text="How many are there?", answer="x", after=1)] * 3
    story = Story(sentences=("R2 left.",), questions=tuple(asked))
    found = judge([story], answers(*["x"] * 9, "y", "y", "x"))
    advice = found.advice(as_option, epochs=1, training_stories=9, training_loss=None)
    assert advice[0].endswith("give more stories with them: how many ... (2 of 3 wrong)")


def test_a_good_model_is_not_called_good_for_a_kind_that_fails() -> None:
    asked = [Question(text=f"Where is R{i}?", answer=f"{i % 5}", after=1) for i in range(93)]
    asked += [Question(text="Who has the key?", answer="x", after=1)] * 7
    story = Story(sentences=("R2 left.",), questions=tuple(asked))
    right = [question.answer or "" for question in asked]
    found = judge([story], answers(*right[:-2], "y", "y"))
    assert found.verdict().startswith(
        "good enough to use, but not for who has ... (2 of 7 wrong): on more such questions"
    )
    (advice,) = found.advice(as_option, epochs=1, training_stories=9, training_loss=None)
    assert advice.endswith("give more stories with them: who has ... (2 of 7 wrong)")
    assert not judge([story], answers(*right[:-1], "y")).weak
