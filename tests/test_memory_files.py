"""Memories on disk: what version 0.1 wrote, damage, and saves that are cut off."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors

from amn.data import files
from amn.errors import CheckpointError
from amn.memory.live import LiveMemory
from amn.store.memory_file import MAGIC, packing, unpack
from amn.store.stepwise import run_to_end
from live_memories import MORE, QUESTIONS, STORY, assert_alike, depths, told, trained

KILLS = 1000


def old_save(directory: Path, memory: LiveMemory) -> None:
    """The two files that version 0.1 wrote: tables by slots, where each entity is, and no words or neighbours."""
    tensors, layouts = {}, []
    for i, one in enumerate(group.memory for group in memory._groups):
        arrays = one.arrays()
        tensors[f"{i}.states"] = arrays["states"]
        tensors |= {f"{i}.{name}": arrays[name].astype(np.float64) for name in ("strengths", "relevance")}
        last = [entity.word for entity in memory.snapshot(i)[-1].entities]
        slots = [1 + list(one.words).index(word) for word in last]
        layouts.append({"banks": one.banks, "depth": arrays["depth"].tolist(), "last": slots})
    data = save_tensors(tensors)
    described = {
        "format_version": 2,
        "model": memory.trained.fingerprint,
        "tensors": sha256(data).hexdigest(),
        "questions": memory.questions,
        "shared": False,
        "sentences": memory.sentences,
        "banks": layouts,
        "traces": [[trace.to_dict() for trace in kept] for kept in [group.traces for group in memory._groups]],
    }
    directory.mkdir(exist_ok=True)
    (directory / "memory.safetensors").write_bytes(data)
    (directory / "memory.json").write_text(json.dumps(described) + "\n")


def test_the_latest_traces_are_kept_of_every_question() -> None:
    memory = told(trained(4), QUESTIONS)
    everything, few = memory.to_bytes(), memory.to_bytes(traces=2 * len(QUESTIONS))
    assert len(few) < len(everything)
    kept = LiveMemory.from_bytes(few, memory.trained).ask(explain=True)
    for ours, theirs in zip(kept, memory.ask(explain=True), strict=True):
        assert ours.explanation is not None and theirs.explanation is not None
        assert ours.answer == theirs.answer and ours.explanation.banks == theirs.explanation.banks
        assert ours.explanation.sentences == theirs.explanation.sentences[-2:] != theirs.explanation.sentences


@pytest.mark.parametrize("pointer", [False, True])
def test_what_version_0_1_saved_is_read(implementation: str, pointer: bool, tmp_path: Path) -> None:
    memory = LiveMemory(trained(4, pointer=pointer), QUESTIONS)
    memory.tell(STORY + MORE)
    old_save(tmp_path / "old", memory)
    back = LiveMemory.restore(tmp_path / "old", memory.trained)
    assert depths(back) == depths(memory)
    for one in (memory, back):
        one.tell("Mary took the milk. Trillian went to Xanadu.")
    for ours, theirs in zip(back.ask(banks=0, explain=True), memory.ask(banks=0, explain=True), strict=True):
        assert_alike(ours, theirs)


def test_which_words_were_told_side_by_side_comes_back_and_may_be_missing(implementation: str) -> None:
    memory = told(trained(4, pointer=True, items=3))
    described, tensors = unpack(memory.to_bytes(), "memory")
    spoken = [sentence.lower().strip(".").split() for sentence in memory.sentences]
    assert len(tensors["0.pairs"]) == len({pair for words in spoken for pair in zip(words, words[1:], strict=False)})
    back = LiveMemory.from_bytes(memory.to_bytes(), memory.trained)
    without_pairs = {name: value for name, value in tensors.items() if name != "0.pairs"}
    older = LiveMemory.from_bytes(run_to_end(packing(described, without_pairs)), memory.trained)
    for one in (memory, back, older):
        one.tell(MORE)
    tables = [one._groups[0].memory.arrays() for one in (memory, back)]
    assert len({frozenset(map(tuple, table["pairs"].tolist())) for table in tables}) == 1
    assert_alike(back.ask(explain=True)[0], memory.ask(explain=True)[0])
    assert "pairs" not in older._groups[0].memory.arrays() and older.ask()[0].answer


def test_old_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    memory = told(trained(0))
    old_save(tmp_path, memory)
    tensors, described = tmp_path / "memory.safetensors", tmp_path / "memory.json"
    text = described.read_text()
    described.write_text(text.replace('"format_version": 2', '"format_version": 9'))
    with pytest.raises(CheckpointError, match="found 9"):
        LiveMemory.restore(tmp_path, memory.trained)
    described.write_text(text)
    tensors.write_bytes(save_tensors({"0.states": np.zeros(3, np.float32)}))
    with pytest.raises(CheckpointError, match="not the one"):
        LiveMemory.restore(tmp_path, memory.trained)
    tensors.unlink()
    with pytest.raises(CheckpointError, match="not a saved memory"):
        LiveMemory.restore(tmp_path, memory.trained)
    described.write_text("{")
    with pytest.raises(CheckpointError, match="not a saved memory"):
        LiveMemory.restore(tmp_path, memory.trained)


def places(data: bytes) -> Iterator[int]:
    yield from range(0, 64)
    yield from range(64, len(data), 97)
    yield len(data) - 1


def test_damaged_bytes_are_refused_wherever_they_are() -> None:
    memory = told(trained(0))
    data = memory.to_bytes()
    for place in places(data):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(CheckpointError, match="^here: "):
            LiveMemory.from_bytes(bytes(damaged), memory.trained, "here")
    for length in [*range(0, 64), *range(64, len(data), 97)]:
        with pytest.raises(CheckpointError):
            LiveMemory.from_bytes(data[:length], memory.trained)
    with pytest.raises(CheckpointError, match="damaged"):
        LiveMemory.from_bytes(data + b"x", memory.trained)


@pytest.mark.parametrize(
    "described",
    [{}, {"questions": []}, {"sentences": 3}, {"traces": [[]] * 5}, {"words": [[]]}, {"shared": None}, {"words": 1}],
)
def test_whole_bytes_that_describe_no_memory_are_refused(described: dict[str, Any]) -> None:
    """A checksum says that bytes are those that were written, and not that they make sense."""
    memory = told(trained(0))
    sound = {"model": memory.trained.fingerprint, "questions": memory.questions, "shared": True}
    document = sound | {"sentences": memory.sentences, "traces": [[]]} | described
    data = run_to_end(packing(document, {"0.depth": np.zeros(3, np.int32)}))
    with pytest.raises(CheckpointError):
        LiveMemory.from_bytes(data, memory.trained)
    with pytest.raises(CheckpointError):
        LiveMemory.from_bytes(MAGIC + sha256(b"").digest(), memory.trained)


def test_a_memory_is_refused_by_another_model_and_where_there_is_none(tmp_path: Path) -> None:
    memory = told(trained(0))
    memory.save(tmp_path / "saved")
    with pytest.raises(CheckpointError, match="other weights"):
        LiveMemory.restore(tmp_path / "saved", trained(1))
    for missing in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(CheckpointError, match="not a saved memory"):
            LiveMemory.restore(missing, trained(0))


class Stopped(BaseException):
    """Stands for the end of the process at some point of the writing."""


@pytest.mark.parametrize("point", ["write_bytes", "half", "_flush", "replace", "after"])
@pytest.mark.parametrize("there", [False, True])
def test_a_save_that_is_cut_off_leaves_the_old_memory_or_the_new(
    point: str, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, memory = tmp_path / "saved", told(trained(0))
    if there:
        memory.save(path)
    memory.tell(MORE)
    with monkeypatch.context() as patch:
        cut_off(patch, point)
        with pytest.raises(Stopped):
            memory.save(path)
    if not there and point != "after":
        assert not path.exists()
        return
    sentences = len(LiveMemory.restore(path, memory.trained).sentences)
    assert sentences == (6 if point == "after" else 3)
    memory.save(path)  # and the next one succeeds
    assert len(LiveMemory.restore(path, memory.trained).sentences) == 6


def cut_off(patch: pytest.MonkeyPatch, point: str) -> None:
    """Ends the writing at a point: nothing after it happens, not even the tidying up."""
    replaced, written = os.replace, Path.write_bytes

    def stop(*_: object) -> None:
        raise Stopped

    def half(path: Path, data: bytes) -> None:
        written(path, data[: len(data) // 2])
        raise Stopped

    def after(source: Any, target: Any) -> None:
        replaced(source, target)
        raise Stopped

    patch.setattr(files, "remove", lambda _: None)
    if point == "_flush":
        patch.setattr(files, "_flush", stop)
    elif point in ("replace", "after"):
        patch.setattr(os, "replace", stop if point == "replace" else after)
    else:
        patch.setattr(Path, "write_bytes", stop if point == "write_bytes" else half)


def test_a_thousand_kills_leave_the_old_memory_or_the_new(tmp_path: Path) -> None:
    line = [
        sys.executable,
        str(Path(__file__).with_name("killed_saves.py")),
        "qa1",
        str(tmp_path / "saved"),
        str(KILLS),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    found = done.stdout.split()
    assert (done.returncode, len(found)) == (0, KILLS), done.stderr
    assert set(found) == {"1", "2"}  # some came too early, and some too late


def test_what_the_system_refuses_is_an_error_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = told(trained(0))
    memory.save(tmp_path / "saved")
    memory.tell(MORE)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(CheckpointError, match="No space left"):
            memory.save(tmp_path / "saved")
    assert len(LiveMemory.restore(tmp_path / "saved", memory.trained).sentences) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    with pytest.raises(CheckpointError, match="could not be written"):
        memory.save(tmp_path / "saved" / "below")
