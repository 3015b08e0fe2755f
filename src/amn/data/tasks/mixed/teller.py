"""Puts what happens into words: which wording, which name or pronoun, and which sentence rests on which."""

from dataclasses import dataclass, field
from random import Random

from amn.data.tasks.mixed.config import MixedConfig
from amn.data.tasks.mixed.events import BABI_OPENERS, EVENTS, OPENERS
from amn.data.tasks.mixed.grammar import Which
from amn.data.tasks.mixed.names import Name, idiomatic
from amn.data.tasks.mixed.questions import QUESTIONS
from amn.data.tasks.mixed.world import Lines, MixedWorld

UNKNOWN = "unknown"

# In free stories, how often a wording of bAbI is drawn where others could be; kept-out stories have fewer known ones.
_BABI_WORDING = 0.25
_TRAINED_WORDING_AMONG_KEPT_OUT = 0.15
_PRONOUN_SHARE = 0.5
_OPENER_SHARE = 0.25
# What a sentence may open with "then" for, and what bAbI tells by a pronoun.
_DOINGS = ("move", "get", "get there", "drop", "put", "give", "carry")
_OBJECT_FORM = {"he": "him", "she": "her", "they": "them"}


@dataclass(slots=True, kw_only=True)
class Cast:
    """The names of a story, and spare ones that it never tells of."""

    people: list[Name]
    places: list[Name]
    things: list[Name]
    other_people: list[Name]
    other_places: list[Name]
    other_things: list[Name]
    surfaces: list[Name] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Asked:
    """A question before it is worded."""

    kind: str
    answer: str
    support: Lines
    slots: dict[str, str]


@dataclass(slots=True)
class _Subject:
    """Whom the latest sentence names, in the order of naming, and the lines that say who they are."""

    names: tuple[Name, ...] = ()
    joint: bool = False
    why: Lines = ()


@dataclass(slots=True, eq=False)
class Teller:
    """A story being told.

    Args:
        rng: the story's source of chance.
        config: what stories look like.
        babi: whether this one keeps to bAbI's sentences.
        cast: who and what it is about.
        length: how many sentences it is to have.
        world: what it has told of people and things.
        outsiders: people told of without a place that counts now.
    """

    rng: Random
    config: MixedConfig
    babi: bool
    cast: Cast
    length: int
    world: MixedWorld = field(default_factory=MixedWorld)
    sentences: list[str] = field(default_factory=list)
    outsiders: set[Name] = field(default_factory=set)
    _subject: _Subject = field(default_factory=_Subject)

    def state(self, kind: str, /, **slots: str) -> Lines:
        """Tells a fact about no person."""
        self._subject = _Subject()
        return (self._add(self._wording(kind).format(**slots)),)

    def tell(self, kind: str, /, *who: Name, to: Name | None = None, **slots: str) -> Lines:
        """Tells an event of people, perhaps by a pronoun, and returns the lines that together say it.

        Args:
            kind: of event.
            who: one person or two.
            to: the person given something or met.
            slots: what else the wording names.
        """
        doing = kind in _DOINGS
        pronoun = self._pronoun(who, to) if doing or not self.babi else ""
        text = self._wording(kind).format(**self._agreement(who, pronoun), to=to.said if to else "", **slots)
        line = self._add(self._opened(text, bool(pronoun)) if doing else text)
        before = self._subject.why if pronoun else ()
        named = who if to is None else tuple(sorted((*who, to), key=lambda name: text.find(name.said)))
        self._subject = _Subject(named, len(who) > 1, before if before and to is None else (*before, line))
        return (*before, line)

    def ask(self, asked: Asked) -> str:
        """The question in words."""
        which: Which = self.config.wordings
        text = QUESTIONS[asked.kind].choose(self.rng, which, self._babi_share()).format(**asked.slots)
        return f"{_capital(idiomatic(text))}?"

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

    def _agreement(self, who: tuple[Name, ...], pronoun: str) -> dict[str, str]:
        said = pronoun or " and ".join(name.said for name in who)
        several = len(who) > 1
        return {
            "who": said,
            "whom": _OBJECT_FORM[pronoun] if pronoun else said,
            "be": "are" if several else "is",
            "have": "have" if several else "has",
        }

    def _pronoun(self, who: tuple[Name, ...], to: Name | None) -> str:
        """What stands for people of the sentence before, if nobody can take it for others; else nothing."""
        before = self._subject
        if not before.names or self.rng.random() > _PRONOUN_SHARE or not set(who) <= set(before.names):
            return ""
        if len(who) > 1:
            return "they" if before.joint and set(before.names) == set(who) else ""
        (person,) = who
        if before.joint or not person.pronoun or (to is not None and to.pronoun == person.pronoun):
            return ""
        if self.babi and person == before.names[0]:
            return person.pronoun  # as bAbI has it, a pronoun means the subject
        alike = [name for name in before.names if name.pronoun in (person.pronoun, "")]
        return person.pronoun if alike == [person] and self._is_plain(person) else ""

    def _is_plain(self, person: Name) -> bool:
        """Nobody knows whether a new name is a woman's: only a sentence's first name is then what a pronoun means."""
        return self.config.names == "known" or self._subject.names[0] == person

    def _opened(self, text: str, pronoun: bool) -> str:
        if self.babi:
            return f"{self.rng.choice(BABI_OPENERS)} {text}" if pronoun else text
        if not self.sentences or self.rng.random() > (2 * _OPENER_SHARE if pronoun else _OPENER_SHARE):
            return text
        return f"{OPENERS.choose(self.rng, self.config.wordings, _BABI_WORDING)} {text}"

    def _add(self, text: str) -> int:
        self.sentences.append(f"{_capital(idiomatic(text))}.")
        return len(self.sentences) - 1


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
