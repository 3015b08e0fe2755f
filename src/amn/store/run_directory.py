"""Run directories: the description of a run, its log, its best model and, when it has finished, its result."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amn.config import RunSpec
from amn.errors import CheckpointError
from amn.inference.trained import TrainedModel
from amn.store.atomic import clear_leftovers, write_atomically, writing
from amn.store.model_directory import save_model

SPEC_FILE, LOG_FILE, RESULT_FILE, STATE_FILE, BEST = "run.json", "log.jsonl", "result.json", "state.safetensors", "best"
STORY_FILES = {
    "train": "train.jsonl",
    "valid": "valid.jsonl",
}  # by split: the user's stories, if it has any


@dataclass(frozen=True)
class RunDirectory:
    """The files of a run."""

    path: Path

    @property
    def state(self) -> Path:
        """The checkpoint of a run that trains alone."""
        return self.path / STATE_FILE

    @property
    def best(self) -> Path:
        """The model directory of the best weights so far."""
        return self.path / BEST

    @property
    def finished(self) -> bool:
        """Whether the run has finished."""
        return (self.path / RESULT_FILE).exists()

    def start(self, spec: RunSpec, *, resume: bool) -> None:
        """Creates the directory; an existing one can only be used to resume the same run."""
        known = self.path / SPEC_FILE
        if known.exists():
            self._go_on(spec, resume)
            return
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        write_atomically(known, json.dumps(spec.to_json(), indent=1) + "\n")

    def _go_on(self, spec: RunSpec, resume: bool) -> None:
        if not resume:
            raise CheckpointError(
                f"{self.path} holds a run already: give --resume to continue it, or another --out, or delete it"
            )
        found, wanted = (_flat(json.loads(json.dumps(one.to_json()))) for one in (self.spec(), spec))
        differing = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
        if differing:
            raise CheckpointError(
                f"{self.path} holds another run, with other {' and '.join(differing)}: give another --out, "
                f"or the options with which it was started (see {SPEC_FILE} there)"
            )
        clear_leftovers(self.path)

    def spec(self) -> RunSpec:
        """The run's description."""
        try:
            return RunSpec.from_json(json.loads((self.path / SPEC_FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{self.path} is not a run directory ({error})") from error

    def log(self, entry: dict[str, Any]) -> None:
        """Adds a line to the log."""
        path = self.path / LOG_FILE
        with writing(path), path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def entries(self) -> Iterator[dict[str, Any]]:
        """The lines of the log."""
        path = self.path / LOG_FILE
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    yield json.loads(line)
                except ValueError:  # the last line of a run that was killed while writing
                    return

    def forget_after(self, epoch: int) -> None:
        """Truncates the log after the epoch of a checkpoint (-1: to nothing), so that resuming repeats no line."""
        if not (self.path / LOG_FILE).exists():
            return
        kept = [entry for entry in self.entries() if entry["epoch"] <= epoch]
        write_atomically(self.path / LOG_FILE, "".join(json.dumps(entry) + "\n" for entry in kept))

    def save_best(self, trained: TrainedModel, card: str) -> None:
        """Replaces the best model."""
        save_model(self.best, trained, card)

    def finish(self, result: dict[str, Any]) -> None:
        """Writes the result; the run then counts as finished."""
        write_atomically(self.path / RESULT_FILE, json.dumps(result, indent=1) + "\n")

    def result(self) -> dict[str, Any]:
        """The recorded result."""
        path = self.path / RESULT_FILE
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"{path}: not a readable result ({error}); delete it to repeat the end of the training"
            ) from error
        return found


def _flat(described: dict[str, Any]) -> dict[str, Any]:
    """A description with the settings of its parts beside its own."""
    parts = [value for value in described.values() if isinstance(value, dict)]
    own = {name: value for name, value in described.items() if not isinstance(value, dict)}
    return own | {name: value for part in parts for name, value in part.items()}
