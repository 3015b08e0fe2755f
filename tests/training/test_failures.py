"""What goes wrong on disk, and with numbers: a clear error, and what was there before stays."""

import errno
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from amn.config import RunSpec, TrainConfig
from amn.data import files
from amn.errors import CheckpointError, ConfigError, DataError
from amn.store.atomic import write_atomically
from amn.store.run_directory import RunDirectory
from amn.training.checkpoint import load_state, save_state
from amn.training.loop import Diverged
from amn.training.ray_engine import unpack
from amn.training.sweep import Grid, parse_numbers, parse_tasks, quick
from training.small import small, trainer_of

STATE = {"weights": torch.arange(6.0)}


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a file system is not permitted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_the_checkpoint_before_it(tiny_disk: Path) -> None:
    path = tiny_disk / "state"
    save_state(path, STATE, {"epoch": 1})
    with pytest.raises(CheckpointError, match="could not be written.*intact.*Make room.*--resume"):
        save_state(path, {"weights": torch.zeros(100_000)}, {"epoch": 2})
    assert load_state(path)[1] == {"epoch": 1}
    assert [file.name for file in tiny_disk.iterdir()] == ["state"]


def test_a_disk_that_fills_during_training_is_an_error_that_says_so(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = small(data)
    first = trainer_of([spec], tmp_path)
    first.fit(1e-6)
    before = (tmp_path / "state").read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files, "_flush", full)
    resumed = trainer_of([spec], tmp_path, resume=True)
    resumed.resume()
    with pytest.raises(CheckpointError, match="No space left on device"):
        resumed.fit()
    assert (tmp_path / "state").read_bytes() == before
    monkeypatch.undo()
    again = trainer_of([spec], tmp_path, resume=True)
    again.resume()
    assert again.fit()


def test_a_folder_that_cannot_be_written_is_named(data: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="file.*could not be written.*another --out"):
        trainer_of([small(data)], tmp_path / "file")


@pytest.mark.parametrize("broken", [b"", b"not a checkpoint", b"\xff" * 4096])
def test_a_corrupt_checkpoint_is_named(data: Path, tmp_path: Path, broken: bytes) -> None:
    trainer_of([small(data)], tmp_path)
    (tmp_path / "state").write_bytes(broken)
    with pytest.raises(CheckpointError, match="state: not a readable checkpoint.*delete it to start"):
        trainer_of([small(data)], tmp_path, resume=True).resume()


def test_a_checkpoint_that_was_cut_short_is_named(data: Path, tmp_path: Path) -> None:
    trainer_of([small(data)], tmp_path).fit(1e-6)
    path = tmp_path / "state"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match="not a readable checkpoint"):
        trainer_of([small(data)], tmp_path, resume=True).resume()


def test_a_checkpoint_without_its_tensors_is_named(data: Path, tmp_path: Path) -> None:
    trainer_of([small(data)], tmp_path).fit(1e-6)
    tensors, position = load_state(tmp_path / "state")
    save_state(tmp_path / "state", {"weights": tensors["weights"]}, position)
    with pytest.raises(CheckpointError, match="not a readable checkpoint.*adam"):
        trainer_of([small(data)], tmp_path, resume=True).resume()


def test_a_checkpoint_of_another_format_is_named(tmp_path: Path) -> None:
    save_state(tmp_path / "state", STATE, {})
    save_file(load_file(tmp_path / "state"), tmp_path / "state", {"format_version": "99"})
    with pytest.raises(CheckpointError, match="expected checkpoint format 1, found 99; .*another --out"):
        load_state(tmp_path / "state")


def test_the_checkpoint_of_other_runs_is_refused(data: Path, tmp_path: Path) -> None:
    trainer_of([small(data)], tmp_path).fit(1e-6)
    with pytest.raises(CheckpointError, match="other runs"):
        trainer_of([small(data, seed=1)], tmp_path).resume()


def test_a_run_directory_is_never_overwritten_silently(data: Path, tmp_path: Path) -> None:
    trainer_of([small(data)], tmp_path)
    with pytest.raises(CheckpointError, match="holds a run already: give --resume"):
        trainer_of([small(data)], tmp_path)
    with pytest.raises(CheckpointError, match="holds another run, with other clip: give another --out"):
        trainer_of([small(data, clip=1.0)], tmp_path, resume=True)


def test_weights_that_are_no_numbers_never_replace_good_ones(data: Path, tmp_path: Path) -> None:
    spec = small(data, learning_rate=1e30, warmup_steps=0)
    trainer = trainer_of([spec], tmp_path, checkpoint_every=1e-9)
    trainer.save()
    with pytest.raises(Diverged, match="no longer a number; .*from before that.*learning_rate"):
        trainer.fit()
    tensors, _ = load_state(tmp_path / "state")
    assert all(value.isfinite().all() for value in tensors.values())


def test_a_log_line_that_was_cut_short_is_forgotten(data: Path, tmp_path: Path) -> None:
    directory = trainer_of([small(data)], tmp_path).runs[0].directory
    directory.log({"epoch": 0})
    with (directory.path / "log.jsonl").open("a") as file:
        file.write('{"epoch": 1, "lo')
    directory.forget_after(5)
    assert list(directory.entries()) == [{"epoch": 0}]


def test_directories_that_are_no_runs_are_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is not a run directory"):
        RunDirectory(tmp_path).spec()
    (tmp_path / "result.json").write_text("{")
    with pytest.raises(CheckpointError, match="not a readable result"):
        RunDirectory(tmp_path).result()


def test_files_from_a_worker_stay_in_the_folder(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="must lie in the folder"):
        unpack(tmp_path / "runs", {"../outside": b""})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs must be above 0"),
        ({"epochs": "many"}, "epochs must be of type int, not 'many'"),
        ({"learning_rate": float("nan")}, "learning_rate must be above 0"),
        ({"patience": -1}, "patience must not be below 0"),
        ({"train_questions": 0}, "train_questions must be above 0"),
        ({"anonymise": 1.0}, "anonymise must be at least 0 and below 1"),
        ({"schedule": "linear"}, "schedule must be cosine or halving"),
        ({"ephocs": 1}, "no setting is called 'ephocs'; did you mean epochs"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Grid(tasks=[1], settings=settings).specs()


def test_settings_survive_json() -> None:
    spec = RunSpec(
        task="joint", seed=2, settings={"hidden": 8}, train=TrainConfig(clip=1, train_questions=5), label="x"
    )
    assert RunSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_quick_tasks_train_for_few_epochs_and_others_by_their_recipe() -> None:
    epochs = [quick(spec).train.epochs for spec in Grid(tasks=[1, 3], models=["amn", "entnet"]).specs()]
    assert epochs == [8, 40, 200, 200]


def test_tasks_and_numbers_are_read() -> None:
    assert parse_numbers("1-3,7,2") == [1, 2, 3, 7]
    assert parse_tasks("1,joint,short,19-20") == [1, "joint", "short", 19, 20]
    for wrong in ("21", "x", "", "3-1"):
        with pytest.raises(ConfigError):
            parse_tasks(wrong)


def test_data_without_questions_is_refused(tmp_path: Path) -> None:
    for split in ("train", "valid"):
        write_atomically(tmp_path / f"qa1_{split}.txt", "1 Mary went home.\n")
    with pytest.raises(DataError, match="expected questions to train on"):
        trainer_of([small(tmp_path)], tmp_path / "out")
