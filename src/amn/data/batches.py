"""Examples as tensors.

A story's distinct words are its *slots*: slot 0 is padding, then come the words of the story in order of first mention,
then words that only a question holds. Sentences and questions are rows of slots, and `slot_words` says which word of
the vocabulary each slot is. So an unknown word is an entity like any other: it has a slot, though no spelling.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from amn.data.coreference import linked
from amn.data.examples import Example
from amn.data.slots import InSlots, in_slots
from amn.data.slots import Sizes as Sizes
from amn.data.views import no_views, views_of
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.errors import DataError

MAX_SLOTS = 32_767  # slots are kept in two bytes
_WITH_NONE = ("answers", "tokens")  # where -1 stands for none
_IN_SLOTS = {"questions", "answer_slots", "token_slots"}  # what stories have, as numbers of slots
_BLOCK = 1024  # examples that are padded to the longest of them while they are encoded


@dataclass(frozen=True)
class Batch:
    """Stories of at most `sentence` sentences with their questions. Padding is slot 0 everywhere.

    `key` seeds what a model draws at random in training; without it a model is deterministic. `facts`, where they are
    given, are the edges that hold after each sentence: the kind (from 1), the source's slot and the target's. `names`,
    where they are given, is 1 for the slots of words that a new name may stand for. `tokens` are given where answers
    are learned item by item: the class of each token, the end last, -1 for one that has none; `token_slots` are where
    the story tells it, 0 where it does not. `num_classes` is how many classes a model has itself, where it has room for
    more.
    """

    slot_words: Int[Tensor, "batch slot"]
    sentences: Int[Tensor, "batch sentence word"]
    members: Int[Tensor, "batch sentence member"]
    context: Int[Tensor, "batch sentence context"]
    edges: Int[Tensor, "batch sentence member row"]
    questions: Int[Tensor, "batch question word_q"]
    answers: Int[Tensor, "batch question"]
    answer_slots: Int[Tensor, "batch question"]
    weights: Float[Tensor, "batch question"]
    key: Int[Tensor, ""] | None = None
    facts: Int[Tensor, "batch sentence fact three"] | None = None
    names: Int[Tensor, "batch slot"] | None = None
    tokens: Int[Tensor, "batch question token"] | None = None
    token_slots: Int[Tensor, "batch question token"] | None = None
    num_classes: Int[Tensor, ""] | None = None

    @property
    def sentence_mask(self) -> Bool[Tensor, "batch sentence"]:
        """Which sentences are told."""
        return (self.sentences > 0).any(-1)

    @property
    def story_words(self) -> Int[Tensor, "batch sentence word"]:
        """The vocabulary numbers of the sentences' words."""
        return _look_up(self.slot_words, self.sentences)

    @property
    def question_words(self) -> Int[Tensor, "batch question word_q"]:
        """The vocabulary numbers of the questions' words."""
        return _look_up(self.slot_words, self.questions)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        moved = {f.name: value.to(device) for f in fields(self) if (value := getattr(self, f.name)) is not None}
        return replace(self, **moved)


torch.export.register_dataclass(Batch)


class Shape(NamedTuple):
    """How far stories fill the axes of a batch: sentences of a story, members and words of a sentence, slots."""

    sentences: int
    members: int
    words: int
    slots: int


def _look_up(slot_words: Tensor, slots: Tensor) -> Tensor:
    return slot_words.gather(1, slots.flatten(1)).view_as(slots)


@dataclass(frozen=True)
class Dataset:
    """Encoded examples in small integers; batches are cut from it.

    The sentences of all stories stand one after another, so that a long story costs the others no room.
    """

    stories: dict[str, Tensor]  # what there is one of for each example, by its name in a `Batch`
    sentences: dict[str, Tensor]  # what there is one of for each sentence, likewise; the first row is padding
    starts: Int[Tensor, " example"]  # the row of each story's first sentence
    lengths: Int[Tensor, " example"]  # how many sentences each story has

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def questions(self) -> int:
        """How many questions the examples hold together."""
        return int(self.stories["weights"].sum())

    @property
    def sizes(self) -> Sizes:
        """The room along each axis."""
        of_story, of_sentence = self.stories, self.sentences
        return Sizes(
            slots=of_story["slot_words"].shape[1],
            sentences=max(1, int(self.lengths.max())) if len(self) else 1,
            words=of_sentence["sentences"].shape[1],
            members=of_sentence["members"].shape[1],
            questions=of_story["questions"].shape[1],
            question_words=of_story["questions"].shape[2],
            facts=of_sentence["facts"].shape[1] if "facts" in of_sentence else 0,
            tokens=of_story["tokens"].shape[2] if "tokens" in of_story else 0,
        )

    def to(self, device: torch.device | str) -> "Dataset":
        """The same examples on another device."""
        stories, sentences = (
            {name: value.to(device) for name, value in part.items()} for part in (self.stories, self.sentences)
        )
        return Dataset(stories, sentences, self.starts.to(device), self.lengths.to(device))

    @property
    def shapes(self) -> Int[np.ndarray, "example axis"]:
        """The `Shape` of each example."""
        owner = torch.repeat_interleave(torch.arange(len(self)), self.lengths)
        first = self.starts - (self.lengths.cumsum(0) - self.lengths)
        rows = torch.arange(len(owner)) + first[owner]
        most = [self.lengths]
        for name in ("members", "sentences"):
            counts = (self.sentences[name] > 0).sum(1)[rows]
            most.append(torch.zeros(len(self), dtype=torch.long).scatter_reduce(0, owner, counts, "amax"))
        most.append((self.stories["slot_words"] > 0).sum(1) + 1)
        return torch.stack(most, 1).clamp(min=1).numpy()

    @property
    def shape(self) -> Shape:
        """Room for every example."""
        sizes = self.sizes
        return Shape(sizes.sentences, sizes.members, sizes.words, sizes.slots)

    def take(self, indices: Int[Tensor, "*axes batch"], room: Shape | int | None = None) -> Batch:
        """A batch of some examples; index -1 stands for none and weighs nothing.

        Args:
            indices: which examples; those of several batches at once have an axis more.
            room: how much of each axis to take, enough for these examples; a number is that of sentences, which the
                longest story taken decides where none is given.
        """
        if not isinstance(room, Shape):
            room = self.shape._replace(sentences=int(self.lengths[indices].max()) if room is None else room)
        found, given = indices.clamp(min=0), (indices >= 0).unsqueeze(-1)
        place = torch.arange(room.sentences, device=indices.device)
        rows = self.starts[found].unsqueeze(-1) + place
        rows = torch.where((place < self.lengths[found].unsqueeze(-1)) & given, rows, 0)
        slots, words, members = slice(room.slots), slice(room.words), slice(room.members)
        narrow = {"slot_words": slots, "names": slots, "sentences": words, "members": members}
        by_story = {name: value[:, narrow.get(name, slice(None))][found] for name, value in self.stories.items()}
        by_sentence = {name: value[:, narrow.get(name, slice(None))][rows] for name, value in self.sentences.items()}
        edges, context = self.sentences["edges"][:, members], by_sentence["context"].shape[-1]
        by_sentence["edges"] = torch.cat((edges[..., members][rows], edges[..., -context:][rows]), -1)
        for name in _IN_SLOTS & by_story.keys():  # of an example that is not given, and that may need more room
            by_story[name] = by_story[name] * given.view(*given.shape, *[1] * (by_story[name].dim() - given.dim()))
        weights = by_story.pop("weights") * given
        return Batch(**{name: value.long() for name, value in (by_story | by_sentence).items()}, weights=weights)

    def with_spare_rows(self, count: int) -> "Dataset":
        """A copy with room for `count` further sentences."""
        sentences = {
            name: torch.cat((value, value.new_zeros(count, *value.shape[1:]))) for name, value in self.sentences.items()
        }
        stories = {name: value.clone() for name, value in self.stories.items()}
        return Dataset(stories, sentences, self.starts.clone(), self.lengths.clone())

    def write(self, other: "Dataset", first: int, row: int) -> None:
        """Puts other examples of the same room in the place of those from `first`, their sentences from a row on."""
        for name, value in other.stories.items():
            self.stories[name][first : first + len(other)] = value
        for name, value in other.sentences.items():
            self.sentences[name][row : row + len(value)] = value
        self.starts[first : first + len(other)] = other.starts + row
        self.lengths[first : first + len(other)] = other.lengths

    def __reduce__(self) -> tuple[object, ...]:
        """As plain arrays: tensors travel between processes in shared memory, of which a container has little."""
        parts = ({name: value.numpy() for name, value in part.items()} for part in (self.stories, self.sentences))
        return _from_arrays, (*parts, self.starts.numpy(), self.lengths.numpy())

    def with_words(self, numbers: Int[np.ndarray, " old"], answers: Int[np.ndarray, " old"]) -> "Dataset":
        """The same examples with other numbers for words and answers, by the old ones."""
        of_words, of_answers = map(torch.from_numpy, (numbers, np.append(answers, [-1]).astype(answers.dtype)))
        renumbered = {"slot_words": of_words[self.stories["slot_words"].long()]}
        for name in {"answers", "tokens"} & self.stories.keys():
            renumbered[name] = of_answers[self.stories[name].long()]
        return replace(self, stories=self.stories | renumbered)

    def with_names(self, is_name: Bool[np.ndarray, " word"]) -> "Dataset":
        """The same examples with marks on the words that new names may stand for, which are told by their numbers."""
        marks = torch.from_numpy(is_name)[self.stories["slot_words"].long()].to(torch.int8)
        return replace(self, stories=self.stories | {"names": marks})


def encode(
    examples: Iterable[Example],
    vocabulary: Vocabulary,
    sizes: Sizes | None = None,
    *,
    graph: bool = True,
    named: bool = True,
) -> Dataset:
    """Examples as one set, with at least the room that `sizes` says along each axis.

    Without `graph` it has no members, context and edges, which AMN alone reads. Where `named`, a sentence touches what
    the questions name besides its own words.
    """
    encoded = [in_slots(linked(example, vocabulary), vocabulary) for example in examples]
    room = sizes or Sizes()
    for one in encoded:
        room = room.union(one.sizes)
    if room.slots > MAX_SLOTS:
        raise DataError("story", None, f"at most {MAX_SLOTS} distinct words in a story", f"{room.slots}")
    blocks = [encoded[i : i + _BLOCK] for i in range(0, max(1, len(encoded)), _BLOCK)]
    return concatenate([_block(block, room, graph=graph, named=named) for block in blocks])


def _block(encoded: Sequence[InSlots], room: Sizes, *, graph: bool, named: bool) -> Dataset:
    """Examples that are padded to the longest of them while the word graph is built."""
    longest = max((len(one.sentences) for one in encoded), default=0)
    stories, sentences = _empty_arrays(len(encoded), longest, room)
    for i, one in enumerate(encoded):
        _fill(stories, sentences, i, one)
    lengths = np.array([len(one.sentences) for one in encoded], np.int64)
    if graph:
        sentences |= views_of(sentences["sentences"], stories["questions"] * named, lengths, least=room.members)
    else:
        sentences |= no_views(len(encoded), longest, room.members)
    told = np.arange(longest) < lengths[:, None]
    rows = {name: _rows(array, told) for name, array in sentences.items()}
    return _from_arrays(stories, rows, 1 + np.cumsum(lengths) - lengths, lengths)


def _from_arrays(
    stories: dict[str, np.ndarray], sentences: dict[str, np.ndarray], starts: np.ndarray, lengths: np.ndarray
) -> Dataset:
    return Dataset(
        {name: torch.from_numpy(array) for name, array in stories.items()},
        {name: torch.from_numpy(array) for name, array in sentences.items()},
        torch.from_numpy(starts),
        torch.from_numpy(lengths),
    )


def _rows(padded: np.ndarray, told: Bool[np.ndarray, "story sentence"]) -> np.ndarray:
    """A row of padding, then those of the sentences that are told."""
    return np.concatenate((np.zeros((1, *padded.shape[2:]), padded.dtype), padded[told]))


def _empty_arrays(count: int, longest: int, room: Sizes) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Room for what stories have, and for what each of their sentences has."""

    def filled(*shape: int, dtype: type = np.int16, fill: int = 0) -> np.ndarray:
        return np.full((count, *shape), fill, dtype=dtype)

    stories = {
        "slot_words": filled(room.slots, dtype=np.int32),
        "questions": filled(room.questions, room.question_words),
        "answers": filled(room.questions, dtype=np.int32, fill=-1),
        "answer_slots": filled(room.questions),
        "weights": filled(room.questions, dtype=np.float32),
    }
    if room.tokens:
        stories["tokens"] = filled(room.questions, room.tokens, dtype=np.int32, fill=-1)
        stories["token_slots"] = filled(room.questions, room.tokens)
    sentences = {"sentences": filled(longest, room.words)}
    if room.facts:
        sentences["facts"] = filled(longest, room.facts, 3)
    return stories, sentences


def _fill(stories: dict[str, np.ndarray], sentences: dict[str, np.ndarray], i: int, one: InSlots) -> None:
    stories["slot_words"][i, : len(one.slot_words)] = one.slot_words
    for t, sentence in enumerate(one.sentences):
        sentences["sentences"][i, t, : len(sentence)] = sentence
    for t, known in enumerate(one.facts):
        if known:
            sentences["facts"][i, t, : len(known)] = known
    for j, question in enumerate(one.questions):
        stories["questions"][i, j, : len(question)] = question
        stories["weights"][i, j] = 1.0
    stories["answers"][i, : len(one.answers)] = one.answers
    stories["answer_slots"][i, : len(one.answer_slots)] = one.answer_slots
    for j, tokens in enumerate(one.tokens):
        if tokens:
            stories["tokens"][i, j, : len(tokens)] = [number for number, _ in tokens]
            stories["token_slots"][i, j, : len(tokens)] = [slot for _, slot in tokens]


def concatenate(sets: Sequence[Dataset]) -> Dataset:
    """All examples of some sets, in their order."""
    if len(sets) == 1:
        return sets[0]
    sets = alike(sets)
    rows = [len(one.sentences["sentences"]) for one in sets]
    before = np.cumsum([0, *rows[:-1]]).tolist()
    return Dataset(
        {name: torch.cat([one.stories[name] for one in sets]) for name in sets[0].stories},
        {name: torch.cat([one.sentences[name] for one in sets]) for name in sets[0].sentences},
        torch.cat([one.starts + first for one, first in zip(sets, before, strict=True)]),
        torch.cat([one.lengths for one in sets]),
    )


def alike(sets: Sequence[Dataset]) -> list[Dataset]:
    """The sets with the room of the largest along every axis, so that they can be joined."""
    room = Sizes()
    for one in sets:
        room = room.union(one.sizes)
    return [widen(one, room) for one in sets]


def widen(data: Dataset, room: Sizes) -> Dataset:
    """The same examples with more padding."""
    if replace(data.sizes, sentences=room.sentences) == room:
        return data
    questions = {name: (room.questions,) for name in ("answers", "answer_slots", "weights")}
    tokens = {name: (room.questions, room.tokens) for name in ("tokens", "token_slots")}
    slots = {name: (room.slots,) for name in ("slot_words", "names")}
    of_stories = {"questions": (room.questions, room.question_words), **questions, **tokens, **slots}
    of_sentences = {"sentences": (room.words,), "members": (room.members,), "facts": (room.facts, 3)}
    stories = {name: _pad(value, of_stories[name], -(name in _WITH_NONE)) for name, value in data.stories.items()}
    sentences = {name: _pad(data.sentences[name], of_sentences[name]) for name in of_sentences & data.sentences.keys()}
    edges = _wider_edges(data.sentences["edges"], data.sizes.members, room.members)
    return replace(data, stories=stories, sentences=data.sentences | sentences | {"edges": edges})


def _wider_edges(edges: Tensor, inside: int, members: int) -> Tensor:
    """Edges with room for more members, which are rows and the first of the columns."""
    among, beyond = edges[..., :inside], edges[..., inside:]
    return _pad(torch.cat((_pad(among, (inside, members)), beyond), -1), (members, members + beyond.shape[-1]))


def _pad(values: Tensor, sizes: Sequence[int], fill: int = 0) -> Tensor:
    room = [pad for size, own in zip(sizes[::-1], values.shape[:0:-1], strict=True) for pad in (0, size - own)]
    return torch.nn.functional.pad(values, room, value=fill)


def anonymise(batch: Batch, hidden: Bool[Tensor, "batch slot"]) -> Batch:
    """The batch with some slots' words made unknown, consistently through each story."""
    return replace(batch, slot_words=torch.where(hidden & (batch.slot_words > 0), UNKNOWN, batch.slot_words))


def epoch_order(
    keys: Sequence[int] | np.ndarray, batch_size: int, *, seed: int, epoch: int
) -> list[tuple[int, list[int]]]:
    """Batches of stories of like keys, such as their lengths, each with its rank among them, in the order to train on.

    Rank 0 holds the greatest keys. The order of ranks depends on the epoch alone, so that models of a fleet meet
    stories of like length together, and so that a model meets its own in the same order inside a fleet or alone.
    """
    rng = np.random.default_rng([seed, epoch])
    shuffled = rng.permutation(len(keys))
    greatest_first = shuffled[np.argsort(-np.asarray(keys)[shuffled], kind="stable")]
    batches = [greatest_first[i : i + batch_size].tolist() for i in range(0, len(keys), batch_size)]
    turn = np.random.default_rng([epoch]).random(len(batches))
    return [(int(rank), batches[rank]) for rank in np.argsort(turn, kind="stable")]
