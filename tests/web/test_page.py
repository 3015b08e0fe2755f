"""The page in a real browser: what a visitor does, and that nothing is ever logged as an error."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from server.serving import STORY, running, save_small_model

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found; set CHROMIUM to its path")
expect = sync_api.expect
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-gpu"]
HTML = "<img src=x onerror=alert(1)>"

Page = Any


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_small_model(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    with running(model) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Page]]:
    """Opens the page, without animation unless a test wants it; at the end nothing may have gone wrong in it."""
    contexts, problems = [], []

    def opened(path: str = "/", base: str = address, **options: Any) -> Page:
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


def read(page: Page, story: str, questions: str) -> None:
    """Types a story and has it read, once the page has shown what it was reading, or said why it cannot."""
    expect(page.locator("#edit:visible, #notice:visible").first).to_be_visible()
    if page.locator("#edit").is_visible():
        page.click("#edit")
    page.fill("#story", story)
    page.fill("#questions", questions)
    page.click("#read")


def stop_at(page: Page, time: int) -> None:
    """Stops the play, and goes to a time with the keyboard."""
    page.focus("#time")
    page.keyboard.press("Home")
    for _ in range(time):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#time-label")).to_have_text(re.compile(rf"^{time} / "))


def test_a_story_is_there_to_begin_with(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator(".answer-word")).to_be_visible()
    expect(page.locator("#time-label")).to_have_text("8 / 8", timeout=10_000)
    expect(page.locator("#told li")).to_have_count(8)


def test_type_ask_and_step_through_time(visit: Callable[..., Page]) -> None:
    page = visit()
    read(page, "\n".join(STORY), "Where is Mary?\nWhere is John?")
    expect(page.locator(".answer .question")).to_have_text(["Where is Mary?", "Where is John?"])
    expect(page.locator("#answers-when")).to_have_text("after all 4 sentences")
    stop_at(page, 1)
    expect(page.locator("#sentence")).to_have_text(STORY[0])
    words = page.locator(".bank").first.locator(".chip .word")
    assert sorted(words.all_text_contents()) == sorted(["mary", "moved", "to", "the", "bathroom"])
    expect(page.locator("#answers-when")).to_have_text("after 1 of 4 sentences")
    stop_at(page, 0)
    expect(page.locator(".chip")).to_have_count(0)
    page.locator("#told button").nth(2).click()
    expect(page.locator("#sentence")).to_have_text(STORY[2])
    expect(page.locator("#told [aria-current=step]")).to_have_text(re.compile(re.escape(STORY[2])))
    page.click("#forward")
    expect(page.locator("#time-label")).to_have_text("4 / 4")


def test_a_story_that_is_being_typed_stays_when_another_has_been_read(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator("#edit")).to_be_visible()
    held: list[Any] = []
    page.route("**/memories", lambda route: held.append(route))
    with page.expect_request("**/memories"):
        page.click("#read")
    page.click("#edit")
    page.fill("#story", STORY[0])
    held[0].continue_()
    expect(page.locator("body")).not_to_have_class(re.compile("busy"))
    expect(page.locator("#told li")).to_have_count(8)
    expect(page.locator("#story")).to_be_visible()
    expect(page.locator("#story")).to_have_value(STORY[0])
    page.unroute("**/memories")
    page.click("#read")
    expect(page.locator("#told li")).to_have_count(1)
    expect(page.locator("#story")).to_be_hidden()


def test_the_page_shows_what_the_server_says(visit: Callable[..., Page], address: str) -> None:
    page = visit()
    read(page, "\n".join(STORY), "Where is Mary?")
    expect(page.locator("#answers-when")).to_have_text("after all 4 sentences")
    body = {"story": STORY, "question": "Where is Mary?"}
    for row, banks in enumerate((1, 0)):
        [answer] = page.request.post(f"{address}/answer", data={**body, "banks": banks}).json()["answers"]
        cells = page.locator(".compare tbody tr").nth(row)
        expect(cells).to_contain_text(f"{answer['entities_read']} / {answer['entities']}")
        expect(cells.locator("td").first).to_have_text(answer["answer"])


def test_the_word_graph_has_the_words(visit: Callable[..., Page]) -> None:
    page = visit()
    read(page, "\n".join(STORY), "Where is Mary?")
    expect(page.locator("#answers-when")).to_have_text("after all 4 sentences")
    stop_at(page, 2)
    expect(page.locator(".node")).to_have_count(8)
    assert page.locator(".edge.now").count() == 4


def test_it_plays_by_itself_and_pauses(visit: Callable[..., Page]) -> None:
    page = visit(reduced_motion="no-preference")
    expect(page.locator("#play")).to_have_text("Pause")
    page.click("#play")
    expect(page.locator("#play")).to_have_text("Play")
    page.click("#play")
    expect(page.locator("#time-label")).to_have_text("8 / 8", timeout=10_000)
    expect(page.locator("#play")).to_have_text("Play")


def test_keys_alone_are_enough(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator("#time-label")).to_have_text("8 / 8", timeout=10_000)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#time-label")).to_have_text("7 / 8")
    page.focus("#questions")
    page.keyboard.press("Control+a")
    page.keyboard.type("Where is Sandra?")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".answer .question")).to_have_text("Where is Sandra?")


def test_every_task_can_be_generated(visit: Callable[..., Page]) -> None:
    page = visit()
    for task in range(1, 21):
        with page.expect_response(lambda reply: reply.url.endswith("/ask")), page.expect_response("**/generate?*"):
            page.select_option("#task", str(task))
        expect(page.locator(".verdict").first).to_be_visible()
        expect(page.locator("#notice")).to_be_hidden()


@pytest.mark.parametrize("task", [2, 16, 19])
def test_a_generated_task_is_answered_by_its_own_model(visit: Callable[..., Page], task: int) -> None:
    page = visit()
    page.select_option("#model", "qa1")
    expect(page.locator(".answer-word")).to_be_visible()
    page.select_option("#task", str(task))
    expect(page.locator("#model")).to_have_value(f"qa{task}")
    expect(page.locator(".verdict").first).to_be_visible()


@pytest.mark.parametrize(
    ("name", "text", "question"),
    [
        ("babi.txt", "1 Mary moved to the garden.\n2 Where is Mary? \tgarden\t1\n1 Other.\n", "Where is Mary?"),
        ("own.jsonl", '{"story": ["Mary moved."], "question": "Who moved?", "answer": "mary"}\n', "Who moved?"),
        ("plain.txt", "Mary moved to the garden.\nJohn slept.", "Where is Mary?"),
    ],
)
def test_files_are_loaded(visit: Callable[..., Page], name: str, text: str, question: str) -> None:
    page = visit()
    page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": text.encode()})
    expect(page.locator("#told li").first).to_contain_text("Mary moved")
    expect(page.locator(".answer .question")).to_have_text(question)


def test_a_file_that_is_no_text_is_refused_kindly(visit: Callable[..., Page]) -> None:
    page = visit()
    page.set_input_files("#file", {"name": "cat.png", "mimeType": "image/png", "buffer": b"\x89PNG\xff\xfe"})
    expect(page.locator("#notice")).to_contain_text("cat.png is no text")


def test_errors_are_told_kindly(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator(".answer-word")).to_be_visible()
    for story, questions, said in (
        ("Mary moved.", "", "Type a question first"),
        ("", "Where is Mary?", "There is no story yet"),
        ("Mary moved.", "???", "questions"),
        ("word " * 1000, "Where is Mary?", "sentence 1 is too long"),
    ):
        read(page, story, questions)
        expect(page.locator("#notice")).to_contain_text(said)
    read(page, "Mary moved.", "Where is Mary?")
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator("#told li")).to_have_count(1)


def test_a_server_that_is_gone_is_told_kindly(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator(".answer-word")).to_be_visible()
    page.route("**/memories", lambda route: route.abort())
    page.click("#read")
    expect(page.locator("#notice")).to_contain_text("Is amn serve still running?")
    page.click("#notice-close")
    expect(page.locator("#notice")).to_be_hidden()


def test_html_in_a_story_is_text(visit: Callable[..., Page]) -> None:
    page = visit()
    read(page, f"Mary took {HTML} there.", f"Where is {HTML}?")
    expect(page.locator(".answer .question")).to_have_text(f"Where is {HTML}?")
    expect(page.locator("#told li")).to_contain_text(f"Mary took {HTML} there.")
    assert page.locator("img").count() == 0


def test_a_token_is_asked_for(visit: Callable[..., Page], model: Path) -> None:
    with running(model, tokens=("secret",)) as guarded:
        page = visit(base=guarded)
        expect(page.locator("#notice")).to_contain_text("A token is needed")
        page.fill("#token", "secret")
        page.keyboard.press("Enter")
        expect(page.locator(".answer-word")).to_be_visible()
        expect(page.locator("#notice")).to_be_hidden()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out(visit: Callable[..., Page], width: int, scheme: str) -> None:
    page = visit(viewport={"width": width, "height": 800}, color_scheme=scheme)
    expect(page.locator(".answer-word")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_documentation_is_drawn_from_the_schema(visit: Callable[..., Page]) -> None:
    page = visit("/docs")
    expect(page.locator("h2 code")).to_contain_text(["/answer", "/memories", "/memories/{id}/sentences"])
    expect(page.locator("#routes")).to_contain_text("deadline_ms")


def test_a_route_can_be_tried_where_it_is_described(visit: Callable[..., Page]) -> None:
    page = visit("/docs")
    route = page.locator("section", has=page.locator("h2", has_text="POST/answer"))
    route.get_by_text("Try it").click()
    route.get_by_role("button", name="Send").click()
    expect(route.locator(".reply")).to_contain_text('"answers"')
    expect(page.locator("tr[id='422']")).to_contain_text("A field is wrong")


def test_sentences_that_change_an_answer_are_marked(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator("#told .told-answer").first).to_contain_text("→")
