"""The examples that the page offers: the shipped model answers every one of them rightly, and surely."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

import amn
from amn.answers import Answer

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from web.pages import Page

RACE = 240_000  # milliseconds at most: without the core, 4 000 sentences take more than a minute

KINDS = ["names", "mixed", "list", "unknown", "path", "counting", "time", "either", "giving", "long"]
FETCH = "async () => (await import('/static/examples.js')).EXAMPLES"


@pytest.fixture(scope="module")
def examples(browser: Any, shipped: str) -> list[dict[str, Any]]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(shipped)
    found: list[dict[str, Any]] = page.evaluate(FETCH)
    context.close()
    return found


def test_there_is_one_of_each_kind(examples: list[dict[str, Any]]) -> None:
    assert [example["id"] for example in examples] == KINDS


@pytest.mark.parametrize("number", range(len(KINDS)), ids=KINDS)
def test_the_shipped_model_answers_it(examples: list[dict[str, Any]], number: int) -> None:
    questions = examples[number]["questions"]
    answers = amn.load()(examples[number]["story"], [question for question, _ in questions])
    assert [(answer.question, answer.answer) for answer in answers] == [tuple(one) for one in questions]
    assert all(answer.known == (answer.answer != "unknown") for answer in answers)


def test_every_one_can_be_clicked(
    visit: Callable[..., Page], shipped: str, examples: list[dict[str, Any]], subtests: Any
) -> None:
    page = visit(base=shipped)
    for example in examples:
        page.get_by_role("button", name=example["title"], exact=True).click()
        said = [Answer(question=asked, answer=right, score=1.0).said for asked, right in example["questions"]]
        with subtests.test(example["id"]):
            expect(page.locator(".answer-word")).to_have_text(said, ignore_case=True)
            expect(page).to_have_url(f"{shipped}/#example={example['id']}")


def test_the_race_tells_the_truth(visit: Callable[..., Page], shipped: str) -> None:
    asked: list[Any] = []
    page = visit("/#example=race", base=shipped)
    page.on("response", lambda reply: asked.append(reply) if reply.url.endswith("/ask") else None)
    expect(page.locator(".lanes")).to_be_visible(timeout=RACE)
    banks = [reply.request.post_data_json["banks"] for reply in asked[-62:]]
    assert banks == [1, 0] * 31  # in turns
    [last], [every] = (reply.json()["answers"] for reply in asked[-2:])
    assert [(one["answer"], one["known"]) for one in (last, every)] == [("mary", True)] * 2
    rows = page.locator(".lanes tr").nth(1), page.locator(".lanes tr").nth(2)
    for row, answer, words in zip(rows, (last, every), (last["entities_read"], every["entities"]), strict=True):
        expect(row.locator("td").nth(0)).to_contain_text(answer["answer"], ignore_case=True)
        expect(row.locator("td").nth(1)).to_have_text(f"{words:,}".replace(",", "\u202f"))
    for row, times in zip(rows, (asked[-62::2], asked[-61::2]), strict=True):
        milliseconds = sorted(reply.json()["answers"][0]["milliseconds"] for reply in times)
        expect(row.locator("td").nth(2)).to_have_text(f"{milliseconds[15]:.2f} ms")
    expect(page.locator(".result")).to_contain_text("The same answer from")
    id = asked[-1].url.split("/")[-2]
    assert httpx.get(f"{shipped}/memories/{id}").status_code == 404


def test_the_race_never_takes_noise_for_a_result(visit: Callable[..., Page]) -> None:
    page = visit()
    for times, said in (
        ((1.0, 2.0), "2.0 times as fast"),
        ((1.0, 1.05), "in about the same time"),
        ((1.0, 0.7), "in about the same time"),
    ):
        lanes = [{"words": 2, "milliseconds": time, "answer": {"answer": "garden"}} for time in times]
        found = page.evaluate("async lanes => (await import('/static/race.js')).verdict(lanes)", lanes)
        assert said in found and "slower" not in found
