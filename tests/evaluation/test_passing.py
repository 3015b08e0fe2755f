"""When a task counts as solved."""

import numpy as np
import pytest

from amn.evaluation.metrics import Tally


def tally(*wrong: int) -> Tally:
    """A tally of twenty questions, so many of them answered wrongly from one bank, from two, and so on."""
    rows = np.array([np.arange(20) < count for count in wrong])
    ones = np.ones(rows.shape)
    return Tally(
        wrong=rows,
        score=ones,
        known=~rows,
        read=ones,
        entities=ones[0],
        created=ones[0],
        ingest=0.0,
        decode=(0.0,) * len(wrong),
        decode_all=0.0,
    )


@pytest.mark.parametrize(
    ("wrong", "required"),
    [
        ((0, 0), 1),
        ((1, 0), 2),  # 5.0 % is not below 5 %
        ((2, 1, 0), 3),
        ((2, 1), 2),  # all where it is not solved
    ],
)
def test_a_task_is_solved_below_five_percent(wrong: tuple[int, ...], required: int) -> None:
    assert tally(*wrong).required_banks() == required
