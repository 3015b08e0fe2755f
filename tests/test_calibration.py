"""How sure answers are: strange wordings make them less so, in whatever way a story is told."""

import base64
import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amn.api import QA
from amn.data.story import words
from amn.errors import CheckpointError
from amn.inference.calibration import Calibration, features, fit, fit_few
from amn.inference.phrasing import Phrasing, Strangeness
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.store.memory_file import packing, unpack
from amn.store.model_directory import load_model, save_model
from amn.store.stepwise import run_to_end
from live_memories import trained
from random_stories import VOCABULARY

NAMES = frozenset(("mary", "john", "garden", "office", "milk"))
TRAINING = ("Mary went to the garden.", "John took the milk.", "Where is Mary?", "Where is the milk?")
PHRASING = Phrasing.of(map(words, TRAINING), NAMES)
PLAIN, STRANGE = "Mary went to the office.", "To the office Mary went."  # three pairs of it are new
UNRELATED = "The the the to John."
WEIGHTS = (*[0.0] * 12, -0.1, 0.0, 0.0)  # a score that falls with the number of strange pairs alone


def scores_of(pairs: int) -> float:
    return float(1 / (1 + np.exp(0.1 * pairs)))


def suspicious(**settings: Any) -> TrainedModel:
    """A model whose scores say nothing but how strange the wording is."""
    return replace(trained(3, **settings), calibration=Calibration(weights=WEIGHTS), phrasing=PHRASING)


def test_pairs_that_training_told_are_not_strange() -> None:
    assert [PHRASING.strange(words(text)) for text in TRAINING] == [0, 0, 0, 0]
    assert PHRASING.strange(words("Zaphod went to the Xanadu")) == 0  # new words are names, and names are one word
    assert PHRASING.strange(words("Mary took the garden")) == 0
    assert PHRASING.strange(words("Mary went the garden")) == 1
    assert PHRASING.strange(words("went to the garden")) == 1  # no sentence began so
    assert PHRASING.strange(words("Mary went to the")) == 1  # and none ended so
    assert PHRASING.strange(words(STRANGE)) == 3


def test_phrasing_is_the_same_after_json() -> None:
    again = Phrasing.from_json(json.loads(json.dumps(PHRASING.to_json())))
    assert again == PHRASING
    assert again.strange(words(STRANGE)) == PHRASING.strange(words(STRANGE))


@pytest.mark.parametrize(
    "damage",
    [
        {"told": "no base64!"},
        {"told": base64.b64encode(b"not packed").decode()},
        {"told": 7},
        {"words": ["went", "went"]},
        {"words": [*PHRASING.words, "and", "many", "more"]},
        {"words": None},
    ],
)
def test_damaged_phrasing_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(CheckpointError, match="phrasing"):
        Phrasing.from_json(PHRASING.to_json() | damage)


def test_the_strangest_sentence_about_a_question_counts() -> None:
    heard = Strangeness(PHRASING, [words("Where is Mary?"), words("Where John is?")])
    assert heard.counts == [0, 3]
    heard.tell([words(STRANGE), words(PLAIN), words("Mary to the garden.")])
    assert heard.counts == [3, 3]  # John was not named
    heard.tell([words(UNRELATED)])
    assert heard.counts == [3, 3 + PHRASING.strange(words(UNRELATED))]


def test_nothing_is_strange_where_no_phrasing_is_known() -> None:
    heard = Strangeness(None, [words(STRANGE)])
    heard.tell([words(STRANGE)])
    assert heard.counts == [0] and heard.arrays() == {}


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("architecture", ["amn", "encdec"])
@pytest.mark.parametrize(("story", "pairs"), [([PLAIN], 0), ([STRANGE, PLAIN], 3), ([PLAIN, UNRELATED], 0)])
def test_scores_are_the_same_in_whatever_way_a_story_is_told(architecture: str, story: list[str], pairs: int) -> None:
    qa, question = QA(suspicious(architecture=architecture)), "Where is Mary?"
    assert qa(story, question).score == pytest.approx(scores_of(pairs))
    assert qa(story, question, deadline=1.0).score == pytest.approx(scores_of(pairs))
    beside = [(story, question), (PLAIN, question), (STRANGE, [question, "Where is John?"])]
    assert [one.score for one in (qa(beside)[0], *qa(beside)[2])] == pytest.approx(
        [scores_of(pairs), scores_of(3), scores_of(0)]
    )
    memory = qa.memory("Where is John?")
    memory.tell(story)
    assert memory.ask(question).score == pytest.approx(scores_of(pairs))
    streamed = qa.memory(question)
    streamed.read(story)
    assert streamed.ask(question).score == pytest.approx(scores_of(pairs))


@pytest.mark.usefixtures("implementation")
def test_a_memory_that_is_saved_stays_as_strange() -> None:
    model = suspicious()
    memory = LiveMemory(model, ["Where is Mary?", "Where is John?"])
    memory.tell(STRANGE)
    again = LiveMemory.from_bytes(memory.to_bytes(), model)
    again.tell(PLAIN)
    assert [answer.score for answer in again.ask()] == pytest.approx([scores_of(3), scores_of(0)])


@pytest.mark.usefixtures("implementation")
def test_a_memory_from_before_loads_as_if_nothing_told_was_strange() -> None:
    model = suspicious()
    memory = LiveMemory(model, "Where is Mary?")
    memory.tell(STRANGE)
    described, tensors = unpack(memory.to_bytes(), "memory")
    kept = {name: value for name, value in tensors.items() if not name.endswith(".strange")}
    old = run_to_end(packing(described, kept))
    assert len(old) < len(memory.to_bytes())
    assert LiveMemory.from_bytes(old, model).ask()[0].score == pytest.approx(scores_of(0))
    wrong = run_to_end(packing(described, tensors | {"0.strange": np.zeros(2, np.int32)}))
    with pytest.raises(CheckpointError, match="strange"):
        LiveMemory.from_bytes(wrong, model)


def test_a_model_keeps_its_phrasing_on_disk(tmp_path: Path) -> None:
    save_model(tmp_path, suspicious())
    assert load_model(tmp_path).phrasing == PHRASING
    save_model(tmp_path, trained(3))
    assert load_model(tmp_path).phrasing is None


def test_a_calibration_of_fewer_weights_does_not_see_what_it_never_learned() -> None:
    looks = [features(0.9, 0.05, "milk", "Where is Mary?", ("milk",), VOCABULARY, pairs) for pairs in (0, 4)]
    before, now = Calibration(weights=(0.5,) * 12), Calibration(weights=(*(0.5,) * 12, -1.0, 0.0, 0.0))
    assert before.score(looks[0]) == before.score(looks[1]) == now.score(looks[0])
    assert now.score(looks[1]) < now.score(looks[0])


def test_what_is_strange_and_often_wrong_makes_less_sure() -> None:
    cases = [(pairs, answer, pairs == 0 or answer != "unknown") for pairs in (0, 3) for answer in ("milk", "unknown")]
    looks = [features(0.99, 0.005, answer, "Where is Mary?", (), VOCABULARY, pairs) for pairs, answer, _ in cases]
    learned = fit(np.array(looks * 50), np.array([right for *_, right in cases] * 50))
    scores = [learned.score(one) for one in looks]
    assert scores[:3] == pytest.approx([1, 1, 1], abs=0.02) and scores[3] < 0.02


def test_few_answers_that_are_wrong_as_often_as_expected_leave_scores_as_they_are() -> None:
    chances, right = [0.9] * 30 + [0.99] * 100, [False] * 3 + [True] * 126 + [False]
    assert fit_few(chances, right).weights == pytest.approx((0.0, 1.0), abs=0.1)


def test_few_answers_that_are_surely_wrong_make_less_sure() -> None:
    chances = [0.99999] * 90 + [0.6] * 10
    found = fit_few(chances, [True] * 80 + [False] * 20)
    sure, unsure = (found.score(np.array([1.0, np.log(p / (1 - p))])) for p in (0.99999, 0.6))
    assert unsure < sure and sure == pytest.approx(80 / 90, abs=0.03)


def test_free_questions_are_about_their_stories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "scripts")
    stories = list(importlib.import_module("calibrate").free_stories())
    assert len(stories) > 500
    for story in stories:
        (asked,) = story.questions
        told = " ".join(story.sentences).lower()
        assert asked.text.endswith("?") and asked.answer is not None and asked.after == len(story.sentences) > 0
        assert asked.answer in ("yes", "no", "unknown") or all(item in told for item in asked.answer.split(","))
