"""Words and answers as numbers; a word that training never saw has a number too."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile

from amn.data.story import POINT, Story, straight, words

PADDING = 0  # no word here
UNKNOWN = 1  # a word that the vocabulary does not hold: known by its place in the story, not by its spelling
END, COMMA = "", ","  # tokens of answers besides words: nothing comes after it, and what separates the items of a list
END_CLASS = 0  # answers are sorted, so the end is the first class wherever there is one
UNKNOWN_ANSWER = "unknown"  # what a model answers where the story does not say
_RESERVED = ("<padding>", "<unknown>")
_LINKS = ("names", "standalone", "pronouns")  # sets of words that link sentences


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words that a model knows and the answers that it can give as a class.

    Args:
        words: every known word, after the two reserved ones.
        answers: every answer class; a comma answer ("apple,football") is one class. Where answers are given item by
            item, the classes are their tokens, with the end among them.
        names: the words that a pronoun may mean; where there are some, sentences are linked (`amn.data.coreference`).
        forms: words of sentences, each with another word for the same, to which it is linked.
        standalone: the names that training also told without another name beside them.
        pronouns: those that were learned, besides the English ones.
    """

    words: tuple[str, ...]
    answers: tuple[str, ...]
    names: frozenset[str] = frozenset()
    forms: frozenset[tuple[str, str]] = frozenset()
    standalone: frozenset[str] = frozenset()
    pronouns: frozenset[str] = frozenset()
    # Whether training had 9:00 as 9 and 00: a number that begins with 0 is a part of one.
    in_parts: bool = field(init=False, repr=False, compare=False)
    _word_ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _answer_ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_word_ids", {straight(word): i for i, word in enumerate(self.words)})
        object.__setattr__(self, "_answer_ids", {straight(answer): i for i, answer in enumerate(self.answers)})
        parts = any(word[:1] == "0" and len(word) > 1 for word in self.words)
        object.__setattr__(self, "in_parts", parts and not any(map(POINT.search, self.words)))

    @classmethod
    def of(cls, stories: Iterable[Story]) -> "Vocabulary":
        """The sorted words and answers of some stories, so that the same data always gives the same numbers."""
        seen: set[str] = set()
        answers: set[str] = set()
        for story in stories:
            for sentence in story.sentences:
                seen.update(words(sentence))
            for question in story.questions:
                seen.update(words(question.text))
                if question.answer is not None:
                    answers.add(straight(question.answer).lower())
        return cls(words=(*_RESERVED, *sorted(seen)), answers=tuple(sorted(answers)))

    @classmethod
    def union(cls, parts: Iterable["Vocabulary"]) -> "Vocabulary":
        """All words and answers that any of several vocabularies holds, sorted."""
        known = [part.to_json() for part in parts]
        kinds = {kind for one in known for kind in one}
        return cls.from_json({kind: sorted({item for one in known for item in one.get(kind, ())}) for kind in kinds})

    @property
    def by_item(self) -> bool:
        """Whether the classes are tokens of answers."""
        return {END, COMMA} <= self._answer_ids.keys()

    @property
    def class_words(self) -> tuple[int, ...]:
        """The number of the word that is spelled like each class; -1 where there is none."""
        return tuple(self._word_ids.get(answer, -1) for answer in self.answers)

    def known_parts(self, sentence: tuple[str, ...]) -> tuple[str, ...]:
        """A sentence or question in which a number such as 9:00 is several words, where training knew 9 and 00.

        Models from before such numbers were one word read them so; a vocabulary that holds any of them does not.
        """
        if not self.in_parts:
            return sentence
        return tuple(chain.from_iterable(map(self._parts, sentence)))

    def _parts(self, word: str) -> tuple[str, ...]:
        parts = tuple(POINT.split(word))
        return parts if len(parts) > 1 and all(part in self._word_ids for part in parts) else (word,)

    def word_id(self, word: str) -> int:
        """The number of a word, UNKNOWN where the vocabulary does not hold it; a lone A may be the article a."""
        return self._word_ids.get(word) or self._word_ids.get(word.lower(), UNKNOWN)

    def answer_id(self, answer: str | None) -> int:
        """The class of an answer, -1 where there is none."""
        return -1 if answer is None else self._answer_ids.get(straight(answer).lower(), -1)

    def to_json(self) -> dict[str, list[str]]:
        """Plain lists, without the reserved words."""
        links = {kind: getattr(self, kind) for kind in _LINKS}
        links["forms"] = map(" ".join, self.forms)
        known = {"words": list(self.words[len(_RESERVED) :]), "answers": list(self.answers)}
        return known | {kind: items for kind, found in links.items() if (items := sorted(found))}

    @classmethod
    def from_json(cls, data: dict[str, list[str]]) -> "Vocabulary":
        """The inverse of `to_json`."""
        forms = [pair.split() for pair in data.get("forms", ())]
        return cls(
            words=(*_RESERVED, *data["words"]),
            answers=tuple(data["answers"]),
            forms=frozenset((word, form) for word, form in forms),
            **{kind: frozenset(data.get(kind, ())) for kind in _LINKS},
        )


def answer_tokens(items: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The tokens of a list of items, each given as its words: red, ball, a comma, lamp and the end."""
    return (*(token for item in items for token in (COMMA, *item)), END)[1:]


def answer_items(answer: str) -> list[tuple[str, ...]]:
    """The items of an answer, each as its words: "red ball,lamp" is (red, ball) and (lamp)."""
    parts = answer.lower().split(COMMA)
    return [words(part) or (part.strip(),) for part in parts if part.strip()] or [(END,)]


def spelled_answer(tokens: Iterable[str]) -> str:
    """The answer that tokens spell, up to the end: the inverse of `answer_tokens` and `answer_items`."""
    text = " ".join(takewhile(bool, tokens))
    return text.replace(f" {COMMA} ", COMMA)
