"""Training a fleet from its first epoch to its last: order, validation, selection, checkpoints, log."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from amn.config import RunSpec
from amn.data.batches import alike
from amn.errors import AMNError, CheckpointError
from amn.inference.trained import TrainedModel
from amn.models import Model, build_model
from amn.store.card import model_card
from amn.store.run_directory import RunDirectory
from amn.training.checkpoint import load_state, save_state, unreadable
from amn.training.fleet import Fleet, Member, Score
from amn.training.pool import Pool
from amn.training.prefetch import Prefetcher
from amn.training.prepare import Encoded, data_key, encode_all
from amn.training.stopping import StopRequest, stop_requests
from amn.training.warm_start import start_from

OnEpoch = Callable[[dict[str, Any]], None]  # gets the log entry of every epoch
OnStep = Callable[[int, int], None]  # gets the number of steps done, and of all steps
CHECKPOINT_SECONDS = 120.0  # no more than this is lost when a run is killed
_SPARE = 0.3  # room for further sentences where stories are renewed, for others may be longer
_SHRINK_AT = 0.75  # a fleet is rebuilt when no more than this share of it still trains


@dataclass(frozen=True)
class Run:
    """One model of a training: what it is, where it writes, and its data."""

    spec: RunSpec
    directory: RunDirectory
    data: Encoded


@dataclass(frozen=True)
class _Best:
    """The best validation so far of one run."""

    epoch: int = -1
    score: Score | None = None

    def improved_by(self, score: Score) -> bool:
        """By error first, then by entities read."""
        old = self.score
        return old is None or (score.error_percent, score.entities_read) < (old.error_percent, old.entities_read)


class Interrupted(AMNError):
    """Training was stopped by the user; a checkpoint was saved."""


class Diverged(AMNError):
    """The loss of some runs is no longer a number."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        super().__init__(
            f"{', '.join(names)}: the loss is no longer a number; the last checkpoint is from before that. "
            "Train again with a lower --set learning_rate=... or --set clip=..., and another --out"
        )


class Trainer:
    """Trains the runs of one fleet and writes their directories.

    Args:
        runs: runs of one architecture whose models have the same shape.
        state: where the fleet keeps its checkpoint.
        device: where to compute.
        progress: called after every epoch of every run.
        compiled: compile the step, which pays for long trainings on a GPU.
        stepped: called after every step.
        checkpoint_every: seconds between checkpoints inside an epoch; between epochs a quarter of it.
        workers: processes that generate new stories, where the runs renew theirs.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        state: Path,
        device: torch.device,
        progress: OnEpoch,
        *,
        compiled: bool = False,
        stepped: OnStep | None = None,
        checkpoint_every: float = CHECKPOINT_SECONDS,
        workers: int = 1,
    ) -> None:
        self.runs, self.state_path, self.progress, self.stepped = list(runs), state, progress, stepped
        self.fleet = _fleet(runs, device, compiled)
        self.prefetcher = Prefetcher(runs[0].spec, runs[0].data, self.fleet.training.data.sizes, workers)
        self.best = [_Best() for _ in runs]
        self.best_weights = self.fleet.weights.detach().clone()
        self.epoch, self.step_in_epoch, self.steps_in_epoch, self.seconds = 0, 0, 0, 0.0
        self.losses = torch.zeros(0)
        self.diverged: list[str] = []
        self.checkpoint_every, self._saved_at = checkpoint_every, float("-inf")

    @property
    def epochs(self) -> int:
        """Epochs of the longest run."""
        return max(run.spec.train.epochs for run in self.runs)

    def fit(self, stop_after: float | None = None) -> bool:
        """Trains to the end, or saves and returns after so many seconds.

        Returns:
            Whether the training came to its end; if not, another call goes on.

        Raises:
            Interrupted: where Ctrl-C, or a request to terminate, stopped it; all is saved.
            Diverged: where the loss of a run is no longer a number; the other runs were trained to their end.
        """
        with stop_requests(stop_after) as stop, closing(self.prefetcher):
            while self.epoch < self.epochs and any(self._active()):
                if not self._train_epoch(stop):
                    self.pause()
                    if stop.signalled:
                        raise Interrupted("stopped; a checkpoint was saved: go on with --resume")
                    return False
                self._end_epoch()
                self._shrink()
        for i in range(len(self.runs)):
            self._finish(i)
        if self.diverged:
            raise Diverged(self.diverged)
        self.state_path.unlink(missing_ok=True)
        return True

    def _active(self) -> list[bool]:
        """Which runs still train."""
        return [self._trains(i) for i in range(len(self.runs))]

    def _trains(self, i: int) -> bool:
        config, best = self.runs[i].spec.train, self.best[i]
        waited = self.epoch - max(best.epoch, self._first_choice(i))
        learned = best.score is not None and best.score.error_percent <= config.plateau
        return self.epoch < config.epochs and not (config.patience and learned and waited > config.patience)

    def _first_choice(self, i: int) -> int:
        """The first epoch whose weights may be chosen."""
        epochs = self.runs[i].spec.train.epochs
        return min(int(epochs * self.fleet.members[i].model.chosen_from), epochs - 1)

    def _shrink(self) -> None:
        """Finishes runs that have stopped, once they are enough to be worth a smaller fleet."""
        active = self._active()
        keep = [i for i, trains in enumerate(active) if trains]
        if not keep or len(keep) > _SHRINK_AT * len(self.runs):
            return
        for i, trains in enumerate(active):
            if not trains:
                self._finish(i)
        self._keep(keep)
        self.save()

    def _keep(self, keep: list[int]) -> None:
        """Goes on with some of the runs."""
        self.fleet = self.fleet.only(keep)
        self.best_weights = self.best_weights[keep]
        self.losses = self.losses[keep]
        self.runs, self.best = [self.runs[i] for i in keep], [self.best[i] for i in keep]

    def _train_epoch(self, stop: StopRequest) -> bool:
        """Trains to the end of the epoch, or until it is time to stop; says whether it came to the end."""
        if self.step_in_epoch == 0:
            self.losses, self.steps_in_epoch = torch.zeros(0), 0
        self.prefetcher.renew(self.fleet.training, self.epoch)
        batch_size = self.runs[0].spec.train.batch_size
        steps = self.fleet.epoch(self.epoch, self._active(), batch_size, at_least=self.steps_in_epoch)
        self.steps_in_epoch = len(steps)
        before = time.monotonic()
        for step in steps[self.step_in_epoch :]:
            parts = self.fleet.train_step(step)
            self.losses = self.losses + parts if len(self.losses) else parts.clone()
            self.step_in_epoch += 1
            now = time.monotonic()
            self.seconds, before = self.seconds + now - before, now
            if self.stepped is not None:
                self.stepped(self.epoch * len(steps) + self.step_in_epoch, self.epochs * len(steps))
            if stop.due:
                return False
            if now - self._saved_at > self.checkpoint_every:
                self.save()
        return True

    def _end_epoch(self) -> None:
        """Validates, chooses, logs and saves."""
        self._drop_diverged()
        active, due = self._active(), [self._due(run) for run in self.runs]
        scores = self.fleet.scores() if any(due) else []
        losses = self.losses.tolist()
        for i in range(len(self.runs)):
            if active[i]:
                self._note(i, scores[i] if due[i] else None, losses[i])
        self.epoch, self.step_in_epoch = self.epoch + 1, 0
        if self.epoch == self.epochs or time.monotonic() - self._saved_at > self.checkpoint_every / 4:
            self.save()

    def _due(self, run: Run) -> bool:
        """Whether this epoch ends with a validation of the run."""
        config = run.spec.train
        return self.epoch + 1 == config.epochs or self.epoch % config.evaluate_every == 0

    def _drop_diverged(self) -> None:
        """Goes on without the runs whose loss is no longer a number; one must not stop the others."""
        finite = self._finite().tolist()
        lost = [run.spec.name for run, fine in zip(self.runs, finite, strict=True) if not fine]
        if len(lost) == len(self.runs):
            raise Diverged(self.diverged + lost)
        if lost:
            self.diverged += lost
            self._keep([i for i, fine in enumerate(finite) if fine])

    def _finite(self) -> Tensor:
        """Which models are still of finite numbers."""
        fine = self.fleet.weights.detach().isfinite().all(1)
        return fine & self.losses.isfinite().all(1) if len(self.losses) else fine

    def _note(self, i: int, score: Score | None, losses: list[float]) -> None:
        """Logs an epoch of a run, and keeps its weights where they are the best."""
        run = self.runs[i]
        batches = -(-len(self.fleet.training.shapes[self.fleet.members[i].task]) // run.spec.train.batch_size)
        parts = {name: round(v / batches, 5) for name, v in zip(self.fleet.loss_parts, losses, strict=True)}
        entry: dict[str, Any] = {"epoch": self.epoch, "loss": parts, "seconds": round(self.seconds, 2)}
        if score is not None:
            entry |= score.rounded()
            if self.epoch >= self._first_choice(i) and self.best[i].improved_by(score):
                self.best[i] = _Best(self.epoch, score)
                self.best_weights[i] = self.fleet.weights.detach()[i]
                entry["best"] = True
        run.directory.log(entry)
        self.progress({"run": run.spec.name, "epochs": run.spec.train.epochs, **entry})

    def save(self) -> None:
        """Writes the checkpoint from which `resume` goes on; weights that are no numbers never replace good ones."""
        self._saved_at = time.monotonic()
        if not self._finite().all():
            return
        tensors = {**self.fleet.state(), "best": self.best_weights, "losses": self.losses}
        save_state(self.state_path, tensors, self._position())

    def _position(self) -> dict[str, Any]:
        return {
            "epoch": self.epoch,
            "step": self.step_in_epoch,
            "steps": self.steps_in_epoch,
            "seconds": self.seconds,
            "runs": [run.spec.name for run in self.runs],
            "answer_room": self.fleet.answer_room,
            "loss_parts": self.fleet.loss_parts,
            "best": [asdict(best) for best in self.best],
        }

    def resume(self) -> bool:
        """Goes back to the checkpoint, if there is one; without one, the logs of the runs start again."""
        found = self.state_path.exists()
        if found:
            tensors, position = load_state(self.state_path)
            if not {run.spec.name for run in self.runs} <= set(position.get("runs", ())):
                raise CheckpointError(f"{self.state_path} is the checkpoint of other runs: give another --out")
            try:
                self._restore(tensors, position)
            except (KeyError, IndexError, TypeError, RuntimeError) as error:
                raise unreadable(self.state_path, error) from error
        for run in self.runs:
            run.directory.forget_after(self.epoch - 1)
        return found

    def _restore(self, tensors: dict[str, Tensor], position: dict[str, Any]) -> None:
        rows = [position["runs"].index(run.spec.name) for run in self.runs]
        fleet, room = self.fleet, tuple(position["answer_room"])
        self.fleet = Fleet(fleet.members, fleet.training, fleet.validation, fleet.device, room, fleet.reader.compiled)
        kept = {name: value[rows] if len(value) else value for name, value in tensors.items()}
        self.fleet.restore(kept)
        self.fleet.loss_parts = tuple(position.get("loss_parts", ()))
        self.best_weights, self.losses = kept["best"].to(fleet.device), kept["losses"].to(fleet.device)
        self.epoch, self.step_in_epoch, self.seconds = position["epoch"], position["step"], position["seconds"]
        self.steps_in_epoch = position.get("steps", 0)
        found = [position["best"][row] for row in rows]
        self.best = [_Best(one["epoch"], Score(**one["score"]) if one["score"] else None) for one in found]

    def pause(self) -> None:
        """Saves the checkpoint, and the best model so far of every run that has one."""
        self._drop_diverged()
        self.save()
        for i, best in enumerate(self.best):
            if best.score is not None:
                self._write_best(i)

    def _finish(self, i: int) -> None:
        self.runs[i].directory.finish(self._write_best(i))

    def _write_best(self, i: int) -> dict[str, Any]:
        """Writes the best model of a run and returns its training record."""
        run, model = self.runs[i], self.fleet.members[i].model
        self.fleet.layout.write(self.best_weights[i].cpu(), model)
        record = self._record(run, self.best[i])
        trained = TrainedModel.of(run.spec.architecture, model, run.data.vocabulary, record)
        run.directory.save_best(trained, model_card(trained))
        return record

    def _record(self, run: Run, best: _Best) -> dict[str, Any]:
        score = best.score.rounded() if best.score else {}
        names = {} if run.spec.train.order == "told" else {"names": sorted(frozenset().union(*run.data.names.values()))}
        return {
            "run": run.spec.to_json(),
            "training_data": run.data.source,
            "training_questions": run.data.training.questions,
            "validation": {"epoch": best.epoch, "questions": run.data.validation.questions, **score},
            "seconds_of_fleet": round(self.seconds, 1),
            "models_in_fleet": len(self.runs),
            "torch": torch.__version__,
            **names,
        }


def _fleet(runs: Sequence[Run], device: torch.device, compiled: bool) -> Fleet:
    """Fresh models over the data of their runs, which those of the same task share."""
    data = {data_key(run.spec): run.data for run in runs}
    order = {key: number for number, key in enumerate(data)}
    members = [Member(_model(run), order[data_key(run.spec)], run.spec.seed, run.spec.train) for run in runs]
    sets = alike([*(one.training for one in data.values()), *(one.validation for one in data.values())])
    spare = _SPARE if runs[0].spec.train.renew else 0.0
    training, validation = Pool.of(sets[: len(data)], device, spare), Pool.of(sets[len(data) :], device)
    if device.type == "cuda":
        torch.set_float32_matmul_precision("high")  # twice as fast, and exact enough to learn by
    return Fleet(members, training, validation, device, compiled=compiled)


def _model(run: Run) -> Model:
    model = build_model(run.spec.architecture, run.data.vocabulary, run.spec.settings, run.spec.seed)
    if run.spec.train.start is not None:
        start_from(model, run.data.vocabulary, run.spec.train.start)
    return model


def make_runs(
    specs: Sequence[RunSpec], out: Path, *, resume: bool, workers: int = 1, moved: Mapping[str, str] | None = None
) -> list[Run]:
    """Loads the data of some runs and makes their directories.

    Args:
        specs: the runs.
        out: where their directories are.
        resume: directories that are there already may be used, by the same runs.
        workers: processes that read and encode.
        moved: where data lies on this machine, by its name in the runs; elsewhere it lies where they say.
    """
    keys = list(dict.fromkeys(data_key(spec) for spec in specs))
    here = [key._replace(data=moved.get(key.data, key.data)) if moved and key.data else key for key in keys]
    data = dict(zip(keys, encode_all(here, workers=workers), strict=True))
    directories = [RunDirectory(out / spec.name) for spec in specs]
    for spec, directory in zip(specs, directories, strict=True):  # after the data, which may not be readable
        directory.start(spec, resume=resume)
    return [Run(s, d, data[data_key(s)]) for s, d in zip(specs, directories, strict=True)]
