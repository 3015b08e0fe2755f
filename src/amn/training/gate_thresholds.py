"""The thresholds of a gate, set by texts and stories that it was not trained on, and what they cost."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from amn.answers import answers_of
from amn.data.examples import Example, examples
from amn.data.story import Story, same_answer
from amn.inference.engine import let_in, open_gate, read_examples
from amn.inference.trained import TrainedModel
from amn.models.gate import Gate
from amn.training.gate_data import PRONOUNS, REFERRING, GateConfig, GateData, Needs, Pairs, Rows

_CHUNK = 8192  # sentences that are read at once
_MARGIN = 0.5  # between the highest threshold and the sentences of stories that it must let in
_SLOPE = 8.0  # of the threshold: steep enough to leave stories as they were; a book raises it within some 60 sentences
_NEED_MARGIN = 1.0  # below the threshold of need that costs nothing here, since other stories may need more
_NEED_THRESHOLDS = np.arange(3.0, -6.0, -0.25)  # that are tried, the highest first
_HOPELESS = 5  # right answers more than may be lost, after which a threshold is given up
_UNLIMITED = 1e4  # above all logits
_VALIDATED = 4000  # questions of a kind of stories, at most
_TRIED = 500  # of them at a time


@torch.no_grad()
def logits(
    gate: Gate,
    sentences: Rows,
    questions: Rows,
    places: Int[np.ndarray, " pair"],
    asked: Int[np.ndarray, " pair"],
    longest: int | None = None,
) -> Float[np.ndarray, " pair"]:
    """The logits of pairs of a sentence and a question; minus infinity where a sentence is too long."""
    device = gate.bars.device
    every = _chunks(np.arange(len(questions)))
    known = torch.cat([gate.of_questions(questions.padded(part).to(device)) for part in every])
    lengths = sentences.lengths[places]
    order = np.argsort(lengths, kind="stable")
    if longest is not None:
        order = order[lengths[order] <= longest]
    found = np.full(len(places), -np.inf, np.float32)
    for part in _chunks(order):
        projected = gate.of_sentences(sentences.padded(places[part]).to(device))
        found[part] = gate.logit(projected + known[asked[part]]).cpu().numpy()
    return found


def _chunks(order: Int[np.ndarray, " row"]) -> list[Int[np.ndarray, " row"]]:
    return [order[start : start + _CHUNK] for start in range(0, len(order), _CHUNK)]


def text_logits(
    gate: Gate, texts: Rows, questions: Rows, rng: np.random.Generator, longest: int | None = None
) -> Float[np.ndarray, " sentence"]:
    """The logits of the sentences of texts, each for a random question."""
    asked = rng.integers(0, len(questions), len(texts))
    return logits(gate, texts, questions, np.arange(len(texts)), asked, longest)


def set_thresholds(gate: Gate, data: GateData, stories: Pairs, config: GateConfig) -> dict[str, float]:
    """Sets the thresholds by texts and stories that the gate was not trained on, and says what they let in."""
    texts = text_logits(gate, data.texts, data.stories.questions, np.random.default_rng(config.seed))
    places, asked = stories.rows[:, 0], stories.rows[:, 1]
    nameless = stories.sentences.without(data.names), stories.questions.without(data.names)
    kinds = (stories.sentences, stories.questions), nameless
    wanted = np.concatenate([logits(gate, *kind, places, asked) for kind in kinds])
    pronouns = np.tile(stories.rows[:, 3] == REFERRING, 2)
    lowest = float(np.quantile(texts, 1 - config.early))
    highest = max(lowest, _highest(wanted, config.missed))
    with torch.no_grad():
        gate.bars.copy_(torch.tensor([lowest, _SLOPE, highest]))
        if gate.need is not None:
            gate.need.highest.fill_(max(highest, _highest(wanted[pronouns], config.missed)))
    millions = float(data.texts.lengths.sum()) / 1e6
    return {
        "leaks_per_million_words": round(float((texts > highest).sum()) / millions, 1),
        "missed_percent": round(100 * float((wanted <= highest).mean()), 4),
        "missed_early_percent": round(100 * float((wanted <= lowest).mean()), 4),
    }


def _highest(wanted: Float[np.ndarray, " sentence"], missed: float) -> float:
    """A threshold that a given share of sentences misses; without sentences there is none."""
    return float(np.quantile(wanted, missed, method="lower")) - _MARGIN if len(wanted) else _UNLIMITED


def with_gate(trained: TrainedModel, gate: Gate, found: dict[str, Any]) -> TrainedModel:
    """A model with this gate in place of any other; its record keeps what was found of the gate."""
    plain = without_gate(trained)
    weights = {f"gate.{name}": value.detach().cpu().numpy().copy() for name, value in gate.state_dict().items()}
    return replace(
        plain,
        config={**trained.config, "gate": gate.embedding.weight.shape[1], "needs": gate.need is not None},
        weights={**plain.weights, **weights},
        record={**trained.record, "gate": found},
    )


def without_gate(trained: TrainedModel) -> TrainedModel:
    """A model that reads every sentence."""
    own = {name: value for name, value in trained.weights.items() if not name.startswith("gate.")}
    return replace(trained, config={**trained.config, "gate": 0, "needs": False}, weights=own)


class Trial:
    """Tries a gate, as it is at the time, in front of a model: which answers change by what it turns away."""

    def __init__(self, plain: TrainedModel, gate: Gate, stories: Sequence[Story], seed: int) -> None:
        self._plain, self._gate, self._rng = plain, gate, Random(seed)
        self._stories = [story for story in stories if story.questions]

    def search(self, needs: Needs, questions: int) -> int:
        """Notes what is turned away although it changes answers, for random questions; returns how many changed."""
        stories = (self._rng.choice(self._stories) for _ in range(questions))
        single = [replace(one, questions=(self._rng.choice(one.questions),), facts=()) for one in stories]
        return search(needs, self._plain, self._gated(0.0), self._examples(single))

    def _examples(self, stories: Sequence[Story]) -> list[Example]:
        return list(examples(stories, window=self._plain.training.train.window))

    def _gated(self, threshold: float) -> TrainedModel:
        """The model with a gate that takes every sentence for a fact, and lets in needs above a threshold."""
        gate = deepcopy(self._gate).cpu()
        assert gate.need is not None
        with torch.no_grad():
            gate.bars.copy_(torch.tensor([-_UNLIMITED, 0.0, -_UNLIMITED]))
            gate.need.verdict.bias.sub_(threshold)
        return with_gate(self._plain, gate, {})

    def set_threshold(self, stories: Sequence[Sequence[Story]], most: float) -> dict[str, float]:
        """Sets the threshold of need so high that it costs `most` of the right answers; returns what that lets in."""
        kinds = [self._examples(kind) for kind in stories]
        asked = [one for kind in kinds for one in self._rng.sample(kind, min(len(kind), _VALIDATED))]
        self._rng.shuffle(asked)
        right = [is_right(one, answer) for one, answer in zip(asked, answers(self._plain, asked), strict=True)]
        most *= sum(right)
        tried = (*_NEED_THRESHOLDS, -_UNLIMITED)
        threshold = next(one for one in tried if self._cost(one, asked, right, most)) - _NEED_MARGIN
        found = self._cost(threshold, asked, right, sum(right))
        assert self._gate.need is not None and found is not None
        with torch.no_grad():
            self._gate.need.verdict.bias.sub_(threshold)
        sentences = sum(len(one.sentences) for one in asked)
        return {
            "lost_percent": round(100 * found[0] / sum(right), 4),
            "needed_percent": round(100 * found[1] / sentences, 2),
        }

    def _cost(
        self, threshold: float, asked: Sequence[Example], right: Sequence[bool], most: float
    ) -> tuple[int, int] | None:
        """How many right answers a threshold loses, and how many sentences it lets in; None where it is too high."""
        gated, wrong, inside = self._gated(threshold), 0, 0
        for start in range(0, len(asked), _TRIED):
            part = slice(start, start + _TRIED)
            here = lost(self._plain, gated, asked[part], right[part])
            wrong, inside = wrong + here[0], inside + here[1]
            if wrong > most + _HOPELESS:
                return None
        return (wrong, inside) if wrong <= most else None


def answers(trained: TrainedModel, asked: Sequence[Example]) -> list[str]:
    """The answer of a model to the question of each example."""
    found = zip(read_examples(trained, asked, 1), asked, strict=True)
    return [answers_of(one, trained, [" ".join(example.questions[0])], 1)[0].answer for one, example in found]


def is_right(asked: Example, answer: str) -> bool:
    """Whether that is the answer to the question of an example."""
    return same_answer(answer, asked.answers[0] or "")


def search(needs: Needs, plain: TrainedModel, gated: TrainedModel, asked: Sequence[Example]) -> int:
    """Notes what a gate turns away although it changes answers; returns how many answers it changed."""
    gates = [open_gate(gated, one.questions) for one in asked]
    verdicts = [gate.judge(one.sentences)[0] for gate, one in zip(gates, asked, strict=True) if gate is not None]
    inside = [_only(one, verdict) for one, verdict in zip(asked, verdicts, strict=True)]
    found = zip(asked, verdicts, answers(plain, asked), answers(plain, inside), strict=True)
    changed = [(one, verdict, before) for one, verdict, before, after in found if before != after]
    for one, verdict, before in changed:
        for place in _missing(plain, one, verdict, before):
            needs.note(one.sentences[place], one.questions[0])
            needs.missed.append((one.sentences[place], one.questions[0]))
    return len(changed)


def _only(one: Example, inside: Bool[np.ndarray, " sentence"]) -> Example:
    """An example with some of its sentences."""
    return replace(one, sentences=tuple([one.sentences[place] for place in np.flatnonzero(inside)]), facts=())


def _missing(plain: TrainedModel, one: Example, inside: Bool[np.ndarray, " sentence"], answer: str) -> list[int]:
    """Some sentences that were turned away and bring an answer back, none of which can be spared."""
    heads = [place for place, spoken in enumerate(one.sentences) if PRONOUNS.isdisjoint(spoken)]
    ends = dict(pairwise([*heads, len(one.sentences)]))  # those with pronouns go with the one before them
    kept, missing = np.ones(len(inside), bool), []
    for head in heads:
        if not inside[head]:
            kept[head : ends[head]] = False
            if answers(plain, [_only(one, kept)]) != [answer]:
                kept[head : ends[head]] = True
                missing.append(head)
    return missing


def lost(plain: TrainedModel, gated: TrainedModel, asked: Sequence[Example], right: Sequence[bool]) -> tuple[int, int]:
    """How many fewer answers are right behind a gate than were `right` without, and how many sentences it lets in."""
    inside = [let_in(gated, one) for one in asked]
    still = sum(is_right(one, answer) for one, answer in zip(asked, answers(plain, inside), strict=True))
    return sum(right) - still, sum(len(one.sentences) for one in inside)
