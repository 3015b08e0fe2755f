"""Puts events into words: which wording, which name or pronoun, and which sentences together say something."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, TypeVar

from amn.data.story import Question
from amn.data.tasks.mixed import english
from amn.data.tasks.mixed.cast import Cast
from amn.data.tasks.mixed.config import MixedConfig
from amn.data.tasks.mixed.english import a, about_several, listed
from amn.data.tasks.mixed.names import ME, Name
from amn.data.tasks.mixed.wordings import EVENTS, OPENERS, QUESTIONS, WRAPPERS, Which
from amn.data.tasks.mixed.world import Lines, MixedWorld

# In free stories, how often a wording of bAbI is drawn where others could be; kept-out stories have fewer known ones.
_BABI_WORDING = 0.25
_TRAINED_WORDING_AMONG_KEPT_OUT = 0.15
_PRONOUN_SHARE = 0.5
_ASKED_BY_PRONOUN = 0.4  # of the questions in which one could stand
_THING_PRONOUN_SHARE = 0.7
_OPENER_SHARE = 0.25
# Kinds of events that may follow a "then", and that bAbI tells with a pronoun.
_ACTIONS = (
    *("move", "get", "seize", "rob", "take out", "get there", "buy", "drop", "put", "shelve", "give", "carry"),
    "put and go",
)
# Kinds that mention people and places only: *it* still means a thing told of before.
_MOVEMENTS = ("move", "in", "not in", "either", "with", "then", "not go")
# Kinds that tell of people, but not where they are now.
_WITHOUT_PLACE = frozenset(
    "kind|colour|time|feel|likes|does not like|tie|own|own and lose|gain|lose|share|home|liking|person remark".split(
        "|"
    )
)
_WRAPPED = (
    "move",
    "in",
    "not in",
    "with",
    "get",
    "seize",
    "shift",
    "home",
    "have",
    "give",
    "put",
    "lies",
    "carry",
    "likes",
    "tie",
    "more",
)
_WRAPPED_SHARE = 0.06
_LATELY = 4  # *it* means something told of at most this many sentences ago
_NEW_SHARE = 0.3  # how often something is told of first by "a" or "my"
_OWN = {"he": "his", "she": "her"}
_OBJECT_FORM = {"he": "him", "she": "her", "they": "them", "we": "us"}


_Item = TypeVar("_Item")


class NothingToSayError(Exception):
    """There is nothing of some kind to tell or to ask now; the story goes on with something else."""


@dataclass(slots=True, kw_only=True)
class Asked:
    """A question before it is worded."""

    kind: str
    answer: str
    support: Lines
    slots: dict[str, str]


class _Told(NamedTuple):
    """The people or things that a sentence told of, in the order named, and the lines that say who they are."""

    names: tuple[Name, ...] = ()
    why: Lines = ()
    joint: bool = False  # whether they did it together


@dataclass(slots=True, eq=False)
class Teller:
    """A story being told."""

    rng: Random  # the story's source of chance
    config: MixedConfig  # what stories look like
    babi: bool  # whether this one keeps to bAbI's sentences
    cast: Cast  # who and what it is about
    length: int  # how many sentences it is to have
    world: MixedWorld = field(default_factory=MixedWorld)  # what it has told of people and things
    sentences: list[str] = field(default_factory=list)
    outsiders: set[Name] = field(default_factory=set)  # people told of, but not where they are now
    hard: bool = False  # whether it asks mainly what other stories ask rarely, and for longer lists
    _subject: _Told = _Told()  # people of the latest sentence
    _topic: _Told = _Told()  # things told of last
    _mentioned: set[Name] = field(default_factory=set)

    @property
    def topic(self) -> tuple[Name, ...]:
        """The things told of last, if *it* or *them* can mean them now."""
        why = self._topic.why
        return self._topic.names if why and len(self.sentences) - why[-1] <= _LATELY else ()

    def pick(self, items: Sequence[_Item]) -> _Item:
        """One of the items, by chance; without any there is nothing to say."""
        if not items:
            raise NothingToSayError
        return self.rng.choice(items)

    def state(self, kind: str, /, *, things: Sequence[Name] = (), **slots: str) -> Lines:
        """Tells a fact about no person."""
        self._subject = _Told()
        wording = about_several(self._wording(kind)) if len(things) > 1 else self._wording(kind)
        thing = self._listed(things, own="my") if kind == "lies" else listed([thing.said for thing in things])
        line = self._add(self._wrapped(kind, wording.format(thing=thing, **slots)))
        self._topic = _Told(tuple(things), (line,))
        return (line,)

    def tell(
        self, kind: str, /, *who: Name, to: Name | None = None, things: Sequence[Name] = (), **slots: str
    ) -> Lines:
        """Tells an event of people, perhaps by a pronoun, and returns the lines that together say it.

        Things that were told of last may be "it", "both" or "them". The other slots are what else the wording names.
        """
        acts = kind in _ACTIONS
        pronoun = self._pronoun(who, to) if acts or not self.babi else ""
        wording, thing, known = self._thing(self._wording(kind), things, who)
        names = self._agreement(who, pronoun) | {"to": to.said if to else "", "thing": thing}
        text = wording.format(**names, **slots)
        if who == (ME,) and self.rng.random() < 0.3:
            text = text.replace("I am ", "I'm ", 1)
        opened = self._opened(text, bool(pronoun)) if acts else text
        line = self._add(self._wrapped(kind, text) if opened == text else opened)
        before = self._subject.why if pronoun else ()
        named = who if to is None else tuple(sorted((*who, to), key=lambda name: text.find(name.said)))
        lines = tuple(sorted({*before, *known, line}))
        self._subject = _Told(named, before if before and to is None else lines, len(who) > 1)
        if kind in _WITHOUT_PLACE:
            self.outsiders.update(named)
        if things or kind not in _MOVEMENTS:
            self._topic = _Told(tuple(things), lines)
        return lines

    def ask(self, asked: Asked) -> Question:
        """The question in words, after what was told so far."""
        wording = QUESTIONS[asked.kind].choose(self.rng, self.config.wordings, self._babi_share())
        slots, why = self._with_pronoun(asked)
        wording = english.with_pronoun(wording) if slots.get("thing") == "it" else wording
        text, after = english.sentence(wording.format(**slots), "?"), len(self.sentences)
        support = tuple(sorted({*asked.support, *why})) if asked.support else ()
        return Question(text=text, answer=asked.answer, after=after, support=support, kind=asked.kind)

    def _with_pronoun(self, asked: Asked) -> tuple[dict[str, str], Lines]:
        """At times she or it, where that can mean only one, and the lines that say who or what."""
        if self.babi or "to" in asked.slots or self.rng.random() > _ASKED_BY_PRONOUN:
            return asked.slots, ()
        for slot in ("it", "who", "thing"):
            said = asked.slots.get(slot)
            for person in self._subject.names if slot != "thing" else ():
                if person.said == said and self._is_only(person, self._subject):
                    return asked.slots | {slot: person.pronoun}, self._subject.why
            if (
                slot != "who"
                and [thing.said for thing in self.topic] == [said]
                and self.topic[0].text not in english.PLURALS
            ):
                return asked.slots | {slot: "it"}, self._topic.why
        return asked.slots, ()

    def _is_only(self, person: Name, told: _Told) -> bool:
        """Whether a pronoun means this person, and can mean no other that was told of."""
        alike = [name for name in told.names if name.pronoun in (person.pronoun, "")]
        return bool(person.pronoun) and not told.joint and alike == [person] and self._is_plain(person)

    def can_ask(self, kind: str) -> bool:
        """Whether the story's style knows the kind of question."""
        return not self.babi or bool(QUESTIONS[kind].babi)

    def _wording(self, kind: str) -> str:
        which: Which = self.config.wordings
        if which == "kept-out" and self.rng.random() < _TRAINED_WORDING_AMONG_KEPT_OUT:
            which = "train"
        return EVENTS[kind].choose(self.rng, which, self._babi_share())

    def _babi_share(self) -> float:
        return 1.0 if self.babi else _BABI_WORDING

    def _thing(self, wording: str, things: Sequence[Name], who: tuple[Name, ...]) -> tuple[str, str, Lines]:
        """The wording that takes what is said of the things, that, and the lines that say what a pronoun means."""
        several = len(things) > 1 or any(thing.text in english.PLURALS for thing in things)
        if several:
            wording = about_several(wording)
        if self.babi or not things or tuple(things) != self.topic or self.rng.random() > _THING_PRONOUN_SHARE:
            owner = who[0] if len(who) == 1 and wording.startswith("{who}") else Name("", "")
            return wording, self._listed(things, own="my" if owner == ME else _OWN.get(owner.pronoun, "")), ()
        wording = wording.replace("{to} {thing}", "{thing} to {to}")
        word = self.rng.choice(("both", "both of them", "them") if len(things) == 2 else ("them",)) if several else "it"
        if word in ("it", "them"):
            wording = english.with_pronoun(wording)
        return wording, "they" if word == "them" and wording.startswith("{thing}") else word, self._topic.why

    def _listed(self, things: Sequence[Name], *, own: str = "") -> str:
        """The things joined; those not mentioned before are at times a lamp, or my lamp or her lamp."""
        new = set(things) - self._mentioned - self.world.things.keys()
        self._mentioned.update(things)
        if self.babi or new != set(things) or self.rng.random() > _NEW_SHARE:
            return listed([thing.said for thing in things])
        owned = own and self.rng.random() < 0.4
        return listed([f"{own} {thing.text}" if owned else a(thing.text) for thing in things])

    def _agreement(self, who: tuple[Name, ...], pronoun: str) -> dict[str, str]:
        said = pronoun or listed([name.said for name in who])
        several = len(who) > 1
        return {
            "who": said,
            "whom": _OBJECT_FORM[pronoun] if pronoun else said,
            "be": "are" if several else "am" if who == (ME,) else "is",
            "have": "have" if several or who == (ME,) else "has",
        }

    def _pronoun(self, who: tuple[Name, ...], to: Name | None) -> str:
        """A pronoun for people of the sentence before, where it cannot mean others; else nothing."""
        before = self._subject
        if not before.names or self.rng.random() > _PRONOUN_SHARE or not set(who) <= set(before.names):
            return ""
        if len(who) > 1:
            several = "we" if ME in who else "they"
            return several if before.joint and set(before.names) == set(who) else ""
        (person,) = who
        if before.joint or not person.pronoun or (to is not None and to.pronoun == person.pronoun):
            return ""
        if self.babi and person == before.names[0]:
            return person.pronoun  # as bAbI has it, a pronoun means the subject
        return person.pronoun if self._is_only(person, before) else ""

    def _is_plain(self, person: Name) -> bool:
        """Whether a pronoun can mean the person: a reader cannot know that of a new name, unless it came first."""
        return self.config.names == "known" or self._subject.names[0] == person

    def _opened(self, text: str, pronoun: bool) -> str:
        if self.babi:
            return f"{self.rng.choice(OPENERS.babi)} {text}" if pronoun else text
        if not self.sentences or self.rng.random() > (2 * _OPENER_SHARE if pronoun else _OPENER_SHARE):
            return text
        return f"{OPENERS.choose(self.rng, self.config.wordings, _BABI_WORDING)} {text}"

    def _wrapped(self, kind: str, text: str) -> str:
        """At times as something heard or known."""
        if self.babi or kind not in _WRAPPED or self.rng.random() > _WRAPPED_SHARE:
            return text
        return f"{WRAPPERS.choose(self.rng, self.config.wordings, 0.0)} {text}"

    def _add(self, text: str) -> int:
        self.sentences.append(english.sentence(text, "."))
        return len(self.sentences) - 1
