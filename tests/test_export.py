"""An exported model answers as the model does, and the step compiles."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from amn.exported import OnnxModel
from amn.inference.reading import found_in, read_batch

from amn.api import QA
from amn.cli import main as cli
from amn.data.batches import encode
from amn.data.examples import Example
from amn.errors import AMNError, CheckpointError, MissingExtraError
from amn.inference.export import GRAPHS, WholeEncoder, export_onnx
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.amn import AMN
from amn.models.base import answer_loss
from amn.store.model_directory import load_model
from random_stories import VOCABULARY, assert_same_found, batch_of, random_examples, story

pytest.importorskip("onnxruntime")
SOURCE = Path(__file__).parents[1] / "src"
SETTINGS = {"hidden": 12, "heads": 2, "max_banks": 4, "pointer": True}


def briefly_trained() -> TrainedModel:
    model = build_model("amn", VOCABULARY, SETTINGS, seed=1)
    data = encode(random_examples(64, seed=5), VOCABULARY)
    optimiser = torch.optim.Adam(model.parameters(), 1e-2)
    for step in range(4):
        batch = data.take(torch.arange(64)[step % 2 :: 2])
        reading = model(batch)
        optimiser.zero_grad()
        answer_loss(reading.logits, batch, len(VOCABULARY.answers)).mean().backward()
        optimiser.step()
    assert isinstance(model, AMN)
    with torch.no_grad():
        model.create.bias.fill_(0.5)  # so few steps leave it at one bank
        model.move_state.bias.fill_(0.0)
    return TrainedModel.of(architecture="amn", model=model.eval(), vocabulary=VOCABULARY)


def run_python(*words: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: shape checks make tracing slow, and compiling impossible."""
    start = f"import sys; sys.path[:0] = [{str(SOURCE)!r}, {str(SOURCE.parent / 'tests')!r}]\n"
    return subprocess.run(
        [sys.executable, "-c", start + words[0], *words[1:]], capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exported")
    QA(briefly_trained()).save_pretrained(path / "model")
    code = "from amn.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = run_python(code, "export", str(path / "model"), "--format", "onnx", "--out", str(path / "onnx"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["graphs"] == [f"{name}.onnx" for name in GRAPHS]
    return path / "onnx"


def assert_same(directory: Path, examples: list[Example], banks: int) -> None:
    trained, exported = load_model(directory), OnnxModel(directory)
    whole = read_batch(trained, examples, banks)
    for i, (example, found) in enumerate(zip(examples, exported.read(examples, banks), strict=True)):
        assert_same_found(found, found_in(whole, VOCABULARY, i, example), 1e-4)


@pytest.mark.parametrize("banks", [1, 2, 0])
@pytest.mark.parametrize("count", [1, 20])
def test_logits_banks_and_counts_are_those_of_torch(directory: Path, banks: int, count: int) -> None:
    assert_same(directory, random_examples(count, seed=11 + count, sentences=9), banks)


def test_the_smallest_story_and_unknown_words(directory: Path) -> None:
    assert_same(directory, [story("mary")], banks=1)
    assert_same(directory, [story("zoe xu yo", "xu", question="xu")], banks=1)


def test_some_stories_created_banks_of_which_some_entities_are_not_read(directory: Path) -> None:
    found = OnnxModel(directory).read(random_examples(20, seed=31, sentences=9), banks=1)
    assert max(one.banks for one in found) > 1
    assert any(one.entities_read[0] < one.entities for one in found)


def test_answers_in_words_are_those_of_the_python_interface(directory: Path) -> None:
    qa, exported = QA(load_model(directory)), OnnxModel(directory)
    told, asked = (
        "Mary went to the garden. John took the milk. Mary went to the office.",
        ["Where is Mary?", "Is John?"],
    )
    ours, theirs = exported(told, asked), qa(told, asked)
    assert isinstance(ours, list) and isinstance(theirs, list)
    for one, other in zip(ours, theirs, strict=True):
        assert (one.question, one.answer, one.banks_created) == (other.question, other.answer, other.banks_created)
        assert one.score == pytest.approx(other.score, abs=1e-4)
    assert exported(told, asked[0]).answer == theirs[0].answer
    with pytest.raises(AMNError, match="story: expected at least one sentence"):
        exported("", asked)


@pytest.mark.slow
@pytest.mark.parametrize("pointer", [False, True])
def test_random_weights_give_the_same_answers_too(tmp_path: Path, pointer: bool) -> None:
    model = build_model("amn", VOCABULARY, {**SETTINGS, "pointer": pointer}, seed=7).eval()
    export_onnx(TrainedModel.of(architecture="amn", model=model, vocabulary=VOCABULARY), tmp_path)
    assert_same(tmp_path, random_examples(30, seed=3, sentences=9), banks=1)


def test_the_encoder_in_one_operation_is_the_encoder() -> None:
    model = build_model("amn", VOCABULARY, SETTINGS)
    assert isinstance(model, AMN)
    batch = batch_of(random_examples(6, seed=2))
    ours, theirs = WholeEncoder(model.encoder)(batch), model.encoder(batch)
    for name in vars(theirs):
        torch.testing.assert_close(getattr(ours, name), getattr(theirs, name))


def test_a_sentence_that_two_stories_tell_is_encoded_once(directory: Path) -> None:
    exported = OnnxModel(directory)
    batch = batch_of([story("mary went", "john took milk"), story("john took milk", "mary went")])
    arrays = [getattr(batch, name).numpy() for name in ("slot_words", "sentences", "members", "context", "edges")]
    telling = exported._prepare(*arrays)
    assert len(telling.gates) == 2
    assert np.array_equal(telling.which[:, 0], telling.which[::-1, 1])


def test_what_cannot_be_exported_or_loaded_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rival = TrainedModel.of(architecture="entnet", model=build_model("entnet", VOCABULARY, {}), vocabulary=VOCABULARY)
    with pytest.raises(AMNError, match="architecture amn can be exported, this one is entnet"):
        export_onnx(rival, tmp_path)
    own = TrainedModel.of(architecture="amn", model=build_model("amn", VOCABULARY, SETTINGS), vocabulary=VOCABULARY)
    QA(own).save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="amn export writes it"):
        OnnxModel(tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adaptive-memory-networks\[onnx\]'"):
        export_onnx(own, tmp_path)
    with pytest.raises(MissingExtraError, match=r"pip install 'adaptive-memory-networks\[onnx\]'"):
        OnnxModel(tmp_path)


def test_the_verb_refuses_other_formats(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["export", str(directory), "--format", "tflite", "--out", str(directory)]) == 2
    assert "tflite" in capsys.readouterr().err


COMPILED = """
import torch
from amn.models.amn import AMN, AMNConfig
from amn.data.batches import encode
from random_stories import VOCABULARY, random_examples

torch.set_num_threads(1)
model = AMN(AMNConfig(vocabulary_size=len(VOCABULARY.words), num_answers=4, hidden=8, heads=2)).eval()
batch = encode(random_examples(4, seed=1), VOCABULARY).take(torch.arange(4))
with torch.no_grad():
    told, sentences = model.begin(batch, 1.0)
    step = torch.compile(model.step, fullgraph=True, backend="aot_eager")
    for sentence in sentences[:2]:
        ours, theirs = step(told.memory, sentence, told.questions), model.step(told.memory, sentence, told.questions)
        torch.testing.assert_close(vars(ours[0]), vars(theirs[0]))
        told = type(told)(theirs[0], told.questions, told.creation)
"""


def test_the_step_compiles_as_one_graph() -> None:
    done = run_python(COMPILED)
    assert done.returncode == 0, done.stderr
