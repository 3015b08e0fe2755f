"""Models for the Hugging Face hub, by the hub's own mixin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from amn.errors import MissingExtraError
from amn.store.model_directory import CARD_FILE

METADATA = {"library_name": "amn", "license": "apache-2.0", "pipeline_tag": "question-answering"}


def push(save: Callable[[Path], None], name: str, **options: Any) -> str:
    """Puts a model that `save` writes on the hub, with what the hub sorts by; gives the address of the commit."""
    try:
        from huggingface_hub import ModelHubMixin, metadata_save
    except ImportError as error:
        raise MissingExtraError("hub", "the Hugging Face hub") from error

    class HubModel(ModelHubMixin, **METADATA):
        def _save_pretrained(self, save_directory: Path) -> None:
            save(save_directory)
            metadata_save(save_directory / CARD_FILE, METADATA)

    return HubModel().push_to_hub(name, **options)
