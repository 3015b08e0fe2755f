"""StepGame (Shi, Zhang and Lipani, 2022): where is one agent of another, told of a chain of k steps in mixed order.

Rows of JSON lines with `story`, `question`, `answer` and `k`. Agents are single capital letters, whose case counts
(`words` keeps it): A is an agent and a an article.
"""

import re
from pathlib import Path
from random import Random

from amn.data.boards.board import Board
from amn.data.boards.stepgame_noise import Noise, with_other_names
from amn.data.files import numbered_lines
from amn.data.formats import MAX_LINE_BYTES, parsed
from amn.data.rows import story_of
from amn.data.story import Story
from amn.errors import ConfigError, DataError

CHAINS = tuple(str(k) for k in range(1, 11))
NOISY = "noisy"  # a variant: training and validation stories with noise of our own
_POSSESSIVE = re.compile(r"\b([A-Z])'s\b")  # I is an agent here, too, and nobody's name elsewhere
_ENDS = 0.7  # how often the ends of a chain are asked about, which the files seldom do
LONG = "long"  # a variant: chains of our own with six to ten steps and noise, to validate with alone
_LONG_CHAINS = 300  # of each length
_SEEDS = {"train": 0, "valid": 1, LONG: 2}


def read(folder: Path, split: str, part: str | None) -> list[Story]:
    """The questions of a split: all, those of a chain length, or all with generated noise (never in the test)."""
    if part == LONG:
        return _long_chains(folder, split)
    path = _file(folder, split)
    k = int(part) if part in CHAINS else None
    stories = [story for length, story in _rows(path) if k in (None, length)]
    if part != NOISY or split not in _SEEDS:
        return stories
    noise, rng = _noise(folder), Random(_SEEDS[split])
    if split == "train":
        # Each once more with other names, asked about the ends of its chain or about any two of its agents.
        stories += [noise.ask_other(with_other_names(one, rng), rng, ends=rng.random() < _ENDS) for one in stories]
    return [noise.add(story, rng) for story in stories]


def _long_chains(folder: Path, split: str) -> list[Story]:
    """Chains of our own that are longer than those of the training, with noise, to validate with: no file has such."""
    if split != "valid":
        raise ConfigError(f"{BOARD.task(LONG)} is there to validate with, and has no split {split!r}")
    noise, rng = _noise(folder), Random(_SEEDS[LONG])
    lengths = [int(k) for k in CHAINS[5:] for _ in range(_LONG_CHAINS)]
    return [noise.add(noise.chain(length, rng), rng) for length in lengths]


def _noise(folder: Path) -> Noise:
    """Noise as the training questions of one step are worded."""
    return Noise.learned_from([story for length, story in _rows(_file(folder, "train")) if length == 1])


def _file(folder: Path, split: str) -> Path:
    names = [f"{split}.jsonl.gz", f"{split}.jsonl"]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise DataError(folder, None, " or ".join(names), "neither")


def _rows(path: Path) -> list[tuple[int, Story]]:
    """The length of the chain and the story of each row."""
    found = []
    for number, line in numbered_lines(path, limit=MAX_LINE_BYTES):
        row = parsed(path, number, line)
        if not isinstance(row, dict) or not isinstance(row.get("k"), int):
            raise DataError(path, number, '"k": the number of steps', line[:60])
        told = [_POSSESSIVE.sub(r"\1 's", str(sentence)) for sentence in row.get("story") or ()]
        found.append((row["k"], story_of(row | {"story": told}, path, number)))
    return found


BOARD = Board(
    name="stepgame",
    title="StepGame",
    parts=CHAINS,
    source="StepGame, MIT (Shi, Zhang and Lipani, 2022)",
    read=read,
    variants={NOISY: "released, and each once more varied; with noise of our own", LONG: "of our own"},
    means={"k 1-5": CHAINS[:5], "k 6-10": CHAINS[5:]},
    notes="Trained on the clean set, k 1 to 5; scored on the noise test by k, in per cent right. No model may train on "
    "longer chains or on test noise; stepgame-noisy trains with generated noise of our own, which has to be said.",
)
