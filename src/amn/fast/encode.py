"""Sentences and questions as vectors (section 4.1 of the paper): what does not depend on the memory."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, chain

import numpy as np
from jaxtyping import Float, Int

from amn.core import loader
from amn.core.loader import packed
from amn.fast.weights import Array, Reader, Weights, normalise, product, products


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions of some stories, encoded.

    Args:
        questions: the last outputs of the question GRU (w_Nq).
        likeness: what an entity's state is multiplied with for the reset gate of its strength, for each question.
        move: what it is multiplied with for its relevance.
        update: what each question adds to the strength GRU's update gate.
        match: what entities are matched with when they are read.
    """

    questions: Float[Array, "story question hidden"]
    likeness: Float[Array, "story question hidden"]
    move: Float[Array, "story question hidden"]
    update: Float[Array, "story question"]
    match: Float[Array, "story question hidden"]

    def take(self, stories: Int[Array, " some"]) -> "Asked":
        """Those of some stories."""
        return Asked(*(getattr(self, part.name).take(stories, 0) for part in fields(self)))


@dataclass(frozen=True, slots=True)
class Gates:
    """What each distinct word of some sentences tells the update GRU.

    Args:
        rows: a row for each distinct word of each sentence, in order.
        starts: where each sentence's rows begin.
    """

    rows: Float[Array, "3 row hidden"]
    starts: Int[Array, " sentence"]


Telling = tuple[tuple[int, ...], tuple[int, ...]]  # the vectors of its words, and which of its distinct words each is


def encode_sentences(weights: Weights, sentences: Sequence[Telling]) -> Gates:
    """Eq. (2), eq. (3) for some sentences, and their part of eq. (13)."""
    outputs, ends = run(weights.word, [words for words, _ in sentences])
    counts = [1 + max(places) for _, places in sentences]
    starts = np.array([0, *accumulate(counts[:-1])])
    whole = products(normalise(outputs.take(ends, 0)), weights.of_sentence)
    whole += weights.update.bias
    if sum(counts) < len(outputs):  # a word stands twice
        entity = [start + place for start, (_, places) in zip(starts, sentences, strict=True) for place in places]
        summed = np.zeros((sum(counts), outputs.shape[1]), outputs.dtype)
        np.add.at(summed, entity, outputs)
        outputs = summed
    rows = products(normalise(outputs), weights.of_word)
    rows += np.repeat(whole, counts, 1)
    return Gates(rows, starts)


def run(
    reader: Reader, sentences: Sequence[Sequence[int]]
) -> tuple[Float[Array, "place hidden"], Int[Array, " sentence"]]:
    """Eq. (2), eq. (4): the GRU over each sentence from zero, all side by side, the longest first so that none waits.

    Returns:
        The outputs at all words, sentence after sentence; and where the last word of each stands.
    """
    lengths = list(map(len, sentences))
    if reader.first.dtype == np.float32 and (code := loader.compiled()):
        begin, words = np.array([0, *accumulate(lengths)]), np.array([*chain.from_iterable(sentences)])
        outputs = np.empty((len(words), reader.first.shape[1]), reader.first.dtype)
        code.amn_run(reader.packed, packed(len(lengths), begin, words, outputs))
        return outputs, begin[1:] - 1
    if min(lengths) == max(lengths):
        return _run_abreast(reader, sentences)
    words = np.array(list(chain.from_iterable(sentences)), np.intp)
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    told = [lengths[number] for number in order]
    ends = np.array(list(accumulate(lengths))) - 1
    first = ends[order] - np.array(told) + 1
    outputs, going = np.empty((len(words), reader.first.shape[1]), reader.first.dtype), len(told)
    outputs[first] = state = reader.first.take(words.take(first), 0)
    for step in range(1, told[0]):
        while told[going - 1] <= step:
            going -= 1
        place = first[:going] + step
        outputs[place] = state = reader.cell(reader.gates.take(words.take(place), 1), state[:going])
    return outputs, ends


def _run_abreast(
    reader: Reader, sentences: Sequence[Sequence[int]]
) -> tuple[Float[Array, "place hidden"], Int[Array, " sentence"]]:
    """`run` where all sentences are as long, which takes no sorting."""
    count, length = len(sentences), len(sentences[0])
    words = np.array([*zip(*sentences, strict=True)], np.intp)
    outputs = np.empty((count, length, reader.first.shape[1]), reader.first.dtype)
    outputs[:, 0] = state = reader.first.take(words[0], 0)
    for step in range(1, length):
        outputs[:, step] = state = reader.cell(reader.gates.take(words[step], 1), state)
    return outputs.reshape(count * length, -1), np.arange(length - 1, count * length, length)


def encode_questions(
    weights: Weights, questions: Sequence[Sequence[Sequence[int]]]
) -> tuple[Asked, Float[Array, "place hidden"]]:
    """Eq. (4) for the questions of some stories, as many in each.

    Returns:
        The questions; and the outputs at all their words, question after question and story after story.
    """
    outputs, ends = run(weights.question, list(chain.from_iterable(questions)))
    last, shape, hidden = outputs.take(ends, 0), (len(questions), len(questions[0])), outputs.shape[1]
    asked, found = last.reshape(*shape, -1), product(last, weights.asked).reshape(*shape, -1)
    encoded = Asked(
        questions=asked,
        likeness=asked * weights.similarity,
        move=found[:, :, :hidden],
        update=found[:, :, -1] + weights.update_bias,
        match=found[:, :, hidden:-1],
    )
    return encoded, outputs


def first_states(
    weights: Weights, outputs: Float[Array, "place hidden"], entities: Sequence[int]
) -> tuple[list[int], Float[Array, "named hidden"]]:
    """The states that entities start with where a question names them, and which these are."""
    number: dict[int, int] = {}
    which = [number.setdefault(entity, len(number)) for entity in entities]
    if len(number) < len(which):  # a question names one twice, or several questions do
        summed = np.zeros((len(number), outputs.shape[1]), outputs.dtype)
        np.add.at(summed, which, outputs)
        outputs = summed
    states = product(outputs, weights.from_question)
    states += weights.from_question_bias
    return list(number), np.tanh(states, out=states)
