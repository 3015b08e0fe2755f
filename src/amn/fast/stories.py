"""Stories read side by side, from their words to logits.

Sentences of different stories that touch equally many rows are read together. So nothing is padded, and a story that is
over costs nothing. A sentence that several stories tell is encoded once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float, Int

from amn.data.examples import Example
from amn.data.graph import View, WordGraph, places_of
from amn.data.vocabulary import Vocabulary
from amn.fast.decode import Found, decode
from amn.fast.encode import Asked, Gates, encode_questions, encode_sentences, first_states
from amn.fast.spelling import choose, slot_words, spelled
from amn.fast.step import ABSENT, DEPTH, IN_LAST, RELEVANCE, VOTE, creates, judge, read_sentence
from amn.fast.weights import Array, Weights


@dataclass(frozen=True, slots=True)
class _Telling:
    """Sentences of several stories that touch equally many rows: which stories, what they say, what they touch."""

    stories: Int[Array, " story"]
    gates: Int[Array, "spoken story"]
    rows: Int[Array, "row story"]
    edges: Int[Array, "story member row"]


class Stories:
    """The memories of some stories after their last sentences.

    Args:
        weights: of the model.
        vocabulary: the words that it knows.
        examples: the stories, with their questions.
    """

    def __init__(self, weights: Weights, vocabulary: Vocabulary, examples: Sequence[Example]) -> None:
        self.weights, self.vocabulary = weights, vocabulary
        self.words = [slot_words(example) for example in examples]
        self.room = max(map(len, self.words))
        rows, hidden = len(examples) * self.room, weights.config.hidden
        self.states = np.zeros((rows, hidden), weights.dtype)
        self.marks = np.zeros((rows, 5), weights.dtype)
        self.marks[:, DEPTH] = ABSENT
        self.banks = np.ones(len(examples))
        self.entities, self.votes, self.voters = np.zeros((3, len(examples)))
        self.spelled = [spelled(vocabulary, example, pointer=weights.config.pointer) for example in examples]
        slots = [{word: slot for slot, word in enumerate(words)} for words in self.words]
        self.asked = self._ask(examples, slots)
        self._tell(examples, slots)

    def _ask(self, examples: Sequence[Example], slots: Sequence[dict[str, int]]) -> Asked:
        """Encodes the questions. Where a story has fewer, its first stands in; what that names is no entity's row."""
        most = max(len(example.questions) for example in examples)
        asked, entities = [], []
        for story, example in enumerate(examples):
            first, missing = example.questions[0], most - len(example.questions)
            asked.append([self.spelled[story](question) for question in (*example.questions, *[first] * missing)])
            start, known = story * self.room, slots[story]
            entities += [start + known[word] for word in chain.from_iterable(example.questions)]
            entities += [start] * (missing * len(first))
        encoded, outputs = encode_questions(self.weights, asked)
        named, states = first_states(self.weights, outputs, entities)
        self.states[named] = states
        return encoded

    def _tell(self, examples: Sequence[Example], slots: Sequence[dict[str, int]]) -> None:
        told = [
            [(spell(sentence), sentence) for sentence in example.sentences]
            for spell, example in zip(self.spelled, examples, strict=True)
        ]
        distinct = list(dict.fromkeys(chain.from_iterable(told)))
        if not distinct:
            return
        gates = encode_sentences(self.weights, [(spelt, places_of(sentence)) for spelt, sentence in distinct])
        starts = dict(zip(distinct, gates.starts.tolist(), strict=True))
        graphs = []
        for example, known in zip(examples, slots, strict=True):
            graphs.append(WordGraph([known[word] for word in chain.from_iterable(example.questions)], padded=True))
        for number in range(max(len(example.sentences) for example in examples)):
            views = []
            for story, example in enumerate(examples):
                if number < len(example.sentences):
                    sentence, known = example.sentences[number], slots[story]
                    start = starts[told[story][number]]
                    views.append((story, start, graphs[story].tell([known[word] for word in sentence])))
            for telling in self._tellings(views):
                self._step(telling, gates)

    def _tellings(self, views: Sequence[tuple[int, int, View]]) -> Iterator[_Telling]:
        """One sentence of each story, those together that touch equally many rows."""
        alike: dict[tuple[int, int], list[tuple[int, int, View]]] = {}
        for one in views:
            alike.setdefault((one[2].spoken, len(one[2].members)), []).append(one)
        for (spoken, members), found in alike.items():
            stories = np.array([story for story, _, _ in found])
            touched = np.array([view.members + view.context for _, _, view in found])
            kinds = b"".join([view.kinds for _, _, view in found])
            yield _Telling(
                stories=stories,
                gates=np.array([start for _, start, _ in found]) + np.arange(spoken)[:, None],
                rows=np.ascontiguousarray(touched.T) + stories * self.room,
                edges=np.frombuffer(kinds, np.int8).reshape(len(found), members, -1),
            )

    def _step(self, told: _Telling, gates: Gates) -> None:
        stories, members = told.stories, told.rows[: told.edges.shape[1]]
        asked = self.asked if len(stories) == len(self.banks) else self.asked.some(stories)
        banks, states, marks = self.banks[stories], self.states[told.rows], self.marks[members.T]
        new = read_sentence(self.weights, states, gates.rows.take(told.gates.ravel(), 1), told.edges)
        now = judge(self.weights, new, marks, banks, asked)
        self.states[members], self.marks[members.T] = new, now
        was, inside = marks[:, :, IN_LAST], now[:, :, IN_LAST]
        self.entities[stories] += (marks[:, :, DEPTH] < 0).sum(1)
        self.votes[stories] += (now[:, :, VOTE] * inside - marks[:, :, VOTE] * was).sum(1)
        self.voters[stories] += (inside - was).sum(1)
        entities, votes, voters = self.entities[stories], self.votes[stories], self.voters[stories]
        created = creates(self.weights, banks, entities, votes, voters)
        if created.any():
            self._create(stories[created])

    def _create(self, stories: Int[Array, " some"]) -> None:
        """Eq. (11): what is still relevant in the last bank goes on to a new one."""
        tables = self.marks.reshape(len(self.banks), self.room, -1)
        marks = tables[stories]
        stays = (marks[:, :, RELEVANCE] > 0) & (marks[:, :, IN_LAST] > 0)
        marks[:, :, IN_LAST] = stays
        marks[:, :, DEPTH] += stays
        tables[stories] = marks
        self.banks[stories] += 1
        self.votes[stories] = (stays * marks[:, :, VOTE]).sum(1)
        self.voters[stories] = stays.sum(1)

    def read(self, banks: int) -> list[Found]:
        """Answers from some banks, the most relevant first; 0 for all."""
        slots = self.slots(banks)
        logits, copies, found = self.logits(slots, banks), self._copies(slots, banks), []
        for story, told in enumerate(one.told for one in self.spelled):
            entities, asked = int(self.entities[story]), [copies[story]] * logits.shape[1]
            chosen = choose(logits[story], self.vocabulary, told)
            found.append(Found(chosen, list(told.values()), entities, asked, int(self.banks[story])))
        return found

    def slots(self, banks: int) -> Int[Array, "story entity"]:
        """The entities that are read of each story, then zeros; slot 0 is padding."""
        marks = self.marks.reshape(len(self.banks), self.room, -1)
        held = marks[:, :, IN_LAST] > 0 if banks == 1 else marks[:, :, DEPTH] >= self._first(banks)[:, None]
        counts = held.sum(1)
        order = np.argsort(~held, 1, kind="stable")[:, : max(1, int(counts.max()))]
        return np.where(np.arange(order.shape[1]) < counts[:, None], order, 0)

    def logits(self, slots: Int[Array, "story entity"], banks: int) -> Float[Array, "story question answer"]:
        """The logits of all stories, from these slots of theirs and no others."""
        rows = slots + self.room * np.arange(len(slots))[:, None]
        states, marks = self.states.take(rows, 0), self.marks.take(rows, 0)
        return decode(self.weights, states, marks, slots > 0, self.asked, self.banks, banks)

    def _first(self, banks: int) -> Float[Array, " story"]:
        """The most general bank that is read of each story."""
        return np.maximum(self.banks - banks, 0) if banks else np.zeros_like(self.banks)

    def _copies(self, slots: Int[Array, "story entity"], banks: int) -> list[int]:
        """How many entities are read, those that several banks hold counted each time."""
        if banks == 1:
            return np.count_nonzero(slots, 1).tolist()
        depth = self.marks[slots + self.room * np.arange(len(slots))[:, None], DEPTH]
        held = (depth - self._first(banks)[:, None] + 1) * (slots > 0)
        return held.sum(1).astype(int).tolist()
