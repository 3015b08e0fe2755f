"""Damaged models and memories: a clear error, or the right answer; no other error, and nothing big is made."""

import json
import random
import shutil
import struct
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

import amn
from amn.api import QA
from amn.data.vocabulary import Vocabulary
from amn.errors import AMNError, CheckpointError, ConfigError
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.models import MODELS, build_model
from amn.pretrained import shipped_directory, shipped_models
from amn.store.memory_file import packing, unpack
from amn.store.model_directory import CONFIG_FILE, WEIGHTS_FILE, read_description, save_model
from amn.store.stepwise import run_to_end
from amn.store.validate import DIGESTS, expected_shapes
from random_stories import VOCABULARY
from server.serving import QUESTION, STORY, save_small_model

MANY = 300
MAX_BYTES = 20 << 20  # a small model and its memory take a hundredth of it


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small_model(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture
def copy(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model, tmp_path / "copy"))


def scores(qa: QA) -> list[float]:
    return [answer.score for answer in qa(STORY, [QUESTION, "Where is John?"], banks=0)]


def edit(directory: Path, change: Callable[[dict[str, Any]], object], keep_digests: bool = False) -> None:
    """Changes the description, as somebody would by hand; by default in a model from before there were checksums."""
    path = directory / CONFIG_FILE
    described = json.loads(path.read_text())
    change(described)
    if not keep_digests:
        described.pop(DIGESTS)
    path.write_text(json.dumps(described))


def damaged(data: bytes, draws: random.Random) -> bytes:
    """The same bytes with one thing wrong: flipped bits, a part that is gone, twice there, or zero."""
    at, length = draws.randrange(len(data)), draws.randrange(1, 64)
    return {
        0: data[:at] + bytes([data[at] ^ 1 << draws.randrange(8)]) + data[at + 1 :],
        1: data[:at],
        2: data[:at] + data[at + length :],
        3: data[:at] + data[at : at + length] + data[at:],
        4: data[:at] + bytes(length) + data[at + length :],
        5: data[:at] + draws.randbytes(length) + data[at + length :],
    }[draws.randrange(6)]


@pytest.mark.parametrize("name", [CONFIG_FILE, WEIGHTS_FILE])
def test_no_damage_to_a_model_goes_unseen(copy: Path, name: str) -> None:
    right, data, draws = scores(amn.load(copy)), (copy / name).read_bytes(), random.Random(0)
    refused = 0
    for _ in range(MANY):
        (copy / name).write_bytes(damaged(data, draws))
        try:
            assert scores(amn.load(copy)) == right  # a space more or less in the description
        except AMNError as error:
            refused += 1
            assert len(str(error)) < 1000
    assert refused > 0.9 * MANY


@pytest.mark.parametrize("name", [CONFIG_FILE, WEIGHTS_FILE])
def test_damage_to_a_model_without_checksums_is_an_error_or_harmless(copy: Path, name: str) -> None:
    edit(copy, lambda _: None)
    data, draws = (copy / name).read_bytes(), random.Random(1)
    for _ in range(MANY):
        (copy / name).write_bytes(damaged(data, draws))
        try:
            assert np.isfinite(scores(amn.load(copy))).all()
        except AMNError as error:
            assert len(str(error)) < 1000


NEVER: tuple[Any, ...] = (
    None,
    -1,
    float("inf"),
    float("nan"),
    10**9,
    10**400,
    "4",
    [],
    {},
    [1e9],
    "\ud800",
)  # whatever the setting
WRONG = {
    **dict.fromkeys(("heads", "max_banks", "vocabulary_size", "num_answers", "items"), (*NEVER, True, 0, 1.5)),
    "hidden": (*NEVER, True, 0, 1.5, 12_000, 10),
    **dict.fromkeys(("bank_gap", "norm_epsilon"), (*NEVER, True, 0, -0.5)),
    "pointer": (*NEVER, 0, 1, 1.5),
    "nonsense": ([[1]], {}, -1),
}


def _set(name: str, value: Any, described: dict[str, Any]) -> None:
    described["config"][name] = value


@pytest.mark.parametrize("name", WRONG)
def test_settings_of_a_wrong_kind_or_size_are_refused(copy: Path, name: str) -> None:
    kept = (copy / CONFIG_FILE).read_text()
    tracemalloc.start()
    for value in WRONG[name]:
        (copy / CONFIG_FILE).write_text(kept)
        edit(copy, partial(_set, name, value))
        with pytest.raises(AMNError, match=r"expected|Expecting|missing|none of"):
            amn.load(copy)
    assert tracemalloc.get_traced_memory()[1] < MAX_BYTES
    tracemalloc.stop()


def test_every_kind_of_model_is_read_as_it_was_saved(tmp_path: Path) -> None:
    for architecture in MODELS:
        settings = {"facts": True} if architecture == "ggtnn" else {}
        model = build_model(architecture, VOCABULARY, settings, 0)
        save_model(tmp_path / architecture, TrainedModel.of(architecture, model, VOCABULARY))
        assert read_description(tmp_path / architecture)["config"]["num_answers"] == model.config.num_answers


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.pop("config"), "config: an object"),
        (lambda d: d.update(vocabulary=[]), "vocabulary: an object"),
        (lambda d: d["vocabulary"].update(words="x"), "words: a list of different texts"),
        (lambda d: d["vocabulary"].update(names=[1]), "names: a list of different texts"),
        (lambda d: d["vocabulary"]["words"].append("more"), "vocabulary_size"),
        (lambda d: d["vocabulary"]["answers"].append(d["vocabulary"]["answers"][0]), "different texts"),
        (lambda d: d.update(architecture="amm"), "no model is called 'amm'"),
        (lambda d: d.update(architecture=["amn"]), "architecture: text"),
        (lambda d: d.update(format_version=99), "format version"),
        (lambda d: d["config"].update(hidden=10, heads=4), "a multiple of heads, 4, found 10"),
    ],
)
def test_a_description_is_checked_part_by_part(copy: Path, change: Callable[[Any], object], said: str) -> None:
    edit(copy, change)
    with pytest.raises(AMNError, match=said):
        amn.load(copy)


@pytest.mark.parametrize("sizes", [{"hidden": 10}, {"heads": 0}, {"heads": -4}])
def test_heads_that_do_not_divide_a_state_are_refused_at_construction(sizes: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="multiple of heads"):
        build_model("amn", Vocabulary(words=("a",), answers=("b",)), sizes)


def test_a_change_by_hand_is_seen_where_there_are_checksums(copy: Path) -> None:
    edit(copy, lambda described: described["config"].update(bank_gap=2.0), keep_digests=True)
    with pytest.raises(CheckpointError, match="damaged, or was edited"):
        amn.load(copy)


def test_a_model_from_before_there_were_checksums_loads_with_a_note(
    copy: Path, caplog: pytest.LogCaptureFixture
) -> None:
    right = scores(amn.load(copy))
    assert caplog.messages == []
    edit(copy, lambda _: None)
    assert scores(amn.load(copy)) == right
    assert "has no checksums" in caplog.text and caplog.records[0].levelname == "WARNING"  # which is shown


@pytest.mark.parametrize("name", shipped_models())
def test_a_flipped_bit_of_a_shipped_model_is_seen(name: str, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(shipped_directory(name), tmp_path / name))
    weights = bytearray((copied / WEIGHTS_FILE).read_bytes())
    weights[len(weights) // 2] ^= 1
    (copied / WEIGHTS_FILE).write_bytes(weights)
    with pytest.raises(CheckpointError, match="one of them is damaged"):
        amn.load(copied)


def test_checksums_under_another_name_are_missed(copy: Path) -> None:
    path = copy / CONFIG_FILE
    path.write_text(path.read_text().replace(f'"{DIGESTS}"', '"sha246"'))
    with pytest.raises(CheckpointError, match="a name is damaged"):
        amn.load(copy)


def rewrite(directory: Path, change: Callable[[dict[str, np.ndarray]], object]) -> None:
    edit(directory, lambda _: None)
    weights = load((directory / WEIGHTS_FILE).read_bytes())
    change(weights)
    (directory / WEIGHTS_FILE).write_bytes(save(weights))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda w: w["tell.weight"].__setitem__((0, 0), np.nan), "tell.weight: finite numbers"),
        (lambda w: w["ask.weight"].__setitem__((0, 0), np.inf), "ask.weight: finite numbers"),
        (lambda w: w.update({"tell.weight": w["tell.weight"].T.copy()}), "tell.weight: shape"),
        (lambda w: w.update({"more": np.zeros(1, np.float32)}), "'more' does not belong to this architecture"),
        (lambda w: w.pop("create.bias"), "'create.bias' is missing"),
        (lambda w: w.update({"create.bias": np.zeros(1, np.int32)}), "create.bias: floating-point numbers"),
    ],
)
def test_weights_must_be_those_of_the_architecture(copy: Path, change: Callable[[Any], object], said: str) -> None:
    rewrite(copy, change)
    with pytest.raises(CheckpointError, match=said):
        amn.load(copy)


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b"{",
        b"[" * 100_000,
        b'{"a": 1}',
        b'{"a": {"dtype": "F32", "shape": [1000000000, 1000000000], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4000000000]}}',
        b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, -4]}}',
        b'{"a": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "Q7", "shape": [1], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}',
    ],
)
def test_a_header_is_checked_before_anything_is_made_of_it(copy: Path, header: bytes) -> None:
    edit(copy, lambda _: None)
    (copy / WEIGHTS_FILE).write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    tracemalloc.start()
    with pytest.raises(CheckpointError, match=r"model\.safetensors"):
        amn.load(copy)
    assert tracemalloc.get_traced_memory()[1] < MAX_BYTES
    tracemalloc.stop()


@pytest.mark.parametrize("length", [0, 7, 8, 1 << 40, (1 << 64) - 1])
def test_a_header_longer_than_the_file_is_refused(copy: Path, length: int) -> None:
    (copy / WEIGHTS_FILE).write_bytes(struct.pack("<Q", length)[: max(length % 8, 1) if length < 8 else 8])
    with pytest.raises(CheckpointError):
        amn.load(copy)


@pytest.mark.parametrize("config", [{}, {"pointer": True}, {"pointer": True, "items": 3}, {"hidden": 40, "heads": 5}])
def test_the_shapes_of_the_default_model_are_those_of_torch(config: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    from amn.models import model_class

    settings = {"vocabulary_size": 30, "num_answers": 7, "hidden": 64, "heads": 4, **config}
    with torch.device("meta"):
        module = model_class("amn")(model_class("amn").Config(**settings))
    shapes = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    expected = expected_shapes("amn", settings)
    if "encoder.anonymous" in expected:
        assert expected["encoder.anonymous"] == (-1, settings["hidden"])
        expected["encoder.anonymous"] = shapes["encoder.anonymous"]
    assert expected == shapes


def test_a_memory_made_up_by_somebody_is_refused_or_harmless(model: Path) -> None:
    """Whoever writes a file can write its checksum too: whatever is wrong then, no error is another than ours."""
    qa, draws = amn.load(model), random.Random(3)
    memory = qa.memory([QUESTION, "Where is John?"])
    memory.tell(STORY * 2)
    described, tensors = unpack(memory.to_bytes(), "here")
    refused = 0
    for _ in range(MANY):
        try:
            again = LiveMemory.from_bytes(run_to_end(packing(described, made_up(tensors, draws))), qa.trained)
            again.tell(STORY)
            assert all(np.isfinite(answer.score) for answer in again.ask(banks=0))
        except CheckpointError:
            refused += 1
    assert refused > 0.4 * MANY


def made_up(tensors: dict[str, np.ndarray], draws: random.Random) -> dict[str, np.ndarray]:
    """The same tensors with one of them gone, cut, of another kind, or with a number that cannot be."""
    name = draws.choice(sorted(tensors))
    value = tensors[name].copy()
    whole = value.dtype.kind == "i"
    if value.size:
        odd = (-1, 0, 10**6, 2**31 - 1, -(2**31)) if whole else (np.nan, np.inf, 0.0, 1e30)
        value.flat[draws.randrange(value.size)] = draws.choice(odd)
    kinds = (
        value,
        value.ravel()[: value.size // 2].copy(),
        tensors[name].astype(np.float64 if whole else np.int32),
        None,
    )
    made = draws.choice(kinds)
    others = {other: kept for other, kept in tensors.items() if other != name}
    return others if made is None else {**others, name: made}


def test_no_damage_to_a_memory_goes_unseen(model: Path) -> None:
    qa, draws = amn.load(model), random.Random(2)
    memory = qa.memory([QUESTION, "Where is John?"])
    memory.tell(STORY * 3)
    data = memory.to_bytes()
    tracemalloc.start()
    for _ in range(MANY):
        wrong = damaged(data, draws)
        if wrong != data:
            with pytest.raises(AMNError):
                LiveMemory.from_bytes(wrong, qa.trained)
    assert tracemalloc.get_traced_memory()[1] < MAX_BYTES
    tracemalloc.stop()
    again = LiveMemory.from_bytes(data, qa.trained)
    assert [answer.score for answer in again.ask()] == pytest.approx([answer.score for answer in memory.ask()])
