"""`amn train` and `amn bench train` as a user meets them."""

import json
import shlex
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from amn.cli import main as cli
from amn.data.examples import examples
from amn.data.source import hold_out, read_stories
from amn.store.run_directory import RunDirectory
from amn.training.display import Bar, Lines, summary, training_display
from amn.training.prepare import DataKey, Part, load_data
from training.small import LONG, amn, options_of, small

Output = pytest.CaptureFixture[str]
ENTRY = {"run": "amn-qa1-seed0", "epochs": 4, "epoch": 1, "loss": {"answer": 0.5}, "seconds": 60.0}
SCORE = {"error_percent": 2.5, "ratio": 0.25, "banks": 3.0, "best": True}


def line(spec_data: Path, out: Path, *more: object) -> list[str]:
    given = options_of(small(spec_data, epochs=2))
    words = ["train", "--task", "1", *given, "--out", out / "run", "--device", "cpu", *more]
    return [str(word) for word in words]


def test_training_logs_shows_and_gives_its_result(capsys: Output, data: Path, tmp_path: Path) -> None:
    assert cli.main(line(data, tmp_path, "--json")) == 0
    captured = capsys.readouterr()
    spec = small(data, epochs=2)
    assert json.loads(captured.out)["run"] == json.loads(json.dumps(spec.to_json()))
    assert "amn-qa1-seed0 epoch 1/2  answer " in captured.err
    assert "error " in captured.err
    assert " left" in captured.err
    assert f"best model: {RunDirectory(tmp_path / 'run').best}" in captured.err
    assert [entry["epoch"] for entry in RunDirectory(tmp_path / "run").entries()] == [0, 1]


def test_a_second_training_is_refused_and_a_finished_one_is_not_repeated(
    capsys: Output, data: Path, tmp_path: Path
) -> None:
    assert cli.main(line(data, tmp_path)) == 0
    assert cli.main(line(data, tmp_path)) == 1
    assert "holds a run already: give --resume" in capsys.readouterr().err
    assert cli.main(line(data, tmp_path, "--resume")) == 0
    assert "is already finished" in capsys.readouterr().err


def test_ctrl_c_saves_and_the_line_that_it_names_goes_on(data: Path, tmp_path: Path) -> None:
    spec = small(data, epochs=12, window=LONG)  # it must not end before Ctrl-C
    directory = RunDirectory(tmp_path / "run")
    process = amn("train", "--task", 1, *options_of(spec), "--out", directory.path)
    while process.returncode is None and not directory.state.exists():
        time.sleep(0.01)
    process.interrupt()
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 1
    assert "stopped; everything is saved. To continue: amn train --task 1" in errors
    assert "Traceback" not in errors
    words = shlex.split(errors.split("To continue: ")[1])
    assert words[-1] == "--resume"
    again = amn(*words[1:])
    assert "best model" in again.communicate(timeout=120)[1]
    assert [entry["epoch"] for entry in directory.entries()] == list(range(12))


def test_tensorboard_gets_the_figures_of_every_epoch(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    process = amn(*line(data, tmp_path, "--log-to", "tensorboard"))
    assert "best model" in process.communicate(timeout=120)[1]
    assert list((tmp_path / "run" / "tensorboard").glob("events.*"))


def test_a_missing_tensorboard_is_named_with_its_install_line(
    capsys: Output, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert cli.main(line(data, tmp_path, "--log-to", "tensorboard")) == 1
    assert "pip install 'adaptive-memory-networks[tensorboard]'" in capsys.readouterr().err


def test_the_settings_can_be_printed_without_training(capsys: Output, tmp_path: Path) -> None:
    assert cli.main(["train", "--task", "1", "--print-config", "--out", str(tmp_path / "out")]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["task"], shown["train"]["epochs"]) == (1, 8)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task", "1,2"], "expected one task"),
        (["--task", "1", "--device", "gpu"], "device must be auto, cpu or cuda"),
        (["--task", "1", "--set", "hidden"], "a setting is written name=value"),
        (["--task", "1", "--model", "amm"], "no model is called 'amm'; did you mean amn"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(
    capsys: Output, tmp_path: Path, words: list[str], message: str
) -> None:
    assert cli.main(["train", *words, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_epoch_is_summed_up_in_a_line(capsys: Output) -> None:
    assert summary(ENTRY) == "epoch 2/4  answer 0.500   "
    assert summary(ENTRY | SCORE) == "epoch 2/4  answer 0.500  error 2.50 %  ratio 0.250  banks 3.0  *"
    Lines().epoch(ENTRY)
    assert capsys.readouterr().err.endswith("1 min 0 s left\n")


def test_a_notebook_gets_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Kernel(StringIO):
        __module__ = "ipykernel.iostream"

    shown = Kernel()
    monkeypatch.setattr(sys, "stderr", shown)
    with training_display() as display:
        display.epoch({"epoch": 0, "epochs": 2, "error_percent": 1.5})
        display.epoch({"epoch": 1, "epochs": 2})
    assert "epoch 1/2  error 1.50 %" in shown.getvalue() and shown.getvalue().count("\n") == 1


def test_a_terminal_gets_a_bar(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with training_display() as display:
        assert isinstance(display, Bar)
        display.step(1, 10)
        display.epoch(ENTRY | SCORE)
    assert "error 2.50 %" in capsys.readouterr().err


def test_the_bench_of_training_has_the_agreed_keys(capsys: Output) -> None:
    assert cli.main(["bench", "train", "--models", "2", "--steps", "1", "--device", "cpu", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bench"] == "train"
    assert found["machine"]
    assert [(row["engine"], row["models"]) for row in found["rows"]] == [("single", 1), ("fleet", 2)]
    assert all(row["model_steps_per_second"] > 0 for row in found["rows"])


@pytest.mark.slow
def test_task_1_is_solved_on_a_cpu_with_nothing_but_defaults(tmp_path: Path) -> None:
    process = amn("train", "--task", 1, "--out", tmp_path / "run", "--json")
    result = json.loads(process.communicate(timeout=1200)[0])
    assert result["validation"]["error_percent"] == 0
    assert result["validation"]["ratio"] < 0.1


def test_one_file_is_divided_into_training_and_validation(data: Path) -> None:
    stories = list(read_stories(data / "qa1_train.txt"))
    training, validation = hold_out(stories, seed=0)
    assert sorted(map(repr, training + validation)) == sorted(map(repr, stories))
    assert len(validation) == max(1, round(len(stories) / 10))
    key = DataKey(task=1, data=str(data / "qa1_train.txt"), window=50, together=False, train_questions=None)
    assert load_data(Part(key)).validation == list(examples(validation, window=50))
