"""What several tests do with the page."""

import re
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import expect

Page = Any
STEP = 700  # milliseconds between sentences while a story plays


def link(story: str, *questions: str, **more: object) -> str:
    """The path that shows a story and its questions."""
    return "/#" + urlencode([("story", story), *(("ask", question) for question in questions), *more.items()])


def stop_at(page: Page, time: int) -> None:
    """Goes to a time with the keyboard."""
    page.focus("#time-slider")
    page.keyboard.press("Home")
    for _ in range(time):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#time-label")).to_have_text(re.compile(rf"^{time} / "))


def turn_away(page: Page, number: int) -> None:
    """Makes the server's explanations say that a gate turned one sentence away: then it left no trace."""

    def changed(route: Any) -> None:
        reply = route.fetch()
        body = reply.json()
        explanation = body["answers"][0]["explanation"]
        explanation["sentences"] = [trace for trace in explanation["sentences"] if trace["sentence"] != number]
        route.fulfill(response=reply, json=body)

    page.route("**/answer", changed)
