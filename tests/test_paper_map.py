"""docs/paper.md and the code name each other: every equation, every function, every test."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper.md").read_text()
MODELS = sorted((ROOT / "src" / "amn" / "models").glob("*.py"))
NUM_EQUATIONS = 19
ROWS = {int(row[1]): row[0] for row in re.finditer(r"^\| (\d+) \|.*$", PAGE.split("## Algorithm 1")[0], re.MULTILINE)}
FUNCTIONS = sorted(set(re.findall(r"`([a-z_]+(?:\.\w+)+)`", PAGE.replace(".py", ""))))
TESTS = sorted(set(re.findall(r"`(test_\w+::test_\w+)`", PAGE)))
TAG = re.compile(r"\beq\. \((\d+)\)", re.IGNORECASE)


def tagged(file: Path) -> Iterator[tuple[int, str]]:
    """Each equation that a function of a file claims, with the function's name from `amn.models` on."""
    source = file.read_text()

    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[int, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}.{child.name}")
            elif isinstance(child, ast.FunctionDef):
                text = ast.get_source_segment(source, child) or ""
                yield from ((int(number), f"{prefix}.{child.name}") for number in TAG.findall(text))

    return visit(ast.parse(source), file.stem)


CLAIMS = sorted({claim for file in MODELS for claim in tagged(file)})


def test_every_equation_has_a_row_and_a_function() -> None:
    assert sorted(ROWS) == list(range(1, NUM_EQUATIONS + 1))
    assert {number for number, _ in CLAIMS} == set(ROWS)


@pytest.mark.parametrize("number", sorted(ROWS))
def test_every_equation_has_a_test(number: int) -> None:
    assert re.search(rf"`test_equations::test_eq_{number}_", ROWS[number])


@pytest.mark.parametrize(("number", "function"), CLAIMS)
def test_a_function_that_claims_an_equation_stands_in_its_row(number: int, function: str) -> None:
    assert f"`{function}`" in ROWS[number]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_named_exists(function: str) -> None:
    module, *names = function.split(".")
    assert callable(reduce(getattr, names, importlib.import_module(f"amn.models.{module}")))


@pytest.mark.parametrize("test", TESTS)
def test_every_test_named_exists(test: str) -> None:
    file, name = test.split("::")
    tree = ast.parse((ROOT / "tests" / "models" / f"{file}.py").read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("file", ["test_equations", "test_equations_default", "test_losses"])
def test_every_test_of_an_equation_or_a_loss_is_named(file: str) -> None:
    tree = ast.parse((ROOT / "tests" / "models" / f"{file}.py").read_text())
    facts = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
    assert {name for name in facts if f"`{file}::{name}`" not in PAGE} == set()


def test_links_of_the_page_lead_somewhere() -> None:
    for target in re.findall(r"\]\((\.\./[^)]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists()
