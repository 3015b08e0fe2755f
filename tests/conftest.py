"""What holds for all tests."""

import signal
from collections.abc import Iterator

import pytest
from jaxtyping import config

from amn.core import boundary

# A runner in the background may have told us to ignore Ctrl-C, and processes that we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["core", "torch"])
def implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the compiled core, and where there is none."""
    if request.param == "torch":
        monkeypatch.setattr(boundary, "library", lambda: None)
    elif boundary.library() is None:
        pytest.skip("the core was not built")
    return str(request.param)


@pytest.fixture(scope="module")
def unchecked_in_module() -> Iterator[None]:
    """Leaves the shapes of models unchecked, which halves the time of a long training; other tests check them."""
    yield from without_checks()


@pytest.fixture
def unchecked_shapes() -> Iterator[None]:
    """The same for one test."""
    yield from without_checks()


def without_checks() -> Iterator[None]:
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)
