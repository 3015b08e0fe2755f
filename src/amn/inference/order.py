"""Stories in the order in which a model was trained to read them."""

from collections.abc import Sequence
from itertools import chain

from amn.data.examples import Example, Words
from amn.data.reading_order import outward, outward_example
from amn.data.vocabulary import UNKNOWN
from amn.inference.trained import TrainedModel


def in_order(trained: TrainedModel, example: Example) -> Example:
    """The example with its sentences in the order in which the model reads them."""
    if trained.training.train.order == "told":
        return example
    return outward_example(example, _names(trained, example.sentences))


def order_of(trained: TrainedModel, sentences: Sequence[Words], question: Words) -> Sequence[int]:
    """The places of sentences in the order in which the model reads them for a question."""
    if trained.training.train.order == "told":
        return range(len(sentences))
    return outward(sentences, question, _names(trained, sentences))


def _names(trained: TrainedModel, sentences: Sequence[Words]) -> frozenset[str]:
    """The words that join sentences: the names of the training, and what the model does not know."""
    unknown = {word for word in chain.from_iterable(sentences) if trained.vocabulary.word_id(word) == UNKNOWN}
    return trained.training.names | unknown
