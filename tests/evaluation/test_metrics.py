"""Figures worked out by hand on a scripted model, and the same figures from real models in several ways."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from amn.api import QA, Request
from amn.data.batches import Batch
from amn.data.examples import Example
from amn.data.story import same_answer
from amn.data.vocabulary import Vocabulary
from amn.errors import AMNError
from amn.evaluation import metrics
from amn.inference.engine import Engine
from amn.inference.torch_batches import read_by_torch
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.base import Model, ModelConfig, Reading

VOCABULARY = Vocabulary.from_json({"words": ["garden", "mary", "office", "went"], "answers": ["garden", "office"]})
KEYS = ["questions", "error_percent", "required_banks", "created_banks", "entities", "entities_read", "ratio"]
KEYS += ["sentences_let_in", "by_banks", "seconds"]
GARDEN, OFFICE = [1.0, 0.0], [0.0, 1.0]


def example(story: str, answer: str | None = "garden", question: str = "where") -> Example:
    sentences = tuple(tuple(sentence.split()) for sentence in story.split("."))
    return Example(sentences=sentences, questions=((question,),), answers=(answer,))


class Scripted(Model):
    """Says what it was told to say: for each number of banks the logits of each story, and what it read."""

    Config = ModelConfig

    def __init__(self, logits: list[list[list[float]]], read: list[list[float]], banks: list[float]) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.logits, self.read, self.banks = torch.tensor(logits), torch.tensor(read), torch.tensor(banks)

    def ingest(self, batch: Batch, progress: Tensor | float = 1.0) -> None:
        """Nothing is to be prepared; one story alone is read first, to warm up."""
        del batch, progress

    def finish(self, batch: Batch, told: None, progress: Tensor | float, banks: int = 1) -> Reading:
        del told, progress
        stories = len(batch.sentences)
        row = (banks or len(self.logits)) - 1
        words = (batch.sentences.flatten(1).unsqueeze(-1) == torch.arange(1, 9)).any(1).sum(-1).float()
        parts = (self.logits[row].unsqueeze(1), words, self.read[row].unsqueeze(1), self.banks)
        logits, entities, read, created = (part[:stories] for part in parts)
        return Reading(logits, entities, read, created)


# Two stories of 4 and 2 words, with 2 banks and 1. With one bank the first answer is wrong, with two both are right.
STORIES = [example("mary went garden.mary went office", "garden"), example("mary office", "office")]


def scripted_as(model: Model) -> TrainedModel:
    """A model that the compiled core does not know."""
    trained = TrainedModel(architecture="scripted", config={}, weights={}, vocabulary=VOCABULARY)
    trained.__dict__["model"] = model
    return trained


def scripted() -> TrainedModel:
    return scripted_as(Scripted([[OFFICE, OFFICE], [GARDEN, OFFICE]], [[1.0, 2.0], [5.0, 2.0]], [2.0, 1.0]))


def test_figures_are_those_worked_out_by_hand() -> None:
    figures = metrics.evaluate(scripted(), STORIES).figures()
    assert list(figures) == KEYS
    assert figures["questions"] == 2
    assert figures["sentences_let_in"] == 1.0
    assert figures["error_percent"] == 50.0
    assert figures["required_banks"] == 2
    assert figures["created_banks"] == 1.5
    assert figures["entities"] == 3.0
    assert figures["entities_read"] == 3.5
    assert figures["ratio"] == round((5 / 4 + 2 / 2) / 2, 4)
    assert figures["by_banks"] == [
        {"banks": 1, "error_percent": 50.0, "entities_read": 1.5, "ratio": 0.625},
        {"banks": 2, "error_percent": 0.0, "entities_read": 3.5, "ratio": 1.125},
    ]
    assert set(figures["seconds"]) == {"ingest", "decode", "decode_all_banks"}


@pytest.mark.parametrize(("banks", "error"), [(1, 50.0), (2, 0.0), (9, 0.0), (metrics.ALL_BANKS, 0.0)])
def test_the_error_is_that_of_the_banks_asked_for(banks: int, error: float) -> None:
    figures = metrics.evaluate(scripted(), STORIES).figures(banks)
    assert (figures["error_percent"], figures["required_banks"]) == (error, 2)


def test_a_task_that_is_never_solved_requires_all_banks() -> None:
    model = Scripted([[OFFICE, OFFICE], [OFFICE, OFFICE]], [[1.0, 2.0], [5.0, 2.0]], [2.0, 1.0])
    tally = metrics.evaluate(scripted_as(model), STORIES)
    assert tally.figures()["required_banks"] == 2


def test_the_spread_over_stories() -> None:
    spread = metrics.evaluate(scripted(), STORIES).spread()
    assert spread["created_banks"] == {"mean": 1.5, "std": 0.5, "min": 1, "max": 2, "questions": {"1": 1, "2": 1}}
    # Bank 0 holds 4 of 4 words in the first story and 2 of 2 in the second; bank 1 holds 1 of 4 in the first.
    assert spread["bank_shares"] == [
        {"bank": 0, "questions": 2, "share": 1.0},
        {"bank": 1, "questions": 1, "share": 0.25},
    ]


def test_a_question_without_an_answer_is_not_counted() -> None:
    stories = [STORIES[0], example("mary office", None)]
    model = Scripted([[GARDEN]], [[1.0]], [1.0])
    tally = metrics.evaluate(scripted_as(model), stories)
    assert tally.figures()["questions"] == 1
    with pytest.raises(AMNError, match="none of the questions"):
        metrics.evaluate(scripted(), stories[1:])


def test_a_class_and_a_story_word_that_spell_the_same_are_one_answer() -> None:
    """The slot of "garden" has most of the probability only together with the class of that name."""
    slots = [0.0, 0.0, 0.0, 1.2]  # padding, mary, went, garden
    model = Scripted([[[1.0, 1.5, *slots]]], [[1.0]], [1.0])
    trained = scripted_as(model)
    tally = metrics.evaluate(trained, [example("mary went garden", "Garden", "mary")])
    assert tally.figures()["error_percent"] == 0.0


def stories_of(count: int, **settings: Any) -> tuple[TrainedModel, list[Example]]:
    """An untrained model that moves and creates at random, and stories of several lengths for it."""
    names, places = ("mary", "john", "sandra"), ("garden", "office", "hall", "kitchen")
    told = []
    for i in range(count):
        story = ".".join(f"{names[(i * t + t) % 3]} went {places[(i + 3 * t) % 4]}" for t in range(1 + i % 6))
        told.append(example(story, places[i % 4], f"where is {names[i % 3]}"))
    questions = [
        Example(sentences=e.sentences, questions=(tuple(e.questions[0][0].split()),), answers=e.answers) for e in told
    ]
    model = build_model("amn", VOCABULARY, {"hidden": 16, **settings}, seed=3).eval()
    with torch.no_grad():
        model.get_parameter("create.bias").fill_(0.3)
        model.get_parameter("move_state.bias").fill_(0.0)
    return TrainedModel.of("amn", model, VOCABULARY), questions


@pytest.mark.parametrize("pointer", [False, True])
def test_the_error_counts_the_answers_that_users_get(pointer: bool) -> None:
    trained, stories = stories_of(24, pointer=pointer)
    tally = metrics.evaluate(trained, stories)
    assert tally.most_banks > 1
    for banks in range(1, tally.most_banks + 1):
        asked = [Request(story=_text(e), question=f"{' '.join(e.questions[0])}?", banks=banks) for e in stories]
        answers = [given[0] for given in QA(trained).answer_batch(asked)]
        wrong = sum(given.answer != e.answers[0] for given, e in zip(answers, stories, strict=True))
        row = tally.row(banks)
        assert row["error_percent"] == pytest.approx(100 * wrong / len(stories), abs=1e-3)
        assert row["entities_read"] == pytest.approx(sum(a.entities_read for a in answers) / len(stories), abs=1e-3)


def _text(one: Example) -> list[str]:
    return [f"{' '.join(sentence)}." for sentence in one.sentences]


def test_figures_do_not_depend_on_how_stories_are_batched(monkeypatch: pytest.MonkeyPatch) -> None:
    trained, stories = stories_of(24)
    whole = metrics.evaluate(trained, stories)
    monkeypatch.setattr(metrics, "BATCH_STORIES", 5)
    parts = metrics.evaluate(trained, stories)
    for banks in range(1, whole.most_banks + 1):
        assert whole.row(banks) == parts.row(banks)
    assert whole.spread() == parts.spread()


def test_the_same_figures_each_time() -> None:
    trained, stories = stories_of(24)
    first, second = (metrics.evaluate(trained, stories).figures() for _ in range(2))
    del first["seconds"], second["seconds"]
    assert first == second


@pytest.mark.parametrize("engine", ["auto", "torch"])
def test_whoever_reads_gives_the_same_figures(engine: Engine) -> None:
    trained, stories = stories_of(24, pointer=True)
    expected = metrics.evaluate(trained, stories, "torch")
    found = metrics.evaluate(trained, stories, engine)
    assert found.spread() == expected.spread()
    for banks in range(1, expected.most_banks + 1):
        assert found.row(banks) == expected.row(banks)
        assert found.confidence(banks) == pytest.approx(expected.confidence(banks), abs=1e-3)


@pytest.mark.parametrize("architecture", ["amn-paper", "entnet", "encdec"])
def test_other_models_are_scored_by_torch(architecture: str) -> None:
    _, stories = stories_of(6)
    settings: dict[str, Any] = {"amn-paper": {"capacity": 24}, "entnet": {"num_slots": 4, "max_words": 6}}.get(
        architecture, {}
    )
    model = build_model(architecture, VOCABULARY, {"hidden": 12, **settings}).eval()
    trained = TrainedModel.of(architecture, model, VOCABULARY)
    figures = metrics.evaluate(trained, stories).figures()
    assert architecture == "amn-paper" or (figures["created_banks"], figures["required_banks"]) == (1, 1)
    right = [read_by_torch(trained, [one], 1)[0].tokens[0, 0] for one in stories]
    wrong = sum(VOCABULARY.answers[token] != one.answers[0] for token, one in zip(right, stories, strict=True))
    assert figures["error_percent"] == pytest.approx(100 * wrong / len(stories), abs=1e-3)


def tally(wrong: list[bool], score: list[float], known: list[bool] | None = None) -> metrics.Tally:
    count = len(wrong)
    return metrics.Tally(
        wrong=np.array([wrong]),
        score=np.array([score]),
        known=np.array([known or [True] * count]),
        read=np.ones((1, count)),
        entities=np.ones(count),
        created=np.ones(count),
        ingest=0.0,
        decode=(0.0,),
        decode_all=0.0,
    )


def test_confidence_is_that_worked_out_by_hand() -> None:
    one = tally([True, True, False, False], [0.95, 0.9, 0.95, 0.35], [True, True, True, False])
    assert one.confidence() == {
        "known": 0.75,
        "confident_errors_percent": 25.0,  # 0.9 is not above 0.9
        "calibration_error": round((abs(0.95 + 0.95 - 1) + abs(0.9 - 0) + abs(0.35 - 1)) / 4, 4),
    }


def test_scores_that_hold_what_they_promise_have_no_calibration_error() -> None:
    assert metrics.calibration_error(np.full(10, 0.8), np.arange(10) < 8) == pytest.approx(0)
    assert metrics.calibration_error(np.array([1.0]), np.array([True])) == 0
    assert metrics.calibration_error(np.array([]), np.array([], bool)) == 0


def test_a_task_at_the_bound_is_not_solved() -> None:
    """The bound is 5 %: 1 wrong of 20 is too many, 1 of 21 is not."""
    two = tally([True] + [False] * 19, [0.5] * 20)
    rows: dict[str, Any] = {name: np.repeat(getattr(two, name), 2, 0) for name in ("score", "known", "read")}
    wrong = np.stack([two.wrong[0], np.zeros(20, bool)])
    assert replace(two, wrong=wrong, decode=(0.0, 0.0), **rows).required_banks() == 2
    assert tally([True] + [False] * 20, [0.5] * 21).figures()["required_banks"] == 1


@pytest.mark.parametrize(
    ("given", "right", "same"),
    [("Garden", "garden", True), ("milk,football", "football,milk", True), ("milk", "milk,football", False)]
    + [("milk, football", "football,milk", True), ("milk,milk", "milk", False), ("n,w", "w,s", False)],
)
def test_lists_are_the_same_in_any_order(given: str, right: str, same: bool) -> None:
    assert same_answer(given, right) is same


def test_the_majority_answer_as_a_control() -> None:
    training = [example("mary went", answer) for answer in ("garden", "office", "Garden", None)]
    asked = [example("mary", answer) for answer in ("garden", "office", "office", None)]
    known = metrics.right_answers(training)
    assert known == ["garden", "office", "garden"]
    assert metrics.guessing_error(known, metrics.right_answers(asked)) == pytest.approx(200 / 3)
    assert metrics.guessing_error(["b", "a"], ["a"]) == 0
