"""Training from Python: stories go in, a model that answers comes out, and can be kept."""

import json
from pathlib import Path
from typing import Any

import pytest

import amn
from amn.data.formats import read_jsonl
from amn.data.story import Question, Story
from amn.data.tasks import generate

SMALL: dict[str, Any] = {"hidden": 8, "heads": 2, "batch_size": 16, "device": "cpu"}
STORY, QUESTION = "Mary moved to the bathroom. John went to the hallway.", "Where is Mary?"
ROW = {"story": ["Mary went home."], "question": QUESTION, "answer": "home"}
OTHER = {"story": ["Mary went away."], "question": QUESTION, "answer": "away"}


def stories(seed: int = 1, questions: int = 60) -> list[Story]:
    return list(generate(1, questions=questions, seed=seed))


def test_a_trained_model_answers_and_can_be_saved_and_loaded(tmp_path: Path) -> None:
    epochs: list[dict[str, Any]] = []
    qa = amn.train(stories(), epochs=2, progress=epochs.append, **SMALL)
    answer = qa(STORY, QUESTION)
    assert answer.answer in qa.vocabulary.answers
    assert [entry["epoch"] for entry in epochs] == [0, 1]
    assert qa.record["training_questions"] + qa.record["validation"]["questions"] == 60
    qa.save_pretrained(tmp_path / "mine")
    assert "bAbI" not in (tmp_path / "mine" / "README.md").read_text()  # whose stories they are, amn cannot know
    assert amn.load(tmp_path / "mine")(STORY, QUESTION).score == pytest.approx(answer.score)


def test_scores_are_as_sure_as_the_answers_about_held_out_stories_allow(tmp_path: Path) -> None:
    qa = amn.train(stories(), epochs=2, out=tmp_path / "run", **SMALL)
    calibration = qa.trained.calibration
    assert calibration is not None and calibration == amn.load(tmp_path / "run").trained.calibration
    kept = list(read_jsonl(tmp_path / "run" / "valid.jsonl"))
    answers = [qa(list(story.sentences[: asked.after]), asked.text) for story in kept for asked in story.questions]
    right = 1 - qa.record["held_out"]["wrong"] / qa.record["held_out"]["questions"]
    assert sum(answer.score for answer in answers) / len(answers) == pytest.approx(right, abs=0.2)
    wrong = qa.record["held_out"]["mistakes"][0]
    assert wrong["score"] == pytest.approx(qa(wrong["story"], wrong["question"]).score, abs=1e-3)


def test_a_run_that_is_kept_can_be_repeated_from_its_directory(tmp_path: Path) -> None:
    first = amn.train(stories(), epochs=1, seed=3, out=tmp_path / "run", **SMALL)
    kept = [read_jsonl(tmp_path / "run" / name) for name in ("train.jsonl", "valid.jsonl")]
    second = amn.train(kept[0], validation=kept[1], epochs=1, seed=3, **SMALL)
    assert second(STORY, QUESTION).score == first(STORY, QUESTION).score
    assert amn.load(tmp_path / "run" / "best")(STORY, QUESTION).score == first(STORY, QUESTION).score
    assert json.loads((tmp_path / "run" / "run.json").read_text())["task"] == "own"
    with pytest.raises(amn.AMNError, match="holds a run already"):
        amn.train(stories(), epochs=1, out=tmp_path / "run", **SMALL)


def test_rows_of_a_file_and_another_architecture_will_do() -> None:
    places = ["home", "away", "out"]
    rows = [{"story": [f"Mary went {place}."], "question": QUESTION, "answer": place} for place in places * 4]
    qa = amn.train(rows, validation=rows[:3], epochs=1, model="entnet", hidden=8, device="cpu")
    assert qa.architecture == "entnet" and set(qa.vocabulary.answers) >= set(places)
    assert qa.record["validation"]["questions"] == 3


def test_that_a_training_stopped_early_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    still: dict[str, Any] = {"learning_rate": 1e-9, "patience": 1, "plateau": 100.0}  # it cannot get better
    amn.train(stories(), epochs=40, progress=True, **SMALL, **still)
    said = capsys.readouterr().err
    assert "of 40 epochs: it no longer got better\nheld-out error" in said
    assert "; pointer=...)" in said and "--" not in said  # settings go by the names that Python has for them
    amn.train(stories(), epochs=1, progress=True, **SMALL)
    assert "it no longer got better" not in capsys.readouterr().err


def test_columns_may_be_named_by_a_mapping() -> None:
    places = ["home", "away", "out"]
    rows = [{"notes": f"Mary went {place}.", "asked": QUESTION, "reply": place} for place in places]
    names = {"story": "notes", "question": "asked", "answer": "reply"}
    qa = amn.train(rows, validation=rows, columns=names, epochs=1, model="entnet", hidden=8, device="cpu")
    assert set(qa.vocabulary.answers) >= set(places)
    with pytest.raises(amn.AMNError, match="name the column with columns={'answer': 'reply'}"):
        amn.train(rows, columns={"story": "notes", "question": "asked"})


@pytest.mark.parametrize(
    ("given", "settings", "message"),
    [
        ([], {}, "at least two"),
        ([ROW], {}, "at least two"),
        ([ROW] * 30, {}, "at least two different stories"),
        ([{**ROW, "answer": None}] * 3, {}, "at least two"),
        (
            [ROW, {**OTHER, "story": ["Mary went " + "far " * 300]}],
            {},
            r"own\[1\]: expected at most 256 words in a sentence",
        ),
        ([ROW, {**OTHER, "question": "Is " * 65}], {}, r"own\[1\]: expected at most 64 words in a question, found 65"),
        (ROW, {}, "expected a list of rows, .* found one mapping of story, question, answer"),
        ([ROW, OTHER], {"columns": {"storey": "notes"}}, "columns: did you mean story"),
        ([ROW, "Mary went home."], {}, r"stories\[1\]: expected a JSON object"),
        (
            [ROW, {"story": "Mary went home."}],
            {},
            r"stories\[1\]: expected .* name the columns with columns={'question': ",
        ),
        ([ROW, {**ROW, "story": [Path("a")]}], {}, r"stories\[1\]: expected .*sentences as text"),
        ([ROW, {**ROW, "question": "?"}], {}, r"own\[1\]: expected words in the question"),
        ([Story(sentences=("...",), questions=(Question(text="Who?", answer="a", after=1),))], {}, "expected words"),
        ([ROW, OTHER], {"validation": []}, "questions to train on and to validate with"),
        ([ROW, OTHER], {"hiden": 8}, "did you mean hidden"),
        ([ROW, OTHER], {"epochs": 0}, "epochs must be above 0"),
        ([ROW, OTHER], {"model": "entnett"}, "did you mean entnet"),
        ([ROW, OTHER], {"device": "abacus"}, "device must be"),
    ],
)
def test_what_cannot_be_trained_on_is_said(given: list[Any], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(amn.AMNError, match=message):
        amn.train(given, **settings)
