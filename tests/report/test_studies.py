"""What many runs together show: how often they fail, how errors scale, and the rivals beside what was published."""

from pathlib import Path

import numpy as np
import pytest

from amn.config import RunSpec, TrainConfig
from amn.errors import CheckpointError
from amn.report import figures
from amn.report import paper_tables as paper
from amn.report.analysis import Analysis
from amn.report.report import Report
from amn.report.runs import find_runs, summaries
from amn.report.studies import Scaling, scalings
from amn.report.tables import Table
from report.small_runs import bare_run

QUESTIONS = {250: (40.0, 60.0), 1000: (10.0, 12.0), 9000: (0.0, 0.5)}  # errors of two seeds
WIDTHS = {16: 8.0, 32: 2.0, 128: 0.0}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("studies")
    for seed in range(10):
        train = TrainConfig(clip=1.0)  # another recipe than that of the scaling
        spec = RunSpec(task=18, seed=seed, label="stable", train=train)
        bare_run(out, spec, {3: 6.6, 7: 1.0, 8: 1.1}.get(seed, 0.0), finished=seed != 9)
        bare_run(out, RunSpec(task=3, seed=seed, label="stable", train=train), 0.2)
        bare_run(out, RunSpec(task=20, architecture="memn2n", seed=seed), 40.0)
    bare_run(out, RunSpec(task=18, seed=10, label="stable", train=TrainConfig(clip=1.0)), 0.0)
    for asked, errors in QUESTIONS.items():
        for seed, error in enumerate(errors):
            train = TrainConfig(epochs=90000 // asked, train_questions=asked)
            for model in ("amn", "entnet"):
                spec = RunSpec(task=15, architecture=model, seed=seed, label=f"q{asked}", train=train)
                bare_run(out, spec, error, finished=(model, asked) != ("entnet", 1000))
    for width, error in WIDTHS.items():
        bare_run(out, RunSpec(task=15, settings={"hidden": width}, label=f"w{width}"), error)
    for task, errors in {1: (0.0, 4.0), 17: (0.9, 30.0), 19: (60.0, 4.4)}.items():
        for seed, error in enumerate(errors):
            bare_run(out, RunSpec(task=task, architecture="entnet", seed=seed), error, finished=task != 17)
    bare_run(out, RunSpec(task=1, architecture="ggtnn", label="facts"), 0.3)
    for task, error in {1: 0.5, 6: 9.0}.items():
        for seed in range(10):
            bare_run(out, RunSpec(task=task, architecture="amn-paper", seed=seed, label="regime"), error, ratio=0.9)
    runs = find_runs([out])
    return Report(runs, summaries(runs), Analysis())


@pytest.fixture(scope="module")
def tables(report: Report) -> dict[str, Table]:
    return {table.key: table for table in report.studies()}


def test_runs_over_one_percent_are_counted_and_named(tables: dict[str, Table]) -> None:
    assert tables["stability"].rows == (("AMN, stable", ("2", "20", "1", "2", "10.0", "1", "18 (3, 8)")),)
    assert "Of 20 runs of AMN, stable 2 end over 1 % (10.0 %)." in tables["stability"].note


def test_errors_against_questions_are_of_runs_that_differ_in_nothing_else_but_epochs(report: Report) -> None:
    by_questions, by_width = scalings(report.runs)
    curve = by_questions.curves[15, "amn"]
    assert {asked: tuple(summary.figures("error_percent")) for asked, summary in curve.items()} == QUESTIONS
    assert list(by_questions.curves) == [(15, "amn"), (15, "entnet")] and list(by_width.curves) == [(15, "amn")]
    assert list(by_width.curves[15, "amn"]) == list(WIDTHS)


def test_a_line_of_scaling_has_mean_and_spread_and_marks_what_is_not_finished(tables: dict[str, Table]) -> None:
    rows = dict(tables["scaling-train_questions"].rows)
    assert rows["AMN, task 15"] == ("50.0 (40.0-60.0)", "11.0 (10.0-12.0)", "0.2 (0.0-0.5)")
    assert rows["EntNet, task 15"][1] == "11.0* (10.0-12.0)"
    assert dict(tables["scaling-hidden"].rows)["AMN, task 15"][2] == "0.0 (0.0-0.0)"


def test_the_figure_of_scaling_has_a_line_for_each_model(report: Report) -> None:
    by_questions: Scaling = scalings(report.runs)[0]
    picture = figures.scaling(by_questions)
    (axes,) = picture.figure.axes
    assert axes.get_xscale() == "log" and picture.key == "scaling-train_questions"
    drawn = {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in axes.get_lines()}
    assert drawn["AMN"] == drawn["EntNet"] == [50.0, 11.0, 0.25]


def test_the_figure_of_scaling_names_the_places_of_all_models(tmp_path: Path) -> None:
    for model, places in {"amn": (250, 1000, 3000, 9000), "entnet": (250, 1000, 9000)}.items():
        for asked in places:
            train = TrainConfig(train_questions=asked)
            bare_run(tmp_path, RunSpec(task=1, architecture=model, label=f"q{asked}", train=train), 1.0)
    (axes,) = figures.scaling(scalings(find_runs([tmp_path]))[0]).figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["250", "1 000", "3 000", "9 000"]


def test_rivals_stand_beside_what_was_published(tables: dict[str, Table]) -> None:
    rows = dict(tables["rivals"].rows)
    printed = paper.ERRORS["entnet"]
    assert list(rows["EntNet, published"][3:]) == [f"{printed[task]:.1f}" for task in paper.TASKS]
    place = {task: 2 + task for task in paper.TASKS}
    assert [rows["EntNet, best"][place[task]] for task in (1, 2, 17, 19)] == ["0.0", "–", "0.9*", "4.4"]
    assert [rows["EntNet, mean"][place[task]] for task in (1, 17, 19)] == ["2.0", "15.4*", "32.2"]
    difference = rows["EntNet, best - published"]
    assert (difference[2], difference[place[17]], difference[place[19]]) == ("19", "+0.4", "+2.1")
    assert rows["EntNet, best"][0] == f"{(0.0 + 0.9 + 4.4) / 3:.2f}"


def test_a_variant_of_a_rival_stands_beside_what_was_published_of_the_rival(tmp_path: Path) -> None:
    bare_run(tmp_path, RunSpec(task=2, architecture="dmn-plus-one-gru"), 0.4)
    runs = find_runs([tmp_path])
    (table,) = (one for one in Report(runs, summaries(runs), Analysis()).studies() if one.key == "rivals")
    rows = dict(table.rows)
    assert rows["DMN+, one GRU, published"][4] == f"{paper.ERRORS['dmn-plus'][2]:.1f}"
    assert rows["DMN+, one GRU, best - published"][4] == "+0.1"


def test_a_rival_without_published_errors_has_its_own_alone(tables: dict[str, Table]) -> None:
    names = [name for name, _ in tables["rivals"].rows if not name.startswith(("EntNet, ", "MemN2N, "))]
    assert names == ["GGT-NN, facts, best", "GGT-NN, facts, mean"]  # and none of the runs that scale


def test_the_equations_as_written_stand_under_the_papers_errors_ratios_and_banks(tables: dict[str, Table]) -> None:
    rows, title = dict(tables["regime"].rows), "AMN, equations as written, regime"
    assert all(name.startswith(title) for name in rows)  # and no run of the ladders
    shown = {name.removeprefix(f"{title}, "): (cells[3], cells[8]) for name, cells in rows.items()}  # tasks 1 and 6
    assert shown["published"] == ("0.0", "3.1") and shown["best"] == ("0.5", "9.0")
    assert shown["best - published"] == ("+0.5", "+5.9") and rows[f"{title}, best - published"][2] == "6"
    assert shown["ratio published"] == ("0.22", "–") and shown["ratio"] == ("0.90", "0.90")
    assert shown["banks published"] == ("3", "–") and shown["banks"] == ("3.0", "3.0")


def test_there_is_no_study_of_few_runs(tmp_path: Path) -> None:
    bare_run(tmp_path, RunSpec(task=1), 0.0)
    runs = find_runs([tmp_path])
    assert Report(runs, summaries(runs), Analysis()).studies() == []


def test_the_csv_of_runs_gives_the_same_tables_again(report: Report, tables: dict[str, Table], tmp_path: Path) -> None:
    recorded = tmp_path / "paper-runs.csv"
    recorded.write_text(report.runs_csv())
    runs = find_runs([recorded])
    again = Report(runs, summaries(runs), Analysis())
    assert {table.key: table for table in again.studies()} == tables
    assert again.runs_csv() == report.runs_csv()


def test_a_run_directory_replaces_its_row_of_a_csv(report: Report, tmp_path: Path) -> None:
    recorded = tmp_path / "paper-runs.csv"
    recorded.write_text(report.runs_csv())
    bare_run(tmp_path / "runs", RunSpec(task=1, architecture="entnet", seed=1), 0.7)
    runs = find_runs([recorded, tmp_path / "runs"])
    assert len(runs) == len(report.runs)
    assert summaries(runs)["entnet"][1].errors == [0.0, 0.7]


def test_a_csv_that_holds_no_runs_is_refused_by_its_line(report: Report, tmp_path: Path) -> None:
    recorded = tmp_path / "runs.csv"
    recorded.write_text(report.runs_csv().replace('"{""clip"": 1.0}"', "clip", 1))
    with pytest.raises(CheckpointError, match=r"runs.csv:\d+: not a run as amn report writes it"):
        find_runs([recorded])
    with pytest.raises(CheckpointError, match="none.csv: cannot be read"):
        find_runs([tmp_path / "none.csv"])
