"""Answers and memories in a notebook, as self-contained HTML.

Its colours are those of the page, mixed with green or yellow, so that they are readable on white and on black.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amn.answers import Answer, Bank, Entity, SentenceTrace

SHOWN_ENTITIES = 12  # of a bank; the explanation has more
SHOWN_SENTENCES = 60  # the latest
SHOWN_QUESTIONS = 4  # of a memory, with their banks
_KNOWN, _GUESS = "#1a9c6b", "#b7791f"
_SAID = "color:{0};color:color-mix(in srgb,{0} 70%,currentColor)"  # the second for browsers that support it
_FAINT = "opacity:.7;font-size:.9em"
_BOX = "border:1px solid {};border-radius:6px;padding:4px 8px;min-width:5em;max-width:20em"
_WORDS = "display:flex;flex-wrap:wrap;gap:2px 10px"
_GREY = "rgba(128,128,128,.45)"


def answer_html(answer: "Answer") -> str:
    """An answer and, with an explanation, its banks and the sentences, of which those it rests on are marked."""
    parts = [_headline(answer)]
    if answer.explanation is not None:
        parts.append(banks_html(answer.explanation.banks))
        parts.append(_story(answer.explanation.sentences, answer.sentences))
    return _card(parts)


def memory_html(sentences: int, questions: Sequence[tuple["Answer", Sequence["Bank"]]]) -> str:
    """A memory: each question with its current answer, the first ones with their banks."""
    parts = [f'<div style="{_FAINT}">{sentences} sentence{"" if sentences == 1 else "s"} told</div>']
    for number, (answer, banks) in enumerate(questions):
        parts += [_headline(answer), *([banks_html(banks)] if number < SHOWN_QUESTIONS else [])]
    return _card(parts)


def banks_html(banks: Sequence["Bank"]) -> str:
    """Banks side by side, the most relevant last; words that are in the first one only are faint."""
    deep = {entity.word for bank in banks[1:] for entity in bank.entities}
    boxes = (_bank(bank, deep if len(banks) > 1 else None, bank.index == len(banks) - 1) for bank in banks)
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:8px;align-items:flex-start;margin:4px 0">{"".join(boxes)}</div>'
    )


def _card(parts: Iterable[str]) -> str:
    return f'<div style="line-height:1.45;margin:4px 0">{"".join(parts)}</div>'


def _headline(answer: "Answer") -> str:
    colour = _SAID.format(_KNOWN if answer.known else _GUESS)
    details = f"{answer.score:.0%}; {answer.was_read}; {answer.milliseconds:.1f} ms"
    return (
        f'<div>{escape(answer.question)} <b style="{colour}">{escape(answer.said)}</b> '
        f'<span style="{_FAINT}">{details}</span></div>'
    )


def _bank(bank: "Bank", deep: set[str] | None, last: bool) -> str:
    shown = "".join(_entity(entity, deep is None or entity.word in deep) for entity in bank.entities[:SHOWN_ENTITIES])
    more = bank.size - min(len(bank.entities), SHOWN_ENTITIES)
    rest = f'<div style="{_FAINT}">and {more} more</div>' if more else ""
    title = f'<div style="{_FAINT}">bank {bank.index} · {bank.size}</div>'
    words = f'<div style="{_WORDS}">{shown}{rest}</div>'
    return f'<div style="{_BOX.format(_KNOWN if last else _GREY)}">{title}{words}</div>'


def _entity(entity: "Entity", bright: bool) -> str:
    """A word; the bar below it is its share of the attention."""
    share = round(100 * entity.attention)
    bar = f'<div style="height:3px;width:{share}%;background:{_KNOWN}" title="read {share} %"></div>' if share else ""
    title = f"strength {entity.strength:.2f}"
    return f'<div style="opacity:{1 if bright else 0.6}" title="{title}">{escape(entity.word)}{bar}</div>'


def _story(traces: Sequence["SentenceTrace"], rests_on: Sequence[int]) -> str:
    left_out = len(traces) - SHOWN_SENTENCES
    head = f'<div style="{_FAINT}">{left_out} sentences before</div>' if left_out > 0 else ""
    return head + "".join(_sentence(trace, trace.sentence in rests_on) for trace in traces[-SHOWN_SENTENCES:])


def _sentence(trace: "SentenceTrace", marked: bool) -> str:
    edge = f"border-left:3px solid {_KNOWN if marked else 'transparent'};padding-left:8px"
    text = f"<b>{escape(trace.text)}</b>" if marked else escape(trace.text)
    return f'<div style="{edge}">{text} <span style="{_FAINT}">{escape(trace.did)}</span></div>'
