import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amn.data.babi import write_babi
from amn.data.files import BadLines
from amn.data.formats import read_jsonl, write_jsonl
from amn.data.source import format_of, load_task, read_stories
from amn.data.story import Question, Story
from amn.data.tasks.mixed import mixed_stories
from amn.errors import ConfigError, DataError, SupportError

TOLD = {"story": ["Mary went home.", "John left."]}
ASKED = {"question": "Where is Mary?", "answer": "home"}
HOME = Question(text="Where is Mary?", answer="home", after=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stories.jsonl"


def put(path: Path, *rows: Any) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_one_question_stands_beside_its_story(path: Path) -> None:
    assert list(read_jsonl(put(path, TOLD | ASKED))) == [Story(sentences=tuple(TOLD["story"]), questions=(HOME,))]


def test_what_a_question_asks_for_is_kept(path: Path) -> None:
    write_jsonl(mixed_stories(questions=20, seed=0), path)
    made = [question.kind for story in mixed_stories(questions=20, seed=0) for question in story.questions]
    assert all(made) and [question.kind for story in read_jsonl(path) for question in story.questions] == made
    (story,) = read_jsonl(put(path, TOLD | ASKED | {"kind": 3}))  # somebody else's column
    assert story.questions[0].kind == ""


def test_several_questions_stand_in_a_list(path: Path) -> None:
    late = ASKED | {"question": "Who left?", "answer": None, "support": [1]}
    (story,) = read_jsonl(put(path, TOLD | {"questions": [ASKED | {"after": 1, "support": [0]}, late], "id": 7}))
    assert story.questions[0] == Question(text="Where is Mary?", answer="home", after=1, support=(0,))
    assert story.questions[1] == Question(text="Who left?", answer=None, after=2, support=(1,))


def test_blank_lines_and_a_missing_last_line_end_mean_nothing(path: Path) -> None:
    path.write_text("\n" + json.dumps(TOLD | ASKED))
    assert len(list(read_jsonl(path))) == 1


BAD: dict[str, tuple[Any, str, str]] = {
    "cut short": (json.dumps(TOLD | ASKED)[:30], "a JSON object", "(Expecting value at column 31)"),
    "cut in a text": ('{"story": "Mary', "a JSON object", "(Unterminated string starting at column 11)"),
    "no object": ([1], "a JSON object", "[1]"),
    "brackets": ("[" * 100_000, "a JSON object of sane size", "[[["),
    "digits": ("9" * 10_000, "a JSON object of sane size", "999"),
    "no story": (ASKED, '"story": a list of sentences', "only question, answer; name the column with --story-column"),
    "empty story": (ASKED | {"story": []}, '"story": a list of sentences', "[]"),
    "blank story": (ASKED | {"story": "..."}, '"story": a list of sentences, or one text', "[]"),
    "number in story": (ASKED | {"story": [3]}, '"story": sentences as text', "3"),
    "no question": (TOLD, 'either "question" and "answer" or "questions"', "story"),
    "both": (TOLD | ASKED | {"questions": []}, 'either "question" and "answer" or "questions"', "story"),
    "questions no list": (TOLD | {"questions": ASKED}, '"questions": a list of objects', "question"),
    "questions no objects": (TOLD | {"questions": ["Who?"]}, '"questions": a list of objects', "Who?"),
    "empty question": (TOLD | ASKED | {"question": " "}, '"question": text', "' '"),
    "no answer": (TOLD | {"question": "Who?"}, '"answer": text, or null', "only story, question"),
    "empty answer": (TOLD | ASKED | {"answer": ""}, '"answer": text, or null', "''"),
    "object as answer": (TOLD | ASKED | {"answer": {}}, '"answer": text, or null', "{}"),
    "half a letter": (TOLD | ASKED | {"answer": "\ud800"}, '"answer": text, or null', "ud800"),
    "after nothing": (TOLD | ASKED | {"after": 0}, "from 1 to 2", "0"),
    "after more": (TOLD | ASKED | {"after": 3}, "from 1 to 2", "3"),
    "after truth": (TOLD | ASKED | {"after": True}, "from 1 to 2", "true"),
    "support text": (TOLD | ASKED | {"support": "0"}, '"support": a list', "0"),
    "lost support": (TOLD | ASKED | {"support": [2]}, "from 0 to 1", "[2]"),
    "support too late": (TOLD | ASKED | {"after": 1, "support": [1]}, "from 0 to 0", "[1]"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_line_is_refused_with_place_expectation_and_find(case: str, path: Path) -> None:
    row, expected, found = BAD[case]
    with pytest.raises(DataError) as caught:
        list(read_jsonl(put(path, TOLD | ASKED, row)))
    assert (caught.value.source, caught.value.line) == (str(path), 2)
    assert expected in caught.value.expected
    assert found in caught.value.found
    assert isinstance(caught.value, SupportError) == (case in {"lost support", "support too late"})


@pytest.mark.parametrize("case", BAD)
def test_skipping_leaves_out_the_bad_line_alone(case: str, path: Path) -> None:
    bad = BadLines()
    assert len(list(read_jsonl(put(path, TOLD | ASKED, BAD[case][0], TOLD | ASKED), skip_bad=bad))) == 2
    assert bad.count == 1


def test_bytes_long_lines_and_empty_files_are_refused(path: Path) -> None:
    path.write_bytes(b'{"story": ["\xff"]}\n')
    with pytest.raises(DataError, match="line 1: expected UTF-8 text, found byte 0xff"):
        list(read_jsonl(path))
    with pytest.raises(DataError, match="line 1: expected at most 20 bytes in a line"):
        list(read_jsonl(put(path, TOLD | ASKED), max_line_bytes=20))
    with pytest.raises(DataError, match="expected at least one story"):
        list(read_jsonl(put(path)))


def test_rows_are_written_as_short_as_they_can_be() -> None:
    support = Question(text="Who left?", answer=None, after=1, support=(0,))
    stories = [
        Story(sentences=("A b.", "C d."), questions=(HOME,)),
        Story(sentences=("A b.", "C d."), questions=(HOME, support)),
        Story(sentences=("Ä b.",)),
    ]
    stream = io.StringIO()
    assert write_jsonl(stories, stream) == 3
    first, second, third = map(json.loads, stream.getvalue().splitlines())
    assert first == {"story": ["A b.", "C d."]} | ASKED
    assert second["questions"] == [ASKED, {"question": "Who left?", "answer": None, "after": 1, "support": [0]}]
    assert third == {"story": ["Ä b."], "questions": []}
    assert "Ä" in stream.getvalue()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9).map(str.strip).filter(bool)


@st.composite
def told(draw: st.DrawFn) -> Story:
    sentences = tuple(draw(st.lists(TEXT, min_size=1, max_size=4)))
    afters = draw(st.lists(st.integers(1, len(sentences)), max_size=3))
    return Story(sentences=sentences, questions=tuple(draw(asked(after)) for after in afters))


@st.composite
def asked(draw: st.DrawFn, after: int) -> Question:
    support = tuple(draw(st.lists(st.integers(0, after - 1), max_size=2)))
    return Question(text=draw(TEXT), answer=draw(st.none() | TEXT), after=after, support=support)


@given(stories=st.lists(told(), min_size=1, max_size=3))
def test_what_is_written_is_read_back(stories: list[Story], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "stories.jsonl"
    write_jsonl(stories, path)
    assert list(read_jsonl(path)) == stories


def test_the_suffix_chooses_the_reader(tmp_path: Path) -> None:
    stories = [Story(sentences=("Mary went home.", "John left."), questions=(HOME,))]
    write_jsonl(stories, tmp_path / "a.jsonl")
    write_babi(stories, tmp_path / "a.txt")
    assert list(read_stories(tmp_path / "a.jsonl")) == list(read_stories(tmp_path / "a.txt")) == stories
    assert [format_of(name) for name in ("x.JSONL", "x.ndjson", "x.txt", "x")] == ["jsonl", "jsonl", "babi", "babi"]


def test_a_task_is_loaded_from_a_folder_or_a_file(tmp_path: Path) -> None:
    file = put(tmp_path / "qa4_train.jsonl", TOLD | ASKED)
    assert load_task(tmp_path, 4, "train") == load_task(file, 1, "test") == list(read_jsonl(file))
    with pytest.raises(DataError, match="one file of task 4, split test"):
        load_task(tmp_path, 4, "test")
    with pytest.raises(ConfigError, match="unknown split 'trian': did you mean train"):
        load_task(tmp_path, 4, "trian")
