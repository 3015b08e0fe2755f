"""EntNet with the same care as the default model's fast path, so that a comparison of the two is one of models.

It is EntNet's maths in numpy: nothing is padded, a sentence that several stories tell is encoded once, what depends on
weights alone is computed once, and no word graph is built.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from amn.data.examples import Example, Words
from amn.data.vocabulary import Vocabulary
from amn.fast.weights import Array, array, linear, product
from amn.models.rivals.entnet import EntNet

_LEAST_NORM = 1e-12  # of torch's normalize


class FastEntNet:
    """Answers of an EntNet, from words to classes.

    Args:
        model: whose weights to take.
        vocabulary: the words that it knows.
    """

    def __init__(self, model: EntNet, vocabulary: Vocabulary) -> None:
        self.vocabulary, self.places = vocabulary, model.config.max_words
        words = array(model.embedding.weight)
        words[0] = 0
        self.statements = (array(model.statement_mask)[:, None] * words).reshape(-1, words.shape[1])
        self.asked = (array(model.question_mask)[:, None] * words).reshape(-1, words.shape[1])
        self.keys = array(model.keys())
        self.of_key = product(self.keys, linear(model.of_key)[0])
        self.gate_bias, self.slopes = array(model.gate_bias), array(model.slopes)
        layers = (model.of_memory, model.of_statement, model.of_read, model.answer)
        self.of_memory, self.of_statement, self.of_read, self.answer = (linear(layer)[0] for layer in layers)

    def __call__(self, examples: Sequence[Example]) -> Tensor:
        """The class of the first question of each story."""
        order = sorted(range(len(examples)), key=lambda i: -len(examples[i].sentences))
        stories = [examples[i] for i in order]
        distinct = {sentence: None for story in stories for sentence in story.sentences}
        number = {sentence: i for i, sentence in enumerate(distinct)}
        told = self._encode(self.statements, list(distinct))
        of_told, gates = product(told, self.of_statement), product(told, self.keys.T.copy()) + self.gate_bias
        memories = np.repeat(self._unit(self.keys.copy())[None], len(stories), 0)
        going = len(stories)
        for step in range(len(stories[0].sentences)):
            while len(stories[going - 1].sentences) <= step:
                going -= 1
            said = np.array([number[story.sentences[step]] for story in stories[:going]])
            memories[:going] = self._step(memories[:going], told[said], of_told[said], gates[said])
        questions = self._encode(self.asked, [story.questions[0] for story in stories])
        classes = np.empty(len(stories), np.int64)
        classes[order] = self._decode(memories, questions)
        return torch.from_numpy(classes)

    def _encode(self, table: Float[Array, "row hidden"], texts: Sequence[Words]) -> Float[Array, "text hidden"]:
        """s_t = sum_i f_i * e_i, looked up in a table of all words at all places."""
        rows, size, last = [], len(self.vocabulary.words), self.places - 1
        for text in texts:
            rows += [min(place, last) * size + self.vocabulary.word_id(word) for place, word in enumerate(text)]
        starts = [0, *np.cumsum([len(text) for text in texts])[:-1].tolist()]
        return np.add.reduceat(table.take(rows, 0), starts)

    def _step(
        self,
        memories: Float[Array, "story key hidden"],
        told: Float[Array, "story hidden"],
        of_told: Float[Array, "story hidden"],
        gates: Float[Array, "story key"],
    ) -> Float[Array, "story key hidden"]:
        """g_j = sigmoid(s . h_j + s . w_j), h~_j = phi(U h_j + V w_j + W s), h_j = h_j + g_j * h~_j on the sphere."""
        gate = np.matmul(memories, told[:, :, None])[:, :, 0] + gates
        gate = 0.5 * (1 + np.tanh(0.5 * gate))
        candidate = product(memories.reshape(-1, memories.shape[2]), self.of_memory).reshape(memories.shape)
        candidate += self.of_key
        candidate += of_told[:, None]
        candidate = self._phi(candidate)
        candidate *= gate[:, :, None]
        candidate += memories
        return self._unit(candidate)

    def _decode(
        self, memories: Float[Array, "story key hidden"], questions: Float[Array, "story hidden"]
    ) -> Int[Array, " story"]:
        """p_j = softmax(q . h_j), u = sum_j p_j h_j, y = R phi(q + H u)."""
        scores = np.matmul(memories, questions[:, :, None])[:, :, 0]
        scores = np.exp(scores - scores.max(1, keepdims=True))
        scores /= scores.sum(1, keepdims=True)
        read = np.matmul(scores[:, None], memories)[:, 0]
        return product(self._phi(product(read, self.of_read) + questions), self.answer).argmax(1)

    def _phi(self, values: Float[Array, "*axes hidden"]) -> Float[Array, "*axes hidden"]:
        return np.where(values > 0, values, values * self.slopes)

    @staticmethod
    def _unit(values: Float[Array, "*axes hidden"]) -> Float[Array, "*axes hidden"]:
        norm = np.sqrt(np.vecdot(values, values))
        values /= np.maximum(norm, _LEAST_NORM)[..., None]
        return values
