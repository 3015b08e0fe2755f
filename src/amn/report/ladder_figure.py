"""The figure of a ladder: every model a line, every task a cell, and the mean beside."""

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm

from amn.report.figures import BLUE, DARK, GREY, Picture, cells, drawing
from amn.report.ladder import Ladder

_HIGHEST = 100.0  # percent
_DARK_FROM = 8.0  # cells with more error have white text


def ladder_figure(ladder: Ladder) -> Picture:
    """Errors of all models of a ladder on all its tasks."""
    errors = np.array([[rung.error(task) for task in ladder.tasks] for rung in ladder.rungs])
    with drawing(0.46 * errors.shape[1] + 6.2, 0.36 * len(errors) + 1.2) as figure:
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(errors.shape[1], 7))
        _grid(left, ladder, errors)
        _means(right, ladder)
    caption = (
        "Cells: validation error in percent, mean over seeds. Bars: the mean over these tasks, with the share of a "
        "story's entities that is read beside it."
    )
    return Picture(ladder.key, ladder.title, caption, figure)


def _grid(axes: Axes, ladder: Ladder, errors: np.ndarray) -> None:
    cells(axes, errors, cmap=mpl.colormaps["Blues"], norm=SymLogNorm(1, vmin=0, vmax=_HIGHEST))
    for (row, column), error in np.ndenumerate(errors):
        ink = "white" if error > _DARK_FROM else DARK
        axes.text(column, row, f"{error:.1f}", ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_xticks(range(len(ladder.tasks)), [str(task) for task in ladder.tasks])
    axes.set_yticks(range(len(ladder.rungs)), [rung.title for rung in ladder.rungs])
    axes.set_xlabel("task")
    axes.invert_yaxis()


def _means(axes: Axes, ladder: Ladder) -> None:
    means = [rung.mean_error for rung in ladder.rungs]
    axes.barh(range(len(means)), means, color=[GREY, *[BLUE] * (len(means) - 1)], height=0.6)
    for row, rung in enumerate(ladder.rungs):
        axes.text(rung.mean_error, row, f"  {rung.mean_error:.2f}  (reads {rung.ratio:.2f})", va="center", fontsize=7.5)
    axes.set_xlim(0, max(*means, 1) * 1.9)
    axes.set_xlabel("mean error, %")
    axes.tick_params(left=False, labelleft=False)
