"""From a run's description to its data.

The data is made in parts, by several processes: a part is a task, or a share of the mixed stories. Each is encoded with
its own vocabulary, and renumbered when the parts are joined.
"""

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

from amn.config import Order, RunSpec
from amn.data.batches import Dataset, concatenate, encode
from amn.data.boards import ONE_MODEL, board_stories, find_board
from amn.data.coreference import learned_pronouns, standalone_names
from amn.data.examples import Example, Spoken, answer_words, examples, names_of
from amn.data.reading_order import outward_example
from amn.data.source import SPLITS, hold_out, load_task, read_stories
from amn.data.story import Story
from amn.data.vocabulary import COMMA, END, PADDING, UNKNOWN, Vocabulary
from amn.data.word_forms import learned_forms
from amn.errors import ConfigError, DataError
from amn.models import model_class
from amn.training.distract import distracted
from amn.training.warm_start import vocabulary_of

ALL_TASKS = tuple(range(1, 21))
JOINT = "joint"  # the twenty tasks
MIXED = "mixed"  # stories that mix all kinds of facts
EVERYTHING = "all"  # the twenty tasks and mixed stories
_OWN_STORIES = "stories of one's own"  # a source
_GENERATED_SEED = 3  # of the stories that replace a missing training file
_SHARE = 4000  # mixed questions that are made at once


class DataKey(NamedTuple):
    """What of a run decides its examples: runs with equal keys share them."""

    task: str | int
    data: str | None
    window: int
    together: bool
    train_questions: int | None
    facts: bool = False
    start: str | None = None
    items: int = 1
    mixed_questions: int = 0
    mixed_seed: int = 0
    named: bool = True
    distract: str | None = None
    distracted: float = 0.0
    order: Order = "told"
    recall: bool = False

    @property
    def by_item(self) -> bool:
        """Whether answers are given item by item."""
        return self.items > 1


class Part(NamedTuple):
    """A part of the data of a key: a task, or one of several shares of the mixed stories."""

    key: DataKey
    number: int = 0
    of: int = 1


@dataclass(frozen=True)
class TaskData:
    """The examples of a part, where they come from, and what is known of its names."""

    training: list[Example]
    validation: list[Example]
    source: str
    names: frozenset[str] | None = None


def data_key(spec: RunSpec) -> DataKey:
    """The part of a run's description that decides its examples."""
    train, mixed = spec.train, spec.task in (MIXED, EVERYTHING)
    same = ("window", "together", "train_questions", "start", "distract", "order")
    return DataKey(
        task=spec.task,
        data=spec.data,
        **{name: getattr(train, name) for name in same},
        facts=bool(spec.settings.get("facts")),  # a model that is shown what holds after each sentence
        items=spec.settings.get("items", 1),
        mixed_questions=train.mixed_questions if mixed else 0,
        mixed_seed=train.mixed_seed if mixed else 0,
        named=model_class(spec.architecture).sees_questions,
        distracted=train.distracted if train.distract else 0.0,
        recall=train.recall or (train.start is not None and bool(vocabulary_of(train.start).names)),
    )


def parts_of(key: DataKey) -> list[Part]:
    """The parts of a key's data."""
    if key.task == EVERYTHING:
        return [part for task in (JOINT, MIXED) for part in parts_of(key._replace(task=task))]
    if key.task == JOINT:
        return [Part(key._replace(task=number)) for number in ALL_TASKS]
    board = find_board(key.task)
    if board is not None and board[1] == ONE_MODEL:
        return [Part(key._replace(task=board[0].task(part))) for part in board[0].parts]
    count = -(-key.mixed_questions // _SHARE) if key.task == MIXED else 1
    return [Part(key, number, count) for number in range(count)]


def task_stories(task: int | str, data: str | None, split: str) -> tuple[list[Story], str]:
    """The stories of a split and where they come from; a training file that is missing is generated instead."""
    if isinstance(task, str) and (board := find_board(task)):
        return board_stories(task, data, split), board[0].variants.get(board[1] or "", "released")
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


def load_data(part: Part) -> TaskData:
    """Reads or generates the examples of a part."""
    key = part.key
    if key.task == MIXED:
        return _mixed_data(part)
    if key.data is not None and Path(key.data).is_file() and not key.facts:
        return _task_data(key, *hold_out(list(read_stories(key.data)), seed=0), _OWN_STORIES)
    # No file says what holds after each sentence: where that is to be shown, the stories are generated.
    training, source = task_stories(key.task, None if key.facts else key.data, "train")
    if key.facts and not training[0].facts:
        raise ConfigError(f"task {key.task}: what holds after each sentence is not known, so facts cannot be true")
    validation, _ = task_stories(key.task, key.data, "valid")
    return _task_data(key, training, validation, source)


def _mixed_data(part: Part) -> TaskData:
    """A share of the mixed stories."""
    from amn.training import mixture  # late: released files need no generator

    training, validation = (
        mixture.share_of_stories(split, part.key.mixed_questions, part.key.mixed_seed, part.number, part.of)
        for split in ("train", "valid")
    )
    return replace(_task_data(part.key, training, validation, "generated"), names=mixture.name_words())


def _task_data(key: DataKey, training: list[Story], validation: list[Story], source: str) -> TaskData:
    """The examples of given stories."""
    window, together = key.window, key.together
    chosen = list(examples(training, window=window, together=together, facts=key.facts))[: key.train_questions]
    held_out = list(examples(validation, window=window, together=together))
    if not chosen or not held_out:
        raise DataError(key.data or f"task {key.task}", None, "questions to train on and to validate with", "none")
    if key.order == "told":
        return TaskData(chosen, held_out, source)
    names = Spoken.of(chosen, by_item=key.by_item).own_names
    chosen, held_out = ([outward_example(one, names) for one in part] for part in (chosen, held_out))
    return TaskData(chosen, held_out, source)


@dataclass(frozen=True)
class Encoded:
    """A task's data as tensors, the words that are known, and which of them are names in which of its parts."""

    training: Dataset
    validation: Dataset
    vocabulary: Vocabulary
    source: str
    names: dict[str | int, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class EncodedPart:
    """A part as tensors, with its own vocabulary."""

    task: int | str
    training: Dataset
    validation: Dataset
    numbers: Vocabulary  # the words and answers of both
    vocabulary: Vocabulary  # those of the training alone, which a model will know
    spoken: Spoken  # the part that words play in training
    source: str  # where the stories come from


def encode_part(part: Part) -> EncodedPart:
    """Reads or generates a part of the data, and encodes it."""
    return _encoded(part.key, load_data(part), seed=part.number)


def _encoded(key: DataKey, data: TaskData, seed: int = 0) -> EncodedPart:
    """A part as tensors; a model need not know the words of sentences that distract."""
    by_item = key.by_item
    training = distracted(data.training, key.distract, key.distracted, seed) if key.distract else data.training
    spoken = Spoken.of(data.training, by_item=by_item, names=data.names)
    vocabulary, numbers = (
        _vocabulary(asked, by_item=by_item) for asked in (data.training, chain(training, data.validation))
    )
    if key.recall:
        vocabulary = _with_links(vocabulary, key, data.training, spoken)
        known = {*vocabulary.words, *(vocabulary_of(key.start).words if key.start else ())}
        names = vocabulary.names | (set(numbers.words) - known)
        links = {kind: getattr(vocabulary, kind) for kind in ("forms", "standalone", "pronouns")}
        numbers = replace(numbers, names=names, **links)
    return EncodedPart(
        task=key.task,
        training=encode(training, numbers, named=key.named),
        validation=encode(data.validation, numbers, named=key.named),
        numbers=numbers,
        vocabulary=vocabulary,
        spoken=spoken,
        source=data.source,
    )


def _with_links(vocabulary: Vocabulary, key: DataKey, training: Sequence[Example], spoken: Spoken) -> Vocabulary:
    """A vocabulary with what links sentences: mixed stories, which are English, need only names and rules."""
    start = vocabulary_of(key.start) if key.start else Vocabulary(words=(), answers=())
    names = _recalled_names(key, spoken)
    if key.mixed_questions:
        return replace(vocabulary, names=names, forms=start.forms, pronouns=start.pronouns)
    return replace(
        vocabulary,
        names=names,
        forms=start.forms | learned_forms(training, spoken.own_names),
        standalone=standalone_names(training, names),
        pronouns=start.pronouns | learned_pronouns(training, spoken.own_names),
    )


def _recalled_names(key: DataKey, spoken: Spoken) -> frozenset[str]:
    """The words that a pronoun may mean in a part: all parts of a run with mixed stories have theirs."""
    if not key.mixed_questions:
        return spoken.own_names | (vocabulary_of(key.start).names if key.start else frozenset())
    from amn.training import mixture  # late: released files need no generator

    return mixture.name_words()


def _vocabulary(asked: Iterable[Example], *, by_item: bool) -> Vocabulary:
    """The words and answers of examples."""
    seen, answers = set[str](), {END, COMMA} if by_item else set[str]()
    for one in asked:
        seen.update(chain.from_iterable(one.sentences), chain.from_iterable(one.questions))
        answers |= answer_words(one.answers, by_item=by_item)
    return Vocabulary.from_json({"words": sorted(seen), "answers": sorted(answers)})


def _joined(key: DataKey, parts: Sequence[EncodedPart]) -> Encoded:
    """The parts as one, with the words of all parts and of the model to start from.

    Parts of one task have the same names.
    """
    known = [*(part.vocabulary for part in parts), *([] if key.start is None else [vocabulary_of(key.start)])]
    vocabulary, spoken = Vocabulary.union(known), dict[str | int, Spoken]()
    for part in parts:
        spoken[part.task] = spoken[part.task].union(part.spoken) if part.task in spoken else part.spoken
    names = dict(zip(spoken, names_of(list(spoken.values())), strict=True))
    training = [_renumbered(part.training, part.numbers, vocabulary, names[part.task]) for part in parts]
    validation = [_renumbered(part.validation, part.numbers, vocabulary) for part in parts]
    source = parts[0].source if len(spoken) == 1 else "all tasks"
    return Encoded(concatenate(training), concatenate(validation), vocabulary, source, names)


def _renumbered(data: Dataset, old: Vocabulary, new: Vocabulary, names: Collection[str] | None = None) -> Dataset:
    """The examples with the numbers of another vocabulary, and with names marked where they are given."""
    if names is not None:
        data = data.with_names(np.array([word in names for word in old.words]))
    words = np.array([new.word_id(word) for word in old.words], np.int32)
    words[[PADDING, UNKNOWN]] = PADDING, UNKNOWN
    return data.with_words(words, np.array([new.answer_id(answer) for answer in old.answers], np.int32))


def encode_stories(key: DataKey, training: list[Story], validation: list[Story]) -> Encoded:
    """The data of given stories."""
    return _joined(key, [_encoded(key, _task_data(key, training, validation, _OWN_STORIES))])


def encode_all(keys: list[DataKey], *, workers: int = 1) -> list[Encoded]:
    """The data of several tasks, each with the room that it needs itself."""
    parts = [parts_of(key) for key in keys]
    every = list(chain.from_iterable(parts))
    if workers > 1 and len(every) > 1:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            encoded = iter(list(pool.map(encode_part, every)))
    else:
        encoded = map(encode_part, every)
    return [_joined(key, list(islice(encoded, len(own)))) for key, own in zip(keys, parts, strict=True)]
