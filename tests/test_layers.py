"""Imports point one way, the lower layers need few packages, and the command line starts without torch."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "amn"
FILES = sorted(PACKAGE.rglob("*.py"))
ORDER = (  # every package and every module of its own, the lowest first; those of one row may import each other
    ("errors", "config", "pretrained"),
    ("data", "core"),
    ("models",),
    ("inference",),
    ("answers", "notebook"),
    ("store",),
    ("memory",),
    ("training", "evaluation", "bench"),
    ("api", "fitting"),
    ("cli", "server", "report", "web", "__init__", "__main__"),
)
LEVELS = {layer: level for level, row in enumerate(ORDER) for layer in row}
STANDARD_ONLY = {"errors", "config", "pretrained", "cli", "__init__", "__main__"}  # to start quickly
TRAINING = {layer for layer, level in LEVELS.items() if level <= LEVELS["training"]} - STANDARD_ONLY
TRAINING_PACKAGES = {"torch", "numpy", "safetensors", "jaxtyping"}
HEAVY = "heavy = {'torch', 'numpy', 'matplotlib', 'fastapi', 'ray'} & set(sys.modules); assert not heavy, heavy"
LINES = (["--help"], ["--version"], ["generate", "--help"], ["generate", "--taks", "1"], ["nonsense"])


def layer_of(file: Path) -> str:
    """The first name below the package: a folder, or a module of its own."""
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def package_of(file: Path) -> str:
    return ".".join(("amn", *file.relative_to(PACKAGE).parent.parts))


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


def layers_used(file: Path) -> set[str]:
    """The layers that a file imports from, at once or late."""
    used = imports(ast.parse(file.read_text()), package=package_of(file))
    return {name.split(".")[1] for name in used if name.startswith("amn.") and name != "amn.__version__"}


def packages_needed(file: Path) -> set[str]:
    """The packages, other than Python's own, that merely importing a module needs."""
    statements = [node for node in ast.parse(file.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {name.split(".")[0] for node in statements for name in imports(node, package=package_of(file))}
    return found - {"amn"} - sys.stdlib_module_names


def test_every_package_and_module_has_its_place() -> None:
    found = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"} - {"__pycache__"}
    assert found == set(LEVELS)


def test_the_table_of_contributing_has_the_same_order() -> None:
    _, _, table = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text().partition("| package | contents |\n|---|---|\n")
    rows = takewhile(lambda line: line.startswith("|"), table.splitlines())
    assert [re.findall(r"`(\w+)`", row.split("|")[1]) for row in rows] == [
        [name for name in row if not name.startswith("__")] for row in ORDER
    ]


def test_a_layer_imports_only_what_lies_below() -> None:
    wrong = {
        str(file.relative_to(PACKAGE)): above
        for file in FILES
        if (above := {used for used in layers_used(file) if LEVELS[used] > LEVELS[layer_of(file)]})
    }
    assert wrong == {}


def test_training_and_the_command_line_need_few_packages() -> None:
    allowed = {**dict.fromkeys(TRAINING, TRAINING_PACKAGES), **dict.fromkeys(STANDARD_ONLY, set[str]())}
    wrong = {
        str(file.relative_to(PACKAGE)): more
        for file in FILES
        if layer_of(file) in allowed and (more := packages_needed(file) - allowed[layer_of(file)])
    }
    assert wrong == {}


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter that sees the package and has imported nothing."""
    start = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n"
    return subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, timeout=60, check=False)


def test_help_and_usage_errors_do_not_import_torch() -> None:
    done = run_python(f"from amn.cli.main import main\nfor line in {LINES!r}: main(line)\n{HEAVY}")
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
