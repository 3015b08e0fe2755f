"""The exported page: one file that replays a story from disk, without a server and without anything from elsewhere."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import amn
from amn.cli.demo import REPLAYED
from amn.cli.main import main

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from web.pages import STEP, Page, stop_at

HTML = "</script><script>throw 'broken'</script><img src=x>"


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Page]]:
    """Opens a file where nothing but the file itself can be reached; at the end nothing may have gone wrong in it."""
    contexts, problems = [], []

    def visit(path: Path, **options: Any) -> Page:
        context = browser.new_context(**{"reduced_motion": "reduce", "offline": True, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: problems.append(said.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda sent: problems.extend([] if sent.url == path.as_uri() else [sent.url]))
        page.goto(path.as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()
    assert [text for text in problems if not text.startswith("data:")] == []


def test_a_sample_story_is_replayed(opened: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "replay.html"
    assert main(["demo", "--html", str(file)]) == 0
    page = opened(file)
    story, questions = REPLAYED
    sentences = re.findall(r"[^.]+\.", story)
    qa = amn.load()
    expect(page.locator(".question")).to_have_text(list(questions))
    for time in (len(sentences), 3, 1):
        stop_at(page, time)
        answers = [qa([one.strip() for one in sentences[:time]], question, explain=True) for question in questions]
        expect(page.locator(".answer-word")).to_have_text([answer.said for answer in answers], ignore_case=True)
        expect(page.locator("#marks .rests")).to_have_count(len(answers[0].sentences))
        expect(page.locator("#time-label")).to_have_text(f"{time} / {len(sentences)}")
        expect(page.locator(".bank")).to_have_count(answers[0].banks_created)
    page.locator(".question").nth(1).click()
    expect(page.locator("#why-question")).to_have_text(questions[1])
    assert not re.search(r'(src|href)="(?!data:)', file.read_text())


def test_a_story_of_ones_own_is_replayed_and_stays_text(opened: Callable[..., Page], tmp_path: Path) -> None:
    story, file = tmp_path / "story.txt", tmp_path / "own.html"
    story.write_text(f"Mary took {HTML} there. Mary went to the garden.")
    assert main(["demo", "--html", str(file), "--story", str(story), "Where is Mary?", f"Is {HTML} here?"]) == 0
    page = opened(file)
    expect(page.locator("#marks")).to_contain_text("throw 'broken'")
    expect(page.locator(".answer-word").first).to_have_text("garden")
    assert page.title() == "A story, replayed"
    assert page.locator("img").count() == 0


def test_it_plays_by_itself(opened: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "replay.html"
    assert main(["demo", "--html", str(file)]) == 0
    page = opened(file, reduced_motion="no-preference")
    page.clock.install()
    page.reload()
    expect(page.locator("#time-play")).to_have_text("Pause")
    page.clock.run_for(5 * STEP)
    expect(page.locator("#time-label")).to_have_text("5 / 5")
    expect(page.locator("#time-play")).to_have_text("Play")


@pytest.mark.parametrize("words", [["--html", "x.html", "Where is Mary?"], ["Where is Mary?"]])
def test_half_a_story_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", *words]) == 2
    assert "your own story" in capsys.readouterr().err


def test_a_story_has_an_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story = tmp_path / "long.txt"
    story.write_text("Mary went to the garden. " * 201)
    assert main(["demo", "--html", str(tmp_path / "x.html"), "--story", str(story), "Where is Mary?"]) == 1
    assert "expected 1 to 200 sentences" in capsys.readouterr().err
