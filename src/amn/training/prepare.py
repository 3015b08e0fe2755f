"""From a run's description to its data and its untrained model."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch

from amn.config import RunSpec
from amn.data.batches import Dataset, Sizes, encode
from amn.data.boards import board_stories, find_board
from amn.data.examples import Example, examples, with_names
from amn.data.source import SPLITS, hold_out, load_task, read_stories
from amn.data.story import Story
from amn.data.vocabulary import Vocabulary
from amn.errors import ConfigError, DataError
from amn.training.start import vocabulary_of

ALL_TASKS = tuple(range(1, 21))
JOINT = "joint"
_GENERATED_SEED = 3  # of the stories that stand in for a training file that is not at hand
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class DataKey(NamedTuple):
    """What of a run decides its examples: runs with equal keys share them."""

    task: str | int
    data: str | None
    window: int
    together: bool
    train_questions: int | None
    facts: bool = False
    start: str | None = None


@dataclass(frozen=True)
class TaskData:
    """The examples of one task, and the words that its training stories hold or the model to start from knows."""

    training: list[Example]
    validation: list[Example]
    vocabulary: Vocabulary
    source: str


def task_stories(task: int | str, data: str | None, split: str) -> tuple[list[Story], str]:
    """The stories of a split and where they come from; a training file that is missing is generated instead."""
    if isinstance(task, str) and find_board(task):
        return board_stories(task, data, split), "released"
    if isinstance(task, str):
        from amn.data.tasks import generate_preset  # late: released files need no generator

        seed = _GENERATED_SEED + list(SPLITS).index(split)
        return list(generate_preset(task, questions=SPLITS[split], seed=seed)), "generated"
    try:
        return load_task(data, task, split), "generated" if data is None else "released"
    except DataError:
        if split != "train" or data is None or not Path(data).is_dir():
            raise
        return load_task(None, task, split, seed=_GENERATED_SEED), "generated"


def data_key(spec: RunSpec) -> DataKey:
    """The part of a run's description that decides its examples."""
    train = spec.train
    facts = bool(spec.settings.get("facts"))  # a model that is shown what holds after each sentence
    return DataKey(spec.task, spec.data, train.window, train.together, train.train_questions, facts, train.start)


def load_data(key: DataKey) -> TaskData:
    """Reads or generates the examples of a task, or of all twenty together."""
    if key.task == JOINT:
        return _joined(key, [load_data(key._replace(task=number, start=None)) for number in ALL_TASKS])
    task, data = key.task, key.data
    if data is not None and Path(data).is_file() and not key.facts:
        return _task_data(key, *hold_out(list(read_stories(data)), seed=0), "stories of one's own")
    training, source = _stories_with_facts(task) if key.facts else task_stories(task, data, "train")
    validation, _ = task_stories(task, data, "valid")
    return _task_data(key, training, validation, source)


def _stories_with_facts(task: int | str) -> tuple[list[Story], str]:
    """Generated training stories: no file says what holds after each sentence."""
    stories, source = task_stories(task, None, "train")
    if not stories[0].facts:
        raise ConfigError(f"task {task}: what holds after each sentence is not known, so facts cannot be true")
    return stories, source


def _task_data(key: DataKey, training: list[Story], validation: list[Story], source: str) -> TaskData:
    """The examples of given stories."""
    task, data, window, together, train_questions, facts, _ = key
    chosen = list(examples(training, window=window, together=together, facts=facts))[:train_questions]
    held_out = list(examples(validation, window=window, together=together))
    if not chosen or not held_out:
        raise DataError(data or f"task {task}", None, "questions to train on and to validate with", "none")
    (named,) = with_names([chosen])
    return TaskData(training=named, validation=held_out, vocabulary=_vocabulary(key, chosen), source=source)


def _vocabulary(key: DataKey, chosen: list[Example]) -> Vocabulary:
    """The words and answers of training examples."""
    seen = {word for one in chosen for row in (*one.sentences, *one.questions) for word in row}
    answers = {answer.lower() for one in chosen for answer in one.answers if answer is not None}
    return _and_of_start(key, [Vocabulary.from_json({"words": sorted(seen), "answers": sorted(answers)})])


def _and_of_start(key: DataKey, parts: list[Vocabulary]) -> Vocabulary:
    """All of them, with what the model to start from knows, which it shall not forget."""
    return Vocabulary.union([*parts, *([] if key.start is None else [vocabulary_of(key.start)])])


def _joined(key: DataKey, parts: list[TaskData]) -> TaskData:
    return TaskData(
        training=[example for part in with_names([part.training for part in parts]) for example in part],
        validation=[example for part in parts for example in part.validation],
        vocabulary=_and_of_start(key, [part.vocabulary for part in parts]),
        source="all tasks",
    )


@dataclass(frozen=True)
class Encoded:
    """A task's data as tensors."""

    training: Dataset
    validation: Dataset
    vocabulary: Vocabulary
    source: str


def encode_stories(key: DataKey, training: list[Story], validation: list[Story], source: str) -> Encoded:
    """The data of stories that are at hand."""
    data = _task_data(key, training, validation, source)
    known = data.vocabulary
    return Encoded(encode(data.training, known), encode(data.validation, known), known, source)


def encode_all(keys: list[DataKey], *, workers: int = 1) -> list[Encoded]:
    """The data of several tasks, each with the room that it needs itself."""
    loaded = _map(load_data, keys, workers)
    jobs = [(part, data.vocabulary) for data in loaded for part in (data.training, data.validation)]
    chunks = [(chunk, vocabulary) for part, vocabulary in jobs for chunk in _chunks(part, workers)]
    sets = iter(_map(_encode_job, chunks, workers))
    joined = iter([_concatenate([next(sets) for _ in _chunks(part, workers)]) for part, _ in jobs])
    return [Encoded(next(joined), next(joined), data.vocabulary, data.source) for data in loaded]


def alike(sets: Sequence[Dataset]) -> list[Dataset]:
    """The sets with the room of the largest along every axis, so that they can be stacked."""
    room = Sizes()
    for one in sets:
        room = room.union(one.sizes)
    return [widen(one, room) for one in sets]


def _chunks(items: list[Example], workers: int) -> list[list[Example]]:
    size = max(2000, -(-len(items) // (4 * workers)))
    return [items[i : i + size] for i in range(0, len(items), size)] if workers > 1 else [items]


def _encode_job(job: tuple[list[Example], Vocabulary]) -> Dataset:
    return encode(*job)


def _map(function: Callable[[_Item], _Result], items: Sequence[_Item], workers: int) -> list[_Result]:
    if workers <= 1 or len(items) == 1:
        return [function(item) for item in items]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(function, items))


def _concatenate(sets: list[Dataset]) -> Dataset:
    if len(sets) == 1:
        return sets[0]
    sets = alike(sets)
    names = [name for name, value in vars(sets[0].batch).items() if value is not None]
    batch = replace(sets[0].batch, **{n: torch.cat([getattr(one.batch, n) for one in sets]) for n in names})
    return Dataset(batch, torch.cat([one.lengths for one in sets]))


def widen(data: Dataset, room: Sizes) -> Dataset:
    """The same examples with more padding."""
    b = data.batch
    inside = b.members.shape[2]
    count, sentences, _, columns = b.edges.shape
    edges = b.edges.new_zeros(count, room.sentences, room.members, room.members + columns - inside)
    edges[:, :sentences, :inside, :inside] = b.edges[..., :inside]
    edges[:, :sentences, :inside, room.members :] = b.edges[..., inside:]
    batch = replace(
        b,
        slot_words=_pad(b.slot_words, room.slots),
        sentences=_pad(b.sentences, room.sentences, room.words),
        members=_pad(b.members, room.sentences, room.members),
        context=_pad(b.context, room.sentences, b.context.shape[2]),
        edges=edges,
        questions=_pad(b.questions, room.questions, room.question_words),
        answers=_pad(b.answers, room.questions, fill=-1),
        answer_slots=_pad(b.answer_slots, room.questions),
        weights=_pad(b.weights, room.questions),
        facts=None if b.facts is None else _pad(b.facts, room.sentences, room.facts, 3),
        names=None if b.names is None else _pad(b.names, room.slots),
    )
    return Dataset(batch, data.lengths)


def _pad(values: torch.Tensor, *sizes: int, fill: int = 0) -> torch.Tensor:
    room = [pad for size, own in zip(sizes[::-1], values.shape[:0:-1], strict=True) for pad in (0, size - own)]
    return torch.nn.functional.pad(values, room, value=fill)
