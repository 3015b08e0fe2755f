"""The page of a report in a real browser: sections fold, a search finds rows, and it is readable by night."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from amn.data.babi import write_babi
from amn.data.tasks import generate
from amn.report.report import Report, write
from report.small_runs import make_run

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found; set CHROMIUM to its path")
expect = sync_api.expect


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("report")
    write_babi(generate(1, questions=40, seed=0), folder / "qa1_train.txt")
    make_run(folder / "runs", folder, 1, 0, 0.4)
    make_run(folder / "runs", folder, 1, 0, 30.0, architecture="encdec")
    write(Report.of([folder / "runs"], None, 0, lambda _: None), folder / "report.html")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        opened = browser.new_page(color_scheme="dark")
        opened.on("pageerror", lambda error: pytest.fail(str(error)))
        opened.goto((folder / "report.html").as_uri())
        yield opened
        browser.close()


def unfolded(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all("details[open]:not([hidden])", "all => all.map(one => one.id)")
    return found


def test_only_the_table_beside_the_paper_and_the_first_figure_are_unfolded(page: Any) -> None:
    assert len(unfolded(page)) == 2 and "table1" in unfolded(page)
    page.get_by_role("button", name="Unfold all").click()
    assert len(unfolded(page)) == page.locator("details").count()
    page.get_by_role("button", name="Fold all", exact=True).click()
    assert unfolded(page) == []


def test_a_search_shows_the_rows_that_hold_all_its_words(page: Any) -> None:
    box = page.get_by_role("searchbox")
    box.fill("two SUPPORTING")
    rows = page.locator("tbody tr:visible")
    assert rows.count() > 0
    assert all("two supporting" in text.lower() for text in rows.all_inner_texts())
    expect(page.get_by_role("status")).to_have_text(f"{rows.count()} rows")
    box.fill("nothing of the kind")
    expect(page.get_by_role("status")).to_have_text("0 rows")
    assert unfolded(page) == []
    box.fill("")
    assert len(unfolded(page)) == 2


def test_by_night_the_page_is_dark(page: Any) -> None:
    red = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert int(red) < 60
