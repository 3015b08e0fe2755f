"""What a gate learns from: sentences of stories with their questions, and sentences of texts, as numbers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from amn.data.examples import Spoken, Words, examples, names_of
from amn.data.sentences import split_prose
from amn.data.story import Story, words
from amn.data.tasks import generate_preset
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.errors import DataError
from amn.training.needs import Needs
from amn.training.prepare import ALL_TASKS, EVERYTHING, JOINT, MIXED, task_stories
from amn.training.rows import Rows

MIXED_QUESTIONS = 60_000
_MOST_ALIKE = 4  # pairs of a sentence and a question that stand together often count so many times


@dataclass(frozen=True, kw_only=True)
class GateConfig:
    """How a gate is trained.

    Args:
        width: of its states.
        epochs: each ends with a reading of the whole folder.
        steps: batches of an epoch.
        batch_size: sentences of stories in a batch, and as many of texts.
        learning_rate: of AdamW, at its height.
        hide_words: chance with which words that are no names are hidden, in half of the sentences of stories.
        held_out: share of the texts that only the bars are chosen by, and the leaks counted in.
        early: share of the sentences of texts that are let in while a text may still be a story: the lowest bar.
        missed: share of the sentences of stories that the highest bar may turn away.
        searched: questions that are answered after an epoch, with what is turned away and without.
        lost: how much smaller the share of right answers may be for what is turned away as not needed.
        seed: of weights and draws.
    """

    width: int = 48
    epochs: int = 10
    steps: int = 120
    batch_size: int = 1024
    learning_rate: float = 4e-3
    hide_words: float = 0.2
    held_out: float = 0.15
    early: float = 0.1
    missed: float = 0.005
    searched: int = 3000
    lost: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Pairs:
    """Sentences and questions that stand together, as numbers of words.

    Args:
        sentences: the different ones.
        questions: the different ones.
        rows: the places of a sentence and a question, which names they share, and the number of what they say.
    """

    sentences: Rows
    questions: Rows
    rows: Int[np.ndarray, "pair four"]

    @classmethod
    def of(cls, spoken: Iterable[tuple[Words, Words]], needs: Needs) -> "Pairs":
        """Those of sentences and questions; what stands together often counts a few times."""
        sentences, questions = dict[tuple[int, ...], int](), dict[tuple[int, ...], int]()
        counts = Counter[tuple[int, int, int, int]]()
        for sentence, question in spoken:
            place = sentences.setdefault(needs.numbered(sentence), len(sentences))
            asked = questions.setdefault(needs.numbered(question), len(questions))
            counts[place, asked, *needs.look(sentence, question)] += 1
        rows = [pair for pair, count in counts.items() for _ in range(min(count, _MOST_ALIKE))]
        return cls(Rows(list(sentences)), Rows(list(questions)), np.array(rows, np.int64).reshape(-1, 4))


@dataclass(frozen=True)
class GateData:
    """What a gate learns from.

    Args:
        told: a sentence of each story and a question asked after it.
        texts: the sentences of texts.
        names: which words are names.
    """

    told: Pairs
    texts: Rows
    names: Int[Tensor, " name"]


def spoken_pairs(stories: Iterable[Story], seed: int = 0) -> Iterator[tuple[Words, Words]]:
    """Each sentence of stories with one of the questions asked after it."""
    rng = Random(seed)
    for story in stories:
        asked = [(question.after, words(question.text)) for question in story.questions]
        for place, text in enumerate(story.sentences):
            after = [question for told, question in asked if told > place]
            if after and (spoken := words(text)):
                yield spoken, rng.choice(after)


def _numbers(spoken: Sequence[str], vocabulary: Vocabulary) -> tuple[int, ...]:
    return tuple([vocabulary.word_id(word) for word in spoken])


def text_files(folder: str | Path) -> list[Path]:
    """The texts of a folder, at any depth.

    Raises:
        DataError: where there is none.
    """
    found = sorted(path for path in Path(folder).rglob("*.txt") if path.is_file())
    if not found:
        raise DataError(Path(folder), None, "a folder with texts (*.txt)", "none")
    return found


def text_sentences(files: Iterable[Path]) -> list[str]:
    """The sentences of texts."""
    return [sentence for path in files for sentence in split_prose([path.read_text("utf-8", errors="replace")])]


def text_rows(sentences: Iterable[str], vocabulary: Vocabulary) -> Rows:
    """Sentences of texts as numbers."""
    return Rows([_numbers(words(sentence), vocabulary) for sentence in sentences])


def stories_of(task: int | str, data: str | None, split: str) -> list[Story]:
    """The stories of what a run trains on; of mixed ones, without the sentences that no question is about."""
    if task in (JOINT, EVERYTHING):
        parts: list[int | str] = [*ALL_TASKS, *([MIXED] if task == EVERYTHING else [])]
        return [story for part in parts for story in stories_of(part, data, split)]
    if task == MIXED:
        questions, seed = (MIXED_QUESTIONS, 1) if split == "train" else (MIXED_QUESTIONS // 20, 2)
        return list(generate_preset(MIXED, questions=questions, seed=seed, irrelevant=0.0))
    return task_stories(task, data, split)[0]


def names_in(stories: Iterable[Story]) -> frozenset[str]:
    """The words of stories that new names may stand for."""
    return names_of([Spoken.of(list(examples(stories)))])[0]


def known_names(names: Iterable[str], vocabulary: Vocabulary) -> Int[Tensor, " name"]:
    """The numbers of names; where none is known, that of unknown words, which stands for itself."""
    return torch.tensor(sorted({vocabulary.word_id(name) for name in names} | {UNKNOWN}))
