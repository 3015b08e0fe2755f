"""What verbs print: results on standard output, everything else on standard error."""

import json
import sys
from collections.abc import Mapping


def print_json(document: object) -> None:
    """The one JSON document of a verb that was asked for --json."""
    print(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


def note(text: str) -> None:
    """A remark that is no result."""
    print(text, file=sys.stderr)


def print_pairs(pairs: Mapping[str, object], *, markdown: bool = False) -> None:
    """Names and values, one pair a line, in columns or as a Markdown table."""
    if markdown:
        rows = [f"| {name} | {value} |" for name, value in pairs.items()]
        print("\n".join(["| what | value |", "|---|---|", *rows]))
        return
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        print(f"{name:{width}}  {value}")
