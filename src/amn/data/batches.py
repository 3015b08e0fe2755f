"""Examples as tensors.

A story's distinct words are its *slots*: slot 0 is padding, then come the words of the story in order of first mention,
then words that only a question holds. Sentences and questions are rows of slots, and `slot_words` says which word of
the vocabulary each slot is. So an unknown word is an entity like any other: it has a slot, though no spelling.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from amn.data.examples import Example
from amn.data.facts import KINDS, Facts
from amn.data.views import no_views, views_of
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.errors import DataError

MAX_SLOTS = 32_767  # slots are kept in two bytes


@dataclass(frozen=True)
class Batch:
    """Stories of at most `sentence` sentences with their questions. Padding is slot 0 everywhere.

    `key` seeds what a model draws at random in training; without it a model is deterministic. `facts`, where they are
    given, are the edges that hold after each sentence: the kind (from 1), the source's slot and the target's. `names`,
    where they are given, is 1 for the slots of words that a new name may stand for.
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

    def by_sentence(self) -> dict[str, Tensor]:
        """The parts that have an axis of sentences."""
        parts = {name: getattr(self, name) for name in ("sentences", "members", "context", "edges", "facts")}
        return {name: value for name, value in parts.items() if value is not None}

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        moved = {f.name: value.to(device) for f in fields(self) if (value := getattr(self, f.name)) is not None}
        return replace(self, **moved)


torch.export.register_dataclass(Batch)


def _look_up(slot_words: Tensor, slots: Tensor) -> Tensor:
    return slot_words.gather(1, slots.flatten(1)).view_as(slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much room the longest example needs along each axis."""

    slots: int = 2
    sentences: int = 1
    words: int = 1
    members: int = 1
    questions: int = 1
    question_words: int = 1
    facts: int = 0

    def union(self, other: "Sizes") -> "Sizes":
        """Room enough for both."""
        return Sizes(**{f.name: max(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})


@dataclass(frozen=True, slots=True)
class _Encoded:
    """One example in slots."""

    slot_words: list[int]
    sentences: list[list[int]]
    questions: list[list[int]]
    answers: list[int]
    answer_slots: list[int]
    facts: list[list[tuple[int, int, int]]]
    names: list[bool]

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            slots=len(self.slot_words),
            sentences=max(1, len(self.sentences)),
            words=max(map(len, self.sentences), default=1),
            questions=len(self.questions),
            question_words=max(map(len, self.questions), default=1),
            facts=max(map(len, self.facts), default=0),
        )


def _encode(example: Example, vocabulary: Vocabulary) -> _Encoded:
    told = dict.fromkeys(chain.from_iterable(example.sentences))
    asked = dict.fromkeys(chain.from_iterable(example.questions))
    slots = {word: slot for slot, word in enumerate(told | asked, 1)}
    answers = [(answer or "").lower() for answer in example.answers]
    return _Encoded(
        slot_words=[0] + [vocabulary.word_id(word) for word in slots],
        sentences=[[slots[word] for word in sentence] for sentence in example.sentences],
        questions=[[slots[word] for word in question] for question in example.questions],
        answers=[vocabulary.answer_id(answer) for answer in example.answers],
        answer_slots=[slots[answer] if answer in told else 0 for answer in answers],
        facts=[_edges(known, slots) for known in example.facts],
        names=[False] + [word in example.names for word in slots] if example.names else [],
    )


def _edges(facts: Facts, slots: Mapping[str, int]) -> list[tuple[int, int, int]]:
    return [(KINDS.index(fact.kind) + 1, slots[fact.source], slots[fact.target]) for fact in sorted(facts)]


@dataclass(frozen=True)
class Dataset:
    """Encoded examples, padded to common sizes and kept in small integers; batches are cut from it."""

    batch: Batch
    lengths: Int[Tensor, " example"]

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def questions(self) -> int:
        """How many questions the examples hold together."""
        return int(self.batch.weights.sum())

    @property
    def sizes(self) -> Sizes:
        """The room along each axis."""
        b = self.batch
        return Sizes(
            slots=b.slot_words.shape[1],
            sentences=b.sentences.shape[1],
            words=b.sentences.shape[2],
            members=b.members.shape[2],
            questions=b.questions.shape[1],
            question_words=b.questions.shape[2],
            facts=0 if b.facts is None else b.facts.shape[2],
        )

    def to(self, device: torch.device | str) -> "Dataset":
        """The same examples on another device."""
        return Dataset(self.batch.to(device), self.lengths.to(device))

    def take(self, indices: Int[Tensor, " batch"], sentences: int | None = None) -> Batch:
        """A batch of some examples; index -1 stands for none and weighs nothing.

        Args:
            indices: which examples.
            sentences: room for sentences; the longest story taken decides where it is not given.
        """
        if sentences is None:
            sentences = int(self.lengths[indices].max())
        found = indices.clamp(min=0)
        b = self.batch
        batch = Batch(
            **{name: getattr(b, name)[found].long() for name in ("slot_words", "questions", "answers", "answer_slots")},
            **{name: value[found, :sentences].long() for name, value in b.by_sentence().items()},
            weights=b.weights[found] * (indices >= 0).unsqueeze(1),
        )
        return batch


def encode(
    examples: Iterable[Example], vocabulary: Vocabulary, sizes: Sizes | None = None, *, graph: bool = True
) -> Dataset:
    """Examples as one padded set.

    Args:
        examples: what to encode.
        vocabulary: the words and answers of the model.
        sizes: the least room to give along each axis, so that sets of several tasks can be stacked.
        graph: whether to build the word graph, which gives members, context and edges; only AMN reads these.
    """
    encoded = [_encode(example, vocabulary) for example in examples]
    room = sizes or Sizes()
    for one in encoded:
        room = room.union(one.sizes)
    if room.slots > MAX_SLOTS:
        raise DataError("story", None, f"at most {MAX_SLOTS} distinct words in a story", f"{room.slots}")
    arrays = _empty_arrays(len(encoded), room, names=any(one.names for one in encoded))
    for i, one in enumerate(encoded):
        _fill(arrays, i, one)
    lengths = np.array([len(one.sentences) for one in encoded], np.int64)
    if graph:
        arrays |= views_of(arrays["sentences"], arrays["questions"], lengths, least=room.members)
    else:
        arrays |= no_views(len(encoded), room.sentences, room.members)
    batch = Batch(**{name: torch.from_numpy(array) for name, array in arrays.items()})
    return Dataset(batch, torch.from_numpy(lengths))


def _empty_arrays(count: int, room: Sizes, *, names: bool) -> dict[str, np.ndarray]:
    def zeros(*shape: int, dtype: type = np.int16) -> np.ndarray:
        return np.zeros((count, *shape), dtype=dtype)

    facts = {"facts": zeros(room.sentences, room.facts, 3)} if room.facts else {}
    marks = {"names": zeros(room.slots, dtype=np.int8)} if names else {}
    return (
        facts
        | marks
        | {
            "slot_words": zeros(room.slots, dtype=np.int32),
            "sentences": zeros(room.sentences, room.words),
            "questions": zeros(room.questions, room.question_words),
            "answers": np.full((count, room.questions), -1, dtype=np.int32),
            "answer_slots": zeros(room.questions),
            "weights": zeros(room.questions, dtype=np.float32),
        }
    )


def _fill(arrays: dict[str, np.ndarray], i: int, one: _Encoded) -> None:
    arrays["slot_words"][i, : len(one.slot_words)] = one.slot_words
    if one.names:
        arrays["names"][i, : len(one.names)] = one.names
    for t, sentence in enumerate(one.sentences):
        arrays["sentences"][i, t, : len(sentence)] = sentence
    for t, known in enumerate(one.facts):
        if known:
            arrays["facts"][i, t, : len(known)] = known
    for j, question in enumerate(one.questions):
        arrays["questions"][i, j, : len(question)] = question
        arrays["weights"][i, j] = 1.0
    arrays["answers"][i, : len(one.answers)] = one.answers
    arrays["answer_slots"][i, : len(one.answer_slots)] = one.answer_slots


def anonymise(batch: Batch, hidden: Bool[Tensor, "batch slot"]) -> Batch:
    """The batch with some slots' words made unknown, consistently through each story."""
    return replace(batch, slot_words=torch.where(hidden & (batch.slot_words > 0), UNKNOWN, batch.slot_words))


def epoch_order(lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int) -> list[tuple[int, list[int]]]:
    """Batches of stories of like length, each with its rank among them, in the order to train on.

    Rank 0 holds the longest stories. The order of ranks depends on the epoch alone, so that models of a fleet meet
    stories of like length together, and so that a model meets its own in the same order inside a fleet or alone.
    """
    rng = np.random.default_rng([seed, epoch])
    shuffled = rng.permutation(len(lengths))
    longest_first = shuffled[np.argsort(-np.asarray(lengths)[shuffled], kind="stable")]
    batches = [longest_first[i : i + batch_size].tolist() for i in range(0, len(lengths), batch_size)]
    turn = np.random.default_rng([epoch]).random(len(batches))
    return [(int(rank), batches[rank]) for rank in np.argsort(turn, kind="stable")]
