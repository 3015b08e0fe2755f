"""The examples of a fleet on its device, and how words of them are hidden in training."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from amn.data.batches import Batch, Dataset, Shape, anonymise, concatenate
from amn.models.layers import uniform

_ANONYMOUS_STREAM = 101  # of the random numbers that choose which words are hidden
_STORY_STREAM = 102  # and in which stories
_WORD_STREAM, _OTHER_STORY_STREAM = 104, 105  # the same for words that are no names
_SPARE_ROWS = 10_000  # sentences for which there is room besides: those of few stories differ more
_STORIES_WITH_HIDDEN_WORDS = 0.5  # the others keep all their words, so that known words are learned as well as without
WIDTHS = ((13, 13, 56), (17, 17, 88))  # members, words, slots: stories that fit go together, for room costs time
_BY_WIDTH = 1 << 20  # more than any story has sentences


@dataclass(frozen=True)
class Pool:
    """The examples of several tasks on one device, one after another; each model of a fleet takes from its own."""

    data: Dataset  # the examples of all tasks
    first: Int[Tensor, " task"]  # where those of each task begin
    shapes: list[Int[np.ndarray, "example axis"]]  # how far each story of each task fills the axes

    @classmethod
    def of(cls, sets: Sequence[Dataset], device: torch.device, spare: float = 0.0) -> "Pool":
        """Joins the sets of tasks, with room for a share of further sentences."""
        first = torch.tensor([0, *(len(one) for one in sets[:-1])]).cumsum(0)
        joined = concatenate(sets).to(device)
        if spare:
            joined = joined.with_spare_rows(_SPARE_ROWS + int(spare * len(joined.sentences["sentences"])))
        return cls(joined, first.to(device), [one.shapes for one in sets])

    def renew(self, parts: Sequence[Dataset]) -> None:
        """Writes other stories over the last ones, in the place where recorded steps find them."""
        first = len(self.data) - sum(len(part) for part in parts)
        row = int(self.data.starts[first]) - 1
        for part in parts:
            self.data.write(part, first, row)
            self.shapes[-1][len(self.shapes[-1]) - len(self.data) + first :][: len(part)] = part.shapes
            first, row = first + len(part), row + len(part.sentences["sentences"])

    @property
    def shape(self) -> Shape:
        """Room for every story."""
        longest = max(int(shapes[:, 0].max(initial=1)) for shapes in self.shapes)
        return self.data.shape._replace(sentences=longest)

    def keys(self, task: int) -> Int[np.ndarray, " example"]:
        """Numbers to sort the stories of a task by: the wide ones last, and among those of like width the long ones."""
        shapes = self.shapes[task]
        return shapes[:, 0] + _BY_WIDTH * sum((shapes[:, 1:] > np.array(width)).any(1) for width in WIDTHS)

    def shape_of(self, chosen: Sequence[tuple[int, list[int]]]) -> Shape:
        """Room for some stories of some tasks."""
        found = [self.shapes[task][part].max(0) for task, part in chosen if part]
        return Shape(*np.max(found, 0).tolist()) if found else Shape(1, 1, 1, 1)

    def take(self, which: Int[Tensor, " model"], indices: Int[Tensor, "model batch"], room: Shape | int) -> Batch:
        """A batch for each model: `which` task, and which of its examples; -1 stands for none."""
        place = torch.where(indices >= 0, indices + self.first[which].unsqueeze(1), -1)
        return self.data.take(place, room)


def hide_words(batch: Batch, share: Float[Tensor, ""], chance: Float[Tensor, ""]) -> Batch:
    """Makes words unknown in some of the stories: a share of those that new names may stand for, and others by chance.

    A story without its other words may not be understood, so these have a chance of their own; and a word that is the
    answer stays, unless it is a name: names can be pointed at, and what is no name has to be known.
    """
    assert batch.key is not None
    shape = batch.slot_words.shape
    names = torch.zeros_like(batch.slot_words) if batch.names is None else batch.names
    some, others = (
        uniform(batch.key, (shape[0], 1), stream) < _STORIES_WITH_HIDDEN_WORDS
        for stream in (_STORY_STREAM, _OTHER_STORY_STREAM)
    )
    unnamed = some & (uniform(batch.key, shape, _ANONYMOUS_STREAM) < share) & (names > 0)
    unread = others & (uniform(batch.key, shape, _WORD_STREAM) < chance) & (names == 0) & ~_is_answer(batch)
    return replace(anonymise(batch, unnamed | unread), names=None)


def _is_answer(batch: Batch) -> Bool[Tensor, "batch slot"]:
    """Which words of a story answer one of its questions."""
    answers = batch.answer_slots if batch.token_slots is None else batch.token_slots.flatten(1)
    slots = torch.arange(batch.slot_words.shape[1], device=answers.device)
    return (answers.unsqueeze(-1) == slots).any(1)


def index_rows(parts: list[list[int]], size: int) -> Int[Tensor, "model batch"]:
    """Lists of indices as one matrix, -1 where a list is shorter."""
    return torch.tensor([part + [-1] * (size - len(part)) for part in parts])
