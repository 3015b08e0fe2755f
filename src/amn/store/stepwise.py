"""Long work in short steps: a generator that yields between steps and returns the result.

A server runs one step of a request at a time, so that long work does not block other requests.
"""

import json
from collections.abc import Generator
from operator import methodcaller
from typing import TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=methodcaller("to_dict"))


def run_to_end(steps: Steps[T]) -> T:
    """Runs all steps at once and returns their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


def encode(document: object) -> bytes:
    """A document as JSON; objects are encoded by their `to_dict`."""
    return _ENCODER.encode(document).encode("utf-8", "surrogatepass")  # as `json.loads` decodes it


def encoding(document: object, depth: int) -> Steps[bytes]:
    """The same in steps, one for each part of the document at this depth."""
    if depth and isinstance(document, dict):
        named = []
        for name, value in document.items():
            named.append(b"%s:%s" % (encode(name), (yield from encoding(value, depth - 1))))
        return b"{%s}" % b",".join(named)
    if depth and isinstance(document, list):
        parts = []
        for value in document:
            parts.append((yield from encoding(value, depth - 1)))
        return b"[%s]" % b",".join(parts)
    yield
    return encode(document)
