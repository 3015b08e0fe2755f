"""The gate: what its torch module computes."""

import numpy as np
import torch

from amn.models.gate import Gate
from amn.models.layers import GRU


def _sigmoid(value: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-value))


def _last_state(gru: GRU, embedding: np.ndarray, row: list[int]) -> np.ndarray:
    state = np.zeros(embedding.shape[1])
    for word in row:
        x = np.split(gru.input.weight.numpy() @ embedding[word] + gru.input.bias.numpy(), 3)
        h = np.split(gru.state.weight.numpy() @ state + gru.state.bias.numpy(), 3)
        reset, update = _sigmoid(x[0] + h[0]), _sigmoid(x[1] + h[1])
        state = (1 - update) * np.tanh(x[2] + reset * h[2]) + update * state
    return state


def _literal_logit(gate: Gate, sentence: list[int], question: list[int]) -> float:
    embedding = gate.embedding.weight.numpy()
    heard = gate.sentence.weight.numpy() @ _last_state(gate.sentence_gru, embedding, sentence)
    asked = gate.question.weight.numpy() @ _last_state(gate.question_gru, embedding, question)
    both = np.tanh(heard + gate.sentence.bias.numpy() + asked)
    return float(gate.verdict.weight.numpy()[0] @ both + gate.verdict.bias.item())


def test_the_logits_are_those_of_the_formula_whatever_the_padding() -> None:
    torch.manual_seed(0)
    gate = Gate(30, 6).requires_grad_(False)
    sentences, questions = [[3, 4, 5], [7], [2, 2, 9, 11, 29]], [[5, 6], [8, 3, 1]]
    padded = torch.tensor([row + [0] * (6 - len(row)) for row in sentences])
    asked = torch.tensor([row + [0] * (4 - len(row)) for row in questions])

    found = gate(padded, asked)

    expected = [[_literal_logit(gate, sentence, question) for question in questions] for sentence in sentences]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_a_row_without_words_has_a_state_of_zeros() -> None:
    gate = Gate(30, 6)
    torch.testing.assert_close(gate.of_sentences(torch.zeros(1, 3, dtype=torch.long))[0], gate.sentence.bias)


def test_the_need_is_that_of_the_formula_whatever_the_padding() -> None:
    torch.manual_seed(1)
    gate = Gate(30, 6, needs=True).requires_grad_(False)
    assert gate.need is not None
    sentences, questions, shared = [[3, 4, 5], [7]], [[5, 6], [8, 3, 1], [2]], [[0, 1, 2], [3, 0, 1]]
    padded = torch.tensor([row + [0] * (6 - len(row)) for row in sentences])
    asked = torch.tensor([row + [0] * (4 - len(row)) for row in questions])

    found = gate.needed(padded, asked, torch.tensor(shared))

    embedding, need = gate.embedding.weight.numpy(), gate.need
    for i, sentence in enumerate(sentences):
        for j, question in enumerate(questions):
            s, q = (
                _last_state(gate.sentence_gru, embedding, sentence),
                _last_state(gate.question_gru, embedding, question),
            )
            x = need.sentence.weight.numpy() @ s + need.question.weight.numpy() @ q
            x = np.tanh(x + need.shared.weight.numpy()[shared[i][j]])
            expected = need.verdict.weight.numpy()[0] @ x + need.verdict.bias.item()
            np.testing.assert_allclose(found[i, j].item(), expected, rtol=1e-4, atol=1e-5)


def test_a_gate_that_cannot_tell_needs_everything() -> None:
    rows = torch.tensor([[2, 3]])
    assert Gate(30, 6).needed(rows, rows, torch.zeros(1, 1, dtype=torch.long)).item() == 1.0
