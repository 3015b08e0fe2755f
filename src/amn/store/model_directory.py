"""A trained model on disk: a directory with config.json, model.safetensors and a model card. No pickle."""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from amn.data.vocabulary import Vocabulary
from amn.errors import CheckpointError, ConfigError, did_you_mean
from amn.models import Model, model_class
from amn.store.atomic import write_atomically as write_atomically
from amn.store.atomic import writing

FORMAT_VERSION = 1
CONFIG_FILE, WEIGHTS_FILE, CARD_FILE = "config.json", "model.safetensors", "README.md"


@dataclass(frozen=True, kw_only=True)
class TrainedModel:
    """A model with the words it knows and the record of how it was trained."""

    architecture: str
    model: Model
    vocabulary: Vocabulary
    record: dict[str, Any] = field(default_factory=dict)


def build_model(architecture: str, vocabulary: Vocabulary, settings: dict[str, Any], seed: int = 0) -> Model:
    """A fresh model; settings are checked against the fields of the architecture's config."""
    kind = model_class(architecture)
    known = {f.name for f in dataclasses.fields(kind.Config)}
    for name in settings:
        if name not in known:
            raise ConfigError(f"{architecture} has no setting {name!r}; {did_you_mean(name, known)}")
    sizes = {"vocabulary_size": len(vocabulary.words), "num_answers": len(vocabulary.answers)}
    model = kind(kind.Config(**{**settings, **sizes}))
    model.initialise(torch.Generator().manual_seed(seed))
    return model


def save_model(directory: str | Path, trained: TrainedModel, card: str = "") -> None:
    """Writes a model directory; each file appears whole or not at all."""
    directory = Path(directory)
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    weights = {name: value.detach().cpu().contiguous() for name, value in trained.model.state_dict().items()}
    write_atomically(directory / WEIGHTS_FILE, save(weights))
    write_atomically(directory / CONFIG_FILE, json.dumps(_description(trained), indent=1) + "\n")
    if card:
        write_atomically(directory / CARD_FILE, card)


def _description(trained: TrainedModel) -> dict[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "architecture": trained.architecture,
        "config": dataclasses.asdict(trained.model.config),
        "vocabulary": trained.vocabulary.to_json(),
        "training": trained.record,
    }


def load_model(directory: str | Path) -> TrainedModel:
    """Reads a model directory, with the model ready to answer."""
    directory = Path(directory)
    described = read_description(directory)
    vocabulary = Vocabulary.from_json(described["vocabulary"])
    model = build_model(described["architecture"], vocabulary, described["config"])
    try:
        model.load_state_dict(load_file(directory / WEIGHTS_FILE))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise CheckpointError(f"{directory / WEIGHTS_FILE}: the weights cannot be read ({error})") from error
    model.eval()
    return TrainedModel(
        architecture=described["architecture"], model=model, vocabulary=vocabulary, record=described["training"]
    )


def read_description(directory: Path) -> dict[str, Any]:
    """The config.json of a model directory, checked for its format version."""
    path = directory / CONFIG_FILE
    try:
        described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: not a readable model description ({error})") from error
    version = described.get("format_version")
    if version != FORMAT_VERSION:
        raise CheckpointError(f"{path}: expected format version {FORMAT_VERSION}, found {version}; use a matching amn")
    return described
