"""The shipped models do on stories they never saw what their own records say."""

import json
import re
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from random import Random

import pytest
import torch

from amn.api import Request, load
from amn.cli.demo import SCENES
from amn.data.batches import encode
from amn.data.boards import BOARDS
from amn.data.boards.stepgame_noise import STEPS
from amn.data.examples import examples
from amn.data.story import same_answer
from amn.data.tasks import generate
from amn.evaluation.score import Ask, score_trained
from amn.models.base import answered
from amn.pretrained import DEFAULT_MODEL, shipped_directory, shipped_models
from amn.store.model_directory import load_model

QUESTIONS = 60
SEED = 11
# One wrong answer of 60 proves nothing about a model (that of task 2 errs about once in 2 000 generated questions, and
# once in this sample), so one task may have one; all tasks together must keep the error that we promise.
POINTS = 2.0
MEAN_PERCENT = 0.3
MOST_BYTES = 20 << 20
JOINT_PERCENT = 1.0  # of the joint model, all tasks together
RENAMED_PERCENT = 2.0  # of the joint model, where all names are new
RENAMED_QUESTIONS = 300  # of 60, two wrong ones would already be over 2 %, and so many come by chance
EXTENDED = {"multi": 0.38, "scaled": 0.13}  # the paper's ratios
SOURCES = {**dict.fromkeys(EXTENDED), **{name: name for name in BOARDS}}  # that are not the files of bAbI
PAPER_RATIOS = {1: 0.22, 2: 0.41, 4: 0.70, 7: 0.81, 10: 1.00, 11: 0.43, 12: 0.37, 14: 0.60}
PAPER_RATIOS |= {15: 1.00, 16: 1.06, 17: 1.00, 18: 0.82, 19: 1.05, 20: 0.26}

needs_joint = pytest.mark.skipif("babi" not in shipped_models(), reason="no joint model is shipped")


def tasks() -> list[int]:
    return [int(name[2:]) for name in shipped_models() if re.fullmatch(r"qa\d+", name)]


def test_every_task_has_its_model_and_one_answers_by_default() -> None:
    assert tasks() == list(range(1, 21))
    assert DEFAULT_MODEL in shipped_models()


def test_the_weights_are_small() -> None:
    files = [file for name in shipped_models() for file in shipped_directory(name).iterdir()]
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


@pytest.mark.parametrize("name", shipped_models())
def test_a_model_comes_with_its_record_and_card(name: str) -> None:
    described = json.loads((shipped_directory(name) / "config.json").read_text())
    assert described["training"]["validation"]["questions"] >= 900
    assert described["training"]["run"]["data"] == SOURCES.get(name, "babi-v1.2/en-valid-10k")
    card = Path(shipped_directory(name) / "README.md").read_text()
    assert f"{described['training']['validation']['error_percent']} %" in card


@cache
def asked_anew(task: int) -> tuple[float, float, dict[str, float]]:
    """Error in percent and ratio of a model on generated stories, and what its record says of the released ones."""
    trained = load_model(shipped_directory(f"qa{task}"))
    valid = trained.record["validation"]
    window = trained.record["run"]["train"]["window"]
    asked = list(examples(generate(task, questions=QUESTIONS, seed=SEED), window=window))
    batch = encode(asked, trained.vocabulary).take(torch.arange(len(asked)))
    with torch.no_grad():
        reading = trained.model(batch)
    wrong = int((~answered(reading.logits, batch, len(trained.vocabulary.answers))).sum())
    ratio = float((reading.entities_read[:, 0] / reading.entities).mean())
    return 100 * wrong / QUESTIONS, ratio, valid


@pytest.mark.parametrize("task", tasks())
def test_a_model_does_on_new_stories_what_its_record_says(task: int) -> None:
    error, ratio, valid = asked_anew(task)
    assert error <= valid["error_percent"] + POINTS
    assert ratio == pytest.approx(valid["ratio"], abs=0.03)


def test_all_models_together_err_no_more_than_promised() -> None:
    errors = [asked_anew(task)[0] for task in tasks()]
    assert sum(errors) / len(errors) <= MEAN_PERCENT


@pytest.mark.parametrize("task", sorted(PAPER_RATIOS))
def test_no_model_reads_more_than_the_papers(task: int) -> None:
    described = json.loads((shipped_directory(f"qa{task}") / "config.json").read_text())
    assert described["training"]["validation"]["ratio"] <= PAPER_RATIOS[task]


@needs_joint
def test_the_joint_model_answers_all_tasks() -> None:
    errors = [error_of_joint(task) for task in range(1, 21)]
    assert sum(errors) / len(errors) <= JOINT_PERCENT


@needs_joint
@pytest.mark.parametrize("task", [1, 2, 3, 11, 12, 13])
def test_the_joint_model_answers_about_names_it_never_saw(task: int) -> None:
    assert error_of_joint(task, rename=True, questions=RENAMED_QUESTIONS) < RENAMED_PERCENT


@needs_joint
def test_what_the_demonstration_shows_is_right() -> None:
    qa = load("babi")
    given = [[answer.answer for answer in qa(story, list(questions))] for story, questions in SCENES]
    where, carried, *others = given[0]
    assert same_answer(carried, "red ball,lamp") and [where, *others] == ["new york", "living room", "unknown"]
    assert given[1:] == [["office"], ["bedroom"], ["w,n"]]


@needs_joint
def test_people_who_share_a_name_are_two_people() -> None:
    qa = load("babi")
    story = (
        "Mary Smith took the cup. Mary Jones went to the park. Mary Smith went to the school. Mary Jones took the hat."
    )
    asked = ["Where is Mary Smith?", "Where is Mary Jones?", "What is Mary Smith carrying?", "Where is the hat?"]
    assert [answer.answer for answer in qa(story, asked)] == ["school", "park", "cup", "park"]
    married = "Mr. Brown went to the office. Mrs. Brown went to the garden."
    assert [answer.answer for answer in qa(married, ["Where is Mr. Brown?", "Where is Mrs. Brown?"])] == [
        "office",
        "garden",
    ]


@needs_joint
def test_contracted_verbs_and_round_apostrophes_are_understood() -> None:
    qa = load("babi")
    story = "Mary’s in the kitchen. John isn’t in the garden. O’Brien's gone to the park."
    asked = ["Where is Mary?", "Is John in the garden?", "Where is O'Brien?"]
    assert [answer.answer for answer in qa(story, asked)] == ["kitchen", "no", "park"]


STEPGAME = {  # some of the wordings of the data
    "left": "{} is to the left of {}.",
    "right": "{} is to the right of {}.",
    "above": "{} is above {}.",
    "below": "{} is below {}.",
    "upper-right": "{} is to the top-right of {}.",
    "lower-left": "{} is to the bottom-left of {}.",
}


def chain(steps: int, rng: Random) -> tuple[list[str], str, str]:
    """A chain told in mixed order, a question about its ends, and the answer."""
    agents = rng.sample("BCDEFGHJKLMNOPQRSTUVWXYZ", steps + 1)
    told, x, y = list[str](), 0, 0
    for one, other in pairwise(agents):
        relation = rng.choice(list(STEPGAME))
        x, y = x + STEPS[relation][0], y + STEPS[relation][1]
        told.append(STEPGAME[relation].format(one, other))
    answer = "-".join(filter(None, [["", "upper", "lower"][sign(y)], ["", "right", "left"][sign(x)]]))
    answer = {"upper": "above", "lower": "below", "": "overlap"}.get(answer, answer)
    rng.shuffle(told)
    return told, f"What is the relation of the agent {agents[0]} to the agent {agents[-1]}?", answer


STEPGAME_QUESTION = "What is the relation of the agent X to the agent W?"


def sign(value: int) -> int:
    return (value > 0) - (value < 0)


def test_the_model_of_stepgame_follows_chains_longer_than_any_that_it_was_trained_on() -> None:
    rng, qa = Random(3), load("stepgame")
    for steps, least in ((5, 96), (8, 75)):  # training had five; so many of 100 have to be right
        asked = [chain(steps, rng) for _ in range(100)]
        given = qa.answer_batch([Request(story=told, question=question) for told, question, _ in asked])
        right = [answers[0].answer == answer for answers, (_, _, answer) in zip(given, asked, strict=True)]
        assert sum(right) >= least


@pytest.mark.parametrize(("hour", "answer"), [("12", "above"), ("3", "right"), ("6", "below"), ("9", "left")])
def test_the_model_of_stepgame_reads_the_hours_of_a_clock_as_in_its_training(hour: str, answer: str) -> None:
    qa, told, question = load("stepgame"), f"X is sitting at the {hour}:00 position of W.", STEPGAME_QUESTION
    memory = qa.memory(questions=[question])
    memory.tell(told)
    assert [qa(told, question).answer, memory.ask()[0].answer] == [answer, answer]


def test_numbers_are_read_alike_in_stories_and_questions() -> None:
    told, asked = "X is sitting at the 9:00 position of W.", "What is at the 9:00 position of W?"
    qa, scores = load("stepgame"), set[float]()
    for story, question in product((told, told.replace(":", " ")), (asked, asked.replace(":", " "))):
        memory = qa.memory(questions=[question])
        memory.tell(story)
        batch = qa.answer_batch([Request(story=story, question=question)] * 2)
        scores |= {round(answer.score, 4) for answer in (qa(story, question), *memory.ask(), *batch[1])}
    assert len(scores) == 1
    assert load("babi")("Mary took the 3.5 lamp. Mary went to the garden.", "Where is the 3.5 lamp?").answer == "garden"


def error_of_joint(task: int, *, rename: bool = False, questions: int = QUESTIONS) -> float:
    tally = score_trained(load("babi").trained, Ask(task=task, questions=questions, rename=rename))
    return float(tally.figures()["error_percent"])


@pytest.mark.parametrize("name", sorted(EXTENDED))
def test_the_models_of_the_extended_sets_hold_their_record(name: str) -> None:
    trained = load(name).trained
    tally = score_trained(trained, Ask(task=name, split="test", questions=QUESTIONS))
    figures = tally.figures()
    assert figures["error_percent"] < 1
    assert figures["ratio"] <= EXTENDED[name]
    assert figures["ratio"] == pytest.approx(trained.record["validation"]["ratio"], abs=0.03)
