"""Checkpoints: the state of a fleet as one safetensors file, replaced whole, from which training goes on bit for bit.

A run that trains alone keeps its checkpoint in its own directory; the fleets of a sweep keep theirs in `fleets/`, each
beside the list of the runs that it holds, so that any of these can go on from it.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from amn.errors import CheckpointError
from amn.store.atomic import clear_leftovers, write_atomically, writing
from amn.store.run_directory import RunDirectory

FORMAT_VERSION = "1"
FLEETS = "fleets"
_SUFFIX = ".safetensors"


def save_state(path: Path, tensors: dict[str, Tensor], position: dict[str, Any]) -> None:
    """Writes tensors and a plain description; a reader finds the old file or the new one, never a part."""
    metadata = {"format_version": FORMAT_VERSION, "position": json.dumps(position)}
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    write_atomically(path, save(plain, metadata))


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Reads what `save_state` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format_version") == FORMAT_VERSION:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
                return tensors, json.loads(metadata["position"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise unreadable(path, error) from error
    raise CheckpointError(
        f"{path}: expected checkpoint format {FORMAT_VERSION}, found {metadata.get('format_version')}; "
        "go on with the amn that wrote it, or train anew with another --out"
    )


def unreadable(path: Path, reason: Exception) -> CheckpointError:
    """The error for a checkpoint that is broken."""
    return CheckpointError(f"{path}: not a readable checkpoint ({reason}); delete it to start this training anew")


@dataclass(frozen=True)
class State:
    """A checkpoint and the runs that it holds."""

    path: Path
    names: tuple[str, ...]


def open_folder(out: Path) -> None:
    """Makes the folder of a sweep, or clears what a sweep that was killed has left half-written in it."""
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    clear_leftovers(out / FLEETS)


def known_states(out: Path, names: Iterable[str]) -> list[State]:
    """The checkpoints that hold any of these runs, those of the fewest runs first: they are the latest."""
    wanted = set(names)
    own = [State(RunDirectory(out / name).state, (name,)) for name in sorted(wanted)]
    fleets = [State(path.with_suffix(_SUFFIX), _listed(path)) for path in sorted((out / FLEETS).glob("*.json"))]
    found = [state for state in (*own, *fleets) if wanted & set(state.names) and state.path.exists()]
    return sorted(found, key=lambda state: len(state.names))


def _listed(path: Path) -> tuple[str, ...]:
    try:
        return tuple(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):  # its fleet was stopped before its first checkpoint
        return ()


def state_for(out: Path, names: Sequence[str]) -> Path:
    """Where some runs that train together keep their checkpoint."""
    if len(names) == 1:
        return RunDirectory(out / names[0]).state
    folder = out / FLEETS
    with writing(folder):
        folder.mkdir(exist_ok=True)
    hashed = hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]
    listed = folder / f"{hashed}.json"
    write_atomically(listed, json.dumps(sorted(names)))
    return listed.with_suffix(_SUFFIX)


def state_of_some(out: Path, state: State, names: Sequence[str]) -> Path:
    """Where some runs of a checkpoint go on: a copy, if the checkpoint is still needed for others."""
    others = [name for name in state.names if name not in names and not RunDirectory(out / name).finished]
    if not others:
        return state.path
    path = state_for(out, names)
    if not path.exists():
        write_atomically(path, state.path.read_bytes())
    return path


def forget_finished(out: Path, names: Iterable[str]) -> None:
    """Removes the checkpoints whose runs have all finished."""
    for state in known_states(out, names):
        if all(RunDirectory(out / name).finished for name in state.names):
            state.path.unlink(missing_ok=True)
