"""The verb that scores, through both front ends, on every kind of name that a model may have."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amn.cli import main as cli
from amn.config import RunSpec, TrainConfig
from amn.data.source import load_task
from amn.data.vocabulary import Vocabulary
from amn.evaluation import metrics
from amn.evaluation.score import Ask, stories_for
from amn.inference.engine import ToldStories, tell_stories
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.store.model_directory import save_model
from amn.store.run_directory import RunDirectory
from amn.store.validate import DIGESTS

KEYS = ["model", "architecture", "task", "split", "questions", "error_percent", "required_banks", "created_banks"]
KEYS += ["entities", "entities_read", "ratio", "sentences_let_in", "by_banks", "seconds"]
KEYS += ["known", "confident_errors_percent", "calibration_error", "by_kind"]
STORIES = (
    "1 Mary went to the garden.\n2 John went to the office.\n3 Where is Mary?\tgarden\t1\n4 Where is John?\toffice\t2\n"
)

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run directory as training leaves it, with untrained weights."""
    spec = RunSpec(task=1, train=TrainConfig(window=7), settings={"hidden": 8, "heads": 2})
    directory = RunDirectory(tmp_path_factory.mktemp("runs") / spec.name)
    directory.start(spec, resume=False)
    vocabulary = Vocabulary.of(load_task(None, 1, "valid")[:50])
    model = build_model("amn", vocabulary, spec.settings)
    trained = TrainedModel.of("amn", model, vocabulary, {"run": spec.to_json()})
    directory.save_best(trained, "")
    return directory.path


@pytest.fixture(params=["cyclopts", "plain"])
def front(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "cyclopts", None)
    return str(request.param)


def run(capsys: Output, *words: object) -> tuple[int, str, str]:
    code = cli.main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def evaluate(capsys: Output, *words: object) -> dict[str, object]:
    code, out, err = run(capsys, "evaluate", *words, "--json")
    assert (code, err) == (0, "")
    found: dict[str, object] = json.loads(out)
    return found


def test_json_has_exactly_the_keys_in_their_order(capsys: Output, front: str, run_directory: Path) -> None:
    found = evaluate(capsys, run_directory, "--task", 1, "--questions", 20)
    assert list(found) == KEYS
    assert (found["architecture"], found["task"], found["split"], found["questions"]) == ("amn", 1, "valid", 20)


def test_figures_are_given_by_kind_of_question(capsys: Output, front: str, run_directory: Path, tmp_path: Path) -> None:
    asked = [{"question": "Where is Mary?", "answer": "garden", "kind": "places"}] * 2
    asked += [{"question": question, "answer": "x"} for question in ("Who is Mary?", "Who is John?", "What is it?")]
    row = {"story": ["Mary went to the garden."], "questions": asked}
    file = tmp_path / "stories.jsonl"
    file.write_text(json.dumps(row), encoding="utf-8")
    found: Any = evaluate(capsys, run_directory, "--data", file)
    assert {row["kind"]: row["questions"] for row in found["by_kind"]} == {"places": 2, "who is": 2, "what is": 1}
    errors = [row["error_percent"] for row in found["by_kind"]]
    assert errors == sorted(errors, reverse=True)
    mean = sum(row["questions"] * row["error_percent"] for row in found["by_kind"]) / 5
    assert mean == pytest.approx(found["error_percent"])
    code, out, _ = run(capsys, "evaluate", run_directory, "--data", file)
    assert code == 0 and "confident" in out and "\nplaces " in out


def test_of_several_tasks_each_is_a_kind() -> None:
    stories = stories_for(Ask(task="joint"))
    kinds = {question.kind for story in stories for question in story.questions}
    assert kinds == {f"task {number}" for number in range(1, 21)}


def test_a_run_directory_stands_for_its_best_model(capsys: Output, run_directory: Path) -> None:
    of_run = evaluate(capsys, run_directory, "--task", 1, "--questions", 20)
    of_model = evaluate(capsys, run_directory / "best", "--task", 1, "--questions", 20)
    for name in set(KEYS) - {"model", "seconds"}:
        assert of_run[name] == of_model[name]


def test_stories_of_a_file_and_of_a_folder(capsys: Output, run_directory: Path, tmp_path: Path) -> None:
    file = tmp_path / "qa1_valid.txt"
    file.write_text(STORIES)
    for data in (file, tmp_path):
        assert evaluate(capsys, run_directory, "--task", 1, "--data", data)["questions"] == 2
    code, _, err = run(capsys, "evaluate", run_directory, "--task", 2, "--data", tmp_path)
    assert code == 1 and "one file of task 2" in err


def test_a_file_that_is_not_there_is_named_with_one_like_it(
    capsys: Output, run_directory: Path, tmp_path: Path
) -> None:
    (tmp_path / "news.jsonl").write_text("")
    code, out, err = run(capsys, "evaluate", run_directory, "--data", tmp_path / "new.jsonl")
    assert (code, out) == (1, "") and f"did you mean {tmp_path / 'news.jsonl'}?" in err
    code, out, err = run(capsys, "evaluate", run_directory, "--split", "test")
    assert (code, out) == (2, "") and "give the file or folder of stories too" in err


def test_of_a_folder_of_ones_own_the_files_of_the_split_are_asked(
    capsys: Output, run_directory: Path, tmp_path: Path
) -> None:
    row = {"story": ["Mary went to the garden."], "question": "Where is Mary?", "answer": "garden"}
    for name, count in {"a.jsonl": 3, "b.jsonl": 4}.items():
        (tmp_path / name).write_text("\n".join([json.dumps(row)] * count))
    assert evaluate(capsys, run_directory, "--data", tmp_path)["questions"] == 7
    (tmp_path / "own_dev.jsonl").write_text(json.dumps(row))
    assert evaluate(capsys, run_directory, "--data", tmp_path)["questions"] == 1
    assert evaluate(capsys, run_directory, "--data", tmp_path, "--split", "test")["questions"] == 7
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).unlink()
    code, out, err = run(capsys, "evaluate", run_directory, "--data", tmp_path, "--split", "test")
    assert (code, out) == (1, "") and "expected files of split test, found own_dev.jsonl" in err


def test_torch_and_what_answers_users_score_alike(
    capsys: Output, run_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def telling(*given: Any) -> ToldStories:
        asked.append(given[2])
        return tell_stories(*given)

    monkeypatch.setattr(metrics, "tell_stories", telling)
    ours, theirs = (
        evaluate(capsys, run_directory, "--task", 1, "--questions", 20, "--engine", engine)
        for engine in ("auto", "torch")
    )
    assert set(asked) == {"auto", "torch"}
    for name in set(KEYS) - {"seconds"}:
        assert ours[name] == theirs[name] or ours[name] == pytest.approx(theirs[name], abs=1e-3)


def test_all_banks(capsys: Output, run_directory: Path) -> None:
    found = evaluate(capsys, run_directory, "--task", 1, "--questions", 20, "--banks", "all")
    rows = found["by_banks"]
    assert isinstance(rows, list) and found["error_percent"] == rows[-1]["error_percent"]


def test_where_no_number_of_banks_is_enough_it_is_said_what_was_counted(capsys: Output, run_directory: Path) -> None:
    for model, said in ((run_directory, True), ("qa1", False)):
        code, out, _ = run(capsys, "evaluate", model, "--task", 1, "--questions", 20)
        assert code == 0
        assert ("No number of banks has an error under 5 %" in out) == said


def test_renamed_stories_are_other_stories(capsys: Output, run_directory: Path, tmp_path: Path) -> None:
    file = tmp_path / "stories.txt"
    file.write_text(STORIES)
    found = evaluate(capsys, run_directory, "--task", 1, "--data", file, "--rename")
    assert found["error_percent"] == 100.0  # the new names are no classes, and this model cannot point


def test_the_window_is_that_of_the_training(capsys: Output, run_directory: Path) -> None:
    # A generated story of task 1 has up to 10 sentences; 7 of them hold fewer words than all.
    narrow = evaluate(capsys, run_directory, "--task", 1, "--questions", 40)["entities"]
    config = run_directory / "best" / "config.json"
    text = config.read_text()
    described = json.loads(text.replace('"window": 7', '"window": 50'))
    del described[DIGESTS]  # which would say that it was edited
    config.write_text(json.dumps(described))
    wide = evaluate(capsys, run_directory, "--task", 1, "--questions", 40)["entities"]
    config.write_text(text)
    assert isinstance(narrow, float) and isinstance(wide, float) and narrow < wide


@pytest.mark.parametrize("task", ["scaled", "multi"])
def test_extended_tasks(capsys: Output, run_directory: Path, task: str) -> None:
    found = evaluate(capsys, run_directory, "--task", task, "--questions", 3)
    assert (found["task"], found["questions"]) == (task, 3)


def test_people_get_a_table_and_details_go_to_a_file(capsys: Output, run_directory: Path, tmp_path: Path) -> None:
    details = tmp_path / "details.json"
    code, out, err = run(capsys, "evaluate", run_directory, "--task", 1, "--questions", 5, "--details", details)
    assert code == 0 and "error percent" in out and "\nbanks  percent" in out and str(details) in err
    pairs = out.partition("\n\n")[0].splitlines()
    assert len({len(line) - len(line.partition("  ")[2].lstrip()) for line in pairs}) == 1  # one column of values
    assert {"min", "max", "std"} <= set(json.loads(details.read_text())["details"]["created_banks"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--task", "21"], 2, "tasks are 1 to 20"),
        (["--task", "1-2"], 2, "expected one task"),
        (["--task", "1", "--banks", "none"], 2, "expected a number above 0 or all"),
        (["--task", "1", "--split", "vaild"], 2, "did you mean valid"),
        (["--task", "1", "--engine", "steam"], 2, "steam"),
    ],
)
def test_lines_that_cannot_be_understood(
    capsys: Output, run_directory: Path, words: list[str], code: int, said: str
) -> None:
    found, out, err = run(capsys, "evaluate", run_directory, *words)
    assert (found, out) == (code, "") and said in err


def test_an_unknown_model_is_an_error(capsys: Output) -> None:
    for words in (["--task", "1"], []):
        code, _, err = run(capsys, "evaluate", "qa99", *words)
        assert code == 1 and "no model is called 'qa99'" in err


def test_columns_of_a_table_may_be_named(capsys: Output, run_directory: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("notes,asked,reply\nMary went home. John left.,Where is Mary?,home\n")
    names = ["--story-column", "notes", "--question-column", "asked", "--answer-column", "reply"]
    assert evaluate(capsys, run_directory, "--data", tmp_path / "a.csv", *names)["questions"] == 1


def test_it_runs_where_only_training_packages_are(run_directory: Path) -> None:
    blocked = ["cyclopts", "rich", "matplotlib", "jinja2", "fastapi", "huggingface_hub"]
    code = f"import sys; sys.modules.update(dict.fromkeys({blocked!r})); from amn.cli.main import main; "
    code += f"sys.exit(main(['evaluate', {str(run_directory)!r}, '--task', '1', '--questions', '3', '--json']))"
    source = Path(cli.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(source)}, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)) == KEYS


def test_a_model_directory_without_a_record_is_scored_with_the_usual_window(capsys: Output, tmp_path: Path) -> None:
    vocabulary = Vocabulary.of(load_task(None, 1, "valid")[:5])
    model = build_model("amn", vocabulary, {"hidden": 8, "heads": 2})
    save_model(tmp_path / "bare", TrainedModel.of("amn", model, vocabulary))
    assert evaluate(capsys, tmp_path / "bare", "--task", 1, "--questions", 3)["questions"] == 3
