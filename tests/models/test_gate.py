"""The gate: what its torch module computes."""

import math

import numpy as np
import torch

from amn.models.gate import Gate


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def _gru(gru: torch.nn.Module, embedding: np.ndarray, row: list[int]) -> np.ndarray:
    """A GRU over the words of a row, a number at a time."""
    weight, bias = gru.input.weight.detach().numpy(), gru.input.bias.detach().numpy()
    inner, inner_bias = gru.state.weight.detach().numpy(), gru.state.bias.detach().numpy()
    width = embedding.shape[1]
    state = [0.0] * width
    for word in row:
        x = [sum(w * v for w, v in zip(line, embedding[word])) + b for line, b in zip(weight, bias)]
        h = [sum(w * v for w, v in zip(line, state)) + b for line, b in zip(inner, inner_bias)]
        after = []
        for i in range(width):
            reset, update = _sigmoid(x[i] + h[i]), _sigmoid(x[width + i] + h[width + i])
            new = math.tanh(x[2 * width + i] + reset * h[2 * width + i])
            after.append((1 - update) * new + update * state[i])
        state = after
    return np.array(state)


def _literal_logit(gate: Gate, sentence: list[int], question: list[int]) -> float:
    embedding = gate.embedding.weight.detach().numpy()
    heard = gate.sentence.weight.detach().numpy() @ _gru(gate.sentence_gru, embedding, sentence)
    heard = heard + gate.sentence.bias.detach().numpy()
    asked = gate.question.weight.detach().numpy() @ _gru(gate.question_gru, embedding, question)
    return float(gate.verdict.weight.detach().numpy()[0] @ np.tanh(heard + asked) + gate.verdict.bias.item())


def test_the_logits_are_those_of_the_formula_whatever_the_padding() -> None:
    torch.manual_seed(0)
    gate = Gate(30, 6)
    sentences = [[3, 4, 5], [7], [2, 2, 9, 11, 29]]
    questions = [[5, 6], [8, 3, 1]]
    gate.requires_grad_(False)
    padded = torch.tensor([row + [0] * (6 - len(row)) for row in sentences])
    asked = torch.tensor([row + [0] * (4 - len(row)) for row in questions])

    found = gate(padded, asked)

    expected = [[_literal_logit(gate, sentence, question) for question in questions] for sentence in sentences]
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_a_row_without_words_has_a_state_of_zeros() -> None:
    torch.manual_seed(0)
    gate = Gate(30, 6)
    nothing = torch.zeros(1, 3, dtype=torch.long)
    torch.testing.assert_close(gate.heard(nothing)[0], gate.sentence.bias)
