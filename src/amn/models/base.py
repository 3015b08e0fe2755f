"""What every model shares: its interface, and how answers are trained and judged.

Axes, wherever a shape is written:

    batch     stories                     slot      distinct words of a story and its questions (0 is padding)
    sentence  sentences of a story        member    entities that a sentence may change
    word      words of a sentence         context   entities that members may read besides
    question  questions of a story        row       members, then context
    hidden    width of a state            bank      memory banks, 0 the most general
    answer    classes, then (where a model can point) slots
    token     tokens of an answer that is given item by item
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from amn.data.batches import Batch
from amn.data.vocabulary import END_CLASS, UNKNOWN, Vocabulary
from amn.errors import ConfigError
from amn.models.layers import uniform

_WAY_STREAM = 106  # of the random numbers that say whether a token is given as a class or as a word of the story

Scalar = Float[Tensor, ""] | float
PerStory = Float[Tensor, " batch"]  # a number for each story
PerQuestion = Float[Tensor, "batch question hidden"]  # a vector for each question
Tokens = Int[Tensor, "batch question token"]  # the tokens of answers, as places among the logits

# Where an answer stands among the logits, in each way that it can be given: as a class, and as a word of the story.
Ways = Sequence[Int[Tensor, "batch question *token"]]


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What every model must know of its data. Architectures add their own fields."""

    vocabulary_size: int  # number of words, with the reserved ones
    num_answers: int  # number of answer classes
    hidden: int  # width of states

    def __post_init__(self) -> None:
        if self.hidden < 1:
            raise ConfigError(f"hidden must be at least 1, found {self.hidden}")


@dataclass(frozen=True)
class Reading:
    """What a model says about a batch."""

    # A score for each answer class and, where the model can point, for each slot after them; where it answers item by
    # item, for each token of the answer.
    logits: Float[Tensor, "batch question *token answer"]
    entities: PerStory  # how many entities each story has
    # How many entities (or memory slots) were read for each question, copies counted each time.
    entities_read: Float[Tensor, "batch question"]
    banks: PerStory  # how many banks each story has
    # Further terms of the training loss by name, already weighted.
    losses: dict[str, PerStory] = field(default_factory=dict)
    # Other logits that should give the answer too, in training.
    further: Float[Tensor, "batch question *token answer"] | None = None
    # What was chosen for each token, as a place among the logits, where a model answers item by item.
    tokens: Tokens | None = None


torch.export.register_dataclass(Reading)


class Model(nn.Module):
    """A network that reads stories and answers questions.

    A subclass sets `Config`, builds itself from one, gives `begin`, `advance` and `finish`, and says below what it can
    do, so that no caller has to look at its class. Randomness comes only from `batch.key`.
    """

    Config: type[ModelConfig]
    config: ModelConfig
    recipe: Mapping[str, Any] = {}  # the settings of its training that are not the usual ones
    reads_by_sentence: bool = True  # or else its `begin` reads all of a story, and there is nothing to advance over
    needs_graph: bool = False  # reads what each sentence touches: members, context and edges of a batch
    sees_questions: bool = True  # what a sentence touches may depend on the questions
    has_banks: bool = False  # sorts entities into banks, so that it can read some of them
    in_core: bool = False  # the compiled core computes the same
    points: bool = False  # may answer with words of the story
    num_slots: int | None = None  # memory slots, where every sentence updates all of them
    chosen_from: float = 0.0  # share of the training before which its weights are not chosen
    further_weight: float = 0.0  # how much the answer loss of a reading's further logits counts
    embeddings: Sequence[str] = ()  # weights that start uniform in [-sqrt(3), sqrt(3)], as in section 5.1 of the paper
    constants: Mapping[str, float] = {}  # weights that start at a number
    deviation: float | None = None  # all other weights start from a normal distribution, not as Xavier has it

    def forward(self, batch: Batch, progress: Scalar = 1.0, banks: int = 1) -> Reading:
        """Reads a batch.

        Args:
            batch: stories and questions; with a key where the model is being trained.
            progress: how much of the training is done, from 0 to 1, for what a model phases in.
            banks: how many banks to read, the most relevant first; 0 for all. A model without banks ignores it.
        """
        return self.finish(batch, self.ingest(batch, progress), progress, banks)

    def ingest(self, batch: Batch, progress: Scalar = 1.0) -> Any:
        """Reads all sentences; `finish` answers from what it gives."""
        carry, sentences = self.begin(batch, progress)
        for sentence in sentences:
            carry = self.advance(carry, sentence)
        return carry

    def begin(self, batch: Batch, progress: Scalar) -> tuple[Any, list[Any]]:
        """What is known before the first sentence, and each sentence ready to be read, so that a step can be compiled.

        A model that does not read sentence by sentence reads here what does not depend on the question.
        """
        raise NotImplementedError

    def advance(self, carry: Any, sentence: Any) -> Any:
        """Reads one sentence."""
        raise NotImplementedError

    def finish(self, batch: Batch, carry: Any, progress: Scalar, banks: int = 1) -> Reading:
        """Answers from what was read."""
        raise NotImplementedError

    def know(self, vocabulary: Vocabulary) -> None:
        """Gets the words and answers that its numbers stand for, where a model has a use for them."""

    def initialise(self, generator: torch.Generator) -> None:
        """Draws all weights from a generator, in the order of their names."""
        for name, parameter in self.named_parameters():
            self.initialise_parameter(name, parameter, generator)

    @torch.no_grad()
    def initialise_parameter(self, name: str, parameter: Tensor, generator: torch.Generator) -> None:
        """Xavier for matrices, zero for vectors; a model names exceptions above, or overrides it."""
        if name in self.constants:
            parameter.fill_(self.constants[name])
        elif name in self.embeddings:
            parameter.uniform_(-sqrt(3), sqrt(3), generator=generator)
        elif self.deviation is not None:
            parameter.normal_(0, self.deviation, generator=generator)
        elif parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter, generator=generator)
        else:
            parameter.zero_()


def answer_loss(logits: Float[Tensor, "batch question *token answer"], batch: Batch, num_answers: int) -> PerStory:
    """Cross entropy of each story's questions: the class and the word in the story both name the right answer.

    For an answer of several tokens it is the sum over these divided by how many come before the end, so that a question
    has the same weight whatever the length of its answer.
    """
    chances = F.log_softmax(logits, -1)
    floor = torch.finfo(logits.dtype).min
    targets = answer_targets(batch, num_answers, pointer=logits.shape[-1] > num_answers)
    if batch.tokens is not None:  # no more of them than the model gives
        targets = [target[..., : logits.shape[-2]] for target in targets]
    ways = [
        chances.gather(-1, target.clamp(min=0).unsqueeze(-1)).squeeze(-1).masked_fill(target < 0, floor)
        for target in targets
    ]
    right = ways[0] if len(ways) == 1 else torch.logaddexp(*ways)
    right = right.masked_fill(right <= floor / 2, 0)
    if batch.tokens is not None:
        right = right.sum(-1) / _before_end(targets[0]).sum(-1).clamp(min=1)
    return -(right * batch.weights).sum(-1)


def answered(
    logits: Float[Tensor, "batch question *token answer"], batch: Batch, num_answers: int, tokens: Tokens | None = None
) -> Bool[Tensor, "batch question"]:
    """Which questions have the right answer as their most likely one.

    Where tokens were chosen, these count; the items of a list may come in any order.
    """
    targets = answer_targets(batch, num_answers, pointer=logits.shape[-1] > num_answers)
    if tokens is not None:
        return _same_tokens(tokens, targets)
    chosen = logits.argmax(-1)
    return torch.stack([chosen == target for target in targets]).any(0)


def answer_targets(batch: Batch, num_answers: int, *, pointer: bool) -> Ways:
    """Where the right answer stands among the logits: as a class and, in a model that points, as a word of the story.

    Each is -1 where the answer cannot be given so. A word whose spelling is hidden is no class.
    """
    classes, slots = (batch.answers, batch.answer_slots) if batch.tokens is None else (batch.tokens, batch.token_slots)
    if not pointer:
        return [classes]
    assert slots is not None
    spelled = batch.slot_words.gather(1, slots.flatten(1)).view_as(slots) != UNKNOWN
    return [torch.where(spelled, classes, -1), torch.where(slots > 0, slots + num_answers, -1)]


def right_tokens(batch: Batch, num_answers: int) -> Tokens:
    """The right tokens as places among the logits, for training; an end where there is none.

    A token that can be given in both ways is a class or a word of the story at random, so that a model learns to go on
    from either.
    """
    assert batch.key is not None
    classes, words = answer_targets(batch, num_answers, pointer=True)
    draw = uniform(batch.key, tuple(classes.shape), _WAY_STREAM) < 0.5
    return torch.where((words >= 0) & (draw | (classes < 0)), words, classes).clamp(min=END_CLASS)


def _before_end(classes: Tokens) -> Bool[Tensor, "batch question token"]:
    """Which tokens are neither the end nor padding behind it."""
    return (classes == END_CLASS).cumsum(-1) == 0


def _same_tokens(tokens: Tokens, targets: Ways) -> Bool[Tensor, "batch question"]:
    """Whether the tokens are the right ones in any order: as many of them, and each of the right ones as often."""
    right, given = _before_end(targets[0]), tokens != END_CLASS
    hits = torch.stack([tokens.unsqueeze(-1) == way.unsqueeze(-2) for way in targets]).any(0)
    twins = torch.stack([(way.unsqueeze(-1) == way.unsqueeze(-2)) & (way >= 0).unsqueeze(-1) for way in targets]).any(0)
    twins = twins | torch.eye(right.shape[-1], dtype=torch.bool, device=right.device)
    given_as = (hits & given.unsqueeze(-1)).sum(-2)
    wanted_as = (twins & right.unsqueeze(-2)).sum(-1)
    return ((given_as == wanted_as) | ~right).all(-1) & (given.sum(-1) == right.sum(-1))


def without_spare_classes(
    logits: Float[Tensor, "*axes answer"], own: Int[Tensor, "*one"], room: int
) -> Float[Tensor, "*axes answer"]:
    """Rules out the classes from `own` to `room`, which only other models of a fleet have."""
    number = torch.arange(logits.shape[-1], device=logits.device)
    return logits.masked_fill((number >= own) & (number < room), torch.finfo(logits.dtype).min)
