"""An exported model answers as the model does."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

from amn.api import QA
from amn.cli import main as cli
from amn.data.batches import encode
from amn.data.examples import Example
from amn.errors import AMNError, MissingExtraError
from amn.inference.export import GATE, GRAPHS, MEMORY, _exportable, _graphs, _write, export_onnx, run_whole
from amn.inference.torch_batches import read_batch
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.amn import AMN
from amn.store.model_directory import load_model
from random_stories import VOCABULARY, batch_of, random_examples, random_model, story

InferenceSession: Any = pytest.importorskip("onnxruntime").InferenceSession
SOURCE = Path(__file__).parents[1] / "src"
SETTINGS: dict[str, Any] = {"hidden": 8, "heads": 2, "max_banks": 4, "pointer": True, "gate": 6, "needs": True}


def small_model() -> TrainedModel:
    """One that makes several banks, and whose answers may have several tokens."""
    model = random_model(2, **SETTINGS, items=3).model
    assert isinstance(model, AMN)
    with torch.no_grad():
        model.create.bias.fill_(0.5)
        assert model.gate is not None
        model.gate.bars.copy_(torch.tensor([-100.0, 2.0, 0.5]))  # which all sentences of these tests pass
        model.gate.refers.zero_()[4] = 1
        assert model.gate.need is not None
        model.gate.need.names.zero_()[5] = 1
        model.gate.need.highest.fill_(0.5)
        model.gate.need.verdict.bias.fill_(100.0)  # nor is any turned away that no question needs
    return TrainedModel.of("amn", model, VOCABULARY)


def run_python(*words: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: shape checks make tracing slow."""
    start = f"import sys; sys.path[:0] = [{str(SOURCE)!r}, {str(SOURCE.parent / 'tests')!r}]\n"
    return subprocess.run(
        [sys.executable, "-c", start + words[0], *words[1:]], capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported")
    QA(small_model()).save_pretrained(path / "model")
    code = "from amn.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = run_python(code, "export", str(path / "model"), "--format", "onnx", "--out", str(path / "onnx"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["graphs"] == [f"{name}.onnx" for name in (*GRAPHS, GATE)]
    return path / "onnx"


@pytest.fixture
def single(directory: Path, tmp_path: Path) -> Path:
    """The model with the same weights whose answers are one choice: it differs in the last graph alone."""
    model = build_model("amn", VOCABULARY, SETTINGS).eval()
    model.load_state_dict(small_model().model.state_dict(), strict=False)
    trained = TrainedModel.of("amn", model, VOCABULARY)
    QA(trained).save_pretrained(tmp_path / "model")
    shutil.copytree(directory, tmp_path / "onnx")
    graphs = {name: (graph, inputs) for name, graph, inputs in _graphs(_exportable(trained))}
    _write(tmp_path / "onnx" / "decode.onnx", *graphs["decode"])
    return tmp_path / "onnx"


def run_exported(directory: Path, told: Sequence[Example]) -> tuple[np.ndarray, ...]:
    """What any program would do: start, a step for each sentence, decode. Gives logits, counts, banks, tokens."""
    start, step, decode = (InferenceSession(directory / f"{name}.onnx") for name in GRAPHS)
    batch = encode(told, VOCABULARY).take(torch.arange(len(told)))
    words = {name: getattr(batch, name).numpy() for name in ("slot_words", "questions")}
    encoded, *memory = start.run(None, words)
    for t in range(batch.sentences.shape[1]):
        parts = {name: getattr(batch, name)[:, t].numpy() for name in ("members", "context", "edges")}
        sentence = {"sentence": batch.sentences[:, t].numpy(), **parts}
        memory = step.run(
            None, given(step, words | {"encoded": encoded} | sentence | dict(zip(MEMORY, memory, strict=True)))
        )
    words |= {"sentences": batch.sentences.numpy()}
    read = given(decode, words | {"encoded": encoded} | dict(zip(MEMORY, memory, strict=True)))
    logits, entities_read, *tokens = decode.run(None, read)
    return logits, entities_read, memory[MEMORY.index("banks")], *tokens


def given(session: Any, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The inputs that a graph has: what it does not need was left out."""
    return {one.name: values[one.name] for one in session.get_inputs()}


def assert_same(directory: Path, told: Sequence[Example]) -> np.ndarray:
    trained = load_model(directory.parent / "model")
    logits, entities_read, banks, *tokens = run_exported(directory, told)
    right = read_batch(trained, told, 1)
    assert [found.tolist() for found in tokens] == ([] if right.tokens is None else [right.tokens.tolist()])
    np.testing.assert_allclose(logits, right.logits.numpy(), atol=1e-4, rtol=1e-4)
    np.testing.assert_array_equal(entities_read.round(), right.entities_read.numpy().round())
    np.testing.assert_array_equal(banks, right.banks.numpy())
    return banks


def assert_all_same(directory: Path) -> None:
    assert_same(directory, random_examples(1, seed=31, sentences=9))
    assert assert_same(directory, random_examples(20, seed=31, sentences=9)).max() > 1
    assert_same(directory, [story("mary")])
    assert_same(directory, [story("zoe xu yo", "xu", question="xu")])


def test_logits_tokens_banks_and_counts_are_those_of_torch(directory: Path) -> None:
    assert_all_same(directory)


def test_so_are_those_of_a_model_whose_answers_are_one_choice(single: Path) -> None:
    assert_all_same(single)


def test_the_gate_gives_the_logits_of_torch_and_its_bars(directory: Path) -> None:
    gate = cast(AMN, load_model(directory.parent / "model").model).gate
    assert gate is not None
    sentences = torch.tensor([[3, 4, 5, 0], [2, 0, 0, 0], [9, 8, 7, 6], [0, 0, 0, 0]])
    questions = torch.tensor([[2, 3, 0], [4, 5, 6]])
    rows = {"sentences": sentences.numpy(), "questions": questions.numpy()}
    shared = torch.tensor([[0, 1], [2, 3], [1, 1], [0, 0]])
    found = InferenceSession(directory / f"{GATE}.onnx").run(None, {**rows, "shared": shared.numpy()})
    logits, bars, pronouns, needed, names, highest = found
    expected = gate.needed(sentences, questions, shared)
    np.testing.assert_allclose(needed, expected.detach().numpy(), atol=1e-5, rtol=1e-4)
    assert names.nonzero()[0].tolist() == [5] and highest.tolist() == [0.5]
    np.testing.assert_allclose(logits, gate(sentences, questions).detach().numpy(), atol=1e-5, rtol=1e-4)
    np.testing.assert_array_equal(bars, np.array([-100.0, 2.0, 0.5], np.float32))
    np.testing.assert_array_equal(pronouns, [1, 0, 0, 0])


def test_a_model_without_a_gate_has_no_such_graph() -> None:
    assert GATE not in [name for name, _, _ in _graphs(cast(AMN, build_model("amn", VOCABULARY, {"hidden": 8})))]


def test_the_encoder_in_one_operation_is_the_encoder() -> None:
    model = build_model("amn", VOCABULARY, SETTINGS)
    assert isinstance(model, AMN)
    batch = batch_of(random_examples(6, seed=2))
    theirs = model.encoder(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model.encoder, "run", run_whole)
        ours = model.encoder(batch)
    for name in vars(theirs):
        torch.testing.assert_close(getattr(ours, name), getattr(theirs, name))


def test_what_cannot_be_exported_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rival = TrainedModel.of("entnet", build_model("entnet", VOCABULARY, {}), VOCABULARY)
    with pytest.raises(AMNError, match="architecture amn can be exported, not entnet"):
        export_onnx(rival, tmp_path)
    own = TrainedModel.of("amn", build_model("amn", VOCABULARY, SETTINGS), VOCABULARY)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adaptive-memory-networks\[onnx\]'"):
        export_onnx(own, tmp_path)


def test_the_verb_refuses_other_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["export", "qa1", "--format", "tflite", "--out", str(tmp_path / "onnx")]) == 2
    assert "tflite" in capsys.readouterr().err
