"""The page in a real browser: it answers as one types, and time can be walked through."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from amn.data.sentences import split_sentences
from amn.inference.gate import GateState
from server.serving import STORY, running

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from web.pages import STEP, Page, link, stop_at

HTML = "<img src=x onerror=alert(1)>"
MARY = "Where is Mary?"


def test_a_story_is_there_to_begin_with(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator(".answer-word").first).not_to_be_empty()
    expect(page.locator("#time-label")).to_have_text("5 / 5")
    expect(page.locator("#examples [aria-pressed=true]")).to_have_text("New names")


def test_each_sentence_is_told_as_its_full_stop_comes(visit: Callable[..., Page]) -> None:
    page = visit(link(STORY[0], MARY))
    expect(page.locator("#time-label")).to_have_text("1 / 1")
    page.focus("#story")
    page.keyboard.press("Control+End")
    with page.expect_response("**/history"):
        page.keyboard.type(" John went to the hallway. Sandra is")
    expect(page.locator("#time-label")).to_have_text("2 / 2")
    expect(page.locator("#marks .untold")).to_have_text(["Sandra is"])
    with page.expect_response("**/history"):
        page.keyboard.type(" here.")
    expect(page.locator("#time-label")).to_have_text("3 / 3")
    expect(page.locator("#marks .untold")).to_have_count(0)


def test_a_story_may_be_edited_anywhere(visit: Callable[..., Page]) -> None:
    page = visit(link(" ".join(STORY), MARY))
    expect(page.locator("#time-label")).to_have_text("4 / 4")
    with page.expect_response("**/history") as reply:
        page.fill("#story", " ".join(STORY[1:]))
    assert reply.value.json()["sentences"] == STORY[1:]
    expect(page.locator("#time-label")).to_have_text("3 / 3")


def test_a_question_is_asked_as_its_question_mark_comes(visit: Callable[..., Page]) -> None:
    page = visit(link(" ".join(STORY), MARY))
    expect(page.locator(".asked .answer-word")).not_to_be_empty()
    page.click("#add")
    with page.expect_response("**/history") as reply:
        page.keyboard.type("Where is John?")
    assert reply.value.request.post_data_json["questions"] == [MARY, "Where is John?"]
    expect(page.locator(".asked .answer-word").nth(1)).not_to_be_empty()
    expect(page.locator(".track")).to_have_count(2)
    page.locator(".remove").first.click()
    expect(page.locator("textarea.question")).to_have_value("Where is John?")
    expect(page.locator(".track")).to_have_count(1)


def test_answers_are_those_of_that_time(visit: Callable[..., Page], address: str) -> None:
    page = visit(link(" ".join(STORY), MARY))
    expect(page.locator("#time-label")).to_have_text("4 / 4")
    for time in (1, 3):
        stop_at(page, time)
        [answer] = page.request.post(
            f"{address}/answer", data={"story": STORY[:time], "question": MARY, "explain": True}
        ).json()["answers"]
        expect(page.locator(".answer-word")).to_contain_text(answer["answer"], ignore_case=True)
        expect(page.locator("#why")).to_contain_text(f"Read {answer['entities_read']} of {answer['entities']} words")
        expect(page.locator("#marks .rests")).to_have_text([STORY[number] for number in answer["sentences"]])
        expect(page.locator("#marks .ahead")).to_have_text(STORY[time:])
        deepest = max(answer["explanation"]["banks"][-1]["entities"], key=lambda entity: entity["attention"])
        expect(page.locator(".bank").last.locator(".chip.read .word").first).to_have_text(deepest["word"])
    stop_at(page, 0)
    expect(page.locator(".answer-word")).to_have_text("nothing told yet")
    expect(page.locator(".chip")).to_have_count(0)


def test_the_track_shows_the_answer_over_time(visit: Callable[..., Page], address: str) -> None:
    page = visit(link(" ".join(STORY), MARY))
    moments = page.request.post(f"{address}/history", data={"story": STORY, "questions": [MARY]}).json()["history"]
    told = [(moment["answer"], moment["known"]) for [moment] in moments]
    changes = [time for time, now in enumerate(told, 1) if time == 1 or now != told[time - 2]]
    expect(page.locator(".run")).to_have_count(len(changes))
    expect(page.locator(".since")).to_contain_text(f"since sentence {changes[-1]}: {STORY[changes[-1] - 1]}")
    page.locator(".since .link").click()
    expect(page.locator("#time-label")).to_have_text(f"{changes[-1]} / 4")


def test_answers_are_spelled_as_the_story_spells_them(visit: Callable[..., Page]) -> None:
    page = visit()
    spell = """async ([sentences, answer]) => {
      const { spelled, spellingOf } = await import('/static/reading.js');
      return spelled({ answer, known: true }, spellingOf(sentences)).answer;
    }"""
    told = ["The red ball is here.", "McKay's dog saw Mary.", "Apples fell.", "Unknown people came."]
    for answer, shown in (
        ("mary", "Mary"),
        ("mckay's", "McKay's"),
        ("red ball,apples,lamp", "red ball,Apples,lamp"),
        ("the", "The"),
        ("unknown", "unknown"),
        ("yes", "yes"),
    ):
        assert page.evaluate(spell, [told, answer]) == shown


def test_a_page_without_a_story_says_so(visit: Callable[..., Page]) -> None:
    page = visit(link("", MARY))
    expect(page.locator("#story-error")).to_contain_text("There is no story yet")
    expect(page.locator("#now")).to_have_text("Nothing read yet.")
    expect(page.locator("#why")).to_be_empty()


def test_a_page_without_a_question_has_room_for_one(visit: Callable[..., Page]) -> None:
    page = visit("/#story=Mary+slept.")
    expect(page.locator("#questions-error")).to_contain_text("Type a question")
    page.locator("textarea.question").fill(MARY)
    expect(page.locator("#questions-error")).to_be_empty()
    expect(page.locator(".answer-word")).not_to_be_empty()
    page.locator("textarea.question").fill("???")
    expect(page.locator(".asked .error")).to_have_text("A question needs a word.")
    expect(page.locator("#questions-error")).to_be_empty()  # one word of it is enough


def test_it_plays_and_pauses(visit: Callable[..., Page]) -> None:
    page = visit(link(" ".join(STORY), MARY), reduced_motion="no-preference")
    expect(page.locator("#time-label")).to_have_text("4 / 4")
    page.clock.install()
    page.click("#time-play")
    expect(page.locator("#time-play")).to_have_text("Pause")
    page.clock.run_for(STEP)
    expect(page.locator("#time-label")).to_have_text("1 / 4")
    page.click("#time-play")
    expect(page.locator("#time-play")).to_have_text("Play")
    page.clock.run_for(STEP)
    expect(page.locator("#time-label")).to_have_text("1 / 4")
    page.click("#time-play")
    page.clock.run_for(3 * STEP)
    expect(page.locator("#time-label")).to_have_text("4 / 4")
    expect(page.locator("#time-play")).to_have_text("Play")


class NoJohn:
    """A gate that turns away every sentence about John."""

    def __init__(self, questions: int) -> None:
        self.state = GateState.start(questions)

    def judge(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        verdicts = np.array([["john" not in spoken for spoken in sentences]] * len(self.state.facts))
        self.state.seen += len(sentences)
        self.state.facts += verdicts.sum(1)
        return verdicts


def test_what_a_gate_turned_away_is_grey(
    visit: Callable[..., Page], model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amn.memory.live.open_gate", lambda _, asked: NoJohn(len(asked)))
    told = [STORY[1], *STORY]
    with running(model) as gated:
        page = visit(link(" ".join(told), MARY), base=gated)
        expect(page.locator("#marks .turned-away")).to_have_text([one for one in told if "John" in one])
        expect(page.locator(".legend-gate")).to_be_visible()
        expect(page.locator(".bank").first).not_to_contain_text("john")
        stop_at(page, 3)
        expect(page.locator("#happened")).to_have_text("Turned away: no question needs it.")
        stop_at(page, 1)
        expect(page.locator("#marks .turned-away")).to_have_count(3)
        expect(page.locator(".answer-word")).not_to_be_empty()


def test_what_was_asked_before_and_comes_late_is_dropped(visit: Callable[..., Page]) -> None:
    page = visit(link(STORY[0], MARY))
    expect(page.locator("#time-label")).to_have_text("1 / 1")
    held: list[Any] = []

    def hold_first(route: Any) -> None:
        if held:
            route.continue_()
        held.append(route.request)

    page.route("**/history", hold_first)
    with page.expect_request("**/history"):
        page.fill("#story", " ".join(STORY))
    with page.expect_event("requestfailed") as failed:
        page.fill("#story", " ".join(STORY[:2]))
    assert failed.value == held[0]
    expect(page.locator("#time-label")).to_have_text("2 / 2")
    expect(page.locator("#notice")).to_be_hidden()


def test_every_task_can_be_generated(visit: Callable[..., Page]) -> None:
    page = visit()
    page.click(".sources summary")
    for task in range(1, 21):
        with page.expect_response("**/history"), page.expect_response("**/generate?*"):
            page.select_option("#task", str(task))
        expect(page.locator(".verdict").first).not_to_be_empty()
        expect(page.locator("#notice")).to_be_hidden()


def test_a_generated_task_is_answered_by_its_own_model(visit: Callable[..., Page]) -> None:
    page = visit()
    page.select_option("#model", "qa1")
    expect(page.locator(".answer-word").first).not_to_be_empty()
    page.click(".sources summary")
    for task in (2, 16, 19):
        with page.expect_request("**/history") as asked:
            page.select_option("#task", str(task))
        assert asked.value.post_data_json["model"] == f"qa{task}"
        expect(page.locator("#model")).to_have_value(f"qa{task}")
        expect(page.locator(".verdict").first).not_to_be_empty()


def test_files_are_loaded(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(page.locator("#time-label")).to_have_text("5 / 5")
    for name, text, told, question in (
        ("plain.txt", "Mary moved to the garden.\nJohn slept.", "Mary moved to the garden.", "Where is Priya?"),
        ("babi.txt", "1 Mary slept.\n2 Where is Mary? \tgarden\t1\n1 Other.\n", "Mary slept.", MARY),
        ("own.jsonl", '{"story": ["Mary sat."], "question": "Who sat?", "answer": "mary"}\n', "Mary sat.", "Who sat?"),
    ):
        page.set_input_files("#file", {"name": name, "mimeType": "text/plain", "buffer": text.encode()})
        expect(page.locator("#marks span").first).to_contain_text(told)
        expect(page.locator("textarea.question").first).to_have_value(question)


def test_a_file_that_is_no_text_is_refused_kindly(visit: Callable[..., Page]) -> None:
    page = visit()
    page.click(".sources summary")
    page.set_input_files("#file", {"name": "cat.png", "mimeType": "image/png", "buffer": b"\x89PNG\xff\xfe"})
    expect(page.locator("#file-error")).to_contain_text("cat.png is no text")
    page.set_input_files("#file", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"Mary moved."})
    expect(page.locator("#file-error")).to_be_empty()


def test_errors_stand_where_they_arose_and_go_when_mended(visit: Callable[..., Page]) -> None:
    page = visit(link(" ".join(STORY), MARY))
    expect(page.locator("#time-label")).to_have_text("4 / 4")
    question = page.locator("textarea.question")
    for field, text, where, said in (
        (page.locator("#story"), "", "#story-error", "There is no story yet"),
        (page.locator("#story"), "word " * 999 + ".", "#story-error", "Sentence 1 is too long"),
        (question, "???", ".asked .error", "A question needs a word"),
        (question, "", "#questions-error", "Type a question"),
    ):
        before = field.input_value()
        field.fill(text)
        field.blur()
        expect(page.locator(where)).to_contain_text(said)
        field.fill(before)
        field.blur()
        expect(page.locator(where)).to_be_empty()
        expect(page.locator(".answer-word")).not_to_be_empty()


def test_too_many_questions_are_refused_beside_them(visit: Callable[..., Page]) -> None:
    page = visit(link(STORY[0], *[MARY] * 33))
    expect(page.locator("#questions-error")).to_contain_text("32")
    page.locator(".remove").first.click()
    expect(page.locator("#questions-error")).to_be_empty()
    expect(page.locator(".answer-word")).to_have_count(32)


def test_a_server_that_is_gone_is_told_kindly(visit: Callable[..., Page]) -> None:
    page = visit(link(STORY[0], MARY))
    expect(page.locator(".answer-word")).not_to_be_empty()
    page.route("**/history", lambda route: route.abort())
    page.fill("#story", STORY[1])
    expect(page.locator("#notice")).to_contain_text("Is amn serve still running?")
    page.unroute("**/history")
    page.fill("#story", " ".join(STORY[:2]))
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator("#time-label")).to_have_text("2 / 2")


def test_html_in_a_story_is_text(visit: Callable[..., Page]) -> None:
    page = visit(link(f"Mary took {HTML} there.", f"Where is {HTML}?"))
    expect(page.locator(".answer-word")).not_to_be_empty()
    expect(page.locator("#marks")).to_contain_text(f"Mary took {HTML} there.")
    assert page.locator("img").count() == 0


def test_a_token_is_asked_for(visit: Callable[..., Page], model: Path) -> None:
    with running(model, tokens=("secret",)) as guarded:
        page = visit(base=guarded)
        expect(page.locator("#notice")).to_contain_text("A token is required")
        page.fill("#token", "secret")
        page.keyboard.press("Enter")
        expect(page.locator(".answer-word").first).not_to_be_empty()
        expect(page.locator("#notice")).to_be_hidden()


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith has 3.5 apples. “He left.” Then\nhe slept",
        '"Stop!" she said. He went to the U.S. Navy at 5 p.m. Then J. R. Smith slept… Well... he woke.',
        "Mary went. Mary went. -- ! Mary went.\n\n  Mary went\nmarie est allée. 他去了。她来了！ जॉन गया॥ Yes",
    ],
)
def test_the_page_cuts_sentences_as_python_does(visit: Callable[..., Page], text: str) -> None:
    page = visit(link(text, MARY))
    sentences = split_sentences(text)
    expect(page.locator("#marks .told")).to_have_text(sentences)
    expect(page.locator("#time-label")).to_have_text(f"{len(sentences)} / {len(sentences)}")
    assert page.locator("#marks").text_content() == f"{text}\u200b"


def test_every_mark_ends_a_sentence_for_both(visit: Callable[..., Page]) -> None:
    page = visit()
    ended = "async text => (await import('/static/sentences.js')).hasEnded(text)"
    for mark in (".", "!", "?", "…", "।", "॥", "。", "！", "？", "...", ".”", ".'", "?)", ".» ", "\n"):
        assert split_sentences(f"Mary went{mark} John sat") == [f"Mary went{mark}".strip(), "John sat"]
        assert page.evaluate(ended, f"Mary went{mark}"), mark
        assert not page.evaluate(ended, f"Mary went{mark} John"), mark


def test_an_edit_leaves_the_other_sentences_told(visit: Callable[..., Page]) -> None:
    page = visit(link("Mary went. Mary went. John sat. Mary went.", MARY))
    expect(page.locator("#marks .told")).to_have_count(4)
    page.route("**/history", lambda _: None)  # no reply comes
    page.fill("#story", "Mary went. Mary came. John sat. Mary went.")
    page.fill("#story", "Mary went. Mary came. John sat. Mary went. And")
    expect(page.locator("#marks .told")).to_have_text(["Mary went.", "John sat.", "Mary went."])
    expect(page.locator("#marks .untold")).to_have_text(["Mary came.", "And"])


def test_a_file_that_is_refused_leaves_no_answers_of_another_story(visit: Callable[..., Page]) -> None:
    page = visit(link(" ".join(STORY), MARY))
    expect(page.locator("#time-label")).to_have_text("4 / 4")
    page.set_input_files("#file", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"word " * 999})
    expect(page.locator("#story-error")).to_contain_text("Sentence 1 is too long")
    expect(page.locator("#time-label")).to_have_text("0 / 0")
    expect(page.locator(".answer-word")).to_be_empty()
    expect(page.locator(".run")).to_have_count(0)


@pytest.mark.parametrize("width", [320, 1440])
def test_nothing_sticks_out(visit: Callable[..., Page], width: int) -> None:
    """At the width that the page was opened with, and after it was changed."""
    page = visit("/#example=mixed", viewport={"width": width, "height": 800})
    expect(page.locator(".chip").first).to_be_visible()
    for now in (width, 320, 390, 820, 1440):
        page.set_viewport_size({"width": now, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= now


def test_the_documentation_is_drawn_from_the_schema(visit: Callable[..., Page]) -> None:
    page = visit("/docs")
    expect(page.locator("h2 code")).to_contain_text(["/answer", "/memories", "/memories/{id}/sentences", "/history"])
    expect(page.locator("#routes")).to_contain_text("deadline_ms")


def test_a_route_can_be_tried_where_it_is_described(visit: Callable[..., Page]) -> None:
    page = visit("/docs")
    route = page.locator("section", has=page.locator("h2", has_text="POST/answer"))
    route.get_by_text("Try it").click()
    route.get_by_role("button", name="Send").click()
    expect(route.locator(".reply")).to_contain_text('"answers"')
    expect(page.locator("tr[id='422']")).to_contain_text("A field is invalid")


def test_a_story_that_is_too_long_to_explain_is_answered_all_the_same(visit: Callable[..., Page]) -> None:
    page = visit(link(" ".join(STORY), MARY))
    expect(page.locator("#why")).to_contain_text("Read ")
    detail = {"detail": "explain: this is too much to explain.", "field": "explain"}
    page.route("**/answer", lambda route: route.fulfill(status=422, json=detail))
    page.fill("#story", " ".join(STORY * 2))
    expect(page.locator("#why")).to_have_text("This is too much to explain.")
    expect(page.locator(".answer-word")).not_to_be_empty()
    expect(page.locator("#notice")).to_be_hidden()
