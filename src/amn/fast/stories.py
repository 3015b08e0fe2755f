"""Stories read side by side, from their words to logits.

One sentence of each story is read at a time. Members stand in rows without padding; only attention pads, and stories
whose sentences differ much in size are read apart. A story that is over costs nothing. A sentence that several stories
tell, and a question that several ask, is encoded once.
"""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from jaxtyping import Float, Int

from amn.data.examples import Example
from amn.data.vocabulary import Vocabulary
from amn.fast import kernels
from amn.fast.decode import Found, decode
from amn.fast.encode import Asked, encode_questions, encode_sentences, first_states
from amn.fast.graphs import Members, WordGraphs
from amn.fast.spelling import all_spelled, choose
from amn.fast.states import States
from amn.fast.step import ABSENT, DEPTH, IN_LAST, RELEVANCE, VOTE, creates, judge
from amn.fast.texts import Texts, ranges
from amn.fast.weights import Array, Weights


class Stories:
    """The memories of some stories after their last sentences.

    Args:
        weights: of the model.
        vocabulary: the words that it knows.
        examples: the stories, with their questions.
    """

    def __init__(self, weights: Weights, vocabulary: Vocabulary, examples: Sequence[Example]) -> None:
        self.weights, self.vocabulary = weights, vocabulary
        self.spelled = all_spelled(vocabulary, examples, pointer=weights.config.pointer)
        self.texts = Texts(examples, self.spelled)
        rows = len(self.texts.first)
        self.states = States(weights, rows)
        self.marks = np.zeros((rows, 5), weights.dtype)
        self.marks[:, DEPTH] = ABSENT
        self.banks = np.ones(len(examples))
        self.entities, self.votes, self.voters = np.zeros((3, len(examples)))
        self.asked = self._ask(examples)
        if self.texts.tellings:
            self._tell()

    def _ask(self, examples: Sequence[Example]) -> Asked:
        """Encodes the questions, the same ones once. Where a story has fewer, its first stands in, and names nobody."""
        most = max(len(example.questions) for example in examples)
        distinct: dict[tuple[tuple[int, ...], ...], int] = {}
        which, entities, names = [], [], iter(self.texts.asked.tolist())
        for spell, example in zip(self.spelled, examples, strict=True):
            first, missing = example.questions[0], most - len(example.questions)
            asked = tuple([spell(question) for question in (*example.questions, *[first] * missing)])
            which.append(distinct.setdefault(asked, len(distinct)))
            entities += [*islice(names, sum(map(len, example.questions))), *[0] * (missing * len(first))]
        encoded, outputs = encode_questions(self.weights, list(distinct))
        sizes = np.array([sum(map(len, asked)) for asked in distinct])
        outputs = outputs.take(ranges((sizes.cumsum() - sizes)[which], sizes[which]), 0)
        named, states = first_states(self.weights, outputs, entities)
        self.states.table[named] = states
        return encoded.take(np.array(which))

    def _tell(self) -> None:
        texts, gates = self.texts, encode_sentences(self.weights, self.texts.tellings)
        if kernels.can_read(self.weights):
            per_story = (self.banks, self.entities, self.votes, self.voters)
            memory = kernels.Memory(self.states.table, self.marks, *per_story)
            return kernels.tell(self.weights, texts, gates, self.asked, memory)
        graphs = WordGraphs(len(self.states.table) - 1)
        self.states.hear(gates)
        for sentences in texts.in_groups():
            members = texts.members(sentences)
            views = graphs.tell(members, texts.paths(sentences))
            members, new = texts.newcomers_first(members, sentences)
            said = gates.starts[texts.telling[sentences]].take(members.story) + members.place
            states = self.states.read(members, new, said[: int(members.spoken.sum())], views)
            self._judge(texts.story[sentences], members, states)

    def _judge(self, stories: Int[Array, " story"], members: Members, states: Float[Array, "member hidden"]) -> None:
        """New marks for the members, and where a memory is too full, a new bank."""
        whose = stories.take(members.story)
        marks = self.marks.take(members.entities, 0)
        now = judge(self.weights, states, marks, self.banks.take(whose), self.asked, whose)
        self.marks[members.entities] = now
        was, inside, count = marks[:, IN_LAST], now[:, IN_LAST], len(self.banks)
        self.entities += np.bincount(whose, marks[:, DEPTH] < 0, count)
        self.votes += np.bincount(whose, now[:, VOTE] * inside - marks[:, VOTE] * was, count)
        self.voters += np.bincount(whose, inside - was, count)
        here = [values.take(stories) for values in (self.banks, self.entities, self.votes, self.voters)]
        created = creates(self.weights, *here)
        if created.any():
            self._create(stories[created])

    def _create(self, stories: Int[Array, " some"]) -> None:
        """Eq. (11): what is still relevant in the last bank goes on to a new one."""
        own = self.texts.own[stories]
        marks = self.marks.take(own, 0)
        stays = (marks[:, :, RELEVANCE] > 0) & (marks[:, :, IN_LAST] > 0)
        marks[:, :, IN_LAST] = stays
        marks[:, :, DEPTH] += stays
        self.marks[own] = marks
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
        """The entities that are read of each story, then zeros; 0 is nobody."""
        own = self.texts.own
        marks = self.marks.take(own, 0)
        held = marks[:, :, IN_LAST] > 0 if banks == 1 else marks[:, :, DEPTH] >= self._first(banks)[:, None]
        counts = held.sum(1)
        order = np.argsort(~held, 1, kind="stable")[:, : max(1, int(counts.max()))]
        return np.where(np.arange(order.shape[1]) < counts[:, None], np.take_along_axis(own, order, 1), 0)

    def logits(self, slots: Int[Array, "story entity"], banks: int) -> Float[Array, "story question answer"]:
        """The logits of all stories, from these entities of theirs and no others."""
        states, marks = self.states.table.take(slots, 0), self.marks.take(slots, 0)
        return decode(self.weights, states, marks, slots > 0, self.asked, self.banks, banks)

    def _first(self, banks: int) -> Float[Array, " story"]:
        """The most general bank that is read of each story."""
        return np.maximum(self.banks - banks, 0) if banks else np.zeros_like(self.banks)

    def _copies(self, slots: Int[Array, "story entity"], banks: int) -> list[int]:
        """How many entities are read, those that several banks hold counted each time."""
        if banks == 1:
            return np.count_nonzero(slots, 1).tolist()
        held = (self.marks[slots, DEPTH] - self._first(banks)[:, None] + 1) * (slots > 0)
        return held.sum(1).astype(int).tolist()
