"""What the page shows can be handed on: as a link, as Python, as curl."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from amn.pretrained import DEFAULT_MODEL
from server.serving import STORY

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from web.pages import Page, link, stop_at

QUESTIONS = ["Where is Mary?", "Whose is John's “ball”?"]
ODD = "John's cat – Ænid & Co #1 = 100% + \"quoted\" \\ back. Mary's in the café."


def copied(page: Page, button: str) -> str:
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("status")).to_contain_text("copied")
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.fixture
def visit_freely(visit: Callable[..., Page]) -> Callable[..., Page]:
    return lambda *args, **more: visit(*args, permissions=["clipboard-read", "clipboard-write"], **more)


def test_a_link_shows_another_person_the_same(visit: Callable[..., Page], visit_freely: Callable[..., Page]) -> None:
    page = visit_freely(link(ODD, *QUESTIONS))
    expect(page.locator("#time-label")).to_have_text("2 / 2")
    with page.expect_response("**/history"):
        page.select_option("#model", "qa1")
    page.locator("textarea.question").nth(1).click()
    stop_at(page, 1)
    path = copied(page, "Copy link").removeprefix(page.url.split("/#")[0])
    expect(page).to_have_url(page.url.split("/#")[0] + path)
    other = visit(path)
    expect(other.locator("#story")).to_have_value(ODD)
    expect(other.locator("#model")).to_have_value("qa1")
    expect(other.locator("#time-label")).to_have_text("1 / 2")
    expect(other.locator(".asked").nth(1)).to_have_attribute("aria-current", "true")
    for number, question in enumerate(QUESTIONS):
        expect(other.locator("textarea.question").nth(number)).to_have_value(question)
    expect(other.locator(".answer-word").first).to_have_text(page.locator(".answer-word").first.text_content() or "-")


def test_a_long_story_fits_in_a_link(visit: Callable[..., Page], visit_freely: Callable[..., Page]) -> None:
    story = " ".join(STORY * 100)
    page = visit_freely()
    page.fill("#story", story)
    expect(page.locator("#time-label")).to_have_text("400 / 400")
    path = copied(page, "Copy link").split("/#")[1]
    assert len(path) < 1000
    expect(visit(f"/#{path}").locator("#story")).to_have_value(story)


def test_a_broken_link_shows_the_first_example(visit: Callable[..., Page]) -> None:
    for path in ("/#packed=%%%", "/#nonsense", "/#example=none"):
        page = visit(path)
        expect(page.locator("#time-label")).to_have_text("5 / 5")


def test_the_python_runs(visit_freely: Callable[..., Page]) -> None:
    page = visit_freely(link(" ".join(STORY), "Where is Mary?", "Where's John?"))
    page.select_option("#model", DEFAULT_MODEL)
    expect(page.locator(".answer-word").nth(1)).not_to_be_empty()
    code = copied(page, "as Python")
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_path())
    assert [line.split(" (")[0] for line in printed.stdout.splitlines()] == [
        "Where is Mary? garden",
        "Where's John? hallway",
    ]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_runs(visit_freely: Callable[..., Page]) -> None:
    page = visit_freely(link(ODD, *QUESTIONS))
    expect(page.locator(".answer-word").nth(1)).not_to_be_empty()
    command = copied(page, "as curl")
    reply = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True).stdout
    for question in QUESTIONS:
        assert question in reply.encode().decode("unicode_escape") or question in reply
    assert '"answers"' in reply


def test_what_cannot_be_copied_is_shown(visit: Callable[..., Page]) -> None:
    page = visit(link(STORY[0], QUESTIONS[0]))
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="as Python").click()
    expect(page.locator("#copy-text")).to_be_visible()
    assert "import amn" in page.locator("#copy-text").input_value()
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#copy-text")).to_be_hidden()


def _path() -> dict[str, Any]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
