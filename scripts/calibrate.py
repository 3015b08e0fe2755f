"""Learns how sure a model's answers are, on questions that it was not trained on, and writes it with that.

The questions are of bAbI's validation data, of mixed stories, and of free.txt, whose wordings no training has.

python scripts/calibrate.py babi/en-valid-10k runs/all-on/amn-all-seed1 calibrated
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np

from amn.data.coreference import PRONOUNS
from amn.data.examples import Example, Words, examples
from amn.data.names import FURTHER, UNSEEN
from amn.data.source import load_task
from amn.data.story import Question, Story, same_answer, words
from amn.data.tasks import TASKS, generate, generate_preset
from amn.data.text import read_story
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.evaluation.metrics import BATCH_STORIES, DEFAULT_BANKS, answered
from amn.inference.calibration import features, fit
from amn.inference.engine import tell_stories
from amn.inference.phrasing import Phrasing
from amn.inference.trained import TrainedModel
from amn.store.card import model_card
from amn.store.find import find_model
from amn.store.model_directory import load_model, save_model
from amn.training.mixture import name_words, share_of_stories

QUESTIONS_A_TASK = 300
# Questions about mixed stories, a seed for each set, and what is special about it.
MIXED = (
    (12000, 501, {"wordings": "train"}),
    (3000, 502, {"wordings": "train", "names": "new"}),
    (9000, 503, {"wordings": "kept-out"}),
    (2500, 504, {"wordings": "kept-out", "names": "new"}),
    (1600, 505, {"wordings": "train", "sentences": (60, 60)}),
    (2000, 506, {"wordings": "train", "actors": 1.0}),
    (2000, 507, {"wordings": "kept-out", "actors": 1.0}),
)
FREE = Path(__file__).with_name("free.txt")
# Whose names the stories of free.txt are told with, in turn. As many questions as these make are worth those of
# visitors: more would make the model less sure of plain stories than it may be.
FREE_NAMES = (FURTHER, FURTHER, FURTHER, UNSEEN, FURTHER, FURTHER)
# Questions whose phrasing is learned: of mixed stories, in shares, and of each task.
PHRASED_MIXED, PHRASED_SHARES, PHRASED_TASK, PHRASED_SEED = 100_000, 20, 1000, 600


def questions(data: str, window: int) -> list[Example]:
    """What to learn from: the same number of each task, all sets of mixed stories, and free ones."""
    tasks = (list(examples(load_task(data, task, "valid"), window=window)) for task in TASKS)
    released = chain.from_iterable(Random(0).sample(found, QUESTIONS_A_TASK) for found in tasks)
    mixed = (generate_preset("mixed", questions=count, seed=seed, **knobs) for count, seed, knobs in MIXED)
    generated = chain.from_iterable(examples(stories, window=window) for stories in mixed)
    return [*released, *generated, *examples(free_stories(), window=window)]


def free_stories() -> Iterator[Story]:
    """The stories of free.txt, told with several names."""
    rng = Random(0)
    lines = (line for line in FREE.read_text("utf-8").splitlines() if not line.startswith("#"))
    for line in lines:
        for names in FREE_NAMES:
            drawn = (rng.sample(group, 3) for group in (names.people, names.places, names.objects))
            filled = line.format(**dict(zip("abcpqrtuv", chain.from_iterable(drawn), strict=True)))
            story, question, answer = filled.split(" | ")
            told = tuple(sentence for sentence, _ in read_story(story))
            asked = Question(text=question, answer=answer.lower(), after=len(told))
            yield Story(sentences=told, questions=(asked,))


def phrasing_of(vocabulary: Vocabulary) -> Phrasing:
    """How training puts words together, by stories like those of training."""
    shares = range(PHRASED_SHARES)
    mixed = (share_of_stories("train", PHRASED_MIXED, PHRASED_SEED, share, PHRASED_SHARES) for share in shares)
    released = (generate(task, questions=PHRASED_TASK, seed=PHRASED_SEED) for task in TASKS)
    stories = chain.from_iterable(chain(mixed, released))
    said = set(chain.from_iterable(map(_rows, stories)))
    unknown = {word for row in said for word in row if vocabulary.word_id(word) == UNKNOWN}
    return Phrasing.of(said, unknown | (vocabulary.names or name_words()))


def _rows(story: Story) -> Iterator[Words]:
    """The sentences and the questions, but for those with a pronoun: what follows one in a statement is a verb."""
    asked = (said for question in story.questions if PRONOUNS.isdisjoint(said := words(question.text)))
    return chain(map(words, story.sentences), asked)


def calibrated(trained: TrainedModel, examples: Sequence[Example]) -> TrainedModel:
    """The model with scores that say how often such answers are right, by examples that it was not trained on."""
    plain = replace(trained, calibration=None)
    looks, right = [], []
    for start in range(0, len(examples), BATCH_STORIES):
        part = examples[start : start + BATCH_STORIES]
        for found, answer, truth in answered(plain, part, tell_stories(plain, part).read(DEFAULT_BANKS), DEFAULT_BANKS):
            second = answer.top[0].score if answer.top else 0.0
            said = (answer.score, second, answer.answer, answer.question)
            looks.append(features(*said, found.words, trained.vocabulary, found.strange[0]))
            right.append(same_answer(answer.answer, truth))
    return replace(trained, calibration=fit(np.array(looks), np.array(right)))


def main(data: str, name: str, out: str) -> None:
    """Reads a model, learns, and writes it."""
    trained = load_model(find_model(name))
    trained = replace(trained, phrasing=phrasing_of(trained.vocabulary))
    found = calibrated(trained, questions(data, trained.training.train.window))
    save_model(Path(out), found, model_card(found) if "validation" in found.record else "")


if __name__ == "__main__":
    main(*sys.argv[1:])
