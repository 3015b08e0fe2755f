"""The decoder of the paper (section 4.3): from the entities of the banks that are read to an answer."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from amn.data.vocabulary import COMMA, END_CLASS, Vocabulary
from amn.errors import ConfigError
from amn.models.base import PerQuestion, Tokens, without_spare_classes
from amn.models.layers import GRU, Linear


@dataclass(frozen=True)
class Names:
    """The words of stories, which may be answers besides the classes."""

    vectors: Float[Tensor, "batch name hidden"]  # the embedding of each word
    numbers: Int[Tensor, "batch name"]  # which of the encoder's vectors that is
    told: Bool[Tensor, "batch name"]  # whether the story holds it so far; only then may it be an answer
    spoken: Bool[Tensor, "batch vector"]  # the same of each of the encoder's vectors
    num_classes: Int[Tensor, ""] | None = None  # how many classes the model has itself, where it is given room for more
    # The numbers of neighbouring words in sentences; None where that is not known.
    pairs: Int[Tensor, "batch pair two"] | None = None


torch.export.register_dataclass(Names)


class Decoder(nn.Module):
    """Attention over the entities of each bank that is read, and the answer.

    Args:
        hidden: width of states and questions.
        num_answers: number of answer classes.
        norm: of the states that are read.
        pointer: let answers also be words of the story.
        items: the most tokens of an answer; with more than one, tokens are chosen one after another.
    """

    def __init__(
        self, hidden: int, num_answers: int, norm: Callable[[Tensor], Tensor], *, pointer: bool, items: int = 1
    ) -> None:
        super().__init__()
        self.norm = norm
        self.match = Linear(hidden, hidden, bias=False)
        self.nothing = nn.Parameter(torch.zeros(1))  # the score of reading nothing, so that an empty bank is harmless
        self.growth = nn.Parameter(torch.full((1,), log(2)))
        self.hidden = Linear(hidden, hidden)  # h
        self.prelu = nn.PReLU()
        self.answer = Linear(hidden, num_answers)  # r
        self.pointer = Pointer(hidden) if pointer else None
        self.items = items
        if items < 1 or (items > 1 and not pointer):
            raise ConfigError(f"items must be 1, or more in a model that can point (pointer=true), not {items}")
        if items > 1:
            self.classes = nn.Embedding(num_answers, hidden)  # the vector of a class, as input of the next token
            self.next = GRU(hidden, hidden)
            self.class_words: Tensor  # the vector of the word that each class spells; -1 where there is none
            self.register_buffer("class_words", torch.full((num_answers,), -1), persistent=False)
            self.comma = -1  # the class that separates the items of a list

    def forward(
        self,
        states: Float[Tensor, "batch slot hidden"],
        strengths: Float[Tensor, "batch slot"],
        members: Float[Tensor, "batch bank slot"],
        weights: Float[Tensor, "batch bank"],
        questions: PerQuestion,
    ) -> PerQuestion:
        """The summary of what was read for each question, which `score` turns into an answer."""
        content = self.content(states, strengths)
        attention = self.attend(content, members, questions)
        read = (attention * weights.unsqueeze(1).unsqueeze(-1)).sum(2) @ content  # Eq. (18): g += d(<C_m, ps>)
        summary: Tensor = self.prelu(self.hidden(read) + questions)  # Eq. (19): r(PReLU(h(g) + w_Nq)), r in `score`
        return summary

    def score(self, summary: PerQuestion, names: Names | None = None) -> Float[Tensor, "batch question answer"]:
        """Logits from a summary: of the classes and, where names are given, of these."""
        logits: Tensor = self.answer(summary)
        if self.pointer is None or names is None:
            return logits
        return torch.cat((logits, self.pointer(summary, names)), -1)

    def content(
        self, states: Float[Tensor, "batch slot hidden"], strengths: Float[Tensor, "batch slot"]
    ) -> Float[Tensor, "batch slot hidden"]:
        """Eq. (16): C_m = s_m * w."""
        return strengths.unsqueeze(-1) * self.norm(states)

    def decide(
        self, summary: PerQuestion, names: Names | None, tokens: Tokens | None = None
    ) -> tuple[Float[Tensor, "batch question *token answer"], Tokens | None]:
        """The logits of answers and, where these have several tokens and none to follow are given, what was chosen."""
        if self.items == 1 or names is None:
            return self.score(summary, names), None
        return self.choose(summary, names) if tokens is None else (self.follow(summary, names, tokens), None)

    def choose(self, summary: PerQuestion, names: Names) -> tuple[Float[Tensor, "batch question token answer"], Tokens]:
        """Greedy decoding: the logits of each token, and the tokens chosen, with nothing but ends after the first end.

        Each token updates the summary before the next is chosen: y' = GRU(u, y), where u is the vector of the word or
        of the class. No two items of a list begin with the same word.
        """
        scores, chosen = [self.score(summary, names)], list[Tensor]()
        spelled = torch.cat((self.class_words.expand(names.numbers.shape[0], -1), names.numbers), -1).unsqueeze(1)
        word = torch.full_like(summary[..., 0], -1, dtype=torch.long)
        listed = torch.zeros_like(spelled, dtype=torch.bool)  # which choices spell the first word of an item
        for place in range(self.items):
            begins = chosen[-1] == self.comma if place else torch.ones_like(summary[..., 0], dtype=torch.bool)
            within = ~begins.unsqueeze(-1)  # an item; ONNX Runtime has no choice between booleans
            barred = (listed & ~within) | (self.apart(word, spelled, names) & within)
            allowed = scores[-1].masked_fill(barred, torch.finfo(summary.dtype).min)
            if names.num_classes is not None:
                allowed = without_spare_classes(allowed, names.num_classes, self.classes.num_embeddings)
            chosen.append(allowed.argmax(-1))
            word = spelled.expand(-1, summary.shape[1], -1).gather(-1, chosen[-1].unsqueeze(-1)).squeeze(-1)
            first = torch.where(begins, word, -1).unsqueeze(-1)
            listed = listed | ((spelled == first) & (spelled >= 0))
            if place + 1 < self.items:
                summary = self.next(self.next.input(self.vectors(chosen[-1], names)), summary)
                scores.append(self.score(summary, names))
        return torch.stack(scores, -2), _ended(torch.stack(chosen, -1))

    @torch.no_grad()
    def know(self, vocabulary: Vocabulary) -> None:
        """Notes which classes and which words of a story are the same word: a list holds it only once."""
        if self.items > 1:
            self.class_words.copy_(torch.tensor(vocabulary.class_words))
            self.class_words[END_CLASS] = -1
            self.comma = vocabulary.answer_id(COMMA)

    @staticmethod
    def apart(
        words: Int[Tensor, "batch question"], spelled: Int[Tensor, "batch one answer"], names: Names
    ) -> Bool[Tensor, "batch question answer"]:
        """Which choices are words that never follow these words in the story, so that no name holds both."""
        if names.pairs is None:
            return torch.zeros_like(spelled, dtype=torch.bool)
        first, second = names.pairs.unsqueeze(1).unbind(-1)
        hits = (first == words.unsqueeze(-1)).int()
        after = hits.new_zeros(*words.shape, names.spoken.shape[-1]).scatter_add(-1, second.expand_as(hits), hits)
        never = (after == 0) & names.spoken.unsqueeze(1)
        told = names.spoken.gather(-1, words.clamp(min=0)) & (words >= 0)
        places = spelled.clamp(min=0).expand(-1, words.shape[1], -1)
        return never.gather(-1, places) & (spelled >= 0) & told.unsqueeze(-1)

    def follow(
        self, summary: PerQuestion, names: Names, tokens: Tokens
    ) -> Float[Tensor, "batch question token answer"]:
        """The logits that `choose` would give if it chose these tokens (teacher forcing)."""
        tokens = tokens[..., : self.items]
        inputs = self.next.input(self.vectors(tokens.flatten(1), names)).unflatten(1, tokens.shape[1:])
        summaries = [summary]
        for gates in inputs[:, :, :-1].unbind(2):
            summaries.append(self.next(gates, summaries[-1]))
        return self.score(torch.stack(summaries, 2).flatten(1, 2), names).unflatten(1, tokens.shape[1:])

    def vectors(self, tokens: Int[Tensor, "batch token"], names: Names) -> Float[Tensor, "batch token hidden"]:
        """The vector of each token, of its class or its word; by products, since the gradient of a lookup is slow."""
        count = self.classes.num_embeddings
        numbers = torch.arange(count + names.vectors.shape[1], device=tokens.device)
        chosen = (tokens.unsqueeze(-1) == numbers).to(names.vectors.dtype)
        classes = chosen[..., :count].reshape(-1, count) @ self.classes.weight
        return classes.view(*tokens.shape, -1) + chosen[..., count:] @ names.vectors

    def attend(
        self,
        content: Float[Tensor, "batch slot hidden"],
        members: Float[Tensor, "batch bank slot"],
        questions: PerQuestion,
    ) -> Float[Tensor, "batch question bank slot"]:
        """Eq. (17): ps = softmax(<C_m, w_Nq>) within each bank."""
        scores = self.match(questions) @ content.transpose(1, 2) / sqrt(content.shape[-1])
        read = (members > 0).any(1, keepdim=True)
        top = scores.detach().masked_fill(~read, -torch.inf).amax(-1, keepdim=True)
        top = torch.maximum(top, self.nothing.detach())
        mass = members.unsqueeze(1) * torch.exp((scores - top).clamp(max=0)).unsqueeze(2)
        return mass / (mass.sum(-1, keepdim=True) + torch.exp(self.nothing - top).unsqueeze(2))


class Pointer(nn.Module):
    """Answers that are words of the story: the summary of eq. (19) says which, by the word's embedding.

    It is a vocabulary of answers that comes with the story, and not a further read of the memory: only banks are read,
    and the word of an answer need not be in them.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.of_summary = Linear(hidden, hidden)

    def forward(self, summary: PerQuestion, names: Names) -> Float[Tensor, "batch question name"]:
        """The score <W y, u> / sqrt(hidden) of each word; the lowest number where the story does not hold it yet."""
        scores = self.of_summary(summary) @ names.vectors.transpose(1, 2) / sqrt(summary.shape[-1])
        return scores.masked_fill(~names.told.unsqueeze(1), torch.finfo(scores.dtype).min)


def _ended(chosen: Tokens) -> Tokens:
    """The tokens with nothing but ends after the first end."""
    end = (chosen == END_CLASS).long()
    return torch.where(end.cumsum(-1) > end, END_CLASS, chosen)
