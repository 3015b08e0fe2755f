"""Warm starts: training from the weights of a trained model, whose words and answers stay known."""

import dataclasses
from typing import Any

import torch
from torch import Tensor

from amn.data.vocabulary import Vocabulary
from amn.errors import ConfigError
from amn.inference.trained import TrainedModel
from amn.models import Model
from amn.store.find import find_model
from amn.store.model_directory import load_model, read_description

_SIZES = ("vocabulary_size", "num_answers")
_GATE = ("gate", "needs")


def start_from(model: Model, vocabulary: Vocabulary, name: str) -> None:
    """Gives a fresh model the weights of the trained one of that name; rows of new words become like its."""
    trained = load_model(find_model(name))
    _check_alike(model, trained, name)
    with torch.no_grad():
        copy_weights(model, vocabulary, trained)


def copy_weights(model: Model, vocabulary: Vocabulary, trained: TrainedModel) -> None:
    """Gives a model of some words the weights of a trained one.

    Rows of words and answers that only it has stay as they were drawn, but for the mean and size of trained ones: fresh
    ones are ten times as large, and would drown what the trained model knows.
    """
    rows = shared_rows(model, vocabulary, trained.vocabulary)
    known = trained.model.state_dict()
    for parameter, value in model.named_parameters():
        if parameter in rows:
            new, old = rows[parameter]
            value.copy_(_alike(value, new, known[parameter]))
            value[new] = known[parameter][old]
        else:
            value.copy_(known[parameter])


def shared_rows(model: Model, vocabulary: Vocabulary, other: Vocabulary) -> dict[str, tuple[Tensor, Tensor]]:
    """The rows of words and answers that a model's vocabulary shares with another: for each parameter, both places."""
    words, answers = _places(vocabulary.words, other.words), _places(vocabulary.answers, other.answers)
    shared = zip(_SIZES, (words, answers), strict=True)
    return {parameter: places for field, places in shared for parameter in _parameters_with_rows(model, field)}


def _alike(drawn: Tensor, places: Tensor, trained: Tensor) -> Tensor:
    """The rows of a fresh parameter with the mean and the deviation of trained ones, but for those at some places."""
    others = torch.ones(len(drawn), dtype=torch.bool).index_fill(0, places, False)
    spread = drawn[others].square().mean().sqrt().clamp(min=1e-6) if others.any() else 1.0
    return trained.mean(0) + trained.std(0, correction=0) * drawn / spread


def settings_of(name: str) -> dict[str, Any]:
    """The settings of a trained model, as a run that starts from it needs them; its gate is trained by itself."""
    config = read_description(find_model(name))["config"]
    return {field: value for field, value in config.items() if field not in (*_SIZES, *_GATE)}


def vocabulary_of(name: str) -> Vocabulary:
    """The words and answers that a trained model knows."""
    return Vocabulary.from_json(read_description(find_model(name))["vocabulary"])


def _check_alike(model: Model, trained: TrainedModel, name: str) -> None:
    if type(trained.model) is not type(model):
        raise ConfigError(f"{name} cannot be the start: it is of the architecture {trained.architecture}")
    if _shapes(model) == _shapes(trained.model):
        return  # settings of the losses, say, may differ
    theirs = dataclasses.asdict(trained.model.config)
    for field, value in dataclasses.asdict(model.config).items():
        if field not in (*_SIZES, *_GATE) and value != theirs.get(field):
            raise ConfigError(f"{name} cannot be the start: its {field} is {theirs.get(field)!r}, and not {value!r}")


def _shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """The shapes of all weights, but for the number of words and of answers."""
    by_size = {parameter for field in _SIZES for parameter in _parameters_with_rows(model, field)}
    return {
        name: value.shape[1:] if name in by_size else value.shape
        for name, value in model.named_parameters()
        if not name.startswith("gate.")
    }


def _places(new: tuple[str, ...], old: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """Where the items that both have stand in each."""
    place = {item: number for number, item in enumerate(old)}
    shared = [(number, place[item]) for number, item in enumerate(new) if item in place]
    pairs = torch.tensor(shared, dtype=torch.long).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _parameters_with_rows(model: Model, field: str) -> set[str]:
    """The parameters that have a row for each word, or for each answer: those that grow when there is one more."""
    more = {field: getattr(model.config, field) + 1}
    larger = dict(type(model)(dataclasses.replace(model.config, **more)).named_parameters())
    return {name for name, parameter in model.named_parameters() if parameter.shape != larger[name].shape}
