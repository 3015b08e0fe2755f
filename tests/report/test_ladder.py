"""The ladder of a report: models that differ by one change, on the tasks that all of them finished."""

import csv
import io
from pathlib import Path

import pytest

from amn.config import RunSpec
from amn.models import MODELS
from amn.report.analysis import Analysis
from amn.report.ladder import WITH, WITHOUT, Ladder, ladders, markdown
from amn.report.ladder_figure import ladder_figure
from amn.report.report import Report, fill_readme
from amn.report.runs import find_runs, summaries
from amn.store.run_directory import RunDirectory

ERRORS: dict[str, dict[int, tuple[float, ...]]] = {  # by model and task, of each seed
    "amn": {1: (0.0, 0.2), 19: (0.0, 1.0), 2: (3.0,)},
    "amn-without-question": {1: (0.0, 0.0), 19: (60.0, 40.0)},
    "amn-without-budget": {1: (0.1, 0.1), 19: (0.0, 0.0)},
    "amn-paper": {1: (2.0,)},
}


def finished_run(out: Path, model: str, task: int, seed: int, error: float) -> None:
    """What a report reads of a run: no weights."""
    directory = RunDirectory(out / model / f"{task}-{seed}")
    directory.start(RunSpec(task=task, architecture=model, seed=seed), resume=False)
    ratio = 1.0 if model == "amn-without-budget" else 0.1
    score = {"error_percent": error, "entities": 10.0, "entities_read": 10 * ratio, "ratio": ratio, "banks": 3.0}
    directory.finish({"validation": {"epoch": 1, "questions": 40, **score}})


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("ladder")
    for model, tasks in ERRORS.items():
        for task, errors in tasks.items():
            for seed, error in enumerate(errors):
                finished_run(out, model, task, seed, error)
    runs = find_runs([out / model for model in ERRORS])
    return Report(runs, summaries(runs), Analysis())


@pytest.fixture(scope="module")
def ladder(report: Report) -> Ladder:
    (found,) = ladders(report.found)  # the paper's has one model alone
    return found


def test_every_step_is_a_model_and_every_such_model_a_step() -> None:
    known = {name for name in MODELS if name.startswith(("amn-without-", "amn-paper"))} | {"amn"}
    assert WITHOUT.keys() | WITH.keys() == known


def test_only_tasks_that_all_models_have_count(ladder: Ladder) -> None:
    assert ladder.tasks == [1, 19]
    assert [rung.model for rung in ladder.rungs] == ["amn", "amn-without-question", "amn-without-budget"]
    assert [rung.mean_error for rung in ladder.rungs] == pytest.approx([0.3, 25.0, 0.05])
    assert [rung.failed for rung in ladder.rungs] == [0, 1, 0]
    assert [rung.ratio for rung in ladder.rungs] == pytest.approx([0.1, 0.1, 1.0])


def test_the_table_has_a_line_for_each_model_and_a_column_for_each_task(report: Report, ladder: Ladder) -> None:
    table = ladder.table()
    assert table in report.tables()
    assert table.rows[1] == ("entities do not start from the question", ("25.00", "1", "0.100", "2", "0.0", "50.0"))
    assert [column.name for column in table.columns[-2:]] == ["1", "19"]


def test_the_csv_has_every_run(ladder: Ladder) -> None:
    rows = list(csv.DictReader(io.StringIO(ladder.csv())))
    assert len(rows) == 12
    asked = [row["error_percent"] for row in rows if row["model"] == "amn-without-question" and row["task"] == "19"]
    assert asked == ["60.0", "40.0"]


def test_the_figure_shows_every_error(ladder: Ladder) -> None:
    picture = ladder_figure(ladder)
    text = picture.svg()
    assert picture.key == "ladder-without" and "50.0" in text and "25.00" in text
    assert all(rung.title in text for rung in ladder.rungs)


def test_a_page_gets_the_table_between_its_marks(report: Report, ladder: Ladder) -> None:
    page = "a\n<!-- ladder-without: begin -->\nold\n<!-- ladder-without: end -->\nb\n"
    filled = fill_readme(page, report)
    assert filled == page.replace("old", markdown(ladder.table()))
    assert fill_readme(filled, report) == filled
