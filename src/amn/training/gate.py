"""Trains the gate in front of a memory: sentences of stories are to be let in, sentences of any texts are not.

The sentences of a folder of texts outnumber those of stories by thousands, and nearly all are easy. So it mines hard
negatives: every epoch ends with a pass over the whole folder, and the sentences with the highest logits are trained on
next. Names are hidden and exchanged at random on both sides, so that it judges what is said, and not of whom. What a
question needs it learns from the same sentences of stories (`Needs`), where the data name supporting facts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import softplus

from amn.data.story import Story
from amn.data.vocabulary import UNKNOWN
from amn.errors import ConfigError
from amn.inference.trained import TrainedModel
from amn.models.gate import Gate
from amn.store.card import model_card
from amn.store.model_directory import load_model
from amn.store.run_directory import RunDirectory
from amn.training.distract import text_files, text_sentences
from amn.training.gate_data import (
    PRONOUNS,
    GateConfig,
    GateData,
    Needs,
    Pairs,
    known_names,
    names_in,
    shuffled_words,
    spoken_pairs,
    stories_of,
    text_rows,
)
from amn.training.gate_thresholds import Trial, set_thresholds, text_logits, with_gate, without_gate
from amn.training.mixture import name_words
from amn.training.prepare import EVERYTHING, MIXED

_SHARES = (0.0, 0.5, 1.0)  # of the names that are hidden or exchanged: none, some or all of a sentence and its question
SHORT, _LONGEST = 24, 64  # words; longer sentences than short ones are easy, and few of them are enough
_EASY = 0.25  # of the sentences of texts in a batch, drawn from all of them
_HARDEST = 20_000  # sentences of texts that are trained on next
_LONG_EVERY = 10  # steps between batches of long sentences
_NEEDED = 4.0  # what a sentence that is needed weighs beside one that is not
_MISSED = 1 / 8  # of a batch: sentences that were turned away although they were needed
_SEARCH_AFTER = 2  # epochs before what is turned away is searched for what was needed


class GateTraining:
    """One training of a gate; with `needs` it also learns what questions need. Draws are the same on any device."""

    def __init__(
        self, data: GateData, vocabulary_size: int, config: GateConfig, needs: Needs | None, device: str = "cpu"
    ) -> None:
        self.data, self.config, self._needs = data, config, needs
        self.gate = Gate(vocabulary_size, config.width, needs is not None)
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
        self._hard = self._short = np.flatnonzero(lengths <= SHORT)
        self._long = np.flatnonzero((lengths > SHORT) & (lengths <= _LONGEST))
        self._missed: Pairs | None = None
        self._labels: tuple[Bool[np.ndarray, " saying"], Bool[np.ndarray, " saying"]] | None = None

    def run(self) -> Iterator[str]:
        """Trains to the end; yields a line after each epoch."""
        for epoch in range(self.config.epochs):
            self._labels = None if self._needs is None else self._needs.labels
            self._missed = None if self._needs is None else Pairs.of(self._needs.missed, self._needs)
            losses = [self._step(step) for step in range(self.config.steps)]
            leaks = self._search()
            yield f"gate: epoch {epoch + 1}, loss {np.mean(losses):.4f}, {leaks} sentences of texts let in"

    def _step(self, step: int) -> float:
        gate, device = self.gate, self.gate.bars.device
        parts = [[rows.to(device) for rows in part] for part in self._of_texts(step)]
        texts = [gate.logit(gate.of_sentences(said) + gate.of_questions(asked)) for said, asked in parts]
        loss = self._loss_of_stories() + softplus(torch.cat(texts)).mean()
        self._optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.gate.parameters(), 1.0)
        self._optimiser.step()
        self._schedule.step()
        return float(loss.detach())

    def _loss_of_stories(self) -> Float[Tensor, ""]:
        """Of sentences with their questions, names and some other words hidden or exchanged in both alike."""
        gate = self.gate
        rows, said, asked = self._drawn(self.data.stories, self.config.batch_size)
        loss = softplus(-gate.logit(gate.sentence(said) + gate.question(asked))).mean()
        if gate.need is None or self._labels is None or self._missed is None:
            return loss
        needed, known = (torch.from_numpy(labels[rows[:, 3].numpy()]).to(said.device) for labels in self._labels)
        logits = gate.need(said, asked, rows[:, 2].to(said.device))
        loss = loss + (known * (needed * _NEEDED * softplus(-logits) + ~needed * softplus(logits))).mean()
        if not len(self._missed.rows):
            return loss
        rows, said, asked = self._drawn(self._missed, int(_MISSED * self.config.batch_size))
        missed = softplus(-gate.need(said, asked, rows[:, 2].to(said.device))).mean()
        return loss + _MISSED * _NEEDED * missed

    def _drawn(self, pairs: Pairs, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """Some pairs, and the states of their sentences and questions."""
        rows = pairs.rows[self._rng.integers(0, len(pairs.rows), count)]
        words = pairs.sentences.padded(rows[:, 0]), pairs.questions.padded(rows[:, 1])
        gate, device = self.gate, self.gate.bars.device
        said, asked = (changed.to(device) for changed in self._changed(*words, self.config.hide_words))
        return torch.from_numpy(rows), gate.last(gate.sentence_gru, said), gate.last(gate.question_gru, asked)

    def _of_texts(self, step: int) -> list[tuple[Tensor, Tensor]]:
        """Sentences of texts, hard and easy ones, with any questions; in three parts by length."""
        size = self.config.batch_size
        easy = int(size * _EASY)
        if step % _LONG_EVERY == 0 and len(self._long):
            chosen = self._rng.choice(self._long, easy)
        else:
            chosen = np.concatenate((self._rng.choice(self._hard, size - easy), self._rng.choice(self._short, easy)))
        chosen = chosen[np.argsort(self.data.texts.lengths[chosen])]
        stories, parts = self.data.stories, []
        for part in np.array_split(chosen, 3):
            asked = stories.questions.padded(stories.rows[self._rng.integers(0, len(stories.rows), len(part)), 1])
            parts.append(self._changed(self._with_names(self.data.texts.padded(part)), asked, 0.0))
        return parts

    def _with_names(self, sentences: Int[Tensor, "row word"]) -> Int[Tensor, "row word"]:
        """Unknown words of texts are often names: in a third of the sentences, some become known names."""
        some = torch.rand(len(sentences), 1, generator=self._draw) < 1 / 3
        here = torch.rand(sentences.shape, generator=self._draw) < 0.3
        others = self.data.names[torch.randint(0, len(self.data.names), sentences.shape, generator=self._draw)]
        return torch.where((sentences == UNKNOWN) & some & here, others, sentences)

    def _changed(
        self, sentences: Int[Tensor, "row word"], questions: Int[Tensor, "row word_q"], hide_words: float
    ) -> tuple[Tensor, Tensor]:
        rows = len(sentences)
        key = torch.randint(0, 1 << 62, (rows, 1), generator=self._draw)
        touched, exchanged = (self._one_of(_SHARES, rows) for _ in range(2))
        hidden = self._one_of((0.0, hide_words), rows)
        changes = (key, self.data.names, touched, exchanged, hidden)
        return shuffled_words(sentences, *changes), shuffled_words(questions, *changes)

    def _one_of(self, shares: Sequence[float], rows: int) -> Float[Tensor, "row one"]:
        return torch.tensor(shares)[torch.randint(0, len(shares), (rows, 1), generator=self._draw)]

    def _search(self) -> int:
        """Mines hard negatives: the sentences of texts with the highest logits for random questions."""
        found = text_logits(self.gate, self.data.texts, self.data.stories.questions, self._rng, SHORT)
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
    if gate.need is not None:
        torch.nn.init.normal_(gate.need.shared.weight, std=0.5, generator=draw)


def fit_gate(
    trained: TrainedModel,
    stories: Sequence[Story],
    validation: Sequence[Story],
    folder: str | Path,
    names: Iterable[str],
    config: GateConfig | None = None,
    note: Callable[[str], object] = lambda _: None,
    device: str = "cpu",
    others: Sequence[Story] = (),
) -> TrainedModel:
    """A model with a gate in front of its memory; what it had is as it was.

    Args:
        trained: a model of the default profile.
        stories: what is to be let in. Sentences that no question is about are best left out.
        validation: other stories, to set the highest threshold by.
        folder: texts whose sentences are to be turned away.
        names: words that other names may stand for.
        config: how to train.
        note: called with a line about each epoch.
        device: where to train.
        others: stories of another kind, by which the threshold of need is set as well.
    """
    config = config or GateConfig()
    if not trained.model.in_core:
        raise ConfigError(f"only models of architecture amn have a gate, this one is {trained.architecture}")
    files, vocabulary = text_files(folder), trained.vocabulary
    apart = max(1, round(len(files) * config.held_out))
    known = known_names(names, vocabulary)
    needs = Needs(trained.numbers, frozenset(known.tolist()) - {UNKNOWN})
    learned, kept = (text_rows(text_sentences(part), needs) for part in (files[apart:] or files, files[:apart]))
    supported = needs.note_support(stories)
    data = GateData(Pairs.of(spoken_pairs(stories, config.seed), needs), learned, known)
    training = GateTraining(data, len(vocabulary.words), config, needs if supported else None, device)
    training.gate.refers.copy_(torch.tensor([float(word in PRONOUNS) for word in vocabulary.words]))
    if training.gate.need is not None:
        training.gate.need.names[known[known > UNKNOWN]] = 1
    trial = Trial(without_gate(trained), training.gate, stories, config.seed)
    for epoch, said in enumerate(training.run(), 1):
        note(said)
        if supported and config.searched and _SEARCH_AFTER <= epoch < config.epochs:
            changed = trial.search(needs, config.searched)
            note(f"gate: {changed} of {config.searched} answers changed by what was turned away")
    gate = training.gate.cpu()
    found = set_thresholds(gate, replace(data, texts=kept), Pairs.of(spoken_pairs(validation), needs), config)
    if supported:
        found |= trial.set_threshold([validation, others], config.lost)
    return with_gate(trained, gate, asdict(config) | found | {"texts": len(files), "sentences": len(learned)})


def gate_run(
    directory: RunDirectory,
    folder: str | Path,
    note: Callable[[str], object],
    own: tuple[Sequence[Story], Sequence[Story]] | None = None,
) -> None:
    """Trains a gate for the best model of a finished run; `own` are its stories, where it has its own."""
    spec, trained = directory.spec(), load_model(directory.best)
    stories, validation = own or (stories_of(spec.task, spec.data, split) for split in ("train", "valid"))
    names = name_words() if spec.task in (MIXED, EVERYTHING) else names_in(stories)
    found = fit_gate(trained, stories, validation, folder, names, note=note)
    directory.save_best(found, model_card(found))
