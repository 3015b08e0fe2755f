"""Imports point one way, the lower layers need few packages, and the command line starts without torch."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "amn"
FILES = sorted(PACKAGE.rglob("*.py"))
LEVELS = {
    **dict.fromkeys(["errors", "config", "pretrained"], 0),  # the last says where shipped models are, and no more
    **dict.fromkeys(["data", "core"], 1),
    "models": 2,
    **dict.fromkeys(["fast", "training", "evaluation"], 3),
    **dict.fromkeys(["cli", "server", "report", "web", "__init__", "__main__"], 5),
}
API = 4  # every other module: what users import
LINES = [["--help"], ["--version"], ["generate", "--help"], ["generate", "--taks", "1"], ["nonsense"]]
TRAINING_PACKAGES = {"torch", "numpy", "safetensors", "jaxtyping"}


def layer_of(file: Path) -> str:
    """The first name below the package: a folder, or a module of its own."""
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def level_of(layer: str) -> int:
    return LEVELS.get(layer, API)


TRAINING_FILES = [file for file in FILES if level_of(layer_of(file)) < API]


def imports(tree: ast.AST, *, package: str) -> Iterator[str]:
    """Every module that is imported anywhere below a node, with its full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: 1 - node.level or None]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names if module == "amn")


def top_level_imports(file: Path) -> set[str]:
    """The packages that merely importing a module needs."""
    tree = ast.parse(file.read_text())
    statements = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {name.split(".")[0] for node in statements for name in imports(node, package=package_of(file))}


def package_of(file: Path) -> str:
    return ".".join(("amn", *file.relative_to(PACKAGE).parent.parts))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_layer_imports_only_what_lies_below(file: Path) -> None:
    used = {name for name in imports(ast.parse(file.read_text()), package=package_of(file)) if name.startswith("amn.")}
    layers = {name.split(".")[1] for name in used if name != "amn.__version__"}
    above = {layer for layer in layers if level_of(layer) > level_of(layer_of(file))}
    assert not above, f"{layer_of(file)} must not import {above}"


@pytest.mark.parametrize("file", TRAINING_FILES, ids=lambda file: file.stem)
def test_training_needs_few_packages(file: Path) -> None:
    allowed = set() if level_of(layer_of(file)) == 0 else TRAINING_PACKAGES
    assert top_level_imports(file) <= allowed | {"amn"} | sys.stdlib_module_names


@pytest.mark.parametrize("file", [file for file in FILES if layer_of(file) == "cli"], ids=lambda file: file.stem)
def test_the_command_line_imports_packages_only_when_a_verb_runs(file: Path) -> None:
    assert top_level_imports(file) <= {"amn"} | sys.stdlib_module_names


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter that sees the package and has imported nothing."""
    start = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n"
    return subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, timeout=60, check=False)


HEAVY = "heavy = {'torch', 'numpy', 'matplotlib', 'fastapi', 'ray'} & set(sys.modules); assert not heavy, heavy"


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_help_and_usage_errors_do_not_import_torch(line: list[str]) -> None:
    done = run_python(f"from amn.cli.main import main; main({line!r})\n{HEAVY}")
    assert done.returncode == 0, done.stderr


def test_importing_amn_is_silent_and_cheap() -> None:
    code = f"import os; before = dict(os.environ); import amn; assert before == dict(os.environ)\n{HEAVY}"
    done = run_python(code + "\nassert 'cyclopts' not in sys.modules; import logging; assert not logging.root.handlers")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_guard_itself_works() -> None:
    assert "AssertionError: {'numpy'}" in run_python(f"import numpy\n{HEAVY}").stderr
    tree = ast.parse("def late():\n    from amn.models import amn\nfrom amn import api\nimport amn.cli.main")
    assert {"amn.models", "amn.api", "amn.cli.main"} <= set(imports(tree, package="amn.data"))
    relative = ast.parse("from . import babi\nfrom ..models import base")
    assert {"amn.data", "amn.models"} <= set(imports(relative, package="amn.data"))
