"""Runs that start from a trained model."""

import importlib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from amn.config import RunSpec
from amn.data.vocabulary import Vocabulary
from amn.errors import AMNError
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.gate import Gate
from amn.store.model_directory import load_model
from amn.training.sweep import Grid
from amn.training.warm_start import copy_weights, settings_of
from training.small import small, trainer_of, weights_of


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a finished run on task 1."""
    spec, out = small(data, 1), tmp_path_factory.mktemp("first")
    trainer_of([spec], out).fit()
    return out / spec.name


def going_on(spec: RunSpec, start: Path) -> RunSpec:
    return replace(spec, train=replace(spec.train, start=str(start)))


def test_a_run_starts_with_the_weights_of_another(data: Path, trained: Path, tmp_path: Path) -> None:
    spec = going_on(small(data, 1, seed=7), trained)
    trainer = trainer_of([spec], tmp_path / "second")
    best = dict(load_model(trained / "best").model.named_parameters())
    for name, value in weights_of(trainer, spec).items():
        torch.testing.assert_close(value, best[name].detach(), atol=0, rtol=0)


def test_known_words_keep_what_they_mean_and_new_ones_start_fresh(data: Path, trained: Path, tmp_path: Path) -> None:
    spec = going_on(small(data, 6, seed=7), trained)
    trainer = trainer_of([spec], tmp_path / "second")
    found = weights_of(trainer, spec)["encoder.embedding.weight"]
    first, vocabulary = load_model(trained / "best"), trainer.runs[0].data.vocabulary
    known = first.model.state_dict()["encoder.embedding.weight"]
    for word in ("mary", "kitchen", "to"):
        assert torch.equal(found[vocabulary.word_id(word)], known[first.vocabulary.word_id(word)])
    assert "football" not in first.vocabulary.words
    assert not (known == found[vocabulary.word_id("football")]).all(-1).any()


def test_new_words_and_answers_start_with_the_size_of_trained_ones(trained: Path) -> None:
    first = load_model(trained / "best")
    words = tuple(f"new{number}" for number in range(200))
    vocabulary = Vocabulary.union([first.vocabulary, Vocabulary(words=("", "", *words), answers=words)])
    sizes = {"vocabulary_size": len(vocabulary.words), "num_answers": len(vocabulary.answers)}
    second = type(first.model)(replace(first.model.config, **sizes))
    second.initialise(torch.Generator().manual_seed(0))
    known = {name: value.clone() for name, value in first.model.state_dict().items()}
    known["encoder.embedding.weight"] *= 0.1
    known["decoder.answer.bias"] -= 2
    with torch.no_grad():
        first.model.load_state_dict(known)
        copy_weights(second, vocabulary, first)
    found = second.state_dict()
    embedded = found["encoder.embedding.weight"][[vocabulary.word_id(word) for word in words]]
    biases = found["decoder.answer.bias"][[vocabulary.answer_id(word) for word in words]]
    assert embedded.std() == pytest.approx(known["encoder.embedding.weight"].std().item(), rel=0.1)
    assert biases.mean() == pytest.approx(known["decoder.answer.bias"].mean().item(), abs=1e-4)


def test_what_the_new_stories_do_not_tell_is_not_forgotten(data: Path, trained: Path, tmp_path: Path) -> None:
    spec = going_on(small(data, 6), trained)  # its questions are answered by yes and no, and none asks where
    plain = trainer_of([small(data, 6)], tmp_path / "fresh").runs[0].data.vocabulary
    vocabulary = trainer_of([spec], tmp_path / "second").runs[0].data.vocabulary
    assert "where" in vocabulary.words
    assert "where" not in plain.words
    assert set(vocabulary.answers) == {*load_model(trained / "best").vocabulary.answers, "yes", "no"}


def test_a_run_takes_the_settings_of_the_model_that_it_starts_from(data: Path, trained: Path) -> None:
    (spec,) = Grid(tasks=[1], data=str(data), settings={"start": str(trained), "heads": 4}).specs()
    assert (spec.settings["hidden"], spec.settings["heads"]) == (8, 4)
    assert "vocabulary_size" not in spec.settings


def test_a_start_of_another_width_is_refused_by_name(data: Path, trained: Path, tmp_path: Path) -> None:
    wide = replace(small(data, 1), settings={"hidden": 16, "heads": 2})
    with pytest.raises(AMNError, match="cannot be the start: its hidden is 8, and not 16"):
        trainer_of([going_on(wide, trained)], tmp_path / "second")


def test_a_run_may_weigh_its_losses_otherwise_than_its_start(data: Path, trained: Path, tmp_path: Path) -> None:
    (spec,) = Grid(tasks=[1], data=str(data), settings={"start": str(trained), "budget_from": 0.0}).specs()
    trainer = trainer_of([spec], tmp_path / "second")
    best = dict(load_model(trained / "best").model.named_parameters())
    for name, value in weights_of(trainer, spec).items():
        torch.testing.assert_close(value, best[name].detach(), atol=0, rtol=0)


def test_a_start_of_another_architecture_is_refused(data: Path, trained: Path, tmp_path: Path) -> None:
    with pytest.raises(AMNError, match="it is of the architecture amn"):
        trainer_of([going_on(small(data, 1, architecture="entnet"), trained)], tmp_path / "second")


def test_a_start_that_is_not_there_is_named(data: Path, tmp_path: Path) -> None:
    with pytest.raises(AMNError, match="nowhere"):
        trainer_of([going_on(small(data, 1), tmp_path / "nowhere")], tmp_path / "second")


def test_an_average_is_between_two_models_and_keeps_the_words_of_the_first(trained: Path) -> None:
    average = importlib.import_module("average")
    old = load_model(trained / "best")
    words = Vocabulary.union([old.vocabulary, Vocabulary(words=("", "", "otter"), answers=("otter",))])
    settings = settings_of(str(trained / "best"))
    new = TrainedModel.of("amn", build_model("amn", words, settings, seed=5), words, old.record)
    mean = average.averaged(new, old, 0.25, settings).model.state_dict()
    ours, theirs = new.model.state_dict(), old.model.state_dict()
    whole = "update.state.weight"
    torch.testing.assert_close(mean[whole], torch.lerp(theirs[whole], ours[whole], 0.25))
    rows = "encoder.embedding.weight"
    here, there = words.word_id("mary"), old.vocabulary.word_id("mary")
    torch.testing.assert_close(mean[rows][here], torch.lerp(theirs[rows][there], ours[rows][here], 0.25))
    assert torch.equal(mean[rows][words.word_id("otter")], ours[rows][words.word_id("otter")])


def test_the_gate_of_an_average_decides_as_before_and_hears_new_words_as_unknown_ones(trained: Path) -> None:
    average = importlib.import_module("average")
    first = load_model(trained / "best")
    settings = settings_of(str(trained / "best"))
    gated = build_model("amn", first.vocabulary, settings | {"gate": 8, "needs": True}, seed=0)
    old = TrainedModel.of("amn", gated, first.vocabulary, first.record)
    words = Vocabulary.union([old.vocabulary, Vocabulary(words=("", "", "aardvark"), answers=())])
    new = TrainedModel.of("amn", build_model("amn", words, settings, seed=5), words, old.record)
    gate = old.model.get_submodule("gate")
    assert isinstance(gate, Gate)
    wider = average.known_to(gate, new, old)
    asked = ["where", "is", "mary"]
    for said in (["mary", "went", "to", "the", "kitchen"], ["the", "aardvark", "went", "home"]):
        logits = [
            part(*(torch.tensor([[vocabulary.word_id(word) for word in row]]) for row in (said, asked)))
            for part, vocabulary in ((gate, old.vocabulary), (wider, words))
        ]
        torch.testing.assert_close(logits[0], logits[1])
    assert wider.need is not None and wider.need.names[words.word_id("aardvark")] == 1
