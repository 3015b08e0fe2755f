"""docs/paper.md and the code name each other: every equation, every function, every test."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper.md").read_text()
MODELS = sorted((ROOT / "src" / "amn" / "models").rglob("*.py"))
NUM_EQUATIONS = 19
ROWS = {int(row[1]): row[0] for row in re.finditer(r"^\| (\d+) \|.*$", PAGE.split("## Algorithm 1")[0], re.MULTILINE)}
FUNCTIONS = sorted(set(re.findall(r"`([a-z_]+(?:\.\w+)+)`", PAGE.replace(".py", ""))))
TESTS = sorted(set(re.findall(r"`(test_\w+::test_\w+)`", PAGE)))
TAG = re.compile(r"\beq\. \((\d+)\)", re.IGNORECASE)


def name_of(file: Path) -> str:
    """What the page calls a module; the one of the paper's profile has the name of its package."""
    return file.parent.name if file.stem == "model" else file.stem


def tagged(file: Path) -> Iterator[tuple[int, str]]:
    """Each equation that a function of a file claims, with the function's name from `amn.models` on."""
    source = file.read_text()
    lines = source.splitlines()

    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[int, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}.{child.name}")
            elif isinstance(child, ast.FunctionDef):
                text = "\n".join(lines[child.lineno - 1 : child.end_lineno])
                yield from ((int(number), f"{prefix}.{child.name}") for number in TAG.findall(text))

    return visit(ast.parse(source), name_of(file))


HOMES = {name_of(file): ".".join(file.relative_to(ROOT / "src").with_suffix("").parts) for file in MODELS}
CLAIMS = sorted({claim for file in MODELS for claim in tagged(file)})


def test_every_equation_has_a_row_and_a_function() -> None:
    assert sorted(ROWS) == list(range(1, NUM_EQUATIONS + 1))
    assert {number for number, _ in CLAIMS} == set(ROWS)


def test_every_equation_has_a_test() -> None:
    assert [number for number, row in ROWS.items() if f"`test_equations::test_eq_{number}_" not in row] == []


def test_a_function_that_claims_an_equation_stands_in_its_row() -> None:
    assert [(number, function) for number, function in CLAIMS if f"`{function}`" not in ROWS.get(number, "")] == []


def test_every_function_named_exists() -> None:
    assert [function for function in FUNCTIONS if not exists(function)] == []


def exists(function: str) -> bool:
    """Whether a name of the page, from a module of `amn.models` on, can be called."""
    module, *names = function.split(".")
    try:
        return callable(reduce(getattr, names, importlib.import_module(HOMES[module])))
    except (KeyError, AttributeError):
        return False


def facts(file: str) -> set[str]:
    """The tests of a file."""
    tree = ast.parse((ROOT / "tests" / "models" / f"{file}.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_test_named_exists() -> None:
    named = [test.split("::") for test in TESTS]
    assert [(file, name) for file, name in named if name not in facts(file)] == []


def test_every_test_of_an_equation_or_a_loss_is_named() -> None:
    tests = {
        f"{file}::{name}"
        for file in ("test_equations", "test_equations_default", "test_losses")
        for name in facts(file)
    }
    assert {test for test in tests if f"`{test}`" not in PAGE} == set()


def test_links_of_the_page_lead_somewhere() -> None:
    for target in re.findall(r"\]\((\.\./[^)]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists()
