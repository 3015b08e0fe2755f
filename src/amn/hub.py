"""Models for the Hugging Face hub, by the hub's own mixin; its library is optional, so this is imported when needed."""

from pathlib import Path
from typing import TYPE_CHECKING

from huggingface_hub import ModelHubMixin, metadata_save

from amn.store.model_directory import CARD_FILE

if TYPE_CHECKING:
    from amn.api import QA

METADATA = {"library_name": "amn", "license": "apache-2.0", "pipeline_tag": "question-answering"}


class HubModel(ModelHubMixin, **METADATA):
    """A model with what the hub expects of one: `push_to_hub`, and a card that the hub can sort by.

    Args:
        qa: the model.
    """

    def __init__(self, qa: "QA") -> None:
        self._qa = qa

    def _save_pretrained(self, save_directory: Path) -> None:
        self._qa.save_pretrained(save_directory)
        metadata_save(save_directory / CARD_FILE, METADATA)
