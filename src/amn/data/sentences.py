"""Where sentences end: one rule for what users type and for books, and a splitter for streams of any length.

A sentence ends at . ! ? and their like, with the quotation marks that close after them. A point ends none in a number,
after an abbreviation or an initial, and marks within a quotation that the sentence goes on after ("Stop!" she said)
end none either. Whether a line ends a sentence depends on the text: it does in what users type; in a stream, lines
that were wrapped to a width are joined first.
"""

import re
from collections.abc import Generator, Iterable, Iterator

from amn.data.story import WORD

MAX_SENTENCE_WORDS = 256  # each word of a sentence may read each other, so its cost grows with the square
BLOCK = 1 << 16  # characters that are looked at together, and the longest stretch without an end
_WRAP = 60  # the narrowest width that lines are wrapped to: the next word would not have fit
_LONG = 100  # a longer line was not wrapped
_AHEAD = 64  # characters after a mark that decide whether it ends a sentence

_MARK = "[.!?…।॥。！？\\n]"  # what may end a sentence; the pattern begins with one of a set, so that it is found fast
_END = re.compile(
    f"(?P<marks>{_MARK}{_MARK}*)(?P<close>[\"'”’」』»)\\]_]*)(?=(?P<gap>\\s*)[\"'“‘«(\\[_]*(?P<next>[^\\W_]*))"
)
_UNSURE = frozenset(".!?…")  # marks that do not always end one
_NEVER_FIRST = ".,;:!?…"  # no sentence begins with one of these
_LAST = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]+\Z")  # the word before a point, which may contain points
_TITLES = frozenset(
    "mr mrs ms dr st prof rev hon gen col capt lieut lt sgt maj messrs mme mlle mt gov sen viz cf vs e.g i.e".split()
)
_SOMETIMES = frozenset("etc esq jr sr co inc ltd bros dept approx a.m p.m ph.d b.c a.d u.s u.k".split())
_NUMBERED = frozenset("no nos vol pp fig ch".split())  # abbreviations before a number only
_STARTERS = frozenset(
    "The A An He She It They We I You This That These Those There Then His Her Its Their But And So In On At".split()
)


def split_sentences(text: str) -> list[str]:
    """The sentences of what a user typed: line ends end them too, and what has no word is left out."""
    cuts = [0, *_ends(text, len(text)), len(text)]
    return [part.strip() for part in map(text.__getitem__, map(slice, cuts, cuts[1:])) if WORD.search(part)]


def split_prose(chunks: Iterable[str]) -> Iterator[str]:
    """The sentences of a stream that comes in pieces cut anywhere, in bounded memory whatever its length.

    A line end ends a sentence too, unless the line was wrapped there. One of more than `MAX_SENTENCE_WORDS` words is
    cut.
    """
    held = ""
    for block in _unwrapped(_blocks(chunks)):
        held += block
        last = 0
        for end in _ends(held, len(held) - _AHEAD):
            yield from in_parts(held[last:end])
            last = end
        held = held[last:]
        if len(held) > BLOCK:
            held = yield from _cut_short(held)
    last = 0
    for end in (*_ends(held, len(held)), len(held)):
        yield from in_parts(held[last:end])
        last = end


def _ends(text: str, most: int) -> Iterator[int]:
    """Where sentences end in a text, up to some place."""
    begin = 0
    for match in _END.finditer(text):
        marks = match["marks"]
        end = match.end("marks") if "\n" in marks else match.end()
        if end > most:
            return
        if not (_UNSURE.issuperset(marks) and _goes_on(text, begin, match)):
            yield end
            begin = end


def _goes_on(text: str, begin: int, match: "re.Match[str]") -> bool:
    """Whether a sentence goes on after marks that might end it."""
    marks, close, gap, following = match.groups()
    if not following and text[match.end("gap") : match.end("gap") + 1] in _NEVER_FIRST:
        return match.end("gap") < len(text)
    if close and following[:1].islower():
        return True
    if "!" in marks or "?" in marks:
        return not gap and not following
    if not gap and (marks != "." or len(following) < 2 or not text[match.start() - 2 : match.start()].isalpha()):
        return True
    return _is_short(text, begin, match) if marks == "." else following[:1].islower()


def _is_short(text: str, begin: int, match: "re.Match[str]") -> bool:
    """Whether the point is one of an abbreviation, an initial, or dots with spaces in between."""
    at, following = match.start(), match["next"]
    found = _LAST.search(text, max(begin, at - 12), at)
    if found is None:
        return text[at - 2 : at] == ". " and following[:1].islower()
    word = found[0].lower()
    if len(word) == 1 and text[at - 1].islower():  # a. m.
        return len(following) == 1 or (text[at - 3 : at - 1] == ". " and following[:1].islower())
    if len(word) == 1:
        return _is_initial(text, begin, match)
    if word in _NUMBERED:
        return following[:1].isdigit()
    if word in _SOMETIMES or ("." in word and word not in _TITLES):
        return following not in _STARTERS and following != ""
    return word in _TITLES


def _is_initial(text: str, begin: int, match: "re.Match[str]") -> bool:
    """Whether a capital is one of a name, as in J. R. Smith; "left of B. Mary went" has none."""
    following, at = match["next"], match.start()
    if len(following) == 1:
        return following.isupper() and text[match.end("next") : match.end("next") + 1] == "."
    if not following[:1].isupper() or text[at - 1] == "I":
        return False
    before = text[max(begin, at - 40) : at - 1].split()[-1:]
    return not before or before[0].endswith(".") or before[0].lstrip("\"'“‘«([_")[:1].isupper()


def in_parts(sentence: str) -> Iterator[str]:
    """A sentence, in parts where it has too many words; nothing where it has none."""
    if len(sentence) < 2 * MAX_SENTENCE_WORDS:
        if WORD.search(sentence):
            yield sentence.strip()
        return
    starts = [match.start() for match in WORD.finditer(sentence)]
    cuts = [0, *starts[MAX_SENTENCE_WORDS::MAX_SENTENCE_WORDS], len(sentence)]
    if starts:
        yield from (sentence[start:end].strip() for start, end in zip(cuts, cuts[1:], strict=False))


def _cut_short(text: str) -> Generator[str, None, str]:
    """Gives what never ends in parts, but for its last word; returns that."""
    at = max(text.rfind(" "), 0) or len(text)
    yield from in_parts(text[:at])
    return text[at:]


def _blocks(chunks: Iterable[str]) -> Iterator[str]:
    """Small pieces together, and large ones in parts."""
    held: list[str] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= BLOCK:
            text = "".join(held)
            yield from (text[start : start + BLOCK] for start in range(0, size, BLOCK))
            held, size = [], 0
    yield "".join(held)


def _unwrapped(blocks: Iterable[str]) -> Iterator[str]:
    """The text with wrapped lines joined; other line ends stay."""
    held = ""
    for block in blocks:
        lines = (held + block).replace("\r\n", "\n").split("\n")
        yield _joined(lines, len(lines) - 2)
        held = "\n".join(lines[-2:])
        if len(held) > BLOCK:  # a line so long that its end counts, whenever it comes
            yield held[: -2 * _LONG]
            held = held[-2 * _LONG :]
    lines = held.split("\n")
    yield _joined(lines, len(lines) - 1) + lines[-1]


def _joined(lines: list[str], count: int) -> str:
    """The first lines, each with what comes between it and the next: a space where it was wrapped."""
    parts: list[str] = []
    for line, following in zip(lines[: max(count, 0)], lines[1:], strict=False):
        first = following.split(maxsplit=1)[:1]
        wrapped = first and len(line) <= _LONG and len(line) + len(first[0]) >= _WRAP
        parts += (line, " " if wrapped else "\n")
    return "".join(parts)
