"""Trains the gate in front of a memory, from what is free: sentences of stories are let in, sentences of texts are not.

The sentences of a folder of texts outnumber those of stories by thousands, and nearly all are easy. So every epoch the
gate reads the whole folder, and what it finds hardest to turn away is what it trains on next. Names are hidden and
exchanged at random, on both sides: it has to judge by what is said, and not by whom it is said of.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from amn.data.story import Story
from amn.data.vocabulary import UNKNOWN
from amn.errors import ConfigError
from amn.inference.trained import TrainedModel
from amn.models.gate import Gate
from amn.store.card import model_card
from amn.store.model_directory import load_model
from amn.store.run_directory import RunDirectory
from amn.training.gate_data import GateData, known_names, names_in, pairs_of, text_files, text_rows, text_sentences
from amn.training.mixture import name_words
from amn.training.prepare import EVERYTHING, MIXED
from amn.training.rows import Rows, shuffled_words

_SHARES = (0.0, 0.5, 1.0)  # of the names that are hidden or exchanged: none, some or all of a sentence and its question
_SHORT = 24  # words; longer sentences are easy, and few of them are enough
_EASY = 0.25  # of the sentences of texts in a batch, drawn from all of them
_HARDEST = 20_000  # sentences of texts that are trained on next
_LONG_EVERY = 10  # steps between batches of long sentences
_CHUNK = 8192  # sentences that are read at once
_MARGIN = 0.5  # how much lower the highest bar is than the sentences of stories that it must let in
PRONOUNS = frozenset(("he", "she", "they", "him", "her", "them"))
_SLOPE = 8.0  # of the bar: as steep as leaves stories as they were; a book raises it within some sixty sentences


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
    seed: int = 0


class GateTraining:
    """One training of a gate.

    Args:
        data: what it learns from.
        vocabulary_size: number of words.
        config: how.
        device: where; draws are the same everywhere.
    """

    def __init__(self, data: GateData, vocabulary_size: int, config: GateConfig, device: str = "cpu") -> None:
        self.data, self.config = data, config
        self.gate = Gate(vocabulary_size, config.width)
        self._draw = torch.Generator().manual_seed(config.seed)
        self._rng = np.random.default_rng(config.seed)
        _initialise(self.gate, self._draw)
        self.gate.to(device)
        self._optimiser = torch.optim.AdamW(self.gate.parameters(), config.learning_rate, weight_decay=0.01)
        total = max(2, config.epochs * config.steps)
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(
            self._optimiser, config.learning_rate, total_steps=total, pct_start=0.1
        )
        lengths = data.texts.lengths
        self._short, self._long = (
            np.flatnonzero(lengths <= _SHORT),
            np.flatnonzero((lengths > _SHORT) & (lengths <= 64)),
        )
        self._hard = self._short

    def run(self, note: Callable[[str], object] = lambda _: None) -> Gate:
        """Trains to the end."""
        for epoch in range(self.config.epochs):
            losses = [self._step(step) for step in range(self.config.steps)]
            leaks = self._search()
            note(f"gate: epoch {epoch + 1}, loss {np.mean(losses):.4f}, {leaks} sentences of texts let in")
        return self.gate

    def _step(self, step: int) -> float:
        told = self._logits(*self._of_stories())
        texts = torch.cat([self._logits(*part) for part in self._of_texts(step)])
        loss = torch.nn.functional.softplus(-told).mean() + torch.nn.functional.softplus(texts).mean()
        self._optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.gate.parameters(), 1.0)
        self._optimiser.step()
        self._schedule.step()
        return float(loss.detach())

    def _logits(self, sentences: Tensor, questions: Tensor) -> Float[Tensor, " row"]:
        device = self.gate.bars.device
        return self.gate.logit(self.gate.heard(sentences.to(device)) + self.gate.asked(questions.to(device)))

    def _of_stories(self) -> tuple[Tensor, Tensor]:
        """Sentences with questions of their own, names and some other words hidden or exchanged alike in both."""
        pairs = self.data.pairs[self._rng.integers(0, len(self.data.pairs), self.config.batch_size)]
        return self._changed(self.data.sentences.padded(pairs[:, 0]), pairs[:, 1], self.config.hide_words)

    def _of_texts(self, step: int) -> list[tuple[Tensor, Tensor]]:
        """Sentences of texts, hard and easy ones, with any questions; in three parts by length."""
        size = self.config.batch_size
        easy = int(size * _EASY)
        if step % _LONG_EVERY == 0 and len(self._long):
            chosen = self._rng.choice(self._long, easy)
        else:
            chosen = np.concatenate((self._rng.choice(self._hard, size - easy), self._rng.choice(self._short, easy)))
        chosen = chosen[np.argsort(self.data.texts.lengths[chosen])]
        return [self._of_text(part) for part in np.array_split(chosen, 3)]

    def _of_text(self, chosen: Int[np.ndarray, " row"]) -> tuple[Tensor, Tensor]:
        sentences = self.data.texts.padded(chosen)
        asked = self.data.pairs[self._rng.integers(0, len(self.data.pairs), len(chosen)), 1]
        return self._changed(self._with_names(sentences), asked, 0.0)

    def _with_names(self, sentences: Int[Tensor, "row word"]) -> Int[Tensor, "row word"]:
        """Unknown words of texts are often names: in a third of the sentences, some become known ones."""
        some = torch.rand(len(sentences), 1, generator=self._draw) < 1 / 3
        here = torch.rand(sentences.shape, generator=self._draw) < 0.3
        others = self.data.names[torch.randint(0, len(self.data.names), sentences.shape, generator=self._draw)]
        return torch.where((sentences == UNKNOWN) & some & here, others, sentences)

    def _changed(
        self, sentences: Int[Tensor, "row word"], asked: Int[np.ndarray, " row"], hide_words: float
    ) -> tuple[Tensor, Tensor]:
        rows = len(sentences)
        key = torch.randint(0, 1 << 62, (rows, 1), generator=self._draw)
        touched, exchanged = (self._one_of(_SHARES, rows) for _ in range(2))
        hidden = self._one_of((0.0, hide_words), rows)
        changes = (key, self.data.names, touched, exchanged, hidden)
        questions = self.data.questions.padded(asked)
        return shuffled_words(sentences, *changes), shuffled_words(questions, *changes)

    def _one_of(self, shares: Sequence[float], rows: int) -> Float[Tensor, "row one"]:
        return torch.tensor(shares)[torch.randint(0, len(shares), (rows, 1), generator=self._draw)]

    def _search(self) -> int:
        """Reads the texts with questions drawn anew; what is hardest to turn away comes next."""
        asked = self._rng.integers(0, len(self.data.questions), len(self.data.texts))
        found = logits(self.gate, self.data.texts, self.data.questions, asked, _SHORT)
        order = np.argsort(-found)[:_HARDEST]
        before = self._rng.choice(self._hard, min(len(self._hard), _HARDEST // 2))
        self._hard = np.concatenate((np.repeat(order[: _HARDEST // 5], 4), order, before))
        return int((found > 0).sum())


def _initialise(gate: Gate, draw: torch.Generator) -> None:
    for parameter in gate.parameters():
        if parameter.dim() > 1:
            torch.nn.init.xavier_uniform_(parameter, generator=draw)
        else:
            torch.nn.init.zeros_(parameter)
    torch.nn.init.normal_(gate.embedding.weight, std=0.5, generator=draw)


@torch.no_grad()
def logits(
    gate: Gate, sentences: Rows, questions: Rows, asked: Int[np.ndarray, " sentence"], longest: int | None = None
) -> Float[np.ndarray, " sentence"]:
    """The logit of each sentence for its question; minus infinity for those that are longer than is asked for."""
    device = gate.bars.device
    known = torch.cat([gate.asked(questions.padded(part).to(device)) for part in _chunks(np.arange(len(questions)))])
    order = np.argsort(sentences.lengths, kind="stable")
    if longest is not None:
        order = order[sentences.lengths[order] <= longest]
    found = np.full(len(sentences), -np.inf, np.float32)
    for part in _chunks(order):
        found[part] = gate.logit(gate.heard(sentences.padded(part).to(device)) + known[asked[part]]).cpu().numpy()
    return found


def _chunks(order: Int[np.ndarray, " row"]) -> list[Int[np.ndarray, " row"]]:
    return [order[start : start + _CHUNK] for start in range(0, len(order), _CHUNK)]


def fit_gate(
    trained: TrainedModel,
    stories: Sequence[Story],
    validation: Sequence[Story],
    folder: str | Path,
    names: Iterable[str],
    config: GateConfig | None = None,
    note: Callable[[str], object] = lambda _: None,
    device: str = "cpu",
) -> TrainedModel:
    """A model with a gate in front of its memory; what it had is as it was.

    Args:
        trained: a model of the default profile.
        stories: what is to be let in. Sentences that no question is about are best left out.
        validation: other stories, to set the highest bar by.
        folder: texts whose sentences are to be turned away.
        names: words that other names may stand for.
        config: how to train.
        note: told what happens.
        device: where to train.

    Raises:
        ConfigError: where the model can have no gate.
        DataError: where the folder has no texts.
    """
    config = config or GateConfig()
    if not trained.model.in_core:
        raise ConfigError(f"only models of architecture amn have a gate, this one is {trained.architecture}")
    files, vocabulary = text_files(folder), trained.vocabulary
    apart = max(1, round(len(files) * config.held_out))
    learned, kept = (text_rows(text_sentences(part), vocabulary) for part in (files[apart:] or files, files[:apart]))
    data = GateData(*pairs_of(stories, vocabulary, config.seed), learned, known_names(names, vocabulary))
    gate = GateTraining(data, len(vocabulary.words), config, device).run(note).cpu()
    gate.refers.copy_(torch.tensor([float(word in PRONOUNS) for word in vocabulary.words]))
    found = set_bars(gate, replace(data, texts=kept), pairs_of(validation, vocabulary), config)
    return with_gate(trained, gate, config, {**found, "texts": len(files), "sentences": len(learned)})


def gate_run(
    directory: RunDirectory,
    stories: Sequence[Story],
    validation: Sequence[Story],
    folder: str | Path,
    note: Callable[[str], object],
) -> None:
    """Puts a gate in front of the best model of a run that has ended."""
    trained = load_model(directory.best)
    names = name_words() if directory.spec().task in (MIXED, EVERYTHING) else names_in(stories)
    found = fit_gate(trained, stories, validation, folder, names, note=note)
    directory.save_best(found, model_card(found))


def set_bars(
    gate: Gate, data: GateData, stories: tuple[Rows, Rows, Int[np.ndarray, "pair two"]], config: GateConfig
) -> dict[str, float]:
    """Sets the bars by texts and stories that the gate was not trained on, and says what they let in and turn away."""
    rng = np.random.default_rng(config.seed)
    texts = logits(gate, data.texts, data.questions, rng.integers(0, len(data.questions), len(data.texts)))
    told = np.concatenate([_told_logits(gate, *stories, names) for names in (None, data.names)])
    lowest = float(np.quantile(texts, 1 - config.early))
    highest = max(lowest, float(np.quantile(told, config.missed, method="lower")) - _MARGIN)
    with torch.no_grad():
        gate.bars.copy_(torch.tensor([lowest, _SLOPE, highest]))
    millions = float(data.texts.lengths.sum()) / 1e6
    return {
        "leaks_per_million_words": round(float((texts > highest).sum()) / millions, 1),
        "missed_percent": round(100 * float((told <= highest).mean()), 4),
        "missed_early_percent": round(100 * float((told <= lowest).mean()), 4),
    }


@torch.no_grad()
def _told_logits(
    gate: Gate, sentences: Rows, questions: Rows, pairs: Int[np.ndarray, "pair two"], hidden: Tensor | None
) -> Float[np.ndarray, " pair"]:
    """The logits of sentences of stories, with all names unknown where these are given."""

    def rows(table: Rows, chosen: Int[np.ndarray, " row"]) -> Int[Tensor, "row word"]:
        padded = table.padded(chosen)
        return padded if hidden is None else torch.where(torch.isin(padded, hidden), UNKNOWN, padded)

    found = [
        gate.logit(gate.heard(rows(sentences, part[:, 0])) + gate.asked(rows(questions, part[:, 1])))
        for part in np.array_split(pairs, max(1, len(pairs) // _CHUNK))
    ]
    return torch.cat(found).numpy()


def with_gate(trained: TrainedModel, gate: Gate, config: GateConfig, found: dict[str, Any]) -> TrainedModel:
    """A model with this gate in front of it, in place of any other."""
    own = {name: value for name, value in trained.weights.items() if not name.startswith("gate.")}
    weights = {f"gate.{name}": value.detach().cpu().numpy().copy() for name, value in gate.state_dict().items()}
    return TrainedModel(
        architecture=trained.architecture,
        config={**trained.config, "gate": config.width},
        weights={**own, **weights},
        vocabulary=trained.vocabulary,
        record={**trained.record, "gate": {**asdict(config), **found}},
        calibration=trained.calibration,
    )


def easiest_leaks(trained: TrainedModel, stories: Sequence[Story], folder: str | Path, count: int) -> list[str]:
    """The sentences of texts that the gate of a model lets in most easily, the easiest first."""
    gate = getattr(trained.model, "gate", None)
    if gate is None:
        raise ConfigError("this model has no gate")
    sentences = list(dict.fromkeys(text_sentences(text_files(folder))))
    _, questions, _ = pairs_of(stories, trained.vocabulary)
    rows = text_rows(sentences, trained.vocabulary)
    asked = np.random.default_rng(0).integers(0, len(questions), len(rows))
    found = logits(gate, rows, questions, asked, _SHORT)
    return [sentences[place] for place in np.argsort(-found)[:count]]
