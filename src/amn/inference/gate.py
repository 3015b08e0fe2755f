"""The gate before memories: which sentences of a text are let in for each question, by the compiled core or torch."""

from array import array
from collections.abc import Container, Mapping, Sequence
from ctypes import byref, pointer
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from math import log
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from jaxtyping import Bool, Float, Int

from amn.core import boundary
from amn.data.examples import Words
from amn.data.vocabulary import UNKNOWN
from amn.inference.core import Core

if TYPE_CHECKING:
    import torch

    from amn.models.gate import Gate

STORY = 16  # relevant sentences that every text is assumed to start with, as if it were a story
CHUNK = 512  # sentences in a batch of torch


@dataclass(slots=True)
class GateState:
    """The state of a gate: another gate with the same state continues where the first one stopped."""

    seen: int  # how many sentences there were
    facts: Int[np.ndarray, " question"]  # how many of them were facts of the kind that each question asks about
    # Whether each question needed the last fact, to which a sentence with a pronoun belongs.
    follows: Int[np.ndarray, " question"]

    @classmethod
    def start(cls, questions: int) -> "GateState":
        """The state before the first sentence."""
        return cls(0, np.zeros(questions, np.int64), np.ones(questions, np.int8))

    def copy(self) -> "GateState":
        """A copy."""
        return GateState(self.seen, self.facts.copy(), self.follows.copy())

    def to_json(self) -> dict[str, Any]:
        """As JSON, for saved memories."""
        return {"seen": self.seen, "facts": self.facts.tolist(), "follows": self.follows.tolist()}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "GateState":
        """The inverse of `to_json`; also reads older memories, which let in all facts."""
        facts = np.array(given["facts"] if "facts" in given else given["let_in"], np.int64)
        return cls(int(given["seen"]), facts, np.array(given.get("follows", [1] * len(facts)), np.int8))


class Judge(Protocol):
    """Decides which sentences of a text are let in for some questions, in order."""

    state: GateState

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        """Whether each of the next sentences is let in, for each question."""


class CoreJudge:
    """A gate in the compiled core."""

    def __init__(self, core: Core, questions: Sequence[Words], needs: bool = True) -> None:
        self._core, self._needs, self.state = core, needs, GateState.start(len(questions))
        new = dict.fromkeys(word for question in questions for word in question if word not in core.numbers)
        own = {word: number for number, word in enumerate(new, len(core.vocabulary.words))}
        # An unknown name of a question has the same number in sentences.
        self._numbers = core.numbers | own if own else core.numbers
        self._asked = np.zeros((len(questions), 2 * core.gate), np.float32)
        self._kept = self._rows(questions)
        self._questions = boundary.words(*self._kept, array("i"))
        core.check(core.code.amn_gate_ask(core.handle, byref(self._questions), self._asked.ctypes.data))

    def _rows(self, rows: Sequence[Words]) -> tuple["array[int]", "array[int]"]:
        words = array("i", map(self._numbers.get, chain.from_iterable(rows), repeat(UNKNOWN)))
        return words, array("i", accumulate(map(len, rows), initial=0))

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        words, begin = self._rows(sentences)
        verdicts = np.zeros((len(self.state.facts), len(sentences)), np.int8)
        judging = boundary.CJudging(
            questions=pointer(self._questions),
            asked=self._asked.ctypes.data,
            seen=self.state.seen,
            facts=self.state.facts.ctypes.data,
            follows=self.state.follows.ctypes.data if self._needs else None,
            verdicts=verdicts.ctypes.data,
        )
        given = boundary.words(words, begin, array("i"))
        self._core.check(self._core.code.amn_gate_judge(self._core.handle, byref(given), byref(judging)))
        self.state.seen += len(sentences)
        return verdicts.astype(bool)


class TorchJudge:
    """A gate in torch, for models without a compiled core."""

    def __init__(
        self, gate: "Gate", numbers: Mapping[str, int], questions: Sequence[Words], needs: bool = True
    ) -> None:
        self._gate, self._numbers, self._questions = gate, numbers, questions
        self._needs, self.state = needs and gate.need is not None, GateState.start(len(questions))
        names = set() if gate.need is None else set(np.flatnonzero(gate.need.names.detach().cpu().numpy()).tolist())
        self._named = [names_in_question(question, numbers, names) for question in questions]

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        verdicts = np.zeros((len(self.state.facts), len(sentences)), bool)
        refers = self._gate.referring(self._padded(sentences)).tolist() if sentences else []
        for place, (logits, needed) in enumerate(zip(*self._logits(sentences), strict=True)):
            facts = logits > self._bars(bool(refers[place]))
            if self._needs and not refers[place]:
                self.state.follows[facts] = needed[facts] > 0
            verdicts[:, place] = facts & (self.state.follows > 0) if self._needs else facts
            self.state.facts += facts
            self.state.seen += 1
        return verdicts

    def _bars(self, pronoun: bool) -> Float[np.ndarray, " question"]:
        lowest, slope, _ = self._gate.bars.tolist()
        shares, most = (self.state.facts + STORY) / (self.state.seen + STORY), self._gate.highest(pronoun)
        return np.array([min(most, lowest - slope * log(share)) for share in shares.tolist()])

    def _logits(self, sentences: Sequence[Words]) -> list[Float[np.ndarray, "sentence question"]]:
        """The logits and the needs of sentences for questions."""
        import torch

        found = [(np.zeros((0, len(self._questions)), np.float32),) * 2]
        with torch.inference_mode():
            for start in range(0, len(sentences), CHUNK):
                part = sentences[start : start + CHUNK]
                told, asked = self._padded(part), self._padded(self._questions)
                shared = torch.tensor([[shared_names(one, names) for names in self._named] for one in part])
                both = self._gate(told, asked), self._gate.needed(told, asked, shared.to(told.device))
                found.append((both[0].cpu().numpy(), both[1].cpu().numpy()))
        return [np.concatenate(parts) for parts in zip(*found, strict=True)]

    def _padded(self, rows: Sequence[Words]) -> "torch.Tensor":
        import torch

        padded = torch.zeros(len(rows), max(1, *map(len, rows)), dtype=torch.long)
        for place, row in enumerate(rows):
            padded[place, : len(row)] = torch.tensor([self._numbers.get(word, UNKNOWN) for word in row])
        return padded.to(self._gate.bars.device)


def is_name(word: str, numbers: Mapping[str, int], names: Container[int]) -> bool:
    """Whether a word counts as a name: a listed one, or an unknown word."""
    return word not in numbers or numbers[word] in names


def names_in_question(question: Words, numbers: Mapping[str, int], names: Container[int]) -> list[str]:
    """The distinct names in a question."""
    return [word for word in dict.fromkeys(question) if is_name(word, numbers, names)]


def shared_names(sentence: Words, names: Sequence[str]) -> int:
    """Which names of a question a sentence has: 1 for the first, plus 2 for any other."""
    return int(names[0] in sentence) + 2 * any(name in sentence for name in names[1:]) if names else 0
