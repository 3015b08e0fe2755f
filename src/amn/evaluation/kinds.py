"""The figures of an evaluation by kind of question: the kind that the data names, else how the question begins."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from amn.data.examples import Example, Words
from amn.data.story import Story
from amn.evaluation.metrics import DEFAULT_BANKS, Tally, judged

_FIRST_WORDS = 2  # questions that begin with the same words are of one kind


def by_kind(examples: Sequence[Example], tally: Tally, banks: int = DEFAULT_BANKS) -> list[dict[str, Any]]:
    """A row for each kind of question that was asked, the worst first; `banks` as for `Tally.figures`."""
    kinds = np.array(_kinds(judged(examples)))
    rows = [_row(kind, tally.of(kinds == kind), banks) for kind in sorted(set(kinds.tolist()))]
    return sorted(rows, key=lambda row: -row["error_percent"])


def of_kind(stories: Iterable[Story], kind: str) -> list[Story]:
    """Stories whose questions are of one kind."""
    return [
        replace(one, questions=tuple(replace(question, kind=kind) for question in one.questions)) for one in stories
    ]


def kind_of(question: Words, named: str = "") -> str:
    """The kind of a question: the one that the data names, or how it begins."""
    return named or " ".join(question[:_FIRST_WORDS])


def _kinds(examples: Iterable[Example]) -> list[str]:
    return [
        kind_of(question, kind)
        for example in examples
        for kind, question, answer in zip(example.kinds, example.questions, example.answers, strict=True)
        if answer is not None
    ]


def _row(kind: str, tally: Tally, banks: int) -> dict[str, Any]:
    figures = tally.row(banks)
    named = {name: figures[name] for name in ("error_percent", "entities_read")}
    return {"kind": kind, "questions": tally.questions, **named, **tally.confidence(banks)}
