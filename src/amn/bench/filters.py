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


class Control:
    """Looks at words alone: lets in the sentences of which it knows every word, or all where it is given no words."""

    def __init__(self, questions: int, known: frozenset[str] | None) -> None:
        self.state, self._known = Judged.start(questions), known

    def judge(self, sentences: Sequence[Words]) -> Bool[np.ndarray, "question sentence"]:
        """The same verdict for each question."""
        inside = [self._known is None or self._known.issuperset(sentence) for sentence in sentences]
        self.state.seen += len(inside)
        self.state.facts += sum(inside)
        return np.tile(np.array(inside, bool), (len(self.state.facts), 1))


def filter_of(name: str, trained: TrainedModel, questions: Sequence[Words], needs: bool = True) -> Judge:
    """A filter by its name; with `needs`, a gate turns away facts that a question does not need."""
    if name == KNOWN_WORDS:
        return Control(len(questions), frozenset(trained.vocabulary.words))
    if name == NONE:
        return Control(len(questions), None)
    gate = open_gate(trained, questions, needs=needs)
    if gate is None:
        raise ConfigError("--model: expected a model with a gate, found one without")
    return gate
