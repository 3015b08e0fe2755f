"""English grammar for sentences made of templates: articles, lists, agreement, and the prepositions of places."""

import re
from collections.abc import Sequence

from amn.data.names import FURTHER, UNSEEN

PLURALS = frozenset(FURTHER.plurals + UNSEEN.plurals)  # things with plural verbs
_UNCOUNTED = PLURALS | {"milk", "pajamas"}
_PLURAL = "|".join(FURTHER.plurals + UNSEEN.plurals)
_SURFACE = "|".join(FURTHER.surfaces + UNSEEN.surfaces)
_CONTAINER = "|".join(FURTHER.containers + UNSEEN.containers)

_PREPOSITIONS = (
    (re.compile(rf"\bat (?=the (?:{_CONTAINER})\b)"), "in "),
    (re.compile(rf"\b(?:in|at|inside|into) (?=the (?:{_SURFACE})\b)"), "on "),
    (re.compile(rf"\bout of (?=the (?:{_SURFACE})\b)"), "off "),
    (re.compile(r"^(?!.*\bfrom\b)(.*)\b(?:to|into) home\b"), r"\1home"),
    (re.compile(r"\binto (?=(?:work|school)\b)"), "to "),
    (re.compile(r"\b(?:in|inside) (?=(?:home|work|school)\b)"), "at "),
)

_MANY = re.compile(rf"\b(?:the|my|some) (?:{_PLURAL})\b", re.IGNORECASE)
_PLURAL_VERBS = {
    **{"is": "are", "was": "were", "has": "have", "looks": "look", "does": "do"},
    **{"it was": "they were", "it": "they"},
}
_VERB = re.compile(
    rf"(?<!of )(?P<many>{_MANY.pattern}) (?P<after>is|was|has|looks)\b"
    rf"|\b(?P<before>is|was|does|has(?=.* (?:gone|ended up)$)) (?={_MANY.pattern})"
    r"|(?<=before )(?P<it>it was|it)\b",
    re.IGNORECASE,
)
_THING_VERBS = (("is", "are"), ("was", "were"), ("has been", "have been"))
_PARTICLE = re.compile(
    r"\b(pick|picked|put|set|laid|left|parked|stored|kept|locked|tucked|handed|passed|gave) "
    r"(up|down|behind|away|over|on) \{thing\}"
)

_OBJECT_AFTER = (
    "to|by|from|with|for|of|alongside|find|given?|pass|hand|bring|offer|slip|gave|passed|handed|offered|slipped|brought|"
    "join|joined|meet|met|see|followed|went after|tailed|let|made|is it|was it|room as|place as"
)
_PRONOUN = re.compile(rf"\b({_OBJECT_AFTER}|as) (he|she|they)\b")
_OBJECT_FORMS = {"he": "him", "she": "her", "they": "them"}
_I = re.compile(r"\bI\b")
_FIRST_PERSON = (
    (re.compile(rf"\b({_OBJECT_AFTER}) I\b"), r"\1 me"),
    (re.compile(r"\b(where)'s I\b", re.IGNORECASE), r"\1 am I"),
    (re.compile(r"\bI (?:is|am)n't\b"), "I am not"),
    (re.compile(r"\bI is\b"), "I am"),
    (re.compile(r"\bis I\b"), "am I"),
    (re.compile(r"\bIs I\b"), "Am I"),
    (re.compile(r"\bI has\b"), "I have"),
    (re.compile(r"\b([Hh])as I\b"), r"\1ave I"),
    (re.compile(r"\b([Dd])oes I\b"), r"\1o I"),
    (re.compile(r"\bI (carrie|hold|lug|feel|look|seem|appear|possesse|own)s\b"), r"I \1"),
    (re.compile(r"\bI carrie\b"), "I carry"),
    (re.compile(r"\bI possesse\b"), "I possess"),
)


def sentence(text: str, end: str) -> str:
    """A filled template as a sentence: with agreement, the prepositions of its places, a capital and an end."""
    if _I.search(text):
        for wrong, right in _FIRST_PERSON:
            text = wrong.sub(right, text)
    if end == "?":
        text = _PRONOUN.sub(lambda match: f"{match[1]} {_OBJECT_FORMS[match[2]]}", text)
    if _MANY.search(text):
        text = _VERB.sub(_agree, text)
    for wrong, right in _PREPOSITIONS:
        text = wrong.sub(right, text)
    return f"{text[0].upper()}{text[1:]}{end}"


def _agree(match: re.Match[str]) -> str:
    if match["many"]:
        return f"{match['many']} {_PLURAL_VERBS[match['after']]}"
    word = match[0].rstrip()
    right = _PLURAL_VERBS[word.lower()]
    return (right.capitalize() if word[0].isupper() else right) + match[0][len(word) :]


def a(text: str) -> str:
    """A noun with its indefinite article."""
    article = "some" if text in _UNCOUNTED else "an" if text[0] in "aeiou" else "a"
    return f"{article} {text}"


def listed(names: Sequence[str]) -> str:
    """Several names joined by commas and "and"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def about_several(wording: str) -> str:
    """A template whose verbs agree with several things."""
    for one, several in _THING_VERBS:
        wording = re.sub(rf"(?<=\{{thing\}} ){one}\b", several, wording)
    return wording.replace("there lies {thing}", "there lie {thing}")


def with_pronoun(wording: str) -> str:
    """A template whose thing is a pronoun, which stands before the particle of a verb: "put it down"."""
    return _PARTICLE.sub(r"\1 {thing} \2", wording)
