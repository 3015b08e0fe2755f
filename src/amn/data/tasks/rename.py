"""New names for the people, places and things of a story, to see whether a model reads or remembers names."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random

from amn.data.facts import Fact
from amn.data.names import FURTHER, RELEASED, UNSEEN, NameList
from amn.data.story import Question, Story, words
from amn.data.tasks.motives import MOTIVES
from amn.errors import ConfigError

_KINDS = ("women", "men", "places", "objects")
_KIND_OF = {name.lower(): kind for names in (RELEASED, FURTHER) for kind in _KINDS for name in getattr(names, kind)}
_LETTERS = re.compile(r"[^\W\d_]+")


def rename(stories: Iterable[Story], *, seed: int, names: NameList = UNSEEN) -> Iterator[Story]:
    """The same stories about others: each name gets a new one, the same throughout its story, of the same pronoun.

    Where people act from motives (task 20) places and things keep their names: a kitchen is where the hungry go.

    Raises:
        ConfigError: if a story holds more names than there are new ones.
    """
    for number, story in enumerate(stories):
        new_names = _new_names(story, Random(f"rename/{seed}/{number}"), names)
        yield Story(
            sentences=tuple(_swap(sentence, new_names) for sentence in story.sentences),
            questions=tuple(_renamed(question, new_names) for question in story.questions),
            facts=tuple(
                frozenset(
                    Fact(new_names.get(one, one), kind, new_names.get(other, other)) for one, kind, other in known
                )
                for known in story.facts
            ),
        )


def _new_names(story: Story, rng: Random, names: NameList) -> dict[str, str]:
    """Old name to new, both lower-cased."""
    asked = (text for question in story.questions for text in (question.text, question.answer or ""))
    texts = (*story.sentences, *asked)
    found = dict.fromkeys(word for text in texts for word in words(text))
    kinds = ("women", "men") if not MOTIVES.keys().isdisjoint(found) else _KINDS
    new_names: dict[str, str] = {}
    for kind in kinds:
        old = [word for word in found if _KIND_OF.get(word) == kind]
        fresh = getattr(names, kind)
        if len(old) > len(fresh):
            raise ConfigError(f"a story holds {len(old)} {kind} to rename, but there are only {len(fresh)} new names")
        new_names |= zip(old, (name.lower() for name in rng.sample(fresh, len(old))), strict=True)
    return new_names


def _renamed(question: Question, new_names: dict[str, str]) -> Question:
    answer = question.answer and _swap(question.answer, new_names)
    return replace(question, text=_swap(question.text, new_names), answer=answer)


def _swap(text: str, new_names: dict[str, str]) -> str:
    """Each known name is replaced by its new one, with the same first letter case."""

    def new(match: re.Match[str]) -> str:
        old = match[0]
        name = new_names.get(old.lower(), old)
        return name.capitalize() if old[0].isupper() else name

    return _LETTERS.sub(new, text)
