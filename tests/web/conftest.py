"""A real browser, and servers for it to visit."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from amn.pretrained import DEFAULT_MODEL
from server.serving import running, save_small_model

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
WAIT = 60_000  # milliseconds at most: a busy machine takes long to show what is right
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-gpu"]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small_model(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(scope="session")
def address(model: Path) -> Iterator[str]:
    """A server with a small model, whose answers are nonsense."""
    with running(model) as found:
        yield found


@pytest.fixture(scope="session")
def shipped() -> Iterator[str]:
    """A server with the model that answers where none is named."""
    with running(Path(DEFAULT_MODEL)) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    sync_api.expect.set_options(timeout=WAIT)
    if CHROMIUM is None:
        pytest.skip("no Chromium found; set CHROMIUM to its path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Opens the page, without animation unless a test wants it; at the end nothing may have gone wrong in it."""
    contexts, problems = [], []

    def opened(path: str = "/", base: str = address, **options: Any) -> Any:
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: problems.extend([said.text] if said.type in ("error", "warning") else []))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda sent: problems.extend([] if sent.url.startswith((base, "data:")) else [sent.url]))
        page.goto(base + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    # Chromium itself logs each refused request; the page must have told it kindly, which the tests check.
    assert [text for text in problems if "Failed to load resource" not in text] == []
