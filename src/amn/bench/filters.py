"""What stands in front of a memory in the benchmark of streams: the model's own gate, and two controls."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from amn.data.examples import Words
from amn.errors import ConfigError
from amn.inference.engine import open_gate
from amn.inference.gate import Judge, Judged
from amn.inference.trained import TrainedModel

GATE, KNOWN_WORDS, NONE = "gate", "known words", "none"


class KnownWords:
    """The control that looks at words alone: a sentence is let in where the model knows every word of it.

    Args:
        trained: the model.
        questions: how many stand.
    """

    def __init__(self, trained: TrainedModel, questions: int) -> None:
        self._known = frozenset(trained.vocabulary.words)
        self.state = Judged.start(questions)

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        """The same verdict for each question."""
        known = [self._known.issuperset(sentence) for sentence in sentences]
        return _counted(self, np.tile(np.array(known, bool), (len(self.state.facts), 1)))


class Everything:
    """The control without a filter: all sentences are let in.

    Args:
        questions: how many stand.
    """

    def __init__(self, questions: int) -> None:
        self.state = Judged.start(questions)

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        """Always yes."""
        return _counted(self, np.ones((len(self.state.facts), len(sentences)), bool))


def _counted(judge: Judge, verdicts: Bool[np.ndarray, "question sentence"]) -> Bool[np.ndarray, "question sentence"]:
    judge.state.seen += verdicts.shape[1]
    judge.state.facts += verdicts.sum(1)
    return verdicts


def filter_of(name: str, trained: TrainedModel, questions: Sequence[Words], needs: bool = True) -> Judge:
    """A filter by its name.

    Args:
        name: of the filter.
        trained: the model.
        questions: that stand.
        needs: whether a gate turns away facts that a question does not need.

    Raises:
        ConfigError: where it is the gate of a model that has none.
    """
    if name == KNOWN_WORDS:
        return KnownWords(trained, len(questions))
    if name == NONE:
        return Everything(len(questions))
    gate = open_gate(trained, questions, needs=needs)
    if gate is None:
        raise ConfigError("--model: expected a model with a gate, found one without")
    return gate
