"""Models by name: on this machine, in the package, or on the Hugging Face hub, from and to which they are copied."""

import re
import shlex
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from amn.errors import AMNError, MissingExtraError, did_you_mean
from amn.pretrained import shipped_directory, shipped_models
from amn.store.model_directory import CARD_FILE, CONFIG_FILE, WEIGHTS_FILE
from amn.store.run_directory import BEST, SPEC_FILE

_PART = r"\w(?:[\w.-]*\w)?"  # not . or .. or anything else that only a path has
_HUB_NAME = re.compile(f"{_PART}/{_PART}", re.ASCII)
METADATA = {"library_name": "amn", "license": "apache-2.0", "pipeline_tag": "question-answering"}

_RUNS = "runs/"  # where runs go by default, which is no organisation


def find_model(name: str | Path, revision: str | None = None) -> Path:
    """The directory of a model.

    Args:
        name: a model directory, or a run directory for its best model; else a shipped model; else organisation/name
            on the hub, unless there is a folder here with the name of the organisation.
        revision: a branch, tag or commit, for a model on the hub.

    Raises:
        AMNError: where there is no such model.
    """
    shipped = shipped_models()
    found = [directory for directory in (Path(name), Path(name) / BEST) if (directory / CONFIG_FILE).is_file()]
    found += [shipped_directory(str(name))] if str(name) in shipped else []
    if found and revision is not None:
        raise AMNError(f"revision: {found[0]} is on this machine; only models on the hub have revisions")
    if found:
        return found[0]
    name = str(name)
    if _HUB_NAME.fullmatch(name) and not (Path(name).exists() or Path(name).parent.is_dir() or name.startswith(_RUNS)):
        return _download(name, revision)
    if (Path(name) / SPEC_FILE).is_file():
        raise AMNError(f"{name} holds a run without a model yet: amn train --out {shlex.quote(name)} --resume goes on")
    listed = f"shipped: {', '.join(shipped)}" if shipped else "none is shipped"
    known = [*shipped, *_models_beside(Path(name))]
    near = f"; {did_you_mean(name, known)}" if get_close_matches(name, known, n=1, cutoff=0.5) else ""
    raise AMNError(f"no model is called {name!r}, and no directory of that name holds a {CONFIG_FILE}; {listed}{near}")


def _models_beside(path: Path) -> list[str]:
    """The model and run directories in the folder where a mistyped one was looked for."""
    try:
        beside = [path.parent / entry.name for entry in path.parent.iterdir()]
    except OSError:
        return []
    return [str(one) for one in beside if any((one / sub / CONFIG_FILE).is_file() for sub in ("", BEST))]


def _download(name: str, revision: str | None) -> Path:
    """A model from the Hugging Face hub; only the files of a model directory are fetched."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError(
            "hub", f"{name!r} is neither a local nor a shipped model; the Hugging Face hub"
        ) from error
    try:
        files = [CONFIG_FILE, WEIGHTS_FILE, CARD_FILE]
        return Path(snapshot_download(name, revision=revision, allow_patterns=files))
    except Exception as error:  # the hub's errors are many, and of several libraries
        raise AMNError(
            f"{name!r} is neither a local nor a shipped model, and the hub did not provide it: {error}"
        ) from error


def push(save: Callable[[Path], None], name: str, **options: Any) -> str:
    """Uploads a model that `save` writes to the hub, with metadata; returns the address of the commit."""
    try:
        from huggingface_hub import ModelHubMixin, metadata_save
    except ImportError as error:
        raise MissingExtraError("hub", "the Hugging Face hub") from error

    class HubModel(ModelHubMixin, **METADATA):
        def _save_pretrained(self, save_directory: Path) -> None:
            save(save_directory)
            metadata_save(save_directory / CARD_FILE, METADATA)

    return HubModel().push_to_hub(name, **options)
