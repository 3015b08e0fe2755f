"""Sweeps that are killed go on, and repeat nothing."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amn.config import RunSpec
from amn.errors import AMNError, ConfigError, MissingExtraError
from amn.store.run_directory import RunDirectory
from amn.training.checkpoint import known_states
from amn.training.engines import Job, Queue, Update, sweep
from amn.training.sweep import Options, SweepEvent, train_fleets, train_steps
from training.small import LONG, amn, ledger_of, log_of, options_of, small, trainer_of

WAIT_SECONDS = 120.0


def grid(data: Path, epochs: int = 4) -> list[RunSpec]:
    return [small(data, task, seed, "encdec", epochs=epochs, window=LONG) for task in (1, 6) for seed in (0, 1)]


def words(specs: list[RunSpec], out: Path, *more: object) -> list[object]:
    """The command line of a grid."""
    line = ["sweep", "--tasks", "1,6", "--models", "encdec", "--seeds", "0-1", *options_of(specs[0]), "--out", out]
    return [*line, "--checkpoint-every", "0.1", "--device", "cpu", *more]


def wait_for(what: Callable[[], Any]) -> Any:
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise TimeoutError(what)


def assert_all_equal_single_runs(specs: list[RunSpec], out: Path, alone: Path) -> None:
    """Every run has finished with the log and the result that it has when it trains by itself."""
    for spec in specs:
        trainer_of([spec], alone).fit()
        found, expected = log_of(out, spec), log_of(alone, spec)
        assert [entry["epoch"] for entry in found] == [entry["epoch"] for entry in expected]
        assert [entry["loss"] for entry in found] == [pytest.approx(entry["loss"], abs=1e-3) for entry in expected]
        assert RunDirectory(out / spec.name).finished
    assert not known_states(out, [spec.name for spec in specs])


def test_a_sweep_that_was_stopped_again_and_again_goes_on(data: Path, tmp_path: Path) -> None:
    specs = grid(data)
    for _ in range(60):
        train_fleets(specs, tmp_path / "out", Options(device="cpu", stop_after=0.2), lambda _: None)
        if all(RunDirectory(tmp_path / "out" / spec.name).finished for spec in specs):
            break
    assert_all_equal_single_runs(specs, tmp_path / "out", tmp_path / "alone")
    events = [line["event"] for line in ledger_of(tmp_path / "out")]
    assert events.count("paused") >= 1
    assert events.count("resumed") == events.count("paused")


def test_more_or_fewer_runs_go_on_from_the_same_checkpoints(data: Path, tmp_path: Path) -> None:
    specs, out = grid(data, epochs=3), tmp_path / "out"
    out.mkdir()
    steps = train_steps(specs[:3], out, Options(engine="process", device="cpu", checkpoint_every=1e-6), lambda _: None)
    assert [next(steps).event for _ in range(2)] == ["started", "checkpoint"]
    entries: list[dict[str, Any]] = []
    train_fleets(specs[:1], out, Options(device="cpu"), entries.append)  # the other two keep their checkpoint
    assert [entry["run"] for entry in entries] == [specs[0].name] * 3
    assert known_states(out, [specs[1].name])
    train_fleets(specs, out, Options(device="cpu"), entries.append)
    resumed = [line["runs"] for line in ledger_of(out) if line["event"] == "resumed"]
    assert resumed == [[specs[0].name], [specs[1].name, specs[2].name]]
    assert_all_equal_single_runs(specs, out, tmp_path / "alone")


def test_a_sweep_killed_and_restarted_repeats_nothing(data: Path, tmp_path: Path) -> None:
    specs, out = [*grid(data), small(data, 1, architecture="memn2n", epochs=60)], tmp_path / "out"
    line = ["sweep", "--tasks", "1,6", "--models", "encdec,memn2n", "--seeds", "0-1", *options_of(specs[0])]
    process = amn(*line, "--out", out, "--device", "cpu", "--checkpoint-every", "0.05")
    wait_for(lambda: any(event["event"] == "finished" for event in ledger_of(out)))
    process.kill()
    process.communicate()
    done = [spec for spec in specs if RunDirectory(out / spec.name).finished]
    assert done == specs[:4], "the first fleet had finished, the second had not"
    before = [RunDirectory(out / spec.name).path.joinpath("result.json").stat().st_mtime_ns for spec in done]
    entries: list[dict[str, Any]] = []
    train_fleets(specs[:4], out, Options(device="cpu"), entries.append)
    assert not entries
    assert before == [(out / spec.name / "result.json").stat().st_mtime_ns for spec in done]
    assert_all_equal_single_runs(specs[:4], out, tmp_path / "alone")


def test_processes_train_what_fleets_train_though_one_is_killed(data: Path, tmp_path: Path) -> None:
    specs, out = grid(data, epochs=8), tmp_path / "out"
    process = amn(*words(specs, out, "--engine", "process", "--workers", 2, "--fleet-size", 2))
    (victim,) = wait_for(lambda: [line["worker"] for line in ledger_of(out) if line["event"] == "checkpoint"][:1])
    os.kill(victim, signal.SIGKILL)
    errors = process.communicate(timeout=WAIT_SECONDS)[1]
    assert process.returncode == 0, errors
    events = [line["event"] for line in ledger_of(out)]
    assert events.count("lost") == 1
    assert events.count("resumed") >= 1
    assert_all_equal_single_runs(specs, out, tmp_path / "alone")


def test_a_sweep_of_processes_stops_at_ctrl_c_and_says_how_to_go_on(data: Path, tmp_path: Path) -> None:
    specs, out = grid(data, epochs=2000), tmp_path / "out"
    process = amn(*words(specs, out, "--engine", "process", "--workers", 1))
    wait_for(lambda: [line for line in ledger_of(out) if line["event"] == "checkpoint"])
    process.interrupt()
    errors = process.communicate(timeout=WAIT_SECONDS)[1]
    assert process.returncode == 1
    assert "To continue: amn sweep --tasks 1,6" in errors
    assert "Traceback" not in errors
    assert known_states(out, [specs[0].name])


def test_a_sweep_on_ray_survives_the_loss_of_a_worker(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    specs, out = grid(data, epochs=8), tmp_path / "out"
    process = amn(*words(specs, out, "--engine", "ray", "--workers", 2, "--fleet-size", 2))
    (victim,) = wait_for(lambda: [line["worker"] for line in ledger_of(out) if line["event"] == "checkpoint"][:1])
    os.kill(victim, signal.SIGKILL)
    errors = process.communicate(timeout=WAIT_SECONDS)[1]
    assert process.returncode == 0, errors
    lines = ledger_of(out)
    assert [line["event"] for line in lines].count("lost") == 1
    assert len({line["worker"] for line in lines if "worker" in line}) >= 2
    assert any(line["event"] == "resumed" for line in lines)
    assert_all_equal_single_runs(specs, out, tmp_path / "alone")


def test_a_missing_ray_is_named_with_its_install_line(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adaptive-memory-networks\[ray\]'"):
        sweep(grid(data), tmp_path, lambda _: None, Options(engine="ray"))


def test_a_job_is_given_up_after_three_losses_in_a_row(data: Path, tmp_path: Path) -> None:
    queue = Queue(grid(data)[:1], tmp_path, 1, lambda _: None)
    job = queue.waiting.popleft()
    for _ in range(2):
        queue.lost(job, "killed")
        job = queue.waiting.popleft()
    assert job == Job(job.specs, losses=2)
    job = queue.take(job, Update(event=SweepEvent("checkpoint", (), 0)))
    assert job.losses == 0, "a checkpoint means that it gets on"
    queue.lost(Job(job.specs, losses=2), "killed")
    assert not queue.waiting
    with pytest.raises(AMNError, match="3 workers were lost with it"):
        queue.close()


def test_what_fails_is_told_after_the_others_are_done(data: Path, tmp_path: Path) -> None:
    good, bad = small(data, 1, 0, "encdec"), small(data, 6, 0, "encdec", learning_rate=1e30, warmup_steps=0)
    options = Options(engine="process", workers=1, device="cpu")
    with pytest.raises(AMNError, match=f"the others are done:\n{bad.name}: .*no longer a number"):
        sweep([bad, good], tmp_path, lambda _: None, options)
    assert RunDirectory(tmp_path / good.name).finished
    assert json.loads((tmp_path / "ledger.jsonl").read_text().splitlines()[1])["event"] == "failed"


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"fleet_size": -1}, {"stop_after": 0.0}, {"address": "auto"}])
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Options(**wrong)
