"""What holds for all tests."""

import signal

import pytest

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
