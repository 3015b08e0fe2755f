"""Everybody can use it: axe-core finds nothing at level AA, in light and in dark, and marks keep their contrast."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amn.cli.main import main
from server.serving import STORY

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from web.pages import Page, link, stop_at, turn_away

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SCHEMES = ("light", "dark")
AA = 4.5
COLOURS = """spans => spans.map(span => {
  const behind = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" && node.parentElement ? behind(node.parentElement) : colour;
  };
  return [span.className, getComputedStyle(span).color, behind(span)];
})"""


def violations(page: Page) -> list[str]:
    """What axe-core finds, in light and in dark."""
    options, said = {"runOnly": {"type": "tag", "values": LEVELS}}, []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options=options).response["violations"]
        said += [f"{scheme}: {one['id']}: {one['help']} {[node['target'] for node in one['nodes']]}" for one in found]
    return said


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing(visit: Callable[..., Page], shipped: str, width: int) -> None:
    page = visit("/#example=mixed&at=5", base=shipped, viewport={"width": width, "height": 900})
    expect(page.locator(".chip.read").first).to_be_visible()
    page.locator(".sources summary").click()
    page.locator("#graph-fold summary").click()
    expect(page.locator(".node").first).to_be_visible()
    assert violations(page) == []


def test_axe_finds_nothing_where_something_is_wrong(visit: Callable[..., Page]) -> None:
    page = visit(link("", "???", "Where is Mary?"))
    expect(page.locator("#story-error")).not_to_be_empty()
    page.evaluate("document.getElementById('copy-dialog').showModal()")
    assert violations(page) == []


def test_axe_finds_nothing_in_guesses_and_in_the_race(visit: Callable[..., Page]) -> None:
    page = visit(link(" ".join(STORY), "Where is Mary?"))
    expect(page.locator(".asked.guess")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Race").click()
    expect(page.locator(".lanes")).to_be_visible()
    assert violations(page) == []


def test_axe_finds_nothing_in_the_documentation(visit: Callable[..., Page]) -> None:
    page = visit("/docs")
    expect(page.locator("h2 code").first).to_be_visible()
    assert violations(page) == []


def test_axe_finds_nothing_in_a_replay(browser: Any, tmp_path: Path) -> None:
    assert main(["demo", "--html", str(tmp_path / "replay.html")]) == 0
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto((tmp_path / "replay.html").as_uri())
    stop_at(page, 3)
    assert violations(page) == []
    context.close()


def test_marks_in_the_story_keep_their_contrast(visit: Callable[..., Page], shipped: str) -> None:
    page = visit("/#example=names", base=shipped)
    expect(page.locator("#marks .rests")).to_have_count(1)
    turn_away(page, 0)
    page.get_by_role("button", name="Giving").click()
    expect(page.locator("#marks .turned-away")).to_have_count(1)
    stop_at(page, 4)
    expect(page.locator("#marks .now.rests")).to_have_count(1)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        found: list[Any] = page.locator("#marks span").evaluate_all(COLOURS)
        kinds = {name for classes, _, _ in found for name in classes.split()}
        assert kinds >= {"told", "ahead", "rests", "now", "turned-away"}
        for classes, colour, background in found:
            assert contrast(colour, background) >= AA, (scheme, classes)


def test_motion_is_left_out_for_who_wants_none(visit: Callable[..., Page]) -> None:
    page = visit("/#example=mixed")
    expect(page.locator(".chip").first).to_be_visible()
    stop_at(page, 3)
    assert page.evaluate("document.getAnimations().length") == 0
