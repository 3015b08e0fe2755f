"""The verb that writes a report."""

from pathlib import Path

from amn.cli.output import note, print_json
from amn.errors import ConfigError


def report(
    *folders: Path,
    out: Path = Path("report.html"),
    figures: Path | None = None,
    table: Path | None = None,
    data: Path | None = None,
    labels: str = "",
    questions: int = 1000,
    threads: int = 1,
    json: bool = False,
) -> None:
    """Make a page that compares the paper's tables and figures with ours, from run directories.

    Example: amn report runs --out docs/results/report.html --figures docs/results/figures --table docs/results.md

    Args:
        folders: run directories, folders of run directories, or CSV files of runs that an earlier report wrote.
        out: the page; CSV files of its rows and of its runs and a JSON file are written beside it.
        figures: also write the figures as PNG to this folder.
        table: also fill the tables of this Markdown file, between their marks.
        data: a folder of bAbI files, if not the one that the runs were trained with.
        labels: labels of runs to show, separated by commas, or all. Runs with other labels are trials, and left out.
        questions: how many questions to ask the best model of each task; 0 to evaluate none.
        threads: threads of torch on a CPU.
        json: print the report as JSON.
    """
    if not folders:
        raise ConfigError("expected at least one folder of runs")
    from amn.inference.device import choose_device
    from amn.report.report import Report, check_extras, write
    from amn.report.runs import ALL_LABELS

    check_extras()
    choose_device("cpu", threads)
    wanted = ALL_LABELS if labels == ALL_LABELS else [label for label in labels.split(",") if label]
    made = Report.of(folders, data, questions, note, wanted)
    if made.left_out:
        note(f"left out as trials: {', '.join(made.left_out)} (--labels shows them)")
    for path in write(made, out, figures, table):
        note(f"wrote {path}")
    if json:
        print_json(made.document())
