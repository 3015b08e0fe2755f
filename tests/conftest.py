"""What holds for all tests."""

import signal
from functools import cache
from pathlib import Path

import pytest
from jaxtyping import config

from amn.core import boundary

# A runner in the background may have told us to ignore Ctrl-C, and processes that we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
# Files and folders whose tests take long. They come first, so that little is left to share at the end.
LONG = (
    "web",
    "training",
    "models/test_conformance.py",
    "test_export.py",
    "core",
    "test_tutorial.py",
    "report",
    "test_readme.py",
)


@pytest.hookimpl(trylast=True)  # when some may have been deselected
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts what is long at the start of each half of the tests: with two workers each begins with one half."""
    found: dict[int, list[pytest.Item]] = {place: [] for place in range(len(LONG) + 1)}
    for item in items:
        found[_place(item.path)].append(item)
    short = found.pop(len(LONG))
    halves = [[item for place in found if place % 2 == half for item in found[place]] for half in (0, 1)]
    middle = max(0, len(items) // 2 - len(halves[0]))
    items[:] = [*halves[0], *short[:middle], *halves[1], *short[middle:]]


@cache
def _place(path: Path) -> int:
    """Which of those that take long has a file; their number where none has."""
    return next((place for place, name in enumerate(LONG) if path.is_relative_to(TESTS / name)), len(LONG))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Checks the shapes of models in their own tests, or as a test is marked: it takes as long as what it checks."""
    checked = TESTS / "models" in item.path.parents and item.get_closest_marker("unchecked") is None
    config.update("jaxtyping_disable", not (checked or item.get_closest_marker("checked")))


@pytest.fixture(params=["core", "torch"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the compiled core, and where there is none."""
    if request.param == "torch":
        monkeypatch.setattr(boundary, "library", lambda: None)
    elif boundary.library() is None:
        pytest.skip("the core was not built")
    return str(request.param)
