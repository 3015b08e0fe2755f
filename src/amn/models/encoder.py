"""The encoder of the paper (section 4.1): words to states, for sentences and for questions."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from amn.data.batches import Batch
from amn.data.vocabulary import UNKNOWN
from amn.models.base import PerQuestion
from amn.models.decoder import Names
from amn.models.layers import GRU, uniform

ANONYMOUS = 64  # how many unknown words of a story are told apart, where a model can point at words
_TURN_STREAM = 103  # of the random numbers that say which of their vectors comes first in a story, in training


@dataclass(frozen=True)
class Encoding:
    """A batch as vectors."""

    words: Float[Tensor, "batch sentence word hidden"]  # output of the word GRU at each word of each sentence (w_i)
    sentences: Float[Tensor, "batch sentence hidden"]  # its last output (w_N)
    # Output of the question GRU at each word of each question (w_j).
    question_words: Float[Tensor, "batch question word_q hidden"]
    questions: PerQuestion  # its last output (w_Nq)


torch.export.register_dataclass(Encoding)


class Encoder(nn.Module):
    """Embedding, the accumulation GRU over sentences and the GRU over questions.

    Args:
        vocabulary_size: number of words.
        hidden: width of all states.
        anonymous: how many vectors there are for unknown words; with none, all unknown words are one.
    """

    def __init__(self, vocabulary_size: int, hidden: int, *, anonymous: int = 0) -> None:
        super().__init__()
        self.anonymous = nn.Parameter(torch.zeros(anonymous, hidden)) if anonymous else None
        self.embedding = nn.Embedding(vocabulary_size, hidden)
        self.word_gru = GRU(hidden, hidden)
        self.question_gru = GRU(hidden, hidden)

    def forward(self, batch: Batch) -> Encoding:
        """Encodes all sentences and questions of a batch at once."""
        embedded = self.embed(batch)
        words = self.run(self.word_gru, embedded, batch.sentences)
        question_words = self.run(self.question_gru, embedded, batch.questions)
        questions = _only_real(question_words[..., -1, :], batch.questions)
        return Encoding(words, words[..., -1, :], question_words, questions)

    def embed(self, batch: Batch) -> Float[Tensor, "batch slot hidden"]:
        """Eq. (1): u = EMBED(wi)."""
        return nn.functional.embedding(self.spell(batch), self.vectors())

    def vectors(self) -> Float[Tensor, "vector hidden"]:
        """The vectors that a word may have: those of the vocabulary, then those for unknown words."""
        known = self.embedding.weight
        return known if self.anonymous is None else torch.cat((known, self.anonymous))

    def spell(self, batch: Batch) -> Int[Tensor, "batch slot"]:
        """Which vector each word has: its own, or where it is unknown the next one that no word of the story has.

        In training each story starts with another one, so that all of them are learned, and none means anything but "a
        word of this story".
        """
        if self.anonymous is None:
            return batch.slot_words
        count, number = len(self.anonymous), unknown_order(batch.slot_words, batch.questions)
        if batch.key is not None:
            number = number + (uniform(batch.key, (len(number), 1), _TURN_STREAM) * count).long()
        vector = self.embedding.num_embeddings + number % count
        return torch.where(batch.slot_words == UNKNOWN, vector, batch.slot_words)

    def names(self, batch: Batch, told: Bool[Tensor, "batch slot"]) -> Names:
        """The words of stories as possible answers; `told` says which are in the story so far."""
        numbers = self.spell(batch)
        count = self.embedding.num_embeddings + (0 if self.anonymous is None else len(self.anonymous))
        spoken = numbers.new_zeros(numbers.shape[0], count).scatter_add(1, numbers, told.long()) > 0
        spelled = numbers.gather(1, batch.sentences.flatten(1)).view_as(batch.sentences)
        pairs = torch.stack((spelled[..., :-1], spelled[..., 1:]), -1).flatten(1, 2)  # padding is after padding
        return Names(self.embed(batch), numbers, told, spoken, batch.num_classes, pairs)

    def run(
        self, gru: GRU, embedded: Float[Tensor, "batch slot hidden"], rows: Int[Tensor, "batch row word"]
    ) -> Float[Tensor, "batch row word hidden"]:
        """Eq. (2), eq. (4): w_i = GRU(u_i, w_(i-1)), from zero in each sentence or question.

        A word's input to the gates is computed once for its slot and looked up for each place where the word stands.
        """
        gates = gru.input(embedded)
        index = rows.flatten(1).unsqueeze(-1).expand(-1, -1, gates.shape[-1])
        projected = gates.gather(1, index).view(*rows.shape, gates.shape[-1])
        return gru.over(projected, rows > 0)


def question_states(
    batch: Batch, encoding: Encoding
) -> tuple[Float[Tensor, "batch slot hidden"], Bool[Tensor, "batch slot"]]:
    """The accumulated states (D) of the words of the questions, and which entities these name."""
    slots = torch.arange(batch.slot_words.shape[1], device=batch.slot_words.device).expand_as(batch.slot_words)
    words = batch.questions.flatten(1)
    named = (slots.unsqueeze(-1) == words.unsqueeze(1)).any(-1) & (slots > 0)
    return accumulate(encoding.question_words.flatten(1, 2), words, slots), named


def _only_real(encoded: PerQuestion, questions: Int[Tensor, "batch question word_q"]) -> PerQuestion:
    """Replaces questions that are padding by the first, so that a maximum over them is one over real questions."""
    real = (questions > 0).any(-1, keepdim=True)
    return torch.where(real, encoded, encoded[:, :1])


def unknown_order(
    slot_words: Int[Tensor, "batch slot"], questions: Int[Tensor, "batch question word_q"]
) -> Int[Tensor, "batch slot"]:
    """How many unknown words come before each word: first those of the questions, which a memory gets first."""
    slots, asked = torch.arange(slot_words.shape[1], device=slot_words.device), questions.flatten(1)
    places = torch.arange(asked.shape[1], device=asked.device)
    first = torch.where(slots.unsqueeze(-1) == asked.unsqueeze(1), places, places.shape[0]).amin(-1)
    order = torch.argsort(first * slots.shape[0] + slots, -1)
    unknown = (slot_words == UNKNOWN).gather(1, order).long()
    return torch.zeros_like(order).scatter(1, order, unknown.cumsum(1) - unknown)


def accumulate(
    outputs: Float[Tensor, "*axes word hidden"],
    standing: Int[Tensor, "*axes word"],
    entities: Int[Tensor, "*axes entity"],
) -> Float[Tensor, "*axes entity hidden"]:
    """Eq. (3): D[i] += w_i, the sum of a word's outputs over the places where it stands.

    Args:
        outputs: what the GRU gave at each place.
        standing: which slot stands at each place.
        entities: the slots to sum for.
    """
    same = (entities.unsqueeze(-1) == standing.unsqueeze(-2)) & (entities.unsqueeze(-1) > 0)
    return same.to(outputs.dtype) @ outputs
