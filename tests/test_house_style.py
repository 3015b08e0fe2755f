"""The numbers of the house style: short files, short functions, everything typed."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = sorted((ROOT / "src").rglob("*.py"))
FILES = SOURCE + sorted((ROOT / "tests").rglob("*.py"))
MAX_FILE_LINES, MAX_BODY_LINES = 400, 50

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def functions(file: Path) -> Iterator[Function]:
    return (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, Function))


def body_lines(function: Function) -> int:
    """Lines from the first statement after the docstring to the last."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def untyped(function: Function) -> list[str]:
    """The parameters without a type, and "return" where the result has none."""
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    bare = [parameter.arg for parameter in parameters if parameter.annotation is None]
    missing = [name for name in bare if name not in {"self", "cls"}]
    return missing + (["return"] if function.returns is None else [])


def test_files_and_functions_are_short() -> None:
    long = [name_of(file) for file in FILES if len(file.read_text().splitlines()) > MAX_FILE_LINES]
    long += [
        f"{name_of(file)}: {function.name}"
        for file in FILES
        for function in functions(file)
        if body_lines(function) > MAX_BODY_LINES
    ]
    assert long == []


def test_everything_in_the_source_is_typed() -> None:
    found = ((file, function) for file in SOURCE for function in functions(file))
    lacking = {f"{name_of(file)}: {function.name}": bare for file, function in found if (bare := untyped(function))}
    assert lacking == {}
    hidden = [name_of(file) for file in SOURCE if "from __future__ import annotations" in file.read_text()]
    assert hidden == []  # it would hide shapes from the checker


def test_a_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = {}
    for file in SOURCE:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name_of(file))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_the_measures_measure() -> None:
    code = 'def f(self, a, *b: int, c: int = 1, **d):\n    """Doc.\n\n    More."""\n    x = 1\n\n    return x'
    function = next(node for node in ast.walk(ast.parse(code)) if isinstance(node, Function))
    assert body_lines(function) == 3
    assert untyped(function) == ["a", "d", "return"]
