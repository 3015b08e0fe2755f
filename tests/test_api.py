"""Loading, asking and batching, and what happens to input that nobody should send."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import amn
from amn import api
from amn.answers import Answer, Candidate, Choices
from amn.api import QA, Request
from amn.core import boundary
from amn.data.sentences import MAX_SENTENCE_WORDS, split_sentences
from amn.data.text import read_questions, read_story
from amn.errors import AMNError, ConfigError
from amn.inference.trained import TrainedModel
from amn.models import build_model
from random_stories import VOCABULARY, shaken

STORY = "Mary went to the garden. John took the milk! Mary went to the office"


def make_qa(architecture: str = "amn", *, seed: int = 0, **settings: object) -> QA:
    model = build_model(architecture, VOCABULARY, settings or {"hidden": 16, "heads": 2}, seed).eval()
    shaken(model, seed)
    return QA(TrainedModel.of(architecture, model, VOCABULARY, {"seed": seed}))


@pytest.fixture(scope="module")
def qa() -> QA:
    return make_qa()


def scores(answers: list[Answer]) -> list[tuple[str, float]]:
    return [(answer.answer, round(answer.score, 4)) for answer in answers]


def test_a_question_gives_an_answer_and_a_list_a_list(qa: QA) -> None:
    one = qa(STORY, "Where is Mary?")
    several = qa(STORY, ["Where is Mary?", "Where is John?"])
    assert isinstance(one, Answer) and isinstance(several, list) and len(several) == 2
    assert one.question == "Where is Mary?" and one.answer in VOCABULARY.answers
    assert 0 < one.score <= 1 and one.score >= max(candidate.score for candidate in one.top)
    assert one.score + sum(candidate.score for candidate in one.top) == pytest.approx(1)
    assert one.entities == 9 and one.milliseconds > 0 and one.explanation is None


def test_text_and_a_list_of_sentences_are_the_same_story(qa: QA) -> None:
    listed = qa(split_sentences(STORY), "Where is Mary?")
    assert replace(listed, milliseconds=0) == replace(qa(STORY, "Where is Mary?"), milliseconds=0)


def test_answers_print_well_and_turn_into_dicts(qa: QA) -> None:
    answer = replace(qa(STORY, "Where is Mary?"), answer="office", score=0.987, milliseconds=1.23)
    assert str(answer).startswith("office (score 0.99; read ")
    fields = answer.to_dict()
    assert list(fields)[:5] == ["question", "answer", "score", "known", "top"]
    assert fields["top"][0].keys() == {"answer", "score"}


@pytest.mark.parametrize("settings", [{"pointer": True, "hidden": 16}, {"hidden": 16}])
@pytest.mark.parametrize("architecture", ["amn", "amn-paper"])
def test_a_batch_answers_as_single_calls_do(architecture: str, settings: dict[str, object]) -> None:
    qa = make_qa(architecture, **({"hidden": 16} if architecture == "amn-paper" else settings))
    stories = [STORY, "John went to the office.", ["Mary took the milk", "Zaphod went to Mary"]]
    requests = [Request(story=s, question=["Where is Mary?", "Where is John?"]) for s in stories]
    requests.append(Request(story=STORY, question="Where is John?", banks=0))
    answers = qa.answer_batch(requests)
    for request, given in zip(requests, answers, strict=True):
        alone = qa(request.story, request.question, banks=request.banks)
        assert scores(given) == scores(alone if isinstance(alone, list) else [alone])


def test_a_story_that_is_too_long_for_a_batch_is_read_alone(qa: QA, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "BATCH_SENTENCES", 2)
    stories = [STORY, "John went.", "Mary went to the garden.", STORY]
    answers = qa.answer_batch([Request(story=s, question="Where is Mary?") for s in stories])
    assert scores(answers[0]) == scores(answers[3]) == scores([qa(STORY, "Where is Mary?")])


def test_equal_answers_of_classes_and_words_are_merged() -> None:
    choices = Choices(VOCABULARY, ["mary", "garden"])  # the classes are garden, office, milk and yes
    ranked = choices.rank(np.array([0.3, 0.4, 0.0, 0.0, 0.1, 0.2]))
    assert [(one.answer, round(one.score, 3)) for one in ranked[:3]] == [
        ("garden", 0.5),
        ("office", 0.4),
        ("mary", 0.1),
    ]
    assert isinstance(ranked[0], Candidate)


def test_a_pointer_can_answer_a_word_that_training_never_saw() -> None:
    found = set()
    for seed in range(10):
        answer = make_qa(seed=seed, pointer=True, hidden=16)("Zaphod went to Xanadu.", "Where is Zaphod?")
        found |= {answer.answer, *(candidate.answer for candidate in answer.top)}
    assert found & {"zaphod", "xanadu"}
    assert "" not in found


def test_models_survive_the_disk(qa: QA, tmp_path: Path) -> None:
    qa.save_pretrained(tmp_path / "model")
    back = amn.load(tmp_path / "model", device="auto")
    assert scores([back(STORY, "Where is Mary?")]) == scores([qa(STORY, "Where is Mary?")])
    assert (back.architecture, back.vocabulary, back.record) == ("amn", VOCABULARY, {"seed": 0})


def test_a_folder_of_data_does_not_hide_a_shipped_model(
    qa: QA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    for name in ("qa10", "qa2", "babi"):
        qa.save_pretrained(package / name)
    (tmp_path / "babi").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("amn.pretrained._FOLDER", package)
    assert amn.shipped_models() == ["qa2", "babi", "qa10"]
    assert amn.load("babi").architecture == "amn"
    with pytest.raises(AMNError, match="qa10.*did you mean"):
        amn.load("bab")


def test_unknown_models_and_devices_are_explained() -> None:
    with pytest.raises(AMNError, match="no model is called 'nonsense'"):
        amn.load("nonsense")
    with pytest.raises(ConfigError, match="device"):
        amn.load("qa1", device="toaster")


def test_the_hub_is_asked_only_for_names_of_its_kind(qa: QA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qa.save_pretrained(tmp_path)
    asked: list[str] = []

    class Hub:
        @staticmethod
        def snapshot_download(name: str, **_: object) -> str:
            asked.append(name)
            if name == "some/broken":
                raise OSError("offline")
            return str(tmp_path)

    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub)
    assert amn.load("some/model").architecture == "amn"
    with pytest.raises(AMNError, match="offline"):
        amn.load("some/broken")
    with pytest.raises(AMNError, match="no model"):
        amn.load("some/deep/path")
    assert asked == ["some/model", "some/broken"]
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(AMNError, match="pip install"):
        amn.load("some/model")


def test_sentences_end_at_marks_and_lines() -> None:
    assert split_sentences("Mary went.John sat!  Why?!\nsun ... 42\n\n") == [
        "Mary went.",
        "John sat!",
        "Why?!",
        "sun ...",
        "42",
    ]
    assert read_story(["Dr. No sat.", "..."]) == [("Dr. No sat.", ("dr", "no", "sat"))]


@pytest.mark.parametrize("story", ["", " \n", "?!", [], [""]])
def test_an_empty_story_is_named(qa: QA, story: str | list[str]) -> None:
    with pytest.raises(AMNError, match="^story: expected at least one sentence"):
        qa(story, "Where is Mary?")
    with pytest.raises(AMNError, match="^story"):
        qa.answer_batch([Request(story=story, question="Where is Mary?")])


@pytest.mark.parametrize("question", ["", "?", [], ["Where is Mary?", " "], "a " * 1000])
def test_an_empty_or_endless_question_is_named(qa: QA, question: str | list[str]) -> None:
    with pytest.raises(AMNError, match="^question: expected (1 to|at least 1)"):
        qa(STORY, question)


@pytest.mark.parametrize("story", [None, 3, ["Mary went.", None], b"Mary", {"a": 1}])
def test_what_is_no_text_is_named(qa: QA, story: object) -> None:
    with pytest.raises(AMNError, match="^story: expected text"):
        qa(story, "Where is Mary?")  # type: ignore[call-overload]


def test_a_sentence_of_10_000_words_is_refused_by_number(qa: QA) -> None:
    with pytest.raises(AMNError, match="^story: sentence 2 has 10000 words"):
        qa(["Mary went.", "word " * 10_000], "Where is Mary?")
    assert qa("word " * MAX_SENTENCE_WORDS, "Where is Mary?").entities == 1


@pytest.mark.parametrize("architecture", ["amn", "amn-paper"])
def test_unknown_words_and_a_hundred_questions_get_answers(architecture: str) -> None:
    qa = make_qa(architecture, hidden=16)
    questions = [f"blorb{i} quux{i}?" for i in range(100)]
    answers = qa("Blorb3 florbs the quux7. Ünïcode 你好 🙂 'x'.", questions)
    assert isinstance(answers, list) and len(answers) == 100
    assert all(0 <= answer.score <= 1 for answer in answers)


@pytest.mark.slow
def test_ten_thousand_sentences_are_one_story(qa: QA) -> None:
    answer = qa([f"Mary went to place{i % 700}." for i in range(10_000)], "Where is Mary?")
    assert answer.entities == 703 and 0 <= answer.score <= 1


def test_too_many_sentences_are_refused(qa: QA, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amn.data.text.MAX_SENTENCES", 3)
    assert qa("Mary went. " * 3, "Where is Mary?").entities == 2
    with pytest.raises(AMNError, match="^story: more than 3 sentences"):
        qa("Mary went. " * 4, "Where is Mary?")


def test_too_many_different_words_for_a_batch_are_refused(qa: QA, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amn.inference.torch_batches.MAX_WORDS", 10)
    other = make_qa("amn-paper", hidden=16)
    with pytest.raises(AMNError, match="^story: more than 10 distinct words"):
        other("a b c d e f g h i j k", "Where is Mary?")
    if boundary.library() is not None:  # the core reads any number of them
        assert qa("a b c d e f g h i j k", "Where is Mary?").entities == 11


def test_questions_are_read_as_words() -> None:
    assert read_questions(" Where's  Mary? ") == [("Where's  Mary?", ("where's", "mary"))]


def python(code: str, **environment: str) -> str:
    """What a fresh process prints."""
    source = str(Path(amn.__file__).parents[1])
    given = {"PYTHONPATH": source, "PATH": os.environ["PATH"], **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


ANSWER = f"""
import sys, amn
qa = amn.load("qa1")
answers = [qa({STORY!r}, "Where is Mary?"), *qa({STORY!r}, ["Where is John?", "Where is Mary?"], explain=True)]
memory = qa.memory("Where is Mary?")
memory.tell({STORY!r})
answers += [memory.ask("Where is Mary?"), memory.ask("Where is John?", banks=0), *memory.ask(deadline=9)]
"""


@pytest.mark.skipif(boundary.library() is None, reason="the core was not built")
def test_answers_need_no_torch() -> None:
    assert python(ANSWER + "print('torch' in sys.modules)") == "False\n"


def test_where_there_is_no_core_the_answers_are_the_same() -> None:
    code = ANSWER + "print([(a.answer, round(a.score, 3), a.entities_read, a.banks_created) for a in answers])"
    assert python(code) == python(code, AMN_CORE="none") != "[]\n"


def test_names_are_imported_when_they_are_used() -> None:
    assert python("import sys, amn; print('numpy' in sys.modules); amn.load; print('amn.api' in sys.modules)") == (
        "False\nTrue\n"
    )
    assert set(amn._HOMES) <= set(dir(amn))
    with pytest.raises(AttributeError, match="nothing"):
        getattr(amn, "nothing")  # noqa: B009


def test_inference_leaves_no_gradient(qa: QA) -> None:
    qa(STORY, "Where is Mary?")
    assert all(parameter.grad is None for parameter in qa.trained.model.parameters())
    assert not torch.is_inference_mode_enabled()
