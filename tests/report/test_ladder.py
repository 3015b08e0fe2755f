"""The ladder of a report: models that differ by one change, and what of them is not finished is said to be so."""

import csv
import io
from pathlib import Path

import pytest

from amn.config import RunSpec
from amn.models import MODELS
from amn.report import figures
from amn.report.analysis import Analysis
from amn.report.report import Report, fill_readme
from amn.report.runs import find_runs, summaries
from amn.report.studies import FILLED, WITH, WITHOUT, Ladder, ladders
from report.small_runs import bare_run

ERRORS: dict[str, dict[int, tuple[float, ...]]] = {  # by model and task, of each seed
    "amn": {1: (0.0, 0.2), 19: (0.0, 1.0), 2: (3.0,), 3: (4.0,)},
    "amn-without-question": {1: (0.0, 0.0), 2: (0.4,), 19: (60.0, 40.0)},
    "amn-without-budget": {1: (0.1, 0.1), 19: (0.0, 0.0)},
    "amn-paper": {1: (2.0,)},
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("ladder")
    for model, tasks in ERRORS.items():
        ratio = 1.0 if model == "amn-without-budget" else 0.1
        for task, errors in tasks.items():
            for seed, error in enumerate(errors):
                bare_run(out / model, RunSpec(task=task, architecture=model, seed=seed), error, ratio)
    bare_run(out, RunSpec(task=1, architecture="amn-without-budget", seed=2), 0.4, 1.0, finished=False)
    bare_run(out, RunSpec(task=1, architecture="amn-without-norm"), None, finished=False)
    runs = find_runs([out])
    return Report(runs, summaries(runs), Analysis())


@pytest.fixture(scope="module")
def ladder(report: Report) -> Ladder:
    (found, _) = ladders(report.found)
    return found


def test_every_step_is_a_model_and_every_such_model_a_step() -> None:
    known = {name for name in MODELS if name.startswith(("amn-without-", "amn-paper", "amn-filled"))} | {"amn"}
    assert WITHOUT.keys() | WITH.keys() | FILLED.keys() == known


def test_tasks_of_one_model_alone_are_not_shown_and_means_are_over_those_that_all_have_finished(ladder: Ladder) -> None:
    assert (ladder.tasks, ladder.shared) == ([1, 2, 19], [19])
    means = [rung.figure("error_percent", ladder.shared) for rung in ladder.rungs]
    assert means == pytest.approx([0.5, 50.0, 0.0])
    assert [rung.figure("ratio", ladder.shared) for rung in ladder.rungs] == pytest.approx([0.1, 0.1, 1.0])


def test_a_ladder_shows_tasks_of_its_first_model_alone(report: Report) -> None:
    _, paper = ladders(report.found)
    assert (paper.key, paper.tasks) == ("ladder-with", [1])
    assert [(cells[4], cells[-1]) for _, cells in paper.table().rows] == [("1", "2.0"), ("2", "0.1")]


def test_models_without_the_first_of_their_ladder_make_none(tmp_path: Path) -> None:
    for model in ("amn-without-gradient", "amn-paper-with-joining"):
        bare_run(tmp_path, RunSpec(task=16, architecture=model), 1.0)
    assert ladders(summaries(find_runs([tmp_path]))) == []


def test_the_table_has_means_and_best_seeds_and_a_column_for_each_task(report: Report, ladder: Ladder) -> None:
    table = ladder.table()
    assert table in report.tables()
    question = ("50.00", "40.00", "1", "0.100", "1-2", "0.0", "0.4", "50.0")
    assert table.rows[1] == ("entities do not start from the question", question)
    assert [column.name for column in table.columns[-3:]] == ["1", "2", "19"]


def test_unfinished_runs_count_with_their_best_epoch_so_far_and_are_marked(ladder: Ladder) -> None:
    assert dict(ladder.table().rows)["no budget on entities read"][-3:] == ("0.2*", "–", "0.0")
    assert len(ladder.rungs) == 3  # a run that was never validated makes no line


def test_a_ladder_that_is_nowhere_finished_has_no_means(tmp_path: Path) -> None:
    for model, error in {"amn-paper": 51.0, "amn-paper-with-joining": 2.0}.items():
        bare_run(tmp_path, RunSpec(task=16, architecture=model), error, finished=False)
    (begun,) = ladders(summaries(find_runs([tmp_path])))
    table, (left, right) = begun.table(), figures.ladder(begun).figure.axes
    assert [column.name for column in table.columns] == ["seeds", "16"] and "Means" not in table.note
    assert [cells for _, cells in table.rows] == [("1", "51.0*"), ("1", "2.0*")]
    assert left.get_visible() and not right.get_visible()


def test_the_csv_has_every_run_finished_or_not(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(report.runs_csv())))
    assert len(rows) == len(report.runs) == 18
    asked = [
        row["error_percent"] for row in rows if row["architecture"] == "amn-without-question" and row["task"] == "19"
    ]
    assert asked == ["60.0", "40.0"]
    (open_run,) = (row for row in rows if row["finished"] == "False" and row["error_percent"])
    assert (open_run["error_percent"], open_run["hidden"], open_run["epochs"]) == ("0.4", "64", "40")


def test_the_figure_shows_every_error(ladder: Ladder) -> None:
    picture = figures.ladder(ladder)
    text = picture.svg()
    assert picture.key == "ladder-without" and "50.0" in text and "50.00" in text and "0.2*" in text
    assert all(rung.title in text for rung in ladder.rungs)


def test_a_page_gets_the_table_between_its_marks(report: Report, ladder: Ladder) -> None:
    page = "a\n<!-- ladder-without: begin -->\nold\n<!-- ladder-without: end -->\nb\n"
    filled = fill_readme(page, report)
    assert filled == page.replace("old", ladder.table().markdown())
    assert fill_readme(filled, report) == filled


def test_a_table_whose_runs_are_not_given_is_left_as_it_is(report: Report) -> None:
    page = "<!-- models: begin -->\n<!-- models: end -->\n<!-- rivals: begin -->\nolder\n<!-- rivals: end -->\n"
    assert fill_readme(page, report).endswith("<!-- rivals: begin -->\nolder\n<!-- rivals: end -->\n")
