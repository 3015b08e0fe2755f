"""Training from Python, on stories that are at hand.

qa = amn.train([{"story": ["Mary went home."], "question": "Where is Mary?", "answer": "home"}, ...])
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from amn.api import QA
from amn.config import RunSpec
from amn.data.jsonl import write_jsonl
from amn.data.rows import story_of
from amn.data.story import Story, words
from amn.errors import DataError
from amn.inference.device import choose_device
from amn.store.card import OWN
from amn.store.run_directory import RunDirectory
from amn.training.grid import Grid
from amn.training.loop import Interrupted, Progress, Run, Trainer
from amn.training.prepare import data_key, encode_stories, hold_out

TRAINING_FILE, VALIDATION_FILE = "train.jsonl", "valid.jsonl"
Stories = Iterable[Story | Mapping[str, Any]]


def train(
    stories: Stories,
    *,
    validation: Stories | None = None,
    epochs: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    model: str = "amn",
    device: str = "auto",
    threads: int = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> QA:
    """Trains a model on stories and their questions, and gives the best by its validation, on the CPU.

    Args:
        stories: what to learn: `Story` objects, or dicts such as
            {"story": ["Mary went home."], "question": "Where is Mary?", "answer": "home"}.
        validation: stories that choose the best epoch; without them a tenth of the stories is kept for it.
        epochs: passes over the training questions; by default 40, or what the recipe of the model says.
        seed: of weights, order, draws, and of the choice of stories to validate with.
        out: a directory to keep the run in: its stories, its log, and in `best` the model, for `amn.load`.
        model: the architecture.
        device: where to train: cpu, cuda, or auto for the best there is.
        threads: of torch on a CPU, while it trains; small models gain nothing from several.
        progress: told of every epoch: its number, loss, error and seconds.
        **settings: of model or training, by name (`hidden=32`, `learning_rate=1e-3`).

    Raises:
        AMNError: where a story has another shape, there are too few, or a setting is unknown.
    """
    given = settings if epochs is None else {**settings, "epochs": epochs}
    (spec,) = Grid(tasks=[OWN], models=[model], seeds=[seed], settings=given).specs()
    where = choose_device(device)
    training, held_out = _split(stories, validation, seed)
    with _directory(out) as path, _threads(threads):
        run = _run(spec, path, training, held_out)
        trainer = Trainer([run], run.directory.state, where, progress or _say_nothing)
        try:
            trainer.fit()
        except Interrupted:  # tells how to go on from the command line
            raise KeyboardInterrupt from None
        return QA.from_pretrained(run.directory.best)


def _run(spec: RunSpec, path: Path, training: list[Story], validation: list[Story]) -> Run:
    """The run in its directory, with the stories from which it can be repeated."""
    data = encode_stories(data_key(spec), training, validation, "stories of one's own")
    directory = RunDirectory(path)
    directory.start(spec, resume=False)
    write_jsonl(training, path / TRAINING_FILE)
    write_jsonl(validation, path / VALIDATION_FILE)
    return Run(spec, directory, data)


@contextmanager
def _directory(out: str | Path | None) -> Iterator[Path]:
    """Where the run is kept, or a folder that goes when it has ended."""
    if out is not None:
        yield Path(out)
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, count))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _split(stories: Stories, validation: Stories | None, seed: int) -> tuple[list[Story], list[Story]]:
    """Stories to train on and stories to validate with."""
    training = _read(stories, "stories")
    if validation is not None:
        return training, _read(validation, "validation")
    if len(training) < 2:
        raise DataError("stories", None, "at least two with answers, or validation=... as well", str(len(training)))
    return hold_out(training, seed)


def _read(stories: Stories, name: str) -> list[Story]:
    """The stories with those of their questions whose answers are known."""
    found = [_story(story, f"{name}[{i}]") for i, story in enumerate(stories)]
    return [story for story in found if story.questions]


def _story(given: object, source: str) -> Story:
    story = given if isinstance(given, Story) else story_of(given, source)
    for question in story.questions:
        if not words(question.text) or not any(words(sentence) for sentence in story.sentences[: question.after]):
            raise DataError(source, None, "words in the question and in a sentence before it", repr(question.text))
    return replace(story, questions=tuple(asked for asked in story.questions if asked.answer is not None))


def _say_nothing(_: dict[str, Any]) -> None:
    """What is told of an epoch where nobody asked."""
