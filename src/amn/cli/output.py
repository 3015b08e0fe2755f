"""Output of the verbs: results on standard output, everything else on standard error."""

import json
import sys
from collections.abc import Mapping, Sequence


def print_json(document: object) -> None:
    """Print the result of a verb with --json."""
    print(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


def note(text: str) -> None:
    """Print a message to standard error."""
    print(text, file=sys.stderr)


def print_pairs(pairs: Mapping[str, object], *, markdown: bool = False) -> None:
    """Print names and values, one pair a line, in columns or as a Markdown table."""
    if markdown:
        rows = [f"| {name} | {value} |" for name, value in pairs.items()]
        print("\n".join(["| what | value |", "|---|---|", *rows]))
        return
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        print(f"{name:{width}}  {value}")


def print_rows(rows: Sequence[Mapping[str, object]]) -> None:
    """Print a table; headings have one word a line, so that wide tables fit."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    height = max(name.count("_") for name in names) + 1
    columns = []
    for name in names:
        head, values = name.split("_"), [row.get(name) for row in rows]
        cells = [""] * (height - len(head)) + head + [_cell(value) for value in values]
        width = max(map(len, cells))
        columns.append([f"{cell:{'<' if isinstance(values[0], str) else '>'}{width}}" for cell in cells])
    for line in zip(*columns, strict=True):
        print("  ".join(line))


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
