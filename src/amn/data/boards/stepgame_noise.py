"""Generated noise for StepGame: sentences about further agents, which change no answer.

How relations are worded is learned from the training set's own questions with one step, so no file of noise is seen.
As in the paper, noise is of three kinds: a pair of agents apart from the chain, an agent that hangs on to the chain,
and an agent that is a second way between two agents of the chain.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from random import Random
from string import ascii_uppercase

from amn.data.story import Question, Story

Step = tuple[int, int]
STEPS: dict[str, Step] = {
    "left": (-1, 0),
    "right": (1, 0),
    "above": (0, 1),
    "below": (0, -1),
    "upper-left": (-1, 1),
    "upper-right": (1, 1),
    "lower-left": (-1, -1),
    "lower-right": (1, -1),
}
_ANSWERS = {step: relation for relation, step in STEPS.items()} | {(0, 0): "overlap"}
_NAME = re.compile(r"\b[A-Z]\b")
_QUESTION = "What is the relation of the agent {} to the agent {}?"
_CLEAN = 0.2  # share of stories that get no noise
_MOST = 6  # noise of a story: a sentence, or two where its kind needs two


@dataclass(frozen=True)
class Noise:
    """How the relations of two agents are worded: by relation, sentences with {0} and {1} for the agents."""

    wordings: dict[Step, list[str]]

    @classmethod
    def learned_from(cls, stories: Iterable[Story]) -> "Noise":
        """Learns from stories of one sentence and a question about its two agents."""
        found: dict[Step, dict[str, None]] = {}
        for story in stories:
            (question,) = story.questions
            agents, step = _NAME.findall(question.text), STEPS.get(question.answer or "")
            worded = _worded(story.sentences[0], agents)
            if worded and step:
                found.setdefault(step, {})[worded] = None
        uses = Counter(worded for wordings in found.values() for worded in wordings)  # some are wrong in the data
        return cls({step: [worded for worded in wordings if uses[worded] == 1] for step, wordings in found.items()})

    def chain(self, length: int, rng: Random) -> Story:
        """A chain of our own, told in mixed order, with a question about any two of its agents."""
        agents = rng.sample(ascii_uppercase, length + 1)
        places, told = {agents[0]: (0, 0)}, list[str]()
        for one, other in pairwise(agents):
            step = rng.choice(list(self.wordings))
            places[other] = _sum(places[one], step)
            told.append(self._say(other, one, step, rng))
        rng.shuffle(told)
        one, other = rng.sample(agents, 2)
        answer = _ANSWERS[_direction(_between(places[other], places[one]))]
        question = Question(text=_QUESTION.format(one, other), answer=answer, after=length)
        return Story(sentences=tuple(told), questions=(question,))

    def add(self, story: Story, rng: Random) -> Story:
        """The story with some noise sentences at random places; its questions see all of it."""
        if rng.random() < _CLEAN:
            return story
        agents = list(dict.fromkeys(name for sentence in story.sentences for name in _NAME.findall(sentence)))
        taken = {*agents, *_asked(story)}
        free = [name for name in ascii_uppercase if name not in taken]
        rng.shuffle(free)
        places, told = self._places(story), list(story.sentences)
        for _ in range(rng.randint(1, _MOST)):
            for sentence in self._sentences(agents, free, places, rng):
                told.insert(rng.randint(0, len(told)), sentence)
        questions = tuple(replace(question, after=len(told), support=()) for question in story.questions)
        return replace(story, sentences=tuple(told), questions=questions)

    def ask_other(self, story: Story, rng: Random, *, ends: bool) -> Story:
        """The story with a question about two other agents, or those at the ends of its chain.

        It stays as it is where not all of its sentences are of wordings that are known.
        """
        (question,) = story.questions
        places, uses = self._places(story), Counter(_NAME.findall(" ".join(story.sentences)))
        known = [agent for agent in places if uses[agent] == 1 or not ends]
        if len(places) <= len(story.sentences) or len(known) < 2:
            return story
        one, other = rng.sample(known, 2)
        asked = dict(zip(_NAME.findall(question.text), (one, other), strict=True))
        text = _renamed(question.text, asked)
        answer = _ANSWERS[_direction(_between(places[other], places[one]))]
        return replace(story, questions=(replace(question, text=text, answer=answer, support=()),))

    def _sentences(self, agents: list[str], free: list[str], places: dict[str, Step], rng: Random) -> list[str]:
        """Noise of one kind; none where no agent's name is left."""
        if len(free) < 2:
            return []
        kind = rng.choice(("apart", "branch", "loop"))
        if kind == "apart":
            return [self._say(free.pop(), free.pop(), rng.choice(list(self.wordings)), rng)]
        if kind == "branch":
            return [self._say(free.pop(), rng.choice(agents), rng.choice(list(self.wordings)), rng)]
        return self._loop(free, places, rng)

    def _loop(self, free: list[str], places: dict[str, Step], rng: Random) -> list[str]:
        """A further agent that is one step from two agents of the chain, told of both."""
        if len(places) < 2:
            return []
        first, second = rng.sample(list(places), 2)
        spots = [spot for step in self.wordings if (spot := _sum(places[first], step)) != places[second]]
        spots = [spot for spot in spots if _between(places[second], spot) in self.wordings]
        if not spots:
            return []
        spot, name = rng.choice(spots), free.pop()
        return [self._say(name, other, _between(places[other], spot), rng) for other in (first, second)]

    def _say(self, agent: str, other: str, step: Step, rng: Random) -> str:
        """A sentence which says that an agent is a step away from another."""
        return rng.choice(self.wordings[step]).replace("{0}", agent).replace("{1}", other)

    @cached_property
    def _steps(self) -> dict[str, Step]:
        """What each wording says."""
        return {wording: step for step, wordings in self.wordings.items() for wording in wordings}

    def _places(self, story: Story) -> dict[str, Step]:
        """Where agents are, as far as the sentences are of wordings that are known, from the first agent told."""
        edges: dict[str, list[tuple[str, Step]]] = {}
        for sentence in story.sentences:
            names = list(dict.fromkeys(_NAME.findall(sentence)))
            for one, other in (names, names[::-1]) if len(names) == 2 else ():
                if (step := self._steps.get(_worded(sentence, [one, other]) or "")) is not None:
                    edges.setdefault(other, []).append((one, step))
                    edges.setdefault(one, []).append((other, (-step[0], -step[1])))
                    break
        return _walk(edges)


def with_other_names(story: Story, rng: Random) -> Story:
    """The story with its agents renamed: any letter is as good as another."""
    names = dict(zip(ascii_uppercase, rng.sample(ascii_uppercase, len(ascii_uppercase)), strict=True))
    questions = tuple(replace(question, text=_renamed(question.text, names)) for question in story.questions)
    return replace(story, sentences=tuple(_renamed(told, names) for told in story.sentences), questions=questions)


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return _NAME.sub(lambda match: names[match[0]], text)


def _walk(edges: dict[str, list[tuple[str, Step]]]) -> dict[str, Step]:
    """The places of all agents that are connected with the first."""
    start = next(iter(edges), None)
    places: dict[str, Step] = {} if start is None else {start: (0, 0)}
    waiting = list(places)
    while waiting:
        agent = waiting.pop()
        for other, step in edges[agent]:
            if other not in places:
                places[other] = _sum(places[agent], step)
                waiting.append(other)
    return places


def _worded(sentence: str, agents: Sequence[str]) -> str | None:
    """A sentence with {0} and {1} for two agents; None where it names others, or one of them only."""
    if len(agents) != 2 or set(_NAME.findall(sentence)) != set(agents):
        return None
    return _NAME.sub(lambda match: "{0}" if match[0] == agents[0] else "{1}", sentence)


def _asked(story: Story) -> set[str]:
    return {name for question in story.questions for name in _NAME.findall(question.text)}


def _direction(way: Step) -> Step:
    """Where something is that lies so far away: its steps without their lengths."""
    return (way[0] > 0) - (way[0] < 0), (way[1] > 0) - (way[1] < 0)


def _sum(place: Step, step: Step) -> Step:
    return place[0] + step[0], place[1] + step[1]


def _between(start: Step, end: Step) -> Step:
    return end[0] - start[0], end[1] - start[1]
