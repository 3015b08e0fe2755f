"""Compiled code reads stories as numpy does, for every kind of processor that this one can stand in for."""

import ctypes
import platform
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from amn.fast import kernels
from amn.fast.encode import run
from amn.fast.stories import Stories
from amn.fast.weights import Weights
from amn.inference.reading import read_alone, read_examples

from amn.core import build, loader
from amn.data.batches import Sizes, encode
from amn.data.examples import Example
from amn.inference import reading
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.amn import AMN
from random_stories import VOCABULARY, assert_same_found, random_examples, shaken, story, with_unknown_words

ABLE = {"AVX512": ("x86-64-v4", "x86-64-v3"), "AVX2": ("x86-64-v3",)}  # what processors can run, by torch's names
RUNNABLE = ABLE.get(torch.backends.cpu.get_cpu_capability(), (platform.machine(),))
WIDTHS = [(16, 2), (32, 2), (64, 2), (20, 4), (36, 3)]  # hidden, heads: known widths, others, and columns left over


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with kernels that compile without a warning."""
    folder = tmp_path_factory.mktemp("kernels")
    if not build.compile_kernels(folder):
        pytest.skip("there is no C compiler that knows this kind of processor")
    assert build.compile_kernels(folder, "-Wall", "-Wextra", "-Werror")
    return folder


@pytest.fixture(params=RUNNABLE)
def native(request: pytest.FixtureRequest, built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reads with the kernels for one kind of processor."""
    path = build.path_of(request.param, built)
    if not path.exists():
        pytest.skip(f"the C compiler does not know processors of the kind {request.param}")
    library = ctypes.CDLL(str(path))
    monkeypatch.setattr(loader, "compiled", lambda: library)
    yield


def trained(seed: int, hidden: int = 32, heads: int = 2, *, pointer: bool = False) -> TrainedModel:
    settings = {"hidden": hidden, "heads": heads, "max_banks": 4, "pointer": pointer}
    model = build_model("amn", VOCABULARY, settings, seed).eval()
    shaken(model, seed)
    with torch.no_grad():  # weights that are too large for a width make chaos of any rounding
        for parameter in model.parameters():
            parameter.mul_((6 / hidden) ** 0.5)
    return TrainedModel.of(architecture="amn", model=model, vocabulary=VOCABULARY)


def amn_of(model: TrainedModel) -> AMN:
    assert isinstance(model.model, AMN)
    return model.model


def in_numpy(model: TrainedModel, told: list[Example]) -> Stories:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loader, "compiled", lambda: None)
        return Stories(Weights(amn_of(model)), VOCABULARY, told)


def assert_same(model: TrainedModel, told: list[Example]) -> Stories:
    found, expected = Stories(Weights(amn_of(model)), VOCABULARY, told), in_numpy(model, told)
    for name in ("banks", "entities", "voters"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(found.states.table, expected.states.table, atol=2e-5)
    np.testing.assert_allclose(found.marks, expected.marks, atol=2e-4)
    np.testing.assert_allclose(found.votes, expected.votes, atol=2e-4)
    for one, other in zip(found.read(1), expected.read(1), strict=True):
        assert_same_found(one, other, 1e-4)
    return found


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(("hidden", "heads"), WIDTHS)
@pytest.mark.parametrize("seed", range(3))
def test_stories_become_the_memories_that_numpy_makes_of_them(seed: int, hidden: int, heads: int) -> None:
    assert_same(trained(seed, hidden, heads), random_examples(12, seed=seed, sentences=9))


@pytest.mark.usefixtures("native")
def test_some_memories_have_several_banks() -> None:
    found = [assert_same(trained(seed), random_examples(12, seed=seed, sentences=9)) for seed in range(3)]
    assert {1.0, 2.0} <= {banks for one in found for banks in one.banks.tolist()}


@pytest.mark.usefixtures("native")
def test_unknown_repeated_and_missing_words_and_long_sentences() -> None:
    model = trained(1, pointer=True)
    assert_same(model, with_unknown_words(12, seed=1, sentences=9))
    assert_same(model, [story("mary"), story("zoe xu yo xu", "xu", question="xu xu yo"), story("the the the")])
    assert_same(model, [story(question="mary"), story("mary went")])
    assert_same(model, [story(" ".join(f"name{i}" for i in range(150)), "name3 name140 went", question="name7 name9")])


@pytest.mark.usefixtures("native")
def test_a_single_story_is_read_by_the_kernels_where_it_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    model, told = trained(2), random_examples(4, seed=2, sentences=9)
    expected = [read_alone(amn_of(model), VOCABULARY, example, 1) for example in told]
    calls: list[Example] = []
    monkeypatch.setattr(reading, "read_alone", lambda *given: calls.append(given[2]))
    for example, one in zip(told, expected, strict=True):
        assert_same_found(read_examples(model, [example], 1)[0], one, 1e-4)
    assert not calls
    monkeypatch.setattr(reading, "SHORT", 0)
    read_examples(model, [told[0]], 1)
    assert calls == [told[0]]


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(("hidden", "heads"), WIDTHS)
@pytest.mark.parametrize("lengths", [[1], [3, 1, 5, 5, 2, 7, 1, 4], [4] * 13])
def test_words_are_read_in_their_order(hidden: int, heads: int, lengths: list[int]) -> None:
    model, rng = amn_of(trained(0, hidden, heads)), np.random.default_rng(0)
    sentences = [rng.integers(0, 10, length).tolist() for length in lengths]
    outputs, ends = run(Weights(model).word, sentences)
    expected, last = run(Weights(model.double()).word, sentences)  # which numpy reads
    np.testing.assert_allclose(outputs, expected, atol=2e-6)
    np.testing.assert_array_equal(ends, last)


def odd_stories() -> list[Example]:
    """One word or none, repeated words, more words than a view has room for, and a sentence of no words."""
    silent = Example(
        sentences=(("mary", "went"), (), ("john",)), questions=(("mary",), ("the", "john")), answers=("x", "y")
    )
    crowd = [story(" ".join(f"name{i}" for i in range(150)), "name3 name140 went", question="name7 name9 name7")]
    return [story("mary"), story("zoe xu yo xu", "xu", question="xu xu yo"), story(question="mary"), silent, *crowd]


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("least", [1, 40])
@pytest.mark.parametrize(
    "told",
    [
        *(random_examples(12, seed=seed, sentences=30) for seed in range(3)),
        with_unknown_words(12, seed=1),
        odd_stories(),
    ],
    ids=["0", "1", "2", "unknown", "odd"],
)
def test_sentences_touch_what_the_word_graph_says(told: list[Example], least: int) -> None:
    found = encode(told, VOCABULARY, Sizes(members=least)).batch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loader, "compiled", lambda: None)
        expected = encode(told, VOCABULARY, Sizes(members=least)).batch
    for name in ("members", "context", "edges"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert found.edges.any()


@pytest.mark.usefixtures("native")
def test_no_stories_touch_nothing() -> None:
    assert encode([], VOCABULARY).batch.members.shape == (0, 1, 1)


def test_numbers_of_64_bits_and_machines_without_kernels_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "compiled", lambda: SimpleNamespace())
    assert kernels.can_read(Weights(amn_of(trained(0))))
    assert not kernels.can_read(Weights(amn_of(trained(0)).double()))
    monkeypatch.setattr(loader, "compiled", lambda: None)
    assert not kernels.can_read(Weights(amn_of(trained(0))))


def test_want_of_room_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "compiled", lambda: SimpleNamespace(amn_tell=lambda *_: 1, amn_run=lambda *_: None))
    with pytest.raises(MemoryError, match="2 stories"):
        Stories(Weights(amn_of(trained(0))), VOCABULARY, [story("mary went"), story("mary")])


def test_without_a_compiler_nothing_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.compile_kernels(tmp_path) == []


def test_a_compiler_that_fails_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "false")
    assert build.compile_kernels(tmp_path) == []
    assert "no kernels for" in capsys.readouterr().out


def test_older_libraries_are_removed(built: Path, tmp_path: Path) -> None:
    older = tmp_path / "kernels-x86-64-v3-0123456789ab.so"
    older.touch()
    assert sorted(path.name for path in build.compile_kernels(tmp_path)) == sorted(p.name for p in built.iterdir())
    assert not older.exists()
