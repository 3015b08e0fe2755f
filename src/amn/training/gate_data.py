"""What a gate learns from: sentences of stories with their questions, and sentences of texts, as numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from amn.data.examples import Spoken, examples, names_of
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
        lost: share of right answers that may become wrong by turning away what is not needed.
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
    missed: float = 0.02
    searched: int = 3000
    lost: float = 0.0005
    seed: int = 0


@dataclass(frozen=True)
class GateData:
    """What a gate learns from, as numbers of words.

    Args:
        sentences: the different sentences of stories.
        questions: the different questions about them.
        pairs: a sentence of each story and a question asked after it, which names they share, and what they say.
        texts: the sentences of texts.
        names: which words are names.
    """

    sentences: Rows
    questions: Rows
    pairs: Int[np.ndarray, "pair four"]
    texts: Rows
    names: Int[Tensor, " name"]


def pairs_of(
    stories: Iterable[Story], vocabulary: Vocabulary, needs: Needs, seed: int = 0
) -> tuple[Rows, Rows, Int[np.ndarray, "pair four"]]:
    """The different sentences and questions of stories, and which stand together: each sentence with one question.

    Args:
        stories: with their questions.
        vocabulary: the words that are known.
        needs: what looks at them for the names that they share, and what they say.
        seed: of which question it is.
    """
    rng, sentences, questions = Random(seed), dict[tuple[int, ...], int](), dict[tuple[int, ...], int]()
    pairs = Counter[tuple[int, int, int, int]]()
    for story in stories:
        asked = [(question.after, words(question.text)) for question in story.questions]
        for place, text in enumerate(story.sentences):
            after = [question for told, question in asked if told > place]
            if after and (spoken := words(text)):
                question = rng.choice(after)
                sentence = sentences.setdefault(_numbers(spoken, vocabulary), len(sentences))
                number = questions.setdefault(_numbers(question, vocabulary), len(questions))
                pairs[sentence, number, *needs.look(spoken, question)] += 1
    kept = [pair for pair, count in pairs.items() for _ in range(min(count, _MOST_ALIKE))]
    return Rows(list(sentences)), Rows(list(questions)), np.array(kept, np.int64).reshape(-1, 4)


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
