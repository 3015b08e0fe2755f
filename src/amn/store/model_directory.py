"""A trained model on disk: a directory with config.json, model.safetensors and a model card. No pickle."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load, save

from amn.data.vocabulary import Vocabulary
from amn.errors import CheckpointError
from amn.inference.calibration import Calibration
from amn.inference.phrasing import Phrasing
from amn.inference.trained import TrainedModel
from amn.store.atomic import write_atomically, writing
from amn.store.validate import check_description, check_weights, parsed, with_digests

FORMAT_VERSION = 1
CONFIG_FILE, WEIGHTS_FILE, CARD_FILE = "config.json", "model.safetensors", "README.md"


def save_model(directory: str | Path, trained: TrainedModel, card: str = "") -> None:
    """Writes a model directory; each file is replaced atomically."""
    directory = Path(directory)
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    weights = save(trained.weights)
    write_atomically(directory / WEIGHTS_FILE, weights)
    described = with_digests(json.loads(json.dumps(_description(trained))), weights)
    write_atomically(directory / CONFIG_FILE, json.dumps(described, indent=1) + "\n")
    if card:
        write_atomically(directory / CARD_FILE, card)


def _description(trained: TrainedModel) -> dict[str, Any]:
    return {
        "format_version": FORMAT_VERSION,
        "architecture": trained.architecture,
        "config": trained.config,
        "vocabulary": trained.vocabulary.to_json(),
        "training": trained.record,
        **({} if trained.calibration is None else {"calibration": trained.calibration.to_json()}),
        **({} if trained.phrasing is None else {"phrasing": trained.phrasing.to_json()}),
    }


def load_model(directory: str | Path) -> TrainedModel:
    """Reads a model directory."""
    directory = Path(directory)
    described, path = read_description(directory), directory / WEIGHTS_FILE
    try:
        data = path.read_bytes()
        weights = load(data)
    except (OSError, SafetensorError, KeyError) as error:  # KeyError: a number type that numpy lacks
        raise CheckpointError(f"{path}: the weights cannot be read ({error})") from error
    check_weights(described, weights, data, str(path))
    return TrainedModel(
        architecture=described["architecture"],
        config=described["config"],
        weights=weights,
        vocabulary=Vocabulary.from_json(described["vocabulary"]),
        record=described["training"],
        calibration=Calibration.from_json(described["calibration"]) if "calibration" in described else None,
        phrasing=Phrasing.from_json(described["phrasing"]) if "phrasing" in described else None,
    )


def read_description(directory: Path) -> dict[str, Any]:
    """The config.json of a model directory, checked for its format version."""
    path = directory / CONFIG_FILE
    try:
        described = parsed(path.read_bytes(), str(path))
    except OSError as error:
        raise CheckpointError(f"{path}: not a readable model description ({error})") from error
    version = described.get("format_version")
    if version != FORMAT_VERSION:
        raise CheckpointError(f"{path}: expected format version {FORMAT_VERSION}, found {version}; use a matching amn")
    check_description(described, str(path))
    return described
