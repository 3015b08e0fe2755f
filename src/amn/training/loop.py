"""Training a fleet from its first epoch to its last: order, validation, selection, checkpoints, log."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from amn.data.batches import epoch_order
from amn.errors import AMNError
from amn.training.card import model_card
from amn.training.checkpoint import load_state, save_state
from amn.training.config import RunSpec
from amn.training.fleet import Fleet, Member, Pool, Score
from amn.training.model_directory import TrainedModel, build_model
from amn.training.prepare import Encoded, data_key, encode_all
from amn.training.run_directory import RunDirectory, score_entry

_Step = tuple[list[int], Int[Tensor, "model batch"], int]  # updates so far, examples of each model, longest story
Progress = Callable[[dict[str, Any]], None]
_SHRINK_AT = 0.75  # a fleet is rebuilt when no more than this share of it still trains
_CHECKPOINT_SECONDS = 120.0  # no more than this is lost when a run is killed


@dataclass(frozen=True)
class Run:
    """One model of a training: what it is, where it writes, and its data."""

    spec: RunSpec
    directory: RunDirectory
    data: Encoded


@dataclass
class _Best:
    """The best validation so far of one run."""

    score: Score | None = None
    epoch: int = -1

    def improved_by(self, score: Score) -> bool:
        """By error first, then by entities read."""
        if self.score is None:
            return True
        return (score.error_percent, score.entities_read) < (self.score.error_percent, self.score.entities_read)


class Interrupted(AMNError):
    """Training was stopped by the user; a checkpoint was saved."""


class Trainer:
    """Trains the runs of one fleet and writes their directories.

    Args:
        runs: runs of one architecture whose models have the same shape.
        state: where the fleet keeps its checkpoint.
        device: where to compute.
        progress: told of every epoch of every run.
        compiled: compile the step, which pays for long trainings on a GPU.
    """

    def __init__(
        self, runs: Sequence[Run], state: Path, device: torch.device, progress: Progress, *, compiled: bool = False
    ) -> None:
        self.runs, self.state_path, self.progress = list(runs), state, progress
        keys = [data_key(run.spec) for run in runs]
        order = list(dict.fromkeys(keys))
        data = {key: run.data for key, run in zip(keys, runs, strict=True)}
        members = [
            Member(self._model(run), order.index(key), run.spec.seed, run.spec.train)
            for run, key in zip(runs, keys, strict=True)
        ]
        training = Pool.of([data[key].training for key in order], device)
        validation = Pool.of([data[key].validation for key in order], device)
        self.fleet = Fleet(members, training, validation, device, compiled=compiled)
        self.best = [_Best() for _ in runs]
        self.best_weights = self.fleet.weights.detach().clone()
        self.epoch, self.step_in_epoch, self.seconds = 0, 0, 0.0
        self.losses = torch.zeros(0)

    @staticmethod
    def _model(run: Run) -> Any:
        return build_model(run.spec.architecture, run.data.vocabulary, run.spec.settings, run.spec.seed)

    @property
    def epochs(self) -> int:
        """Epochs of the longest run."""
        return max(run.spec.train.epochs for run in self.runs)

    def fit(self, stop_after: float | None = None) -> None:
        """Trains to the end, or saves and returns after so many seconds."""
        started = time.monotonic()
        try:
            while self.epoch < self.epochs and self._some_active():
                if not self._train_epoch(started, stop_after):
                    self.save()
                    return
                self._end_epoch()
                self._shrink()
        except KeyboardInterrupt:
            self.save()
            raise Interrupted("stopped; a checkpoint was saved: go on with --resume") from None
        for i in range(len(self.runs)):
            self._finish(i)
        self.state_path.unlink(missing_ok=True)

    def _some_active(self) -> bool:
        return any(self._active(i) for i in range(len(self.runs)))

    def _active(self, i: int) -> bool:
        config, best = self.runs[i].spec.train, self.best[i]
        if self.epoch >= config.epochs:
            return False
        waited = self.epoch - max(best.epoch, self._first_choice(config.epochs, i))
        return not (config.patience and waited > config.patience)

    def _first_choice(self, epochs: int, i: int) -> int:
        """The first epoch whose weights may be chosen: a model that phases in its budget must have it whole."""
        whole = getattr(self.fleet.members[i].model.config, "budget_to", 0.0)
        return min(int(epochs * whole), epochs - 1)

    def _shrink(self) -> None:
        """Finishes runs that have stopped, once they are enough to be worth a smaller fleet."""
        keep = [i for i in range(len(self.runs)) if self._active(i)]
        if not keep or len(keep) > _SHRINK_AT * len(self.runs):
            return
        for i in set(range(len(self.runs))) - set(keep):
            self._finish(i)
        self.fleet = self.fleet.only(keep)
        self.best_weights = self.best_weights[keep]
        self.runs, self.best = [self.runs[i] for i in keep], [self.best[i] for i in keep]
        self.save()

    def _train_epoch(self, started: float, stop_after: float | None) -> bool:
        steps, per_model = self._plan()
        began, saved = time.monotonic(), time.monotonic()
        if self.step_in_epoch == 0:
            self.losses = torch.zeros(0)
        for position in range(self.step_in_epoch, len(steps)):
            numbers, indices, sentences = steps[position]
            parts = self.fleet.train_step(numbers, indices, sentences, per_model)
            self.losses = parts.clone() if not len(self.losses) else self.losses + parts
            self.step_in_epoch = position + 1
            now = time.monotonic()
            if stop_after is not None and now - started > stop_after:
                self.seconds += now - began
                return False
            if now - saved > _CHECKPOINT_SECONDS:
                self.save()
                saved = now
        self.seconds += time.monotonic() - began
        return True

    def _plan(self) -> tuple[list[_Step], list[int]]:
        """The epoch's steps, the models aligned by how long their stories are; and each model's steps per epoch."""
        size = self.runs[0].spec.train.batch_size
        orders = []
        for member in self.fleet.members:
            lengths = self.fleet.training.lengths[member.task]
            orders.append(dict(epoch_order(lengths, size, seed=member.seed, epoch=self.epoch)))
        per_model = [len(order) for order in orders]
        done = [self.epoch * count for count in per_model]
        ranks = max(orders, key=len)
        active = [order if self._active(i) else {} for i, order in enumerate(orders)]
        plan = []
        for rank in ranks:
            plan.append(self._step([order.get(rank, []) for order in active], list(done), size))
            done = [count + (rank in order) for count, order in zip(done, orders, strict=True)]
        return plan, per_model

    def _step(self, chosen: list[list[int]], done: list[int], size: int) -> _Step:
        indices = torch.full((len(chosen), size), -1)
        longest = 1
        for row, part, member in zip(indices, chosen, self.fleet.members, strict=True):
            row[: len(part)] = torch.tensor(part, dtype=torch.long)
            if part:
                longest = max(longest, self.fleet.training.lengths[member.task][part[0]])
        return done, indices, longest

    def _end_epoch(self) -> None:
        losses = self.losses.tolist()
        self._check_finite(losses)
        last = self.epoch + 1 == self.epochs
        evaluate = last or self.epoch % self.runs[0].spec.train.evaluate_every == 0
        scores = self.fleet.scores() if evaluate else [None] * len(self.runs)
        active = [self._active(i) for i in range(len(self.runs))]
        for i, (run, score) in enumerate(zip(self.runs, scores, strict=True)):
            if active[i]:
                self._note(i, run, score, losses[i])
        self.epoch, self.step_in_epoch = self.epoch + 1, 0
        if time.monotonic() - getattr(self, "_last_save", 0.0) > _CHECKPOINT_SECONDS / 4 or last:
            self.save()

    def _check_finite(self, losses: list[list[float]]) -> None:
        for run, parts in zip(self.runs, losses, strict=True):
            if not all(abs(part) < float("inf") for part in parts):
                raise AMNError(
                    f"{run.spec.name}: the loss is no longer a number in epoch {self.epoch}; the last checkpoint is from "
                    "before it. Lower --learning-rate or --clip and train again"
                )

    def _note(self, i: int, run: Run, score: Score | None, losses: list[float]) -> None:
        batches = -(-len(self.fleet.training.lengths[self.fleet.members[i].task]) // run.spec.train.batch_size)
        parts = {name: round(v / batches, 5) for name, v in zip(self.fleet.loss_parts, losses, strict=True)}
        entry: dict[str, Any] = {"epoch": self.epoch, "loss": parts, "seconds": round(self.seconds, 2)}
        if score is not None:
            entry |= score_entry(score)
            if self.epoch >= self._first_choice(run.spec.train.epochs, i) and self.best[i].improved_by(score):
                self.best[i] = _Best(score, self.epoch)
                self.best_weights[i] = self.fleet.weights.detach()[i]
                entry["best"] = True
        run.directory.log(entry)
        self.progress({"run": run.spec.name, "epochs": run.spec.train.epochs, **entry})

    def save(self) -> None:
        """Writes the checkpoint from which `resume` goes on."""
        self._last_save = time.monotonic()
        position = {
            "epoch": self.epoch,
            "step": self.step_in_epoch,
            "seconds": self.seconds,
            "runs": [run.spec.name for run in self.runs],
            "answer_room": self.fleet.answer_room,
            "best": [{"epoch": b.epoch, "score": asdict(b.score) if b.score else None} for b in self.best],
        }
        tensors = {**self.fleet.state(), "best": self.best_weights, "losses": self.losses}
        save_state(self.state_path, tensors, position)

    def resume(self) -> bool:
        """Goes back to the checkpoint, if there is one."""
        if not self.state_path.exists():
            return False
        tensors, position = load_state(self.state_path)
        names = [run.spec.name for run in self.runs]
        if not set(names) <= set(position["runs"]):
            raise AMNError(f"{self.state_path} is the checkpoint of other runs: give another --out")
        rows = [position["runs"].index(name) for name in names]
        fleet = self.fleet
        room = tuple(position["answer_room"])
        self.fleet = Fleet(fleet.members, fleet.training, fleet.validation, fleet.device, room, fleet.reader.compiled)
        kept = {name: value[rows] if len(value) else value for name, value in tensors.items()}
        self.fleet.restore(kept)
        self.best_weights = kept["best"].to(fleet.device)
        self.losses = kept["losses"].to(fleet.device)
        self.epoch, self.step_in_epoch, self.seconds = position["epoch"], position["step"], position["seconds"]
        for i, row in enumerate(rows):
            best = position["best"][row]
            self.best[i] = _Best(Score(**best["score"]) if best["score"] else None, best["epoch"])
        for run in self.runs:
            run.directory.forget_after(self.epoch - 1)
        return True

    def _finish(self, i: int) -> None:
        run, best = self.runs[i], self.best[i]
        model = self.fleet.members[i].model
        self.fleet.layout.write(self.best_weights[i].cpu(), model)
        score = score_entry(best.score) if best.score else {}
        record = {
            "run": run.spec.to_json(),
            "training_data": run.data.source,
            "training_questions": len(run.data.training),
            "validation": {"epoch": best.epoch, "questions": len(run.data.validation), **score},
            "seconds_of_fleet": round(self.seconds, 1),
            "models_in_fleet": len(self.runs),
            "torch": torch.__version__,
        }
        trained = TrainedModel(
            architecture=run.spec.architecture, model=model, vocabulary=run.data.vocabulary, record=record
        )
        run.directory.save_best(trained, model_card(trained))
        run.directory.finish(record)


def make_runs(specs: Sequence[RunSpec], out: Path, *, resume: bool, workers: int = 1) -> list[Run]:
    """Makes the directories of some runs and loads their data."""
    directories = [RunDirectory(out / spec.name) for spec in specs]
    for spec, directory in zip(specs, directories, strict=True):
        directory.start(spec, resume=resume)
    keys = list(dict.fromkeys(data_key(spec) for spec in specs))
    data = dict(zip(keys, encode_all(keys, workers=workers), strict=True))
    return [Run(s, d, data[data_key(s)]) for s, d in zip(specs, directories, strict=True)]
