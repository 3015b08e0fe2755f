"""The gate in front of the memory: which sentences reach it at all. The paper has none.

It judges a sentence from its words and those of a question before the memory reads it, and shares no weights with the
memory: so it is trained separately, and costs little for each word of a long text.

    logit     = v . tanh(A s + B q + b) + c            s, q: a GRU over the words of the sentence, of the question
    threshold = min(highest, lowest - slope ln share)  share: how much of the text so far was let in

A sentence is let in where its logit is above the threshold. In a story nearly every sentence matters, so the threshold
is low, and wordings that training never had pass; in a book nearly none does, and the threshold rises as sentences are
turned away. For a sentence with a pronoun there is no highest threshold: the sentence before, which says whom *she*
means, was turned away in a book.

What passes is a fact of a kind that the question is about. A gate may also predict whether this question needs this
fact:

    need      = u . tanh(C s + D q + E_m) + d          m: which names of the question the sentence holds

A fact is let in where its need is above 0. One with a pronoun follows the fact before it: it is let in where that was,
and has a separate highest threshold, which hardly any such sentence of a book passes.
"""

from math import inf

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from amn.models.layers import GRU, Linear

HIGHEST = 2  # its place in `bars`, after the lowest threshold and the slope
SHARED = 4  # a sentence holds no name of the question, its first, others, or both


class Need(nn.Module):
    """Predicts which facts a question needs.

    Args:
        vocabulary_size: number of words.
        width: of states.
    """

    def __init__(self, vocabulary_size: int, width: int) -> None:
        super().__init__()
        self.sentence = Linear(width, width, bias=False)
        self.question = Linear(width, width, bias=False)
        self.shared = nn.Embedding(SHARED, width)
        self.verdict = Linear(width, 1)
        self.names = nn.Parameter(torch.zeros(vocabulary_size), requires_grad=False)  # 1 for words that are names
        self.highest = nn.Parameter(torch.zeros(1), requires_grad=False)  # threshold of sentences with a pronoun

    def forward(
        self,
        sentence: Float[Tensor, "*#axes width"],
        question: Float[Tensor, "*#axes width"],
        shared: Int[Tensor, "*axes"],
    ) -> Float[Tensor, "*axes"]:
        """U . tanh(C s + D q + E_m) + d, from the states of sentences and questions."""
        both = self.sentence(sentence) + self.question(question) + self.shared(shared)
        return self.verdict(torch.tanh(both)).squeeze(-1)


class Gate(nn.Module):
    """Lets in what may matter to a question and turns away the rest.

    Args:
        vocabulary_size: number of words; all unknown ones are one.
        width: of its states.
        needs: whether it also predicts what a question needs.
    """

    def __init__(self, vocabulary_size: int, width: int, needs: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.sentence_gru = GRU(width, width)
        self.question_gru = GRU(width, width)
        self.sentence = Linear(width, width)
        self.question = Linear(width, width, bias=False)
        self.verdict = Linear(width, 1)
        self.bars = nn.Parameter(torch.zeros(3), requires_grad=False)  # the thresholds; saved weights go by this name
        self.refers = nn.Parameter(torch.zeros(vocabulary_size), requires_grad=False)  # 1 for words that are pronouns
        self.need = Need(vocabulary_size, width) if needs else None

    def forward(
        self, sentences: Int[Tensor, "sentence word"], questions: Int[Tensor, "question word_q"]
    ) -> Float[Tensor, "sentence question"]:
        """The logit of each sentence for each question.

        Args:
            sentences: numbers of words, 0 for padding.
            questions: the same.
        """
        return self.logit(self.of_sentences(sentences).unsqueeze(1) + self.of_questions(questions))

    def needed(
        self,
        sentences: Int[Tensor, "sentence word"],
        questions: Int[Tensor, "question word_q"],
        shared: Int[Tensor, "sentence question"],
    ) -> Float[Tensor, "sentence question"]:
        """The need of each question for each sentence; 1 everywhere for a gate that does not predict it.

        Args:
            sentences: numbers of words, 0 for padding.
            questions: the same.
            shared: which names of the question a sentence holds: 1 for its first, and 2 more for any other.
        """
        if self.need is None:
            return torch.ones(shared.shape)
        said, asked = self.last(self.sentence_gru, sentences), self.last(self.question_gru, questions)
        return self.need(said.unsqueeze(1), asked, shared)

    def highest(self, pronoun: bool) -> float:
        """The highest threshold of a sentence; one with a pronoun may have none."""
        if not pronoun:
            return float(self.bars[HIGHEST])
        return inf if self.need is None else float(self.need.highest)

    def referring(self, sentences: Int[Tensor, "sentence word"]) -> Float[Tensor, " sentence"]:
        """1 for sentences with a pronoun."""
        return self.refers[sentences].amax(-1)

    def of_sentences(self, sentences: Int[Tensor, "sentence word"]) -> Float[Tensor, "sentence width"]:
        """A s + b for each sentence."""
        return self.sentence(self.last(self.sentence_gru, sentences))

    def of_questions(self, questions: Int[Tensor, "question word_q"]) -> Float[Tensor, "question width"]:
        """B q for each question."""
        return self.question(self.last(self.question_gru, questions))

    def logit(self, both: Float[Tensor, "*axes width"]) -> Float[Tensor, "*axes"]:
        """V . tanh(x) + c, where x is the sum of both projections."""
        return self.verdict(torch.tanh(both)).squeeze(-1)

    def last(self, gru: GRU, rows: Int[Tensor, "row word"]) -> Float[Tensor, "row width"]:
        """The last state of a GRU over the words of each row."""
        gates = nn.functional.embedding(rows, gru.input(self.embedding.weight))
        return gru.over(gates, rows > 0)[:, -1]
