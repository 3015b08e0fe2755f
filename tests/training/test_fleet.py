"""A model of a fleet ends as if it had trained alone."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import functional_call, vmap
from torch.utils import _pytree as pytree

from amn.config import RunSpec
from amn.data.babi import write_babi
from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary
from amn.models import MODELS, build_model
from amn.models.amn import AMN
from amn.models.encoder import ANONYMOUS
from amn.store.run_directory import RunDirectory
from amn.training.fleet import Fleet
from amn.training.loop import Diverged
from amn.training.pool import hide_words
from amn.training.stacked import Layout, fields_of
from random_stories import VOCABULARY, shaken
from training.small import CPU, LONG, log_of, small, trainer_of, weights_of


@pytest.fixture
def double() -> Iterator[None]:
    """Double precision: where a gradient is tiny, Adam makes whole steps of what is rounding noise in single."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def assert_close(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, atol=1e-10, rtol=0, msg=f"{name} differs")


def alone(spec: RunSpec, out: Path) -> dict[str, Tensor]:
    trainer = trainer_of([spec], out)
    trainer.fit()
    return weights_of(trainer, spec)


def test_a_model_of_a_mixed_fleet_equals_the_same_model_trained_alone(double: None, data: Path, tmp_path: Path) -> None:
    specs = [
        small(data, 1, seed=3, epochs=2, anonymise=0.2),
        small(data, 6, seed=4, epochs=2, learning_rate=5e-3, clip=0.5),
        small(data, 15, seed=5, epochs=2, schedule="halving", halve_every=1),
    ]
    fleet = trainer_of(specs, tmp_path / "fleet")
    fleet.fit()
    for spec in specs:
        assert_close(weights_of(fleet, spec), alone(spec, tmp_path / "alone"))
        together, single = log_of(tmp_path / "fleet", spec), log_of(tmp_path / "alone", spec)
        assert [entry["loss"] for entry in together] == [pytest.approx(entry["loss"], abs=1e-9) for entry in single]
        assert [entry.get("best") for entry in together] == [entry.get("best") for entry in single]


def test_models_that_point_at_words_train_in_a_fleet_as_alone(double: None, data: Path, tmp_path: Path) -> None:
    specs = [small(data, task, seed=task, epochs=2, anonymise=0.5) for task in (1, 6)]
    specs = [replace(spec, settings={**spec.settings, "pointer": True}) for spec in specs]
    fleet = trainer_of(specs, tmp_path / "fleet")
    fleet.fit()
    assert weights_of(fleet, specs[0])["encoder.anonymous"].shape == (ANONYMOUS, 8)
    for spec in specs:
        assert_close(weights_of(fleet, spec), alone(spec, tmp_path / "alone"))


def by_item(spec: RunSpec) -> RunSpec:
    return replace(spec, settings={**spec.settings, "pointer": True, "items": 4})


@pytest.mark.checked
def test_models_that_answer_item_by_item_train_in_a_fleet_as_alone(double: None, data: Path, tmp_path: Path) -> None:
    hidden: dict[str, Any] = {"anonymise": 0.5, "hide_words": 0.2, "epochs": 2}
    specs = [by_item(small(data, 1, seed=3, **hidden)), by_item(small(data, 6, seed=4, **hidden))]
    fleet = trainer_of(specs, tmp_path / "fleet")
    fleet.fit()
    assert len({len(run.data.vocabulary.answers) for run in fleet.runs}) == 2  # one has classes that it must not give
    for spec in specs:
        assert_close(weights_of(fleet, spec), alone(spec, tmp_path / "alone"))
        together, single = (RunDirectory(tmp_path / name / spec.name).result() for name in ("fleet", "alone"))
        assert together["validation"] == pytest.approx(single["validation"], abs=1e-9)


@pytest.mark.checked
@pytest.mark.parametrize("architecture", sorted(MODELS))
def test_every_architecture_trains_in_the_same_loop(data: Path, tmp_path: Path, architecture: str) -> None:
    specs = [small(data, task, task, architecture, epochs=1, train_questions=16) for task in (1, 6)]
    fleet = trainer_of(specs, tmp_path)
    fleet.fit()
    assert all(RunDirectory(tmp_path / spec.name).finished for spec in specs)
    assert all(value.isfinite().all() for value in weights_of(fleet, specs[0]).values())


@pytest.mark.usefixtures("bfloat16")
@pytest.mark.parametrize("architecture", sorted(MODELS))
def test_half_precision_learns_what_single_precision_does(data: Path, tmp_path: Path, architecture: str) -> None:
    losses = {}
    for precision in ("float32", "bfloat16"):
        spec = small(data, 1, 0, architecture, epochs=2, train_questions=16, precision=precision)
        trainer_of([spec], tmp_path / precision).fit()
        losses[precision] = [entry["loss"]["answer"] for entry in log_of(tmp_path / precision, spec)]
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.01)
    assert losses["bfloat16"] != losses["float32"]


def test_hidden_words_are_names_and_half_of_the_stories_keep_all(data: Path, tmp_path: Path) -> None:
    fleet = trainer_of([small(data, 1, anonymise=0.999)], tmp_path).fleet
    batch = fleet.training.take(fleet.which, torch.arange(70).unsqueeze(0), 10)
    batch = pytree.tree_map(lambda value: value[0], replace(batch, key=torch.tensor([5])))
    hidden = hide_words(batch, fleet.hidden[0], fleet.hidden_words[0]).slot_words
    vocabulary = trainer_of([small(data, 1)], tmp_path / "words").runs[0].data.vocabulary
    gone = {vocabulary.words[word] for word in batch.slot_words[hidden != batch.slot_words].tolist()}
    assert {"mary", "kitchen"} <= gone
    assert not gone & {"went", "moved", "travelled", "journeyed", "to", "where", "is"}
    assert 20 <= (hidden != batch.slot_words).any(1).sum() <= 50


def test_hidden_ordinary_words_are_no_names_and_no_answers(data: Path, tmp_path: Path) -> None:
    trainer = trainer_of([by_item(small(data, 15, hide_words=0.5))], tmp_path)
    fleet, vocabulary = trainer.fleet, trainer.runs[0].data.vocabulary
    batch = fleet.training.take(fleet.which, torch.arange(54).unsqueeze(0), 10)
    batch = pytree.tree_map(lambda value: value[0], replace(batch, key=torch.tensor([5])))
    gone = hide_words(batch, fleet.hidden[0], fleet.hidden_words[0]).slot_words != batch.slot_words
    words = {vocabulary.words[word] for word in batch.slot_words[gone].tolist()}
    assert {"afraid", "is", "what", "cats"} <= words
    assert not words & {"gertrude", "winona", "jessica", "emily"}
    assert not gone.gather(1, batch.token_slots.flatten(1))[batch.token_slots.flatten(1) > 0].any()
    assert 14 <= gone.any(1).sum() <= 40
    some = batch.slot_words[gone.any(1)].count_nonzero()
    assert 0.25 <= gone.sum() / some <= 0.55


def test_a_fleet_shrinks_when_members_finish_and_the_others_do_not_notice(
    double: None, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    only = Fleet.only

    def counted(fleet: Fleet, keep: Sequence[int]) -> Fleet:
        sizes.append(len(keep))
        return only(fleet, keep)

    monkeypatch.setattr(Fleet, "only", counted)
    waiting: dict[str, Any] = {
        "epochs": 6,
        "patience": 1,
        "learning_rate": 1e-9,
    }  # nothing ever gets better: it stops after epoch 5
    specs = [
        small(data, 1, seed=0, epochs=6),
        small(data, 15, seed=1, epochs=1),
        small(data, 6, seed=2, epochs=2),
        small(data, 6, seed=3, **waiting),
    ]
    fleet = trainer_of(specs, tmp_path / "fleet")
    fleet.fit()
    assert sizes == [3, 2, 1]
    assert_close(weights_of(fleet, specs[0]), alone(specs[0], tmp_path / "alone"))
    for spec in specs[1:]:
        alone(spec, tmp_path / "alone")
        together, single = (RunDirectory(tmp_path / name / spec.name) for name in ("fleet", "alone"))
        assert len(list(together.entries())) == len(list(single.entries()))
        assert together.result()["validation"] == pytest.approx(single.result()["validation"], abs=1e-9)
    assert len(log_of(tmp_path / "fleet", specs[3])) == 5


def test_every_run_is_validated_in_its_last_epoch(data: Path, tmp_path: Path) -> None:
    specs = [small(data, 1, epochs=4, evaluate_every=3), small(data, 6, epochs=2, evaluate_every=3)]
    trainer_of(specs, tmp_path).fit()
    validated = [[entry["epoch"] for entry in log_of(tmp_path, spec) if "ratio" in entry] for spec in specs]
    assert validated == [[0, 3], [0, 1]]


def test_one_model_that_diverges_does_not_stop_the_others(double: None, data: Path, tmp_path: Path) -> None:
    good, bad = small(data, 1, seed=0), small(data, 6, seed=1, learning_rate=1e30, warmup_steps=0)
    fleet = trainer_of([good, bad], tmp_path / "fleet")
    with pytest.raises(Diverged, match=f"{bad.name}: the loss is no longer a number.*learning_rate"):
        fleet.fit()
    assert_close(weights_of(fleet, good), alone(good, tmp_path / "alone"))
    assert not RunDirectory(tmp_path / "fleet" / bad.name).finished


def test_a_model_alone_reads_as_in_a_fleet(data: Path, tmp_path: Path) -> None:
    fleet = trainer_of([small(data)], tmp_path).fleet
    batch = fleet.training.take(fleet.which, torch.arange(8).unsqueeze(0), 6)
    weights, progress = fleet.layout.split(fleet.weights), torch.ones(1)
    single = fleet.reader.plain(weights, batch, progress)
    stacked = vmap(lambda w, b, p: fields_of(functional_call(fleet.template, w, (b, p))))(weights, batch, progress)
    torch.testing.assert_close(single, stacked)


def test_a_model_alone_is_validated_with_lists_that_hold_no_word_twice(data: Path, tmp_path: Path) -> None:
    trainer = trainer_of([by_item(small(data))], tmp_path)
    known = trainer.runs[0].data.vocabulary
    model = trainer.fleet.template
    assert isinstance(model, AMN)
    decoder = model.decoder
    assert decoder.comma == known.answer_id(",") >= 0
    assert decoder.class_words[1:].tolist() == list(known.class_words[1:])


def test_models_of_other_vocabularies_share_a_layout() -> None:
    models = [build_model("amn", vocabulary, {"hidden": 8}) for vocabulary in (VOCABULARY, smaller_vocabulary())]
    for number, model in enumerate(models):
        shaken(model, number)
    layout = Layout.of(models[0])
    rows = layout.stack(models)
    for row, model in zip(rows, models, strict=True):
        before = {name: value.clone() for name, value in model.state_dict().items()}
        shaken(model, 9)
        layout.write(row, model)
        assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    spare = rows[1].count_nonzero() - sum(value.count_nonzero() for value in models[1].state_dict().values())
    assert spare == 0


def smaller_vocabulary() -> Vocabulary:
    return Vocabulary.from_json({"words": ["mary", "went"], "answers": ["garden"]})


def test_the_first_losses_stay_what_they_are(tmp_path: Path) -> None:
    write_babi(generate(1, questions=192, seed=0), tmp_path / "qa1_train.txt")
    write_babi(generate(1, questions=30, seed=1), tmp_path / "qa1_valid.txt")
    spec = RunSpec(task=1, data=str(tmp_path), train=small(tmp_path, batch_size=64, window=LONG).train)
    trainer = trainer_of([spec], tmp_path)
    trainer.fit()
    found = [entry["loss"] for entry in log_of(tmp_path, spec)]
    assert found == [pytest.approx(loss, abs=2e-4) for loss in FIRST_LOSSES], json.dumps(found)


FIRST_LOSSES = [
    {"answer": 1.80266, "creation": 0.27658, "budget": 0.0, "further": 0.18027},
    {"answer": 1.7031, "creation": 0.16397, "budget": 0.08284, "further": 0.17034},
    {"answer": 1.54086, "creation": 0.17377, "budget": 0.18665, "further": 0.15409},
]


def test_scores_count_each_question_once(data: Path, tmp_path: Path) -> None:
    fleet = trainer_of([small(data, 1), small(data, 15, seed=1)], tmp_path).fleet
    whole, parts = fleet.scores(), fleet.scores(questions_a_batch=7)
    assert [vars(score) for score in parts] == [pytest.approx(vars(score), abs=1e-3) for score in whole]
    assert fleet.device == CPU
