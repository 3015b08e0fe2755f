"""Training on your own stories from Python, and what `amn train DATA` shares with it.

qa = amn.train([{"story": ["Mary went home."], "question": "Where is Mary?", "answer": "home"}, ...])
qa = amn.train("robots.jsonl", out="my-model")
"""

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from amn.answers import Answer
from amn.api import QA, Request
from amn.data.rows import Columns
from amn.data.source import own_stories
from amn.data.story import Story, same_answer
from amn.evaluation.held_out import HeldOut, judge
from amn.inference.calibration import fit_few
from amn.inference.device import choose_device
from amn.store.card import model_card
from amn.store.model_directory import load_model, save_model
from amn.store.run_directory import RunDirectory
from amn.training.display import training_display
from amn.training.loop import Interrupted, OnEpoch
from amn.training.own import OwnPlan, as_keyword, as_option, fit_own, plan_own
from amn.training.precision import check_precision
from amn.training.single import FitOptions


def train(
    data: object,
    *,
    validation: object = None,
    epochs: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    model: str = "amn",
    device: str = "auto",
    threads: int = 1,
    progress: OnEpoch | bool = True,
    columns: Mapping[str, str] | Columns | None = None,
    **settings: Any,
) -> QA:
    """Trains a model on stories and their questions, and returns the best one by validation, on the CPU.

    Args:
        data: the training data: the path of a file or folder, or rows: an iterable of `Story` objects or of dicts such
            as {"story": ["Mary went home."], "question": "Where is Mary?", "answer": "home"}, a data frame, or a
            Hugging Face data set.
        validation: stories for validation, in the same forms; by default a tenth of the stories is held out.
        epochs: passes over the training questions; by default chosen by the number of questions.
        seed: the random seed.
        out: the run directory, for `amn.load`: stories, log and best model; by default the run is not kept.
        model: the architecture.
        device: where to train: cpu, cuda, or auto for the best available.
        threads: threads of torch on a CPU while it trains; small models gain nothing from several.
        progress: True to show a progress bar and the result on standard error; False for silence; or a function to call
            after every epoch with its number, loss, error and seconds.
        columns: the names of the columns, if they are not among the usual ones, such as
            {"story": "notes", "question": "asked", "answer": "reply"}.
        **settings: settings of the model or the training (`start=None`, `hidden=32`, `learning_rate=1e-3`).

    Returns:
        The model. Its `record["held_out"]` has its score on the held-out stories.

    Raises:
        AMNError: where the data is malformed, there are too few stories, or a setting is unknown.
    """
    where = choose_device(device)
    given = settings if epochs is None else {**settings, "epochs": epochs}
    named = str(data) if isinstance(data, str | Path) else None
    called = Columns.of(columns)
    stories = own_stories(data, columns=called)
    if validation is not None:
        stories = stories.judged_by(own_stories(validation, columns=called))
    plan = plan_own(stories, given=given, model=model, seed=seed, data=named)
    check_precision([plan.spec], where.type)
    said = progress is True
    if said:
        _say(plan.describe(in_python=True))
    shown = training_display() if said else nullcontext()
    with TemporaryDirectory() as passing, _threads(threads), shown as display:
        path = Path(passing if out is None else out)
        told = display.epoch if display else progress if callable(progress) else lambda _: None
        try:
            options = FitOptions(device=where, progress=told, stepped=display.step if display else None)
            directory = fit_own(plan, path, options)
        except Interrupted:  # its message is about the command line
            raise KeyboardInterrupt from None
        outcome = conclude(plan, directory, as_keyword)
    if said:
        _say(outcome.lines(None if out is None else path))
    return outcome.qa


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a training on the user's stories."""

    plan: OwnPlan
    qa: QA  # the best model
    held_out: HeldOut  # its score on the held-out stories
    advice: list[str]  # what to try if that is not good enough
    epochs: int  # that it was trained; fewer than planned where it had stopped improving

    def lines(self, path: Path | None) -> Iterator[str]:
        """The result in words: the held-out error, mistakes, verdict, advice, and how to use the model at a path."""
        if self.epochs < self.plan.spec.train.epochs:
            yield f"stopped after {self.epochs} of {self.plan.spec.train.epochs} epochs: it no longer got better"
        yield from self.held_out.lines()
        yield from (f"  try: {advice}" for advice in self.advice)
        if path is not None:
            yield "use it:"
            yield from (f"  {line}" for line in self.commands(path))

    def commands(self, path: Path) -> list[str]:
        """The commands to ask and to serve the model."""
        story = next(story for story in self.plan.validation if story.questions)
        question = story.questions[0]
        told = " ".join(story.sentences[: question.after])
        name = shlex.quote(str(path))
        return [
            f"echo {shlex.quote(told)} | amn ask --model {name} {shlex.quote(question.text)}",
            f"amn serve --model {name}",
        ]

    def to_json(self, path: Path) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "model": str(path),
            **self.plan.to_json(),
            "result": self.qa.record,
            "held_out": self.held_out.to_json(),
            "advice": self.advice,
            "commands": self.commands(path),
        }


def conclude(plan: OwnPlan, directory: RunDirectory, spell: Callable[[str, object], str] = as_option) -> Outcome:
    """Scores the best model of a finished run on the held-out stories, and adds that to the run's result.

    `spell` says how the user gives a value to a setting.
    """
    qa = _calibrated(plan, directory)
    held_out = judge(plan.validation, _answers(qa, plan.validation, plan.spec.train.window))
    losses = [entry["loss"].get("answer") for entry in directory.entries()]
    advice = held_out.advice(
        spell,
        epochs=plan.spec.train.epochs,
        training_stories=len(plan.training),
        training_loss=losses[-1] if losses else None,
    )
    qa.record["held_out"] = {**held_out.to_json(), "advice": advice}
    directory.finish(directory.result() | {"held_out": qa.record["held_out"]})
    return Outcome(plan=plan, qa=qa, held_out=held_out, advice=advice, epochs=len(losses))


def _calibrated(plan: OwnPlan, directory: RunDirectory) -> QA:
    """The best model of a run, its scores as sure as the answers about the held-out stories allow."""
    plain = replace(load_model(directory.best), calibration=None)
    answers = _answers(QA(plain), plan.validation, plan.spec.train.window)
    asked = [question for story in plan.validation for question in story.questions]
    right = [same_answer(given.answer, wanted.answer or "") for given, wanted in zip(answers, asked, strict=True)]
    trained = replace(plain, calibration=fit_few([given.score for given in answers], right))
    save_model(directory.best, trained, model_card(trained))
    return QA(trained)


def _answers(qa: QA, stories: Sequence[Story], window: int) -> list[Answer]:
    """The answer to each question, from a window of sentences as in training."""
    asked = [(story.sentences[: question.after], question) for story in stories for question in story.questions]
    requests = [Request(story=list(told[-window:]), question=question.text) for told, question in asked]
    return [given for (given,) in qa.answer_batch(requests)]


def _say(lines: Iterator[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr, flush=True)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, count))
    try:
        yield
    finally:
        torch.set_num_threads(before)
