"""A story that others tell too: what they tell a live memory stands on the page, by server-sent events."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from server.serving import STORY, running

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from web.pages import Page, link

MARY = "Where is Mary?"
TOLD = "Sandra went to the office."


def go_live(page: Page) -> str:
    """Makes the story live; gives the path of its memory."""
    page.get_by_text("Live: let others").click()
    expect(page.locator("#live-command")).to_contain_text("/memories/")
    command: str = page.locator("#live-command").text_content()
    return command.split("/memories/")[1].split("/")[0]


def tell(address: str, id: str, *sentences: str) -> None:
    reply = httpx.post(f"{address}/memories/{id}/sentences", json={"sentences": sentences})
    assert reply.status_code == 200


def sentences_of(address: str, id: str) -> int:
    found: int = httpx.get(f"{address}/memories/{id}").json()["sentences"]
    return found


def test_what_others_tell_stands_in_the_story(visit: Callable[..., Page], address: str) -> None:
    page = visit(link(" ".join(STORY[:2]), MARY))
    expect(page.locator("#time-label")).to_have_text("2 / 2")
    id = go_live(page)
    tell(address, id, TOLD, STORY[2])
    expect(page.locator("#story")).to_have_value(" ".join([*STORY[:2], TOLD, STORY[2]]))
    expect(page.locator("#time-label")).to_have_text("4 / 4")
    assert sentences_of(address, id) == 4


def test_what_one_types_is_told_to_the_memory_once(visit: Callable[..., Page], address: str) -> None:
    page = visit(link(STORY[0], MARY))
    expect(page.locator("#time-label")).to_have_text("1 / 1")
    id = go_live(page)
    page.focus("#story")
    page.keyboard.press("Control+End")
    with page.expect_response("**/sentences"):
        page.keyboard.type(f" {STORY[1]}")
    page.keyboard.type(" and then")
    tell(address, id, TOLD)
    expect(page.locator("#story")).to_have_value(f"{STORY[0]} {STORY[1]} {TOLD} and then")
    assert page.evaluate("document.activeElement.id") == "story"
    assert sentences_of(address, id) == 3


def test_a_changed_story_gets_a_memory_of_its_own(visit: Callable[..., Page], address: str) -> None:
    page = visit(link(STORY[0], MARY))
    expect(page.locator("#time-label")).to_have_text("1 / 1")
    first = go_live(page)
    with page.expect_response("**/sentences"):
        page.fill("#story", STORY[1])
    expect(page.locator("#live-command")).not_to_contain_text(first)
    assert httpx.get(f"{address}/memories/{first}").status_code == 404


def test_who_leaves_leaves_no_memory(visit: Callable[..., Page], address: str) -> None:
    page = visit(link(STORY[0], MARY))
    expect(page.locator("#time-label")).to_have_text("1 / 1")
    id = go_live(page)
    with page.expect_response(lambda reply: reply.request.method == "DELETE"):
        page.get_by_text("Live: let others").click()
    assert httpx.get(f"{address}/memories/{id}").status_code == 404


def test_a_token_is_named_in_the_command_but_not_told(visit: Callable[..., Page], model: Path) -> None:
    with running(model, tokens=("secret",)) as guarded:
        page = visit(base=guarded)
        page.fill("#token", "secret")
        page.keyboard.press("Enter")
        expect(page.locator(".answer-word").first).not_to_be_empty()
        go_live(page)
        expect(page.locator("#live-command")).to_contain_text("Bearer $AMN_TOKEN")
        expect(page.locator("#live-command")).not_to_contain_text("secret")
