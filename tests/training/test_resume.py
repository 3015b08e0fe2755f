"""Training that was stopped goes on as if it had not been."""

import multiprocessing
import os
import random
import signal
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
import torch

from amn.config import RunSpec
from amn.store.model_directory import load_model
from amn.store.run_directory import RunDirectory
from amn.training.checkpoint import load_state, save_state
from amn.training.loop import Interrupted, Trainer
from training.small import LONG, amn, log_of, options_of, small, stop_at, trainer_of, weights_of

KILLS = 25


def assert_same(out: Path, resumed: Trainer, expected_out: Path, expected: Trainer) -> None:
    """Weights, optimiser, choice and log are equal to the last bit."""
    found, wanted = resumed.fleet.state(), expected.fleet.state()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    assert torch.equal(resumed.best_weights, expected.best_weights)
    assert [best.epoch for best in resumed.best] == [best.epoch for best in expected.best]
    for run in expected.runs:
        assert log_of(out, run.spec) == log_of(expected_out, run.spec)


def two_runs(data: Path) -> list[RunSpec]:
    return [small(data, 1, seed=7), small(data, 6, seed=8)]


@pytest.fixture(scope="module")
def uninterrupted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Trainer]:
    """Two runs that were trained from their first step to their last, and where they are."""
    out = tmp_path_factory.mktemp("whole")
    whole = trainer_of(two_runs(data), out)
    whole.fit()
    return out, whole


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_at_a_random_step_equals_uninterrupted(
    data: Path, tmp_path: Path, uninterrupted: tuple[Path, Trainer], seed: int, number: signal.Signals
) -> None:
    specs = two_runs(data)
    step = random.Random(seed * 100 + number).randint(1, 15)
    with pytest.raises(Interrupted, match="--resume"):
        trainer_of(specs, tmp_path / "cut", stepped=stop_at(step, number)).fit()
    resumed = trainer_of(specs, tmp_path / "cut", resume=True)
    assert resumed.resume()
    assert resumed.epoch * 5 + resumed.step_in_epoch == step
    resumed.fit()
    assert_same(tmp_path / "cut", resumed, *uninterrupted)
    assert not (tmp_path / "cut" / "state").exists()


def test_answers_item_by_item_and_hidden_words_go_on_to_the_last_bit(data: Path, tmp_path: Path) -> None:
    spec = small(data, 1, seed=7, anonymise=0.5, hide_words=0.2)
    spec = replace(spec, settings={**spec.settings, "pointer": True, "items": 3})
    whole = trainer_of([spec], tmp_path / "whole")
    whole.fit()
    with pytest.raises(Interrupted):
        trainer_of([spec], tmp_path / "cut", stepped=stop_at(7)).fit()
    resumed = trainer_of([spec], tmp_path / "cut", resume=True)
    assert resumed.resume()
    resumed.fit()
    assert_same(tmp_path / "cut", resumed, tmp_path / "whole", whole)


def test_stopping_again_and_again_changes_nothing(data: Path, tmp_path: Path) -> None:
    spec = small(data)
    whole = trainer_of([spec], tmp_path / "whole")
    whole.fit()
    turns = trainer_of([spec], tmp_path / "turns")
    assert sum(1 for _ in iter(lambda: turns.fit(1e-6), True)) == 15
    assert_same(tmp_path / "turns", turns, tmp_path / "whole", whole)


def test_the_second_ctrl_c_does_not_wait(data: Path, tmp_path: Path) -> None:
    def twice(_done: int, _total: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        trainer_of([small(data)], tmp_path, stepped=twice).fit()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_member_keeps_its_place_when_another_has_finished(data: Path, tmp_path: Path) -> None:
    longer, shorter = small(data, 1, seed=1), small(data, 6, seed=2)
    with pytest.raises(Interrupted):
        trainer_of([longer, shorter], tmp_path / "cut", stepped=stop_at(7)).fit()
    resumed = trainer_of([shorter], tmp_path / "cut", resume=True)
    resumed.resume()
    resumed.fit()
    alone = trainer_of([shorter], tmp_path / "alone")
    alone.fit()
    for name, value in weights_of(alone, shorter).items():
        torch.testing.assert_close(weights_of(resumed, shorter)[name], value, atol=1e-3, rtol=0)
    assert [e["epoch"] for e in log_of(tmp_path / "cut", shorter)] == [0, 1, 2]
    assert resumed.fleet.adam.steps.tolist() == alone.fleet.adam.steps.tolist() == [[9.0]]


def test_a_run_without_a_checkpoint_starts_its_log_anew(data: Path, tmp_path: Path) -> None:
    spec = small(data)
    trainer_of([spec], tmp_path).runs[0].directory.log({"epoch": 0})
    again = trainer_of([spec], tmp_path, resume=True)
    assert not again.resume()
    again.fit()
    assert [entry["epoch"] for entry in log_of(tmp_path, spec)] == [0, 1, 2]


def save_for_ever(path: Path) -> None:
    """Writes checkpoints whose every number is their own."""
    for number in count(1):
        tensors = {name: torch.full((300_000,), float(number)) for name in ("weights", "best")}
        save_state(path, tensors, {"epoch": number})


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_checkpoint_survives_kill_9_at_any_moment(tmp_path: Path) -> None:
    path, rng, last = tmp_path / "state", random.Random(0), 0
    save_state(path, {"weights": torch.zeros(1), "best": torch.zeros(1)}, {"epoch": 0})
    for _ in range(KILLS):
        writer = multiprocessing.get_context("fork").Process(target=save_for_ever, args=(path,))
        writer.start()
        time.sleep(rng.uniform(0.005, 0.08))
        writer.kill()
        writer.join()
        tensors, position = load_state(path)
        assert all((value == position["epoch"]).all() for value in tensors.values())
        last = max(last, position["epoch"])
    assert last > 0, "no process lived long enough to write"


def test_a_run_killed_again_and_again_ends_like_one_that_was_not(data: Path, tmp_path: Path) -> None:
    spec = small(data, epochs=12, window=LONG)  # it must not end before it is killed
    out, rng = tmp_path / "killed", random.Random(1)
    words = [
        "train",
        "--task",
        1,
        *options_of(spec),
        "--out",
        out / spec.name,
        "--resume",
        "--checkpoint-every",
        "0.01",
    ]
    state = RunDirectory(out / spec.name).state
    for _ in range(3):
        process = amn(*words)
        before = state.stat().st_mtime_ns if state.exists() else 0
        while process.returncode is None and not (state.exists() and state.stat().st_mtime_ns > before):
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.communicate()
        load_state(state)
    assert amn(*words).communicate()[1].count("left") > 0
    whole = trainer_of([spec], tmp_path / "whole")
    whole.fit()
    assert log_of(out, spec) == log_of(tmp_path / "whole", spec)
    assert_models_equal(out, tmp_path / "whole", spec)
    assert not list((out / spec.name).glob(".*")), "half-written files are left"


def assert_models_equal(found: Path, expected: Path, spec: RunSpec) -> None:
    models = [load_model(RunDirectory(out / spec.name).best).model.state_dict() for out in (found, expected)]
    assert all(torch.equal(models[0][name], value) for name, value in models[1].items())
