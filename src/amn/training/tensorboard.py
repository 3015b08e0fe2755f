"""A log for TensorBoard, beside the one that every run writes."""

from pathlib import Path
from typing import Any

from amn.errors import MissingExtraError


class TensorBoardLog:
    """Writes what a run logs into a folder as scalars, one point an epoch."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise MissingExtraError("tensorboard", "--log-to tensorboard") from error
        self._open, self._folder = SummaryWriter, folder
        self._writer: SummaryWriter | None = None  # opened when there is something to write: it makes the folder

    def note(self, entry: dict[str, Any]) -> None:
        """Adds the figures of an epoch."""
        figures = {f"loss/{name}": value for name, value in entry["loss"].items()}
        scores = ("error_percent", "entities", "entities_read", "ratio", "banks")
        figures |= {f"validation/{name}": entry[name] for name in scores if name in entry}
        if self._writer is None:
            self._writer = self._open(self._folder)
        for name, value in figures.items():
            self._writer.add_scalar(name, value, entry["epoch"])
        self._writer.flush()
