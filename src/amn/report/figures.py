"""The figures of a report, in colours that colour-blind readers can tell apart, each with a caption."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import mean
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import BoundaryNorm, ListedColormap, SymLogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullLocator

from amn.report import paper_tables as paper
from amn.report.analysis import StoryTrace
from amn.report.runs import RunRecord, Summary, TaskName
from amn.report.studies import AXES, Ladder, Scaling
from amn.report.tables import marked, title_of

BLUE, ORANGE, GREY, DARK = "#0072B2", "#D55E00", "#8A8A8A", "#222222"  # the first two of Okabe and Ito's palette
ABSENT = "#D9D9D9"
_DARK_FROM = 8.0  # percent of error above which a cell has white text
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.edgecolor": DARK,
    "axes.labelcolor": DARK,
    "text.color": DARK,
    "xtick.color": DARK,
    "ytick.color": DARK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "figure.facecolor": "white",
}


@dataclass(frozen=True)
class Picture:
    """A figure with what it shows."""

    key: str  # a short name, also of its file
    title: str  # what it shows
    caption: str  # how to read it
    figure: Figure  # the drawing

    def svg(self) -> str:
        """The drawing as an element of a page, the same bytes each time."""
        text = io.StringIO()
        with mpl.rc_context({**_STYLE, "svg.hashsalt": self.key}):
            self.figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
        element = re.sub(r"^.*?<svg ", "<svg ", text.getvalue(), count=1, flags=re.DOTALL)
        element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
        element = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{self.key}-", element)  # ids must differ within a page
        return element.replace("<svg ", f'<svg role="img" aria-label="{escape(self.title)}" ', 1)

    def save_png(self, folder: Path) -> Path:
        """Writes the drawing to a folder."""
        path = folder / f"{self.key}.png"
        with mpl.rc_context(_STYLE):
            self.figure.savefig(path, dpi=150, bbox_inches="tight", metadata={"Software": None})
        return path


@contextmanager
def drawing(width: float, height: float) -> Iterator[Figure]:
    """An empty figure of so many inches, in the style of all."""
    with mpl.rc_context(_STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def _name_tasks(axes: Axes, tasks: Sequence[TaskName]) -> None:
    axes.set_xticks(range(len(tasks)), [str(task) for task in tasks])
    for label, task in zip(axes.get_xticklabels(), tasks, strict=True):
        if isinstance(task, str):
            label.set(rotation=35, ha="right", rotation_mode="anchor")


def cells(axes: Axes, values: np.ndarray, **options: Any) -> QuadMesh:
    """A grid of coloured cells, centred on whole numbers; drawn as shapes, so that a page stays sharp."""
    rows, columns = values.shape
    edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    mesh = axes.pcolormesh(*edges, np.ma.masked_invalid(values), edgecolors="white", linewidth=1.5, **options)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    return mesh


def overview(
    rows: Mapping[TaskName, Mapping[str, Any]], scores: Mapping[TaskName, Mapping[str, Any]], model: str
) -> Picture:
    """The paper and ours, task by task: error above, share of entities read below."""
    tasks: list[TaskName] = list(paper.TASK_NAMES)
    printed = {task: banks.ratio for task, banks in paper.BANKS.items()}
    ratios = {task: scores.get(task, row).get("ratio") for task, row in rows.items()}
    with drawing(9, 5) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        _pairs(upper, tasks, dict(paper.ERRORS["amn"]), {t: row.get("best_error") for t, row in rows.items()})
        upper.set_ylabel("error, %")
        means = _numbers([rows.get(task, {}).get("mean_error") for task in tasks])
        upper.scatter(range(len(tasks)), means, marker="_", color=BLUE, s=90, zorder=3, label="ours, mean of seeds")
        figure.legend(*upper.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
        _pairs(lower, tasks, printed, ratios)
        _from_zero(upper)
        _from_zero(lower)
        lower.axhline(1, color=GREY, linewidth=0.8, linestyle=":")
        lower.set_ylabel("entities read / entities")
        lower.set_xlabel("task")
        _name_tasks(lower, tasks)
    caption = (
        "Circles: the paper. Dots: our best seed; dashes: the mean of our seeds. The paper gives no ratio for tasks 3, "
        "5, 6, 8, 9 and 13, and no error for the extended tasks."
    )
    return Picture(f"overview-{model}", f"The paper and ours, {title_of(model)}", caption, figure)


def _pairs(
    axes: Axes, tasks: Sequence[TaskName], theirs: Mapping[Any, float], ours: Mapping[TaskName, float | None]
) -> None:
    places = range(len(tasks))
    given, reached = _numbers([theirs.get(t) for t in tasks]), _numbers([ours.get(t) for t in tasks])
    axes.vlines(places, np.fmin(given, reached), np.fmax(given, reached), color=ABSENT, linewidth=3, zorder=1)
    axes.scatter(places, given, facecolors="white", edgecolors=ORANGE, s=42, linewidths=1.4, zorder=2, label="paper")
    axes.scatter(places, reached, color=BLUE, s=26, zorder=3, label="ours, best seed")
    axes.grid(axis="y", color="#EEEEEE")
    axes.set_axisbelow(True)


def _from_zero(axes: Axes) -> None:
    """Starts an axis at zero; to be called after all marks are drawn."""
    axes.set_ylim(bottom=-0.03 * axes.get_ylim()[1])


def _numbers(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def heat_map(scores: Mapping[TaskName, Mapping[str, Any]], model: str) -> Picture:
    """What share of the entities each bank holds, task by task."""
    tasks = list(scores)
    most = max(len(score["details"]["bank_shares"]) for score in scores.values())
    shares = np.full((most, len(tasks)), np.nan)
    for column, score in enumerate(scores.values()):
        for bank in score["details"]["bank_shares"]:
            if 2 * bank["questions"] >= score["questions"]:
                shares[bank["bank"], column] = bank["share"]
    most = max(1, int(np.sum(~np.isnan(shares).all(1))))  # without banks that few stories of any task have
    shares = shares[:most]
    with drawing(max(4.5, 0.42 * len(tasks) + 1.6), 0.42 * most + 1.3) as figure:
        axes = figure.subplots()
        colours = mpl.colormaps["cividis"].with_extremes(bad=ABSENT)
        mesh = cells(axes, shares, cmap=colours, vmin=0, vmax=1)
        for (bank, column), share in np.ndenumerate(shares):
            if not np.isnan(share):
                ink = "white" if share < 0.55 else DARK
                axes.text(column, bank, f"{share:.2f}", ha="center", va="center", fontsize=7.5, color=ink)
        _name_tasks(axes, tasks)
        axes.set_yticks(range(most))
        axes.set(xlabel="task", ylabel="bank (last one read first)")
        figure.colorbar(mesh, ax=axes, label="share of entities", pad=0.02)
    caption = (
        "Mean share of a story's entities that each bank holds; bank 0 holds them all, and what moves on stays there "
        "too. Grey: fewer than half of the stories have this bank."
    )
    return Picture(f"banks-{model}", f"Entities in the memory banks, {title_of(model)}", caption, figure)


def story(trace: StoryTrace) -> Picture:
    """The entities of one story moving through the banks, sentence by sentence."""
    most = max(trace.banks)
    grid = np.array([[np.nan if d is None else d for d in row] for row in trace.depths], dtype=float).T
    with drawing(max(6.0, 0.75 * len(trace.sentences) + 2.2), 0.27 * len(trace.words) + 2.0) as figure:
        axes = figure.subplots()
        shades = mpl.colormaps["cividis"](np.linspace(0.95, 0.1, max(most, 2)))[:most]
        colours = ListedColormap(shades).with_extremes(bad="white")
        norm = BoundaryNorm(np.arange(most + 1) - 0.5, most)
        cells(axes, grid, cmap=colours, norm=norm)
        axes.invert_yaxis()
        for (word, sentence), depth in np.ndenumerate(grid):
            if not np.isnan(depth):
                ink = DARK if depth < most / 2 else "white"
                axes.text(sentence, word, f"{depth:.0f}", ha="center", va="center", fontsize=8, color=ink)
        _frame_story(axes, trace)
        patches = [Patch(facecolor=tuple(shade), edgecolor=GREY, label=f"bank {i}") for i, shade in enumerate(shades)]
        figure.legend(handles=patches, loc="outside upper center", ncols=min(most, 8), frameon=False)
    told = " ".join(f"({i}) {sentence}" for i, sentence in enumerate(trace.sentences, 1))
    caption = (
        f"Task {trace.task}. Each cell: the deepest bank of a word after a sentence; a + marks a sentence after which "
        f"there is one bank more. {told} Question: {trace.question} Answer: {trace.answer} (right: {trace.right})."
    )
    return Picture(
        f"story-{trace.model}", f"A story moving through the banks, {title_of(trace.model)}", caption, figure
    )


def _frame_story(axes: Axes, trace: StoryTrace) -> None:
    asked = set(re.findall(r"[\w'-]+", trace.question))
    axes.set_yticks(range(len(trace.words)), [f"{word} (asked)" if word in asked else word for word in trace.words])
    before = (1, *trace.banks)
    marks = [f"{i + 1}{' +' if now > before[i] else ''}" for i, now in enumerate(trace.banks)]
    axes.set_xticks(range(len(marks)), marks)
    axes.set_xlabel("after sentence")


def curves(model: str, tasks: Mapping[TaskName, Summary]) -> Picture:
    """Validation error and share of entities read, epoch by epoch, every seed."""
    columns = min(5, max(1, len(tasks)))
    lines = -(-len(tasks) // columns)
    with drawing(2.1 * columns + 0.6, 1.55 * lines + 0.8) as figure:
        panels = figure.subplots(lines, columns, sharey=True, squeeze=False).flatten()
        for axes, (task, summary) in zip(panels, tasks.items(), strict=False):
            for run in (*summary.finished, *summary.unfinished):
                _curve(axes, run)
            _percent(axes, task)
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        for axes in panels[len(tasks) :]:
            axes.set_visible(False)
        figure.supxlabel("epoch", fontsize=9)
        figure.supylabel("percent", fontsize=9)
        handles = [Patch(color=BLUE, label="validation error"), Patch(color=ORANGE, label="entities read / entities")]
        figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    caption = "A line for each seed; dotted where the run is not finished. The scale is linear below 1 %."
    return Picture(f"curves-{model}", f"Learning curves, {title_of(model)}", caption, figure)


def _percent(axes: Axes, task: TaskName) -> None:
    """Makes a panel of a task, with percent upwards: linear below 1, then logarithmic."""
    axes.set_title(f"task {task}" if isinstance(task, int) else task, fontsize=9, pad=3)
    axes.set_yscale("symlog", linthresh=1, linscale=0.6)
    axes.set_ylim(-0.15, 160)
    axes.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color="#EEEEEE")


def _curve(axes: Axes, run: RunRecord) -> None:
    entries = [entry for entry in run.curve if "error_percent" in entry]
    epochs = [entry["epoch"] + 1 for entry in entries]
    style: dict[str, Any] = {"linewidth": 0.9, "alpha": 0.8, "linestyle": "-" if run.validation else ":"}
    axes.plot(epochs, [100 * entry["ratio"] for entry in entries], color=ORANGE, **style)
    axes.plot(epochs, [entry["error_percent"] for entry in entries], color=BLUE, **style)


def ladder(shown: Ladder) -> Picture:
    """Errors of all models of a ladder on all its tasks, and the means beside."""
    with drawing(0.46 * len(shown.tasks) + 6.2, 0.36 * len(shown.rungs) + 1.4) as figure:
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(max(len(shown.tasks), 4), 7))
        _ladder_cells(left, shown)
        if shown.shared:
            _ladder_means(right, shown)
        else:
            right.set_visible(False)
    caption = "Cells: validation error in percent, mean over seeds; a star where some runs are not finished."
    if shown.shared:
        caption += (
            f" Bars: the mean over the {len(shown.shared)} tasks that all have finished, with a dot for the best "
            "seeds, and the share of a story's entities that is read."
        )
    return Picture(shown.key, shown.title, caption, figure)


def _ladder_cells(axes: Axes, shown: Ladder) -> None:
    places = [(row, column) for row in range(len(shown.rungs)) for column in range(len(shown.tasks))]
    found = np.full((len(shown.rungs), len(shown.tasks)), np.nan)
    for row, column in places:
        rung, task = shown.rungs[row], shown.tasks[column]
        if task in rung.tasks:
            found[row, column] = error = rung.figure("error_percent", [task])
            ink = "white" if error > _DARK_FROM else DARK
            axes.text(column, row, marked(rung.tasks[task]), ha="center", va="center", fontsize=7.5, color=ink)
    cells(axes, found, cmap=mpl.colormaps["Blues"].with_extremes(bad=ABSENT), norm=SymLogNorm(1, vmin=0, vmax=100))
    axes.set_xticks(range(len(shown.tasks)), [str(task) for task in shown.tasks])
    axes.set_yticks(range(len(shown.rungs)), [rung.title for rung in shown.rungs])
    axes.set_xlabel("task")
    axes.invert_yaxis()


def _ladder_means(axes: Axes, shown: Ladder) -> None:
    rows, tasks = range(len(shown.rungs)), shown.shared
    means = [rung.figure("error_percent", tasks) for rung in shown.rungs]
    axes.barh(rows, means, color=[GREY, *[BLUE] * (len(means) - 1)], height=0.6)
    axes.scatter([rung.figure("error_percent", tasks, min) for rung in shown.rungs], rows, color=ORANGE, s=14, zorder=3)
    for row, rung in enumerate(shown.rungs):
        said = f"  {means[row]:.2f}  (reads {rung.figure('ratio', tasks):.2f})"
        axes.text(means[row], row, said, va="center", fontsize=7.5)
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(0, max(*means, 1) * 20)
    axes.set_xticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("mean error, %  (dot: best seeds)")
    axes.tick_params(left=False, labelleft=False)


def scaling(shown: Scaling) -> Picture:
    """Errors along an axis, a panel for each task and a line for each model."""
    tasks, models = (list(dict.fromkeys(key[i] for key in shown.curves)) for i in (0, 1))
    with drawing(2.3 * len(tasks) + 0.8, 2.7) as figure:
        panels = dict(zip(tasks, figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0], strict=True))
        for (task, model), curve in shown.curves.items():
            _percent(panels[task], task)
            colour = (BLUE, ORANGE, GREY, DARK)[models.index(model) % 4]
            _spread(panels[task], {at: one.figures("error_percent") for at, one in curve.items()}, model, colour)
        for task, axes in panels.items():
            _name_places(axes, sorted({at for (of, _), curve in shown.curves.items() if of == task for at in curve}))
        handles = {line.get_label(): line for axes in panels.values() for line in axes.get_lines()}
        figure.legend(handles=list(handles.values()), loc="outside upper center", ncols=len(models), frameon=False)
        figure.supxlabel(AXES[shown.axis], fontsize=9)
        figure.supylabel("error, %", fontsize=9)
    caption = "Lines: the mean of the seeds; bands: from the best seed to the worst. The scale is linear below 1 %."
    return Picture(shown.key, shown.title, caption, figure)


def _spread(axes: Axes, found: Mapping[int, Sequence[float]], model: str, colour: str) -> None:
    places = list(found)
    axes.fill_between(
        places, [min(e) for e in found.values()], [max(e) for e in found.values()], color=colour, alpha=0.2
    )
    axes.plot(
        places, [mean(e) for e in found.values()], color=colour, marker="o", markersize=3.5, label=title_of(model)
    )


def _name_places(axes: Axes, places: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(places, [f"{place:,}".replace(",", " ") for place in places], rotation=35, ha="right")
    axes.xaxis.set_minor_locator(NullLocator())
