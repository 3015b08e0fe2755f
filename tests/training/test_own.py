"""`amn train DATA`: from a file that somebody brings to a model that answers; where it fails, nothing is left."""

import io
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import amn as package
from amn.cli import main as cli
from amn.data.check import DataReport
from amn.data.source import own_stories
from amn.data.story import Question, Story
from amn.store.run_directory import RunDirectory
from amn.training.own import Choice, choose, plan_own, run_name
from amn.training.prepare import data_key, encode_stories
from training.own_stories import german, inventory, ladder, library, robots, write_csv, write_jsonl
from training.small import amn

Output = pytest.CaptureFixture[str]
SMALL = ["--set", "hidden=8", "--set", "heads=2", "--set", "window=4", "--epochs", "2", "--device", "cpu"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with data of robots."""
    monkeypatch.chdir(tmp_path)
    write_jsonl(robots(30), tmp_path / "robots.jsonl")
    return tmp_path


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_one_command_trains_judges_and_names_the_next_commands(here: Path, capsys: Output) -> None:
    assert cli.main(["train", "robots.jsonl", *SMALL, "--out", "my-model"]) == 0
    said = capsys.readouterr()
    assert "robots.jsonl: 30 stories with 90 questions; a question sees at most" in said.err
    assert "kept apart to judge by: 3 stories with 9 questions" in said.err
    assert "batch_size = 16 (for 81 questions to train on; --set batch_size=...)" in said.err
    assert "training in my-model" in said.err and "epoch 2/2" in said.err
    assert "held-out error " in said.out and " of 9 questions wrong (guessing: " in said.out
    assert "worst mistakes:" in said.out and ", right is " in said.out
    assert "  try: train longer, in another directory: --epochs 4" in said.out
    assert "| amn ask --model my-model" in said.out and "  amn serve --model my-model\n" in said.out


def test_the_directory_of_a_run_is_a_model_everywhere(here: Path, capsys: Output) -> None:
    assert cli.main(["train", "robots.jsonl", *SMALL, "--out", "my-model", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["model"] == "my-model"
    assert document["data"]["questions"] == 90
    assert document["held_out"]["questions"] == 9
    assert {choice["setting"] for choice in document["choices"]} >= {"start", "batch_size", "patience"}
    assert len(document["held_out"]["mistakes"]) == document["held_out"]["wrong"]
    assert RunDirectory(here / "my-model").result()["held_out"]["questions"] == 9
    answer = package.load("my-model")("R2 drives to Depot 1.", "Where is R2?")
    assert answer.answer
    assert cli.main(["evaluate", "my-model", "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert (scored["task"], scored["questions"]) == ("own", 9)
    assert scored["error_percent"] == pytest.approx(document["held_out"]["error_percent"], abs=1e-3)
    assert cli.main(["evaluate", "my-model", "--data", "robots.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 90
    (here / "story.txt").write_text("R2 drives to Depot 1.")
    assert cli.main(["ask", "--model", "my-model", "--story", "story.txt", "Where is R2?"]) == 0


def test_a_run_without_a_name_is_called_by_its_data_and_seed(here: Path) -> None:
    assert cli.main(["train", "robots.jsonl", *SMALL, "--seed", "3"]) == 0
    assert names_in(here / "runs") == ["robots-seed3"]
    assert run_name("my data!", "entnet", 0) == "my-data-entnet-seed0"
    assert run_name("...", "amn", 1) == "own-seed1"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["robot.jsonl"], 1, "No such file or directory; did you mean robots.jsonl?"),
        (["nobody/robots"], 1, "there is no folder nobody"),
        (["robots.xlsx"], 1, "robots.xlsx: expected a table as text: save the sheet as .csv, found a spreadsheet\n$"),
        (["one.jsonl"], 1, "amn: one.jsonl: expected at least two different stories"),
        (["robots.jsonl", "--answer-column", "antwort"], 1, "robots.jsonl, line 1: .* name the column with"),
        (["robots.jsonl", "--set", "heads=3", "--set", "hidden=8"], 2, "heads"),
        (["robots.jsonl", "--start", "nothing-like-it"], 1, "no model is called 'nothing-like-it'"),
        (["robots.jsonl", "--task", "1"], 2, "give either robots.jsonl or --task 1"),
        ([], 2, "give a file of stories"),
        (["--resume", "--out", "nowhere"], 2, "nowhere holds no run to continue"),
        (["robots.jsonl", "--out", "."], 1, "holds other things already: give --out a folder of its own"),
    ],
)
def test_a_run_that_fails_at_once_leaves_nothing(
    here: Path, capsys: Output, words: list[str], code: int, message: str
) -> None:
    (here / "robots.xlsx").write_bytes(b"PK\x03\x04")
    write_jsonl(robots(1), here / "one.jsonl")
    assert cli.main(["train", *words, "--device", "cpu"]) == code
    assert re.search(message.replace("?", "[?]"), capsys.readouterr().err)
    assert names_in(here) == ["one.jsonl", "robots.jsonl", "robots.xlsx"]


def test_a_stopped_run_goes_on_from_the_stories_that_it_keeps(here: Path, capsys: Output) -> None:
    process = amn("train", here / "robots.jsonl", *SMALL[:6], "--epochs", 12, "--device", "cpu", "--out", here / "run")
    directory = RunDirectory(here / "run")
    while process.returncode is None and not directory.state.exists():
        time.sleep(0.01)
    process.interrupt()
    assert "To continue: amn train" in process.communicate(timeout=60)[1]
    (here / "robots.jsonl").unlink()
    assert cli.main(["train", "--out", str(here / "run"), *SMALL[:6], "--epochs", "12", "--resume"]) == 0
    epochs = [entry["epoch"] for entry in directory.entries()]
    assert epochs == list(range(len(epochs)))
    assert directory.finished
    capsys.readouterr()
    assert cli.main(["train", "--out", str(here / "run"), *SMALL[:6], "--epochs", "12", "--resume"]) == 0
    assert "is already finished" in capsys.readouterr().err


def test_of_a_bad_line_it_is_said_how_to_see_all_and_do_without(here: Path, capsys: Output) -> None:
    with (here / "robots.jsonl").open("a") as file:
        file.write('{"story": "R2 left."}\n')
    assert cli.main(["train", "robots.jsonl", *SMALL, "--out", "my-model"]) == 1
    error = capsys.readouterr().err
    assert "robots.jsonl, line 31: expected" in error and "\n  all bad lines: amn data check robots.jsonl\n" in error
    convert = error.partition("without them:")[2].split()
    assert convert == ["amn", "data", "convert", "robots.jsonl", "good.jsonl", "--skip-bad"]
    assert cli.main(convert[1:]) == 0 and cli.main(["train", "good.jsonl", *SMALL, "--out", "my-model"]) == 0


def test_where_the_columns_go_by_other_names_no_line_is_called_bad(here: Path, capsys: Output) -> None:
    (here / "log.csv").write_text("Log,Asked,Reply\n" + "R2 left. R3 came.,Who left?,R2\n" * 3)
    assert cli.main(["train", "log.csv", *SMALL]) == 1
    said = capsys.readouterr().err
    assert said.endswith("--story-column Log --question-column Asked --answer-column Reply\n")


def test_standard_input_and_tables_are_taken(here: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    table = write_csv(inventory(20), here / "inventory.csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(table.read_bytes()))))
    assert cli.main(["train", "-", *SMALL, "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["model"] == "runs/stdin-seed0" and said.err.startswith("standard input: 20 stories")
    assert cli.main(["train", "inventory.csv", *SMALL, "--validation", "robots.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held_out"]["questions"] == 90


def test_rows_about_one_story_are_one_story_also_where_validation_stories_are_given() -> None:
    row = {"story": "R2 left. R3 came.", "question": "Who left?", "answer": "R2"}
    rows = [row, row | {"question": "Who came?", "answer": "R3"}]
    plan = plan_own(own_stories({"train": rows, "validation": rows}), given={})
    assert (len(plan.training), len(plan.validation), plan.seen.questions) == (1, 1, 4)


def test_answers_that_contradict_each_other_are_counted() -> None:
    row = {"story": "R2 left. R3 came.", "question": "Who left?", "answer": "R2"}
    other = {"story": "R3 left.", "question": "Who left?", "answer": "R3"}
    rows = [row, row | {"answer": "r2", "question": "who left?"}, other]
    assert not any("another answer" in line for line in plan_own(own_stories(rows), given={}).describe())
    (line,) = [
        line
        for line in plan_own(own_stories([*rows, row | {"answer": "R3"}]), given={}).describe()
        if "another" in line
    ]
    assert line.startswith("3 questions have another answer elsewhere")


def seen(rows: Any) -> DataReport:
    return plan_own(own_stories(rows), given={"start": None}).seen


def chosen(choices: list[Choice]) -> dict[str, Any]:
    return {choice.setting: choice.value for choice in choices}


def test_few_stories_start_from_the_shipped_model_and_many_from_nothing() -> None:
    few = chosen(choose(seen(robots(40)), 108, "amn", {}))
    assert few["start"] == package.pretrained.DEFAULT_MODEL
    assert few["epochs"] == 40 and few["batch_size"] == 16
    many = chosen(choose(seen(robots(40)), 200_000, "amn", {}))
    assert many["start"] is None and many["epochs"] == 20 and many["batch_size"] == 128
    assert "learning_rate" in few and "learning_rate" not in many


def test_what_the_user_has_given_is_not_chosen() -> None:
    given = {"epochs": 3, "hidden": 8, "batch_size": 7}
    found = choose(seen(robots(40)), 108, "amn", given)
    assert not given.keys() & chosen(found).keys()
    assert chosen(found)["start"] is None
    assert any("hidden is given" in choice.why for choice in found)
    assert chosen(choose(seen(robots(40)), 108, "amn", {"start": "qa1"})).keys().isdisjoint({"start", "pointer"})


def test_words_of_the_story_are_pointed_at_and_their_names_hidden() -> None:
    told = chosen(choose(seen(german(40)), 8_000, "amn", {"start": None}))
    assert (told["pointer"], told["anonymise"]) == (True, 0.3)
    assert "anonymise" not in chosen(choose(seen(german(40)), 70, "amn", {"start": None}))
    assert not {"pointer", "anonymise"} & chosen(choose(seen(robots(40)), 108, "amn", {"start": None})).keys()


def test_an_architecture_with_a_recipe_keeps_it_and_long_stories_are_seen_whole() -> None:
    assert not {"epochs", "batch_size", "start"} & chosen(choose(seen(robots(40)), 108, "entnet", {})).keys()
    asked = (Question(text="Who left?", answer="R2", after=80),)
    told = [Story(sentences=(sentence,) * 80, questions=asked) for sentence in ("R2 left.", "R2 went.")]
    assert chosen(choose(seen(told), 2, "amn", {}))["window"] == 80


def test_the_longest_answer_has_room() -> None:
    fruits = ["apple", "pear", "plum", "fig", "lime"]
    rows = [
        {"story": f"Ann took the {'. The '.join(fruits[:n])}.", "question": "What?", "answer": fruits[:n]}
        for n in (4, 5)
    ]
    assert "items" not in chosen(choose(seen([*rows[:1], *robots(2)]), 2, "amn", {}))
    assert chosen(choose(seen(rows), 2, "amn", {}))["items"] == 10  # five words, four commas and the end
    assert "items" not in chosen(choose(seen(rows), 2, "amn", {"start": None}))


def test_settings_that_change_no_weights_keep_the_model_to_start_from() -> None:
    for given, start in (({"budget_from": 0.5}, "babi"), ({"items": 12}, "babi"), ({"hidden": 32}, None)):
        assert chosen(choose(seen(robots(40)), 108, "amn", given))["start"] == start


def test_every_choice_says_why_and_how_to_change_it() -> None:
    lines = [choice.describe() for choice in choose(seen(robots(40)), 108, "amn", {})]
    assert any(line.startswith("start = ") and line.endswith("; --start NAME or none)") for line in lines)
    assert any(line.startswith("epochs = 40 (about 280 steps") and line.endswith("--epochs N)") for line in lines)
    assert all("--set" in line or "--start" in line or "--epochs" in line for line in lines)


def test_names_are_hidden_where_the_model_to_start_from_can_point_at_words() -> None:
    assert chosen(choose(seen(robots(40)), 108, "amn", {}))["anonymise"] == 0.3
    assert "anonymise" not in chosen(choose(seen(robots(40)), 108, "amn", {"start": "multi"}))


def test_dates_are_answered_word_by_word() -> None:
    plan = plan_own(own_stories(library(60)), given={})
    found = encode_stories(data_key(plan.spec), plan.training, plan.validation)
    assert {"nora", "atlas", "may"} <= found.vocabulary.names and "the" not in found.vocabulary.names


KINDS = {
    "robots.jsonl": robots, "inventory.csv": inventory, "german.jsonl": german, "library.jsonl": library,
    "ladder.jsonl": ladder,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_four_hundred_stories_are_learned_by_one_command(tmp_path: Path, name: str) -> None:
    kind, limit = KINDS[name], 5.0
    write = write_csv if name.endswith("csv") else write_jsonl
    write(kind(), tmp_path / name)
    process = amn("train", tmp_path / name, "--out", tmp_path / "run", "--json")
    document = json.loads(process.communicate(timeout=3000)[0])
    assert document["held_out"]["error_percent"] <= limit
    fresh = kind(200, seed=7)
    asked = amn("evaluate", tmp_path / "run", "--data", write(fresh, tmp_path / f"fresh-{name}"), "--json")
    assert json.loads(asked.communicate(timeout=600)[0])["error_percent"] <= limit
