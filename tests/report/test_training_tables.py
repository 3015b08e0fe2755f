"""How models were trained: every command that is shown trains the very run that it stands beside."""

import json
import shlex
from pathlib import Path

import pytest

from amn.cli import main as cli
from amn.config import TrainConfig
from amn.data.babi import write_babi
from amn.data.tasks import generate
from amn.report.report import Report
from amn.report.runs import find_runs
from amn.report.training_tables import command_of, commands_table, run_records, runs_table, settings_table
from report.small_runs import SMALL, make_run

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data, out = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("runs")
    for task in (1, 6):
        write_babi(generate(task, questions=10, seed=0), data / f"qa{task}_train.txt")
    for task, seeds in {1: (0, 1, 2), 6: (0, 1, 2)}.items():
        for seed in seeds:
            make_run(out, data, task, seed, settings=SMALL["amn"], train=TrainConfig(epochs=3, clip=1.5))
    make_run(out, data, 1, 7, None, architecture="encdec", settings={"cell": "gru"}, label="a b")
    return out


def test_a_runs_command_describes_that_very_run(runs: Path, capsys: Output) -> None:
    for run in find_runs([runs]):
        words = shlex.split(command_of([run.spec]))
        assert words[:2] == ["amn", "train"]
        capsys.readouterr()
        assert cli.main([*words[1:], "--print-config"]) == 0
        assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(run.spec.to_json()))


def test_runs_that_differ_in_task_and_seed_alone_have_one_command(runs: Path) -> None:
    rows = commands_table(find_runs([runs])).rows
    assert [name for name, _ in rows] == ["AMN", "EncDec, a b"]
    tasks, seeds, count, each, together, stories, command = rows[0][1]
    assert (tasks, seeds, count, each, together, stories) == ("1,6", "0-2", "6", "2.5", "15", "released")
    assert command.startswith("amn sweep --tasks 1,6 --models amn --seeds 0-2 --epochs 3 --set hidden=8 --set heads=2")
    assert "--set clip=1.5" in command
    assert rows[1][1][3] == "missing"  # an unfinished run has taken no known time


def test_settings_are_those_of_model_and_training(runs: Path) -> None:
    rows = dict(settings_table(find_runs([runs])).rows)
    assert rows["clip"] == ("1.5", "5.0")
    assert rows["hidden"] == ("8", "100")
    assert rows["cell"] == ("–", "gru")


def test_every_run_is_listed_with_its_own_figures(runs: Path) -> None:
    rows = dict(runs_table("amn", find_runs([runs])).rows)
    assert len(rows) == 6
    assert rows["6 yes no questions, seed 2"] == ("0.0", "2.00", "1", "40", "2.5", "2.0")


def test_the_document_holds_every_run(runs: Path) -> None:
    document = Report.of([runs], None, 0, lambda _: None).document()
    assert document["records"] == json.loads(json.dumps(run_records(find_runs([runs]))))
    assert {record["command"].split()[1] for record in document["records"]} == {"train"}
