"""Reports from small run directories: every number that is shown is a run's own, and what is missing is said to be."""

import csv
import io
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from statistics import mean, stdev

import pytest

from amn.cli import main as cli
from amn.data.babi import write_babi
from amn.data.source import SPLITS, read_stories
from amn.data.tasks import generate
from amn.errors import AMNError, MissingExtraError
from amn.report import analysis as analysis_module
from amn.report import paper_tables as paper
from amn.report.report import COLUMNS, Report, check_extras, fill_readme, write
from amn.report.runs import find_runs, summaries
from amn.store.run_directory import RunDirectory
from report.small_runs import SMALL, make_run

ERRORS = {0: 0.4, 1: 12.0, 2: 0.4}  # of task 1, by seed
GROWTH = (2, 4)  # sentences of stories that grow: few, for time
READ = {0: 3.0, 1: 1.0, 2: 2.5}
README = "before\n<!-- results: begin -->\nold\n<!-- results: end -->\nafter\n"


Output = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def quiet(_: str) -> None:
    pass


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for task in (1, 6):
        for seed, split in enumerate(("train", "valid")):
            write_babi(generate(task, questions=40, seed=seed), folder / f"qa{task}_{split}.txt")
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    out = tmp_path_factory.mktemp("runs")
    for seed, error in ERRORS.items():
        make_run(out, data, 1, seed, error, READ[seed])
    make_run(out, data, 1, 3, None)
    make_run(out, data, 6, 0, 1.5)
    make_run(out, data, 1, 0, 48.0, architecture="amn-story-blind", settings=SMALL["amn"])
    make_run(out, data, 1, 0, 30.0, architecture="encdec")
    make_run(out, data, 1, 0, 9.0, architecture="amn-paper")
    make_run(out, data, 1, 0, 2.2, label="small", settings=SMALL["amn"])
    (out / "ledger.jsonl").write_text("{}\n")
    return out


@pytest.fixture(scope="module")
def report(runs: Path) -> Report:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis_module, "GROWTH", GROWTH)
        patch.setattr("amn.evaluation.cost.COUNTED_STORIES", 2)
        return Report.of([runs], None, 30, quiet)


@pytest.fixture(scope="module")
def written(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "README.md").write_text(README)
    write(report, folder / "report.html", folder / "figures", folder / "README.md")
    return folder


class Tables(HTMLParser):
    """The cells of every table of a page, by the id of its section, then by the name of the row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, dict[str, list[str]]] = {}
        self.section, self.cells, self.inside = "", [""], False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"section", "details"}:
            self.section = dict(attrs)["id"] or ""
        if tag == "tr":
            self.cells = []
        self.inside = tag in {"td", "th"}
        if self.inside:
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr":
            self.tables.setdefault(self.section, {})[self.cells[0]] = self.cells[1:]
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] += data


def test_the_seeds_of_a_task_are_summed_up(runs: Path) -> None:
    row = summaries(find_runs([runs]))["amn"][1].row()
    assert (row["seeds"], row["unfinished"], row["failed_seeds"]) == (3, 1, 1)
    assert row["mean_error"] == round(mean(ERRORS.values()), 4)
    assert row["std_error"] == round(stdev(ERRORS.values()), 4)
    assert (row["best_error"], row["worst_error"]) == (0.4, 12.0)


def test_the_best_seed_has_the_least_error_and_then_reads_the_least(runs: Path) -> None:
    row = summaries(find_runs([runs]))["amn"][1].row()
    assert (row["best_seed"], row["entities_read"]) == (2, 2.5)


def test_a_label_makes_another_model(runs: Path) -> None:
    assert {"amn", "amn-small", "amn-paper", "encdec", "amn-story-blind"} == set(summaries(find_runs([runs])))


def test_run_directories_may_be_named_one_by_one_and_twice(runs: Path) -> None:
    found = find_runs([runs / "amn-qa1-seed0", runs / "amn-qa1-seed1", runs / "amn-qa1-seed0"])
    assert sorted(run.spec.seed for run in found) == [0, 1]


def test_the_page_shows_the_runs_numbers_beside_the_papers(written: Path) -> None:
    table = Tables((written / "report.html").read_text()).tables["table1"]
    row = table["1 single supporting fact"]
    assert row[:6] == ["0.0", "0.4", "4.27", "6.70", "3", "1"]
    assert row[7] == "48.0"  # story-blind, after the majority answer
    assert table["2 two supporting facts"][:3] == ["2.1", "missing", "missing"]
    assert table["mean of those given"][0] == "2.07"
    assert table["tasks over 5 %"][0] == "0"
    assert table["tasks over 1 %"][:2] == ["15", "1"]  # the paper's AMN; ours has 0.4 and 1.5


def test_a_task_without_runs_is_missing_everywhere(written: Path) -> None:
    document = json.loads((written / "report.json").read_text())
    (row,) = (row for row in document["rows"] if (row["model"], row["task"]) == ("amn", 2))
    assert row["seeds"] == 0 and row["best_error"] is None and row["paper_error"] == 2.1
    assert Tables((written / "report.html").read_text()).tables["table2-amn"]["2 two supporting facts"][3] == "missing"


def test_csv_and_json_hold_the_same_rows(written: Path, report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO((written / "report.csv").read_text())))
    document = json.loads((written / "report.json").read_text())
    assert document["rows"] == report.rows()
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in document["rows"]] == rows
    assert list(rows[0]) == list(COLUMNS)


def test_banks_are_those_of_an_evaluation_of_the_best_seed(written: Path, capsys: Output, runs: Path) -> None:
    score = json.loads((written / "report.json").read_text())["scores"]["amn"]["1"]
    capsys.readouterr()
    data = RunDirectory(runs / "amn-qa1-seed2").spec().data
    line = ["evaluate", str(runs / "amn-qa1-seed2"), "--task", "1", "--data", str(data), "--questions", "30", "--json"]
    assert cli.main(line) == 0
    evaluated = json.loads(capsys.readouterr().out)
    for name in ("questions", "error_percent", "required_banks", "created_banks", "ratio", "by_banks"):
        assert score[name] == evaluated[name]
    cells = Tables((written / "report.html").read_text()).tables["table2-amn"]["1 single supporting fact"]
    assert cells[:4] == ["3", "1", "0.22", f"{score['created_banks']:.2f}"]
    assert cells[5:7] == [str(score["required_banks"]), f"{score['ratio']:.3f}"]


def test_what_an_answer_costs_is_counted_for_every_model_but_the_controls(written: Path) -> None:
    document = json.loads((written / "report.json").read_text())
    tables = Tables((written / "report.html").read_text()).tables
    assert tables["table3"]["EntNet"][:3] == ["O(V)", "0", "missing"]  # no run of it
    for model, title in (("amn", "AMN"), ("encdec", "EncDec"), ("amn-paper", "AMN, equations as written")):
        (row,) = (row for row in document["rows"] if (row["model"], row["task"]) == (model, 1))
        cells = tables["costs"]["1 single supporting fact"]
        assert f"{row['cost_decode'] / 1e3:.1f}" in cells and f"{row['cost_ingest'] / 1e3:.0f}" in cells
        assert "missing" not in tables["table3"][title]
        assert [work["sentences"] for work in document["growth"][model]] == list(GROWTH)
    assert "story-blind" not in tables["table3"] and "torch" in document["machine"]


def test_the_majority_control_is_counted_by_hand(report: Report, data: Path) -> None:
    train, valid = (
        [question.answer for story in read_stories(data / f"qa6_{split}.txt") for question in story.questions]
        for split in ("train", "valid")
    )
    common = "yes" if train.count("yes") > train.count("no") else "no"
    wrong = sum(answer != common for answer in valid)
    assert report.analysis.majority[6] == pytest.approx(100 * wrong / len(valid), abs=1e-3)


def test_the_page_needs_nothing_else(written: Path) -> None:
    page = (written / "report.html").read_text()
    assert not re.search(r'(src|href)="(?!#|data:)|fetch\(|import ', page)
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert [one for one in identifiers if identifiers.count(one) > 1] == []
    assert page.count("<svg ") == page.count('role="img"') == len(list((written / "figures").glob("*.png")))


def test_figures_are_written(written: Path) -> None:
    names = {path.stem for path in (written / "figures").iterdir()}
    assert {"overview-amn", "banks-amn", "story-amn", "curves-amn", "banks-amn-paper", "curves-encdec"} <= names
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (written / "figures").iterdir())


def test_the_story_starts_in_bank_0_and_never_goes_back(report: Report) -> None:
    trace = report.analysis.stories["amn"]
    assert len(trace.depths) == len(trace.sentences) == len(trace.banks)
    for word, column in zip(trace.words, zip(*trace.depths, strict=True), strict=True):
        told = [depth for depth in column if depth is not None]
        assert told == sorted(told), word
        first = next(i for i, sentence in enumerate(trace.sentences) if word in sentence.rstrip(".").split())
        assert len(told) == len(column) - first


def test_the_readme_gets_the_table_and_keeps_the_rest(written: Path) -> None:
    text = (written / "README.md").read_text()
    assert text.startswith("before\n<!-- results: begin -->\n|  |")
    assert text.endswith("|\n<!-- results: end -->\nafter\n") and "old" not in text
    assert "| 1 single supporting fact | 0.0 | 0.4 | 4.27 ± 6.70 (3) | 0.22 |" in text
    assert "| 2 two supporting facts | 2.1 |  |  | 0.41 |  |" in text


def test_a_readme_without_marks_is_refused(report: Report) -> None:
    with pytest.raises(AMNError, match="no place for a table"):
        fill_readme("text", report)


def test_without_evaluation_the_same_page_each_time(runs: Path, tmp_path: Path) -> None:
    pages = []
    for name in ("a.html", "b.html"):
        write(Report.of([runs], None, 0, quiet), tmp_path / name)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_a_joint_model_is_scored_on_every_task_and_on_new_names(data: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(analysis_module, "TASKS", (1, 6))
    make_run(tmp_path, data, "joint", settings={**SMALL["amn"], "pointer": True})
    report = Report.of([tmp_path], data, 10, quiet)
    scores = report.analysis.joint["amn"]
    assert set(scores) == {1, 6}
    assert "renamed_error_percent" in scores[1] and "renamed_error_percent" not in scores[6]
    (table,) = (table for table in report.tables() if table.key == "joint-amn")
    assert dict(table.rows)["2 two supporting facts"][0] == "missing"


def test_stories_that_are_not_at_hand_are_generated_and_the_page_says_so(
    data: Path, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(analysis_module, "GROWTH", GROWTH)
    monkeypatch.setitem(SPLITS, "train", 60)
    make_run(tmp_path, data, 1)
    report = Report.of([tmp_path], tmp_path, 5, quiet)  # a folder without data
    assert report.analysis.scores["amn"][1]["stories"] == "generated"
    (table,) = (table for table in report.tables() if table.key == "table2-amn")
    assert "tasks 1 were generated" in table.note


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_a_missing_extra_is_named(package: str, monkeypatch: Patch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=re.escape("adaptive-memory-networks[plot]")):
        check_extras()


def test_the_verb(runs: Path, tmp_path: Path, capsys: Output) -> None:
    out = tmp_path / "deep" / "page.html"
    assert cli.main(["report", str(runs), "--out", str(out), "--questions", "0", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["finished"] == 7
    assert {path.name for path in out.parent.iterdir()} == {"page.html", "page.csv", "page-runs.csv", "page.json"}
    assert f"wrote {out}" in captured.err


def test_trials_are_left_out_unless_asked_for(runs: Path, tmp_path: Path, capsys: Output) -> None:
    shown: dict[str, dict[str, object]] = {}
    for labels in ("", "small", "all"):
        out = tmp_path / "page.html"
        words = ["report", str(runs), "--out", str(out), "--questions", "0", "--json", "--labels", labels]
        assert cli.main(words) == 0
        shown[labels] = json.loads(capsys.readouterr().out)
        assert ("small" in out.read_text().partition("<main>")[2]) == bool(labels)
    models = {labels: {row["model"] for row in found["rows"]} for labels, found in shown.items()}  # type: ignore[attr-defined]
    assert models["all"] == models["small"] == models[""] | {"amn-small"} and "amn-small" not in models[""]
    assert shown[""]["left_out"] == ["small"] and shown["all"]["left_out"] == []
    assert cli.main(["report", str(runs), "--labels", "smal"]) == 2
    assert "did you mean small?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("folders", "code", "said"),
    [([], 2, "expected at least one folder"), (["none"], 1, "no such folder"), (["."], 1, "no run directory in")],
)
def test_folders_without_runs(
    folders: list[str], code: int, said: str, tmp_path: Path, capsys: Output, monkeypatch: Patch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report", *folders]) == code
    assert said in capsys.readouterr().err


def test_the_papers_numbers_are_the_papers() -> None:
    assert {name: round(mean(column.values()), 3) for name, column in paper.ERRORS.items()}["amn"] == 2.07
    listed = [banks.ratio for task, banks in paper.BANKS.items() if isinstance(task, int)]
    assert len(listed) == 14 and round(mean(listed), 3) == 0.695
    over_one = {name: sum(error > 1 for error in column.values()) for name, column in paper.ERRORS.items()}
    assert (over_one["dmn-plus"], over_one["memn2n"]) == (5, 6)  # as printed under Table 1


def test_the_mean_of_the_seeds_is_in_view_however_far_it_is_from_the_best() -> None:
    from amn.report import figures

    rows: dict[int | str, dict[str, float]] = {
        1: {"best_error": 1.0, "mean_error": 40.0, "ratio": 0.5},
        2: {"best_error": 0.0, "mean_error": 0.0},
    }
    picture = figures.overview(rows, {}, "amn")
    bottom, top = picture.figure.axes[0].get_ylim()
    assert bottom <= 0 and top >= 40
