"""The gate in front of memories: which sentences of a text the questions let in, by the compiled core or by torch."""

from array import array
from collections.abc import Mapping, Sequence
from ctypes import byref
from itertools import accumulate, chain, repeat
from math import inf, log
from typing import TYPE_CHECKING, Protocol

import numpy as np
from jaxtyping import Bool, Float, Int

from amn.core import boundary
from amn.data.examples import Words
from amn.data.vocabulary import UNKNOWN
from amn.inference.core import Core

if TYPE_CHECKING:
    import torch

    from amn.models.gate import Gate

STORY = 16  # sentences that a text is taken for a story for, whatever it was so far
CHUNK = 512  # sentences that torch reads at once


class Judge(Protocol):
    """Judges the sentences of a text in their order, for some questions.

    Attributes:
        seen: how many sentences it has judged.
        let_in: how many of them each question let in. With these two, another judge goes on where this one stopped.
    """

    seen: int
    let_in: Int[np.ndarray, " question"]

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        """Whether each of the next sentences is let in for each question."""


class CoreJudge:
    """A judge by the compiled core.

    Args:
        core: the model.
        questions: that a sentence may matter to.
    """

    def __init__(self, core: Core, questions: Sequence[Words]) -> None:
        self._core, self.seen, self.let_in = core, 0, np.zeros(len(questions), np.int64)
        self._asked = np.zeros((len(questions), core.gate), np.float32)
        words, begin = self._rows(questions)
        given = boundary.words(words, begin, array("i"))
        core.check(core.code.amn_gate_ask(core.handle, byref(given), self._asked.ctypes.data))

    def _rows(self, rows: Sequence[Words]) -> tuple["array[int]", "array[int]"]:
        words = array("i", map(self._core.numbers.get, chain.from_iterable(rows), repeat(UNKNOWN)))
        return words, array("i", accumulate(map(len, rows), initial=0))

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        """Whether each of the next sentences is let in for each question."""
        words, begin = self._rows(sentences)
        verdicts = np.zeros((len(self.let_in), len(sentences)), np.int8)
        judging = boundary.CJudging(
            questions=len(self.let_in),
            asked=self._asked.ctypes.data,
            seen=self.seen,
            let_in=self.let_in.ctypes.data,
            verdicts=verdicts.ctypes.data,
        )
        given = boundary.words(words, begin, array("i"))
        self._core.check(self._core.code.amn_gate_judge(self._core.handle, byref(given), byref(judging)))
        self.seen += len(sentences)
        return verdicts.astype(bool)


class TorchJudge:
    """A judge by torch, where there is no compiled core for a model.

    Args:
        gate: of the model.
        numbers: of the words that it knows.
        questions: that a sentence may matter to.
    """

    def __init__(self, gate: "Gate", numbers: Mapping[str, int], questions: Sequence[Words]) -> None:
        self._gate, self._numbers, self._questions = gate, numbers, questions
        self.seen, self.let_in = 0, np.zeros(len(questions), np.int64)

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        """Whether each of the next sentences is let in for each question."""
        verdicts = np.zeros((len(self.let_in), len(sentences)), bool)
        lowest, slope, highest = self._gate.bars.tolist()
        refers = self._gate.referring(self._padded(sentences)).tolist() if sentences else []
        for place, logits in enumerate(self._logits(sentences)):
            shares, most = (self.let_in + STORY) / (self.seen + STORY), inf if refers[place] else highest
            bars = np.array([min(most, lowest - slope * log(share)) for share in shares.tolist()])
            verdicts[:, place] = logits > bars
            self.let_in += verdicts[:, place]
            self.seen += 1
        return verdicts

    def _logits(self, sentences: Sequence[Words]) -> Float[np.ndarray, "sentence question"]:
        import torch

        parts = [sentences[start : start + CHUNK] for start in range(0, len(sentences), CHUNK)]
        with torch.inference_mode():
            found = [self._gate(self._padded(part), self._padded(self._questions)).cpu().numpy() for part in parts]
        return np.concatenate([np.zeros((0, len(self.let_in)), np.float32), *found])

    def _padded(self, rows: Sequence[Words]) -> "torch.Tensor":
        import torch

        padded = torch.zeros(len(rows), max(1, *map(len, rows)), dtype=torch.long)
        for place, row in enumerate(rows):
            padded[place, : len(row)] = torch.tensor([self._numbers.get(word, UNKNOWN) for word in row])
        return padded.to(self._gate.bars.device)
