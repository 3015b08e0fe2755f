"""Replies as JSON. The long ones are made in steps: one call for all of it would hold up everybody."""

import json

from fastapi import Response

from amn.answers import Answer
from amn.server.batching import Inference, Steps
from amn.server.limits import Limits
from amn.server.slices import Answered, AskSettings
from amn.server.work import FieldError

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encoded(document: object) -> bytes:
    """A document as JSON, in one go."""
    return _ENCODER.encode(document).encode()


def encoding(document: object, depth: int) -> Steps[bytes]:
    """A document as JSON, in a step for each part that lies so deep."""
    if depth and isinstance(document, dict):
        named = []
        for name, value in document.items():
            named.append(b"%s:%s" % (encoded(name), (yield from encoding(value, depth - 1))))
        return b"{%s}" % b",".join(named)
    if depth and isinstance(document, list):
        parts = []
        for value in document:
            parts.append((yield from encoding(value, depth - 1)))
        return b"[%s]" % b",".join(parts)
    yield
    return encoded(document)


def _explained(answer: Answer) -> Steps[bytes]:
    """An answer as JSON; what its explanation lists is a step each."""
    document = answer.to_dict()
    yield
    return (yield from encoding(document, depth=3))


async def answers_reply(inference: Inference, limits: Limits, reading: Answered, asked: AskSettings) -> Response:
    """The reply to a request, where it is not too long."""
    answers, left = list[bytes](), limits.reply_bytes
    for answer in reading.answers:
        if answer.explanation is None:
            answers.append(encoded(answer.to_dict()))
        else:
            answers.append(await inference.run_steps(_explained(answer), asked.ends, further=True))
        left -= len(answers[-1])
        if left < 0:
            raise FieldError("explain", "the reply would be too long; ask fewer questions")
    return in_parts({"answers": answers, "sentences_read": reading.read, "sentences": reading.sentences})


def in_parts(document: dict[str, list[bytes] | int]) -> Response:
    """A reply of which the long parts are JSON already."""
    fields = (
        b'"%s":%s' % (name.encode(), b"[%s]" % b",".join(value) if isinstance(value, list) else b"%d" % value)
        for name, value in document.items()
    )
    return Response(b"{%s}" % b",".join(fields), media_type="application/json")
