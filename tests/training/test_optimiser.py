"""Schedules, and Adam over rows against the one of torch."""

from dataclasses import replace

import pytest
import torch

from amn.config import TrainConfig
from amn.training.optimiser import Adam, learning_rate


def rates(config: TrainConfig, steps_per_epoch: int) -> list[float]:
    return [learning_rate(config, step, steps_per_epoch) for step in range(config.epochs * steps_per_epoch)]


def test_the_rate_warms_up_stays_and_falls_to_a_hundredth() -> None:
    found = rates(TrainConfig(epochs=10, learning_rate=1.0, warmup_steps=10), 10)
    assert found[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert found[10:51] == pytest.approx([1.0] * 41)
    assert found[75] == pytest.approx(0.505)
    assert found[-1] == pytest.approx(0.01, abs=2e-3)
    assert all(later <= earlier for earlier, later in zip(found[10:], found[11:], strict=False))


def test_the_rate_is_halved() -> None:
    config = TrainConfig(epochs=6, learning_rate=1.0, warmup_steps=0, schedule="halving", halve_every=2)
    assert rates(config, 3) == [1.0] * 6 + [0.5] * 6 + [0.25] * 6
    assert rates(replace(config, halve_after=1), 3) == [1.0] * 9 + [0.5] * 6 + [0.25] * 3


def test_plain_steps_go_along_the_clipped_gradient_and_leave_other_rows_to_adam() -> None:
    weights, gradient = torch.ones(3, 2), torch.tensor([[3.0, 4.0], [0.3, 0.4], [3.0, 4.0]])
    rate, clip, every = torch.full((3, 1), 0.5), torch.ones(3, 1), torch.ones(3, 1, dtype=torch.bool)
    plain = torch.tensor([[True], [True], [False]])
    Adam.for_weights(weights).update(weights, gradient, rate, clip, every, plain=plain)
    torch.testing.assert_close(weights[:2], 1 - 0.5 * torch.tensor([[0.6, 0.8], [0.3, 0.4]]))
    torch.testing.assert_close(weights[2], torch.tensor([0.5, 0.5]))


def test_adam_equals_that_of_torch_for_each_row() -> None:
    generator, decay = torch.Generator().manual_seed(0), [0.0, 0.5, 0.1]
    weights, clip, rate = torch.randn(3, 5, generator=generator), torch.tensor([[9.0], [0.1], [9.0]]), [0.1, 0.2, 0.3]
    rows = [torch.nn.Parameter(row.clone()) for row in weights]
    beta = [0.999, 0.99, 0.9]
    theirs = [torch.optim.AdamW([rows[i]], rate[i], (0.9, beta[i]), weight_decay=decay[i]) for i in range(3)]
    ours = Adam.for_weights(weights)
    for step in range(5):
        gradient = torch.randn(3, 5, generator=generator)
        active = torch.tensor([[True], [True], [step < 2]])
        columns = (torch.tensor(column).unsqueeze(1) for column in (rate, decay, beta))
        of_rate, of_decay, of_beta = columns
        ours.update(weights, gradient, of_rate, clip, active, of_decay, beta_2=of_beta)
        for i, (row, optimiser) in enumerate(zip(rows, theirs, strict=True)):
            row.grad = gradient[i].clone()
            torch.nn.utils.clip_grad_norm_([row], clip[i].item())
            if active[i]:
                optimiser.step()
    torch.testing.assert_close(weights, torch.stack([row.detach() for row in rows]))
    assert ours.steps.flatten().tolist() == [5, 5, 2]
