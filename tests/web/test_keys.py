"""The page without a mouse: keys alone are enough, and a screen reader hears the answers."""

from collections.abc import Callable
from typing import Any

import pytest

from server.serving import STORY

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from web.pages import Page, link, stop_at

MARY = "Where is Mary?"


def test_keys_alone_are_enough(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator("#time-label")).to_have_text("5 / 5")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#time-label")).to_have_text("4 / 5")
    held: list[Any] = []
    page.route("**/history", lambda route: held.append(route), times=1)
    page.get_by_role("button", name="A list").focus()
    with page.expect_request("**/history"):
        page.keyboard.press("Enter")
    expect(page.locator("textarea.question").first).to_have_value("What is Daniel carrying?")
    page.locator("textarea.question").nth(1).focus()  # before its answer comes
    held[0].continue_()
    expect(page.locator("#time-label")).to_have_text("5 / 5")
    expect(page.locator(".asked").nth(1)).to_have_attribute("aria-current", "true")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    expect(page.locator("textarea.question").first).to_have_value("What is Daniel carrying?")
    page.locator("#graph-fold summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#graph .node").first).to_be_visible()


def test_a_story_is_told_and_asked_about_without_a_mouse(visit: Callable[..., Page], shipped: str) -> None:
    page = visit(base=shipped)
    expect(page.locator("#time-label")).to_have_text("5 / 5")

    def tab_to(what: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("what => document.activeElement.matches(what)", what):
                return
        pytest.fail(f"Tab does not lead to {what}")

    tab_to(".skip")
    tab_to("#copy-link")
    tab_to(".example")
    tab_to("#story")
    page.keyboard.press("Control+A")
    page.keyboard.type("Ann took the red ball. Ann went to the cellar.")
    expect(page.locator("#time-label")).to_have_text("2 / 2")
    tab_to("#add")
    page.keyboard.press("Enter")
    page.keyboard.type("Where is the red ball?")
    expect(page.locator(".answer-word").last).to_have_text("cellar")
    tab_to("#time-slider")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#time-label")).to_have_text("1 / 2")
    expect(page.locator(".answer-word").last).not_to_have_text("cellar")
    tab_to("#graph-fold summary")
    page.keyboard.press("Space")
    expect(page.locator("#graph .node").first).to_be_visible()


def test_a_screen_reader_hears_the_answers(visit: Callable[..., Page]) -> None:
    page = visit(link(" ".join(STORY), MARY))
    expect(page.get_by_role("status")).to_contain_text(MARY)
    stop_at(page, 2)
    expect(page.get_by_role("status")).to_contain_text("After 2 of 4 sentences")
    assert "after 2 of 4 sentences" in page.locator("#time-slider").get_attribute("aria-valuetext")


def test_enter_reads_and_shift_enter_breaks_the_line(visit: Callable[..., Page]) -> None:
    page = visit(link(STORY[0], MARY))
    expect(page.locator("#time-label")).to_have_text("1 / 1")
    page.focus("#story")
    page.keyboard.press("Control+End")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("John slept")
    expect(page.locator("#story")).to_have_value(f"{STORY[0]}\nJohn slept")
    page.keyboard.press("Enter")
    expect(page.locator("#time-label")).to_have_text("2 / 2")
    expect(page.locator("#story")).to_have_value(f"{STORY[0]}\nJohn slept")
