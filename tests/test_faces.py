"""What people see of answers, models and memories in Python: reprs, HTML, equality, pickles, help, and the hub."""

import io
import pickle
import pydoc
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import amn
from amn.answers import Answer
from amn.api import QA
from amn.errors import AMNError
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.store.find import find_model
from random_stories import VOCABULARY

STORY = "Mary took the <milk>. John went to the office. Mary went to the garden."


@pytest.fixture(scope="module")
def qa() -> QA:
    model = build_model("amn", VOCABULARY, {"hidden": 16, "heads": 2}).eval()
    return QA(TrainedModel.of("amn", model, VOCABULARY, {"seed": 0}))


@pytest.fixture(scope="module")
def why(qa: QA) -> Answer:
    return qa(STORY, "Where is <Mary>?", explain=True)


def test_reprs_are_short_and_say_what_is_there(qa: QA, why: Answer) -> None:
    memory = qa.memory("Where is Mary?")
    traces = memory.tell(STORY)
    assert why.explanation is not None
    printed = [qa, memory, why, replace(why, explanation=None), why.explanation, *why.explanation.banks, *traces]
    assert all(0 < len(repr(one)) < 160 and "\n" not in repr(one) for one in printed)
    assert repr(qa).startswith("QA(amn, task ") and "on cpu" in repr(qa)
    assert repr(memory).startswith("LiveMemory(questions=['Where is Mary?'], sentences=3, ")
    several = qa.memory([f"Where is {name}?" for name in "Mary John Fred Bill".split()], store="memory:", id="four")
    assert repr(several) == "StoredMemory(id='four', questions=4, sentences=0, banks=1)"
    assert "0 sentences told" in several._repr_html_()
    assert repr(replace(why, answer="x", score=0.987, known=False, explanation=None)) == (
        "Answer(answer='x', score=0.99, known=False, question='Where is <Mary>?')"
    )


def test_answers_compare_hash_and_survive_a_pickle(qa: QA, why: Answer) -> None:
    again = qa(STORY, "Where is <Mary>?", explain=True)
    assert again == why and again is not why and hash(again) == hash(why)
    assert replace(again, score=0.5) != why
    back = pickle.loads(pickle.dumps(why))
    assert back == why and back.to_dict() == why.to_dict()


def test_answers_are_said_as_one_says_them(why: Answer) -> None:
    several = replace(why, answer="lamp,red ball", score=0.314, known=True)
    assert several.said == "lamp, red ball"
    assert replace(several, known=False).said == "not sure: lamp, red ball, 31 %"
    assert replace(why, answer="unknown", known=False).said == "the story does not say"
    assert replace(why, answer="w,n", known=True).said == "west, north"
    assert [replace(why, answer=answer, known=True).said for answer in ("s", "n,x")] == ["s", "n, x"]


class Outline(HTMLParser):
    """Notes what is opened and closed, and what is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.fetched += [name for name, _ in attributes if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_notebook_shows_answer_banks_and_sentences(qa: QA, why: Answer) -> None:
    memory = qa.memory(["Where is Mary?", "Where is John?"])
    empty = memory._repr_html_()
    memory.tell(STORY)
    drawn = {"answer": why._repr_html_(), "memory": memory._repr_html_(), "empty": empty}
    for page in drawn.values():
        outline = Outline()
        outline.feed(page)
        outline.close()
        assert not outline.open and not outline.fetched
    assert "Mary took the &lt;milk&gt;." in drawn["answer"] and "<milk>" not in drawn["answer"]
    assert "bank 0 · " in drawn["answer"] and "0 sentences told" in drawn["empty"]
    assert all(question in drawn["memory"] for question in memory.questions)


def test_a_long_story_is_drawn_in_part(qa: QA) -> None:
    page = qa(["Mary went to the garden."] * 200, "Where is Mary?", explain=True)._repr_html_()
    assert "140 sentences before" in page and page.count("Mary went to the garden.") == 60


def test_pairs_are_answered_as_each_alone(qa: QA) -> None:
    pairs: list[tuple[Any, Any]] = [
        (STORY, "Where is Mary?"),
        (["John sat down."], ["Where is John?", "Where is Mary?"]),
    ]
    given = qa(pairs)
    assert isinstance(given[0], Answer) and isinstance(given[1], list)
    alone = [qa(*pairs[0]), *qa(*pairs[1])]
    for one, other in zip([given[0], *given[1]], alone, strict=True):
        assert replace(one, score=other.score, top=other.top) == other
        assert one.score == pytest.approx(other.score)
    assert qa([]) == []


@pytest.mark.parametrize("wrong", [STORY, [STORY], [(STORY,)], [("a", "b", "c")], 3])
def test_a_story_without_a_question_is_refused(qa: QA, wrong: Any) -> None:
    with pytest.raises(AMNError, match="question: expected one beside the story"):
        qa(wrong)


def test_pairs_are_answered_without_explanations(qa: QA) -> None:
    with pytest.raises(AMNError, match="one story at a time"):
        qa([(STORY, "Where is Mary?")], explain=True)  # type: ignore[call-overload]


def test_another_question_is_answered_as_by_its_own_memory(qa: QA) -> None:
    memory = qa.memory("Where is Mary?")
    memory.tell(STORY)
    own = qa.memory("Where is John?")
    own.tell(STORY)
    assert memory.ask("Where is John?") == own.ask()[0]
    assert memory.ask("Where is John?", explain=True) == own.ask(explain=True)[0]
    assert len(memory.sentences) == 3 and memory.questions == ["Where is Mary?"]


def test_people_count_a_word_once_however_many_banks_hold_it() -> None:
    answer = Answer(
        question="Where?", answer="garden", score=1.0, entities_read=6, entities=5, banks_read=2, banks_created=2
    )
    assert "read 5 of 5 entities in 2 of 2 banks" in str(answer)
    assert answer.to_dict()["entities_read"] == 6


def test_an_item_of_a_list_is_no_other_answer() -> None:
    answer = amn.load()("Daniel took the apple. Daniel took the football.", "What is Daniel carrying?")
    items = answer.answer.split(",")
    assert sorted(items) == ["apple", "football"]
    assert answer.top and not {candidate.answer for candidate in answer.top}.intersection(items)


def test_help_fits_on_a_screen() -> None:
    shown = io.StringIO()
    pydoc.Helper(output=shown).help(amn)
    lines = shown.getvalue().splitlines()
    assert len(lines) <= 50  # 25 of them are the modules, which help lists by itself
    written = lines[: lines.index("PACKAGE CONTENTS")]
    assert len(written) <= 24 and max(map(len, written)) <= 80  # the first page of a small terminal
    assert "__" not in "".join(written) and "FUNCTIONS" not in lines
    named = {name for name in amn._HOMES if re.search(rf"\b{name}\b", shown.getvalue())}
    assert named >= {"load", "train", "QA", "LiveMemory", "Answer", "AMNError", "shipped_models"}


def test_a_model_is_pushed_to_the_hub_with_its_card(qa: QA, monkeypatch: pytest.MonkeyPatch) -> None:
    mixin = pytest.importorskip("huggingface_hub.hub_mixin")
    pushed: dict[str, Any] = {}

    class Hub:
        def __init__(self, token: str | None = None) -> None:
            pass

        def create_repo(self, repo_id: str, private: bool | None, **_: Any) -> Any:
            pushed.update(private=private)
            return type("Repository", (), {"repo_id": repo_id})

        def upload_folder(self, folder_path: Path, **options: Any) -> str:
            pushed.update(options, files={file.name: file.read_bytes() for file in folder_path.iterdir()})
            return "https://hub/commit"

    monkeypatch.setattr(mixin, "HfApi", Hub)
    assert qa.push_to_hub("me/model", private=True, branch="trial") == "https://hub/commit"
    assert (pushed["repo_id"], pushed["private"], pushed["revision"]) == ("me/model", True, "trial")
    assert set(pushed["files"]) == {"config.json", "model.safetensors", "README.md"}
    assert b"library_name: amn" in pushed["files"]["README.md"]
    assert b'"architecture": "amn"' in pushed["files"]["config.json"]


def test_a_revision_is_asked_of_the_hub_alone(qa: QA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qa.save_pretrained(tmp_path)
    asked: list[tuple[str, str | None]] = []

    class Hub:
        @staticmethod
        def snapshot_download(name: str, revision: str | None, **_: object) -> str:
            asked.append((name, revision))
            return str(tmp_path)

    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub)
    amn.load("some/model", revision="v2")
    QA.from_pretrained("some/model", revision="abc")
    assert asked == [("some/model", "v2"), ("some/model", "abc")]
    with pytest.raises(AMNError, match="revision"):
        find_model(tmp_path, "v2")


def test_pushing_without_the_extra_names_it(qa: QA, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(AMNError, match=r"\[hub\]"):
        qa.push_to_hub("me/model")


@pytest.mark.gpu
def test_a_model_on_a_gpu_answers_as_on_the_processor(qa: QA) -> None:
    pairs = [(STORY, "Where is Mary?")] * 300
    told = qa(pairs)
    moved = QA(qa.trained).to("cuda")
    assert "on cuda" in repr(moved)
    assert [answer.answer for answer in moved(pairs)] == [answer.answer for answer in told]
    moved.to("cpu")
