"""Draws the mean errors over the twenty tasks, ours beside published ones, for the page of results.

python scripts/docs/records_picture.py 0.02

The figure is the mean error of `babi`, in percent; those of the models of one task are from `docs/results/report.csv`.
"""

import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from amn.report.paper_tables import ERRORS

DOCS = Path(__file__).resolve().parents[2] / "docs"
LOWEST = 0.15  # the lowest mean error published that we know of
INK, MUTED, GRID, PAPER, OURS, THEIRS = "#22262e", "#5f6672", "#eae5da", "#fffefb", "#2b6f69", "#a34a14"
LEFT, RIGHT, TOP, ROW = 250.0, 700.0, 34, 28
DECADES = range(-2, 3)  # of the scale, in percent
FONT = "system-ui, Segoe UI, Roboto, Helvetica Neue, Liberation Sans, Arial, sans-serif"
TOLD = (
    "A dot for each model on a logarithmic scale, in percent. Ours are on validation questions, published ones are the "
    "papers' own."
)


def rows(babi: float) -> list[tuple[str, float, bool]]:
    """What is drawn, the lowest error first: a name, its error, and whether it is ours."""
    with (DOCS / "results" / "report.csv").open(encoding="utf-8") as file:
        own = [row for row in csv.DictReader(file) if row["model"] == "amn" and row["task"].isdigit()]
    published = {name: mean(column.values()) for name, column in ERRORS.items()}
    found = [
        ("babi, one model for all tasks", babi, True),
        ("AMN here, best of five seeds", mean(float(row["best_error"]) for row in own), True),
        ("AMN here, mean of five seeds", mean(float(row["mean_error"]) for row in own), True),
        ("lowest published that we know of", LOWEST, False),
        ("EntNet, published", published["entnet"], False),
        ("AMN, published", published["amn"], False),
        ("DMN+, published", published["dmn-plus"], False),
        ("MemN2N, published", published["memn2n"], False),
        ("EncDec, as the AMN paper has it", published["encdec"], False),
    ]
    return sorted(found, key=lambda row: row[1])


def place(error: float) -> float:
    """Where an error stands on the scale."""
    share = (max(math.log10(error or 1e-9), DECADES[0]) - DECADES[0]) / (DECADES[-1] - DECADES[0])
    return LEFT + share * (RIGHT - LEFT)


def text(x: float, y: float, said: str, anchor: str, colour: str = MUTED) -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="13" fill="{colour}" text-anchor="{anchor}">{said}</text>'


def drawn(found: list[tuple[str, float, bool]]) -> Iterator[str]:
    """The lines of the picture."""
    bottom = TOP + ROW * len(found)
    height = bottom + 44
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 770 {height}" role="img" aria-labelledby="t d"'
    yield f'{head} font-family="{FONT}">'
    yield f'<title id="t">Mean error over the twenty bAbI tasks</title>\n<desc id="d">{TOLD}</desc>'
    yield f'<rect width="770" height="{height}" rx="10" fill="{PAPER}"/>'
    for decade in DECADES:
        x = place(10.0**decade)
        yield f'<path d="M{x:.1f} 20V{bottom + 2}" stroke="{GRID}"/>'
        yield text(x, bottom + 22, f"{10.0**decade:g} %", "middle")
    for number, (name, error, ours) in enumerate(found):
        x, y, colour = place(error), TOP + ROW * number, OURS if ours else THEIRS
        yield text(LEFT - 14, y + 4.5, name, "end", INK)
        yield f'<path d="M{LEFT:.1f} {y}H{x:.1f}" stroke="{colour}" stroke-width="2" opacity=".35"/>'
        fill = colour if ours else PAPER
        yield f'<circle cx="{x:.1f}" cy="{y}" r="5.5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
        yield text(x + 12, y + 4.5, f"{error:.2f}" if error < 1 else f"{error:.1f}", "start")
    yield "</svg>"


def main() -> None:
    """Draws it anew."""
    lines = drawn(rows(float(sys.argv[1])))
    (DOCS / "images" / "records.svg").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
