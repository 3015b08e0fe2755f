"""People's own data: any usual format and column names give the same stories, and what cannot be read is said."""

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amn.data.examples import examples
from amn.data.files import BadLines
from amn.data.rows import Columns, story_of
from amn.data.sentences import split_sentences
from amn.data.slots import in_slots
from amn.data.source import data_files, one_each, own_stories, read_stories, split_of
from amn.data.story import Question, Story, words, words_of
from amn.data.vocabulary import Vocabulary
from amn.errors import DataError, MissingExtraError

SENTENCES = ("R2 drove to Depot 3.", "Unit7 took the crate.")
WANTED = [
    Story(sentences=SENTENCES, questions=(Question(text="Where is R2?", answer="Depot 3", after=2),)),
    Story(sentences=SENTENCES[:1], questions=(Question(text="Who left?", answer="R2", after=1),)),
]
ROWS: list[dict[str, Any]] = [
    {"story": " ".join(SENTENCES), "question": "Where is R2?", "answer": "Depot 3"},
    {"story": SENTENCES[0], "question": "Who left?", "answer": "R2"},
]
BABI = """1 R2 drove to Depot 3.
2 Unit7 took the crate.
3 Where is R2?\tDepot 3
1 R2 drove to Depot 3.
2 Who left?\tR2
"""


def as_csv(separator: str) -> str:
    lines = [list(ROWS[0]), *(list(row.values()) for row in ROWS)]
    return "".join(separator.join(f'"{field}"' for field in line) + "\n" for line in lines)


TEXTS = {
    "a.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
    "a.json": json.dumps(ROWS),
    "data.json": json.dumps({"version": 1, "data": ROWS}),
    "comma.csv": as_csv(","),
    "semicolon.csv": as_csv(";"),
    "a.tsv": as_csv("\t"),
    "pipe.csv": as_csv("|"),
    "a.txt": BABI,
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_format_gives_the_same_stories(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(TEXTS[name])
    assert list(read_stories(path)) == WANTED
    with gzip.open(tmp_path / f"{name}.gz", "wt") as file:
        file.write(TEXTS[name])
    assert list(read_stories(tmp_path / f"{name}.gz")) == WANTED


@pytest.mark.parametrize("name", TEXTS)
def test_standard_input_tells_its_format_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "data.json":
        pytest.skip("a document that is no list starts as JSON lines do")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXTS[name].encode()))))
    found = own_stories("-")
    assert (found.training, found.validation, found.name) == (WANTED, None, "stdin")


def test_parquet_and_frames_give_the_same_stories(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(ROWS).to_parquet(tmp_path / "a.parquet")
    assert list(read_stories(tmp_path / "a.parquet")) == WANTED
    assert own_stories(pandas.DataFrame(ROWS)).training == WANTED
    listed = pandas.DataFrame([row | {"story": list(s.sentences)} for row, s in zip(ROWS, WANTED, strict=True)])
    listed.to_parquet(tmp_path / "lists.parquet")
    assert own_stories(pandas.read_parquet(tmp_path / "lists.parquet")).training == WANTED
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(DataError, match="expected a Parquet file"):
        list(read_stories(tmp_path / "broken.parquet"))


def test_without_pyarrow_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"adaptive-memory-networks\[parquet\]"):
        list(read_stories(tmp_path / "a.parquet"))


def test_rows_of_python_and_divided_data_sets_are_taken() -> None:
    assert own_stories(iter(ROWS)).training == own_stories(WANTED).training == WANTED
    divided = own_stories({"train": ROWS[:1], "validation": ROWS[1:], "test": ["never looked at"]})
    assert (divided.training, divided.validation) == (WANTED[:1], WANTED[1:])
    with pytest.raises(DataError, match=r"stories\[1\]: expected a JSON object, found 'Mary went home.'"):
        own_stories([ROWS[0], "Mary went home."])
    with pytest.raises(DataError, match="expected a path, rows, or a data frame, found int"):
        own_stories(3)


def test_a_folder_may_say_what_is_for_validation(tmp_path: Path) -> None:
    for name, row in {
        "train.jsonl": ROWS[0],
        "more.jsonl": ROWS[0],
        "dev.jsonl": ROWS[1],
        "test.jsonl": ROWS[1],
    }.items():
        (tmp_path / name).write_text(json.dumps(row) + "\n")
    found = own_stories(tmp_path)
    assert (found.training, found.validation, found.name) == (WANTED[:1] * 2, WANTED[1:], tmp_path.name)
    assert [file.name for file in data_files(tmp_path)] == ["dev.jsonl", "more.jsonl", "test.jsonl", "train.jsonl"]
    names = ("qa1_train.txt", "a.valid.csv", "my-validation.json", "latest.csv", "test.jsonl.gz", "trains.csv")
    assert [split_of(Path(name)) for name in names] == ["train", None, "valid", None, "test", None]


@pytest.mark.parametrize(
    "names", [("context", "query", "label"), ("Passage", "Question", "Target"), ("text", "query", "answer")]
)
def test_columns_go_by_the_names_that_people_use(names: tuple[str, str, str]) -> None:
    row = dict(zip(names, ROWS[0].values(), strict=True)) | {"id": 7}
    assert story_of(row, "x") == WANTED[0]


def test_other_columns_are_named_by_the_user_and_proposed_where_they_are_missing() -> None:
    row = {"Log": ROWS[0]["story"], "Frage": "Where is R2?", "answer_text": "Depot 3"}
    columns = Columns(story="log", question="Frage", answer="answer_text")
    assert story_of(row, "x", columns=columns) == WANTED[0]
    flags = "--story-column Log --question-column Frage --answer-column answer_text"
    with pytest.raises(DataError, match=f"only Log, Frage, answer_text; name the columns with {flags}"):
        story_of(row, "x")
    unlike = {"id": "7", "notes of today": "R2 left. R3 came.", "asked": "Who?", "reply": "R2"}
    with pytest.raises(DataError, match="--story-column 'notes of today' --question-column asked --answer-column NAME"):
        story_of(unlike, "x")
    with pytest.raises(DataError, match="--question-column asked --answer-column reply"):  # the last one left
        story_of({name: text for name, text in unlike.items() if name != "id"}, "x")
    with pytest.raises(DataError, match="name the column with --answer-column answer_text"):
        story_of(row, "x", columns=Columns(story="log", question="Frage"))


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        (3, "3"),
        (3.0, "3"),
        (0.5, "0.5"),
        (True, "yes"),
        (["apple", "milk"], "apple,milk"),
        (("apple", 2), "apple,2"),
        (None, None),
        (float("nan"), None),
        ({"text": ["Depot 3"], "answer_start": [12]}, "Depot 3"),
        ([{"text": "Depot 3"}, {"text": "the depot"}], "Depot 3"),
    ],
)
def test_answers_may_be_numbers_lists_and_what_squad_has(given: object, answer: str | None) -> None:
    (question,) = story_of(ROWS[0] | {"answer": given}, "x").questions
    assert question.answer == answer


def test_paragraphs_with_questions_are_read_as_squad_has_them(tmp_path: Path) -> None:
    asked = [{"question": "Where is R2?", "answers": [{"text": "Depot 3", "answer_start": 12}]}]
    document = {"data": [{"title": "Robots", "paragraphs": [{"context": ROWS[0]["story"], "qas": asked}]}]}
    (tmp_path / "squad.json").write_text(json.dumps(document))
    assert list(read_stories(tmp_path / "squad.json")) == WANTED[:1]


BAD = {
    "a.csv": (
        'story,question,answer\n"R2 left.",Who?,R2\n"R2 left.",Who?\n',
        "line 3: expected 3 fields, as the header",
    ),
    "b.csv": ("story,question,answer\n", "expected a header and at least one row"),
    "d.csv": ("story,question,answer\nR2 left, then R3.,Who?,R2\n", "found 4 in .* goes in quotes"),
    "e.csv": ("R2 left.,Who?,R2\n", "line 1: expected a header that names the columns"),
    "g.csv": ("No.,Notes,Solved?\n7,R2 left. R3 came.,no\n", "line 2: .* name the columns with --story-column Notes"),
    "f.csv": ("story,question,answer\nR2 left.,,R2\n", 'line 2: expected "question": text, found nothing'),
    "notes.yaml": ("story: R2 left.\n", "line 1: expected id 1 and a space, .* told by the ending, such as .jsonl"),
    "c.csv": ("story,question\nR2 left.,Who?\n", "line 2: .* name the column with --answer-column"),
    "a.json": ('[{"story": "R2 left.",\n}]', r"expected a JSON object, .* at line 2\)"),
    "b.json": ('{"story": "R2 left."}', "expected a list of stories, or one under the key data"),
    "c.json": ('[{"story": "R2 left."}]', "c.json, row 1: .* name the columns with --question-column"),
    "a.jsonl.gz": ("no gzip", "expected a whole gzip file"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    text, message = BAD[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        list(read_stories(tmp_path / name))


def test_text_in_another_coding_is_refused_with_what_turns_it_into_utf_8(tmp_path: Path) -> None:
    text = "story,question,answer\nJosé left.,Who left?,José\n"
    for name, coding in {"a.csv": "WINDOWS-1252", "b.csv": "UTF-16"}.items():
        (tmp_path / name).write_text(text, encoding=coding)
        with pytest.raises(DataError, match=f"iconv -f {coding} -t UTF-8 .*{name} > utf8-{name}"):
            list(read_stories(tmp_path / name))
    (tmp_path / "c.csv").write_bytes(b"PK\x03\x04\0\xff\n")
    with pytest.raises(DataError, match="it is no text: export it as .csv"):
        list(read_stories(tmp_path / "c.csv"))


def test_a_json_file_may_hold_lines_or_its_rows_under_another_key(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for text in (TEXTS["a.jsonl"], json.dumps({"version": 1, "stories": ROWS}, indent=1)):
        path.write_text(text)
        assert list(read_stories(path)) == WANTED
    path.write_text(TEXTS["a.jsonl"] + "{}\n")
    with pytest.raises(DataError, match='a.json, line 3: expected "story"'):
        list(read_stories(path))


def test_rows_of_separators_alone_are_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TEXTS["comma.csv"] + ",,\n , ,\n")
    assert list(read_stories(tmp_path / "a.csv")) == WANTED


def test_bad_rows_of_a_table_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TEXTS["comma.csv"] + '"R2 left.",,\n\n"R2 left."\n')
    bad = BadLines()
    assert list(read_stories(path, skip_bad=bad)) == WANTED
    assert [error.line for error in bad.errors] == [4, 6]


def test_a_mistyped_path_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "robots.jsonl").write_text(TEXTS["a.jsonl"])
    with pytest.raises(DataError, match="No such file or directory; did you mean .*robots.jsonl"):
        own_stories(tmp_path / "robot.jsonl")
    with pytest.raises(DataError, match="there is no folder"):
        own_stories(tmp_path / "nowhere" / "robots.jsonl")


def test_rows_about_the_same_story_become_one(tmp_path: Path) -> None:
    twice = [WANTED[0], WANTED[1], WANTED[0]]
    joined = one_each(twice)
    assert joined == [Story(sentences=SENTENCES, questions=WANTED[0].questions * 2), WANTED[1]]


def test_words_keep_letters_with_their_marks_and_single_capitals() -> None:
    assert words("A is above a B, I think; Käthe’s x_y.") == (
        *("A", "is", "above", "a", "B", "i", "think", "käthe's", "x", "y"),
    )
    assert words("A clock stood there.")[0] == "a" and words("Where is A?")[-1] == "A"
    assert words("08:30 - Bay 3.5 at 9.15: 24.12.2025.") == ("08:30", "bay", "3.5", "at", "9.15", "24.12.2025")
    assert words("At 5. Then 3: one.Two") == ("at", "5", "then", "3", "one", "two")
    assert words("मरियम रसोई में गई।") == ("मरियम", "रसोई", "में", "गई")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mary's in the garden.", "mary is in the garden"),
        ("She’s picked up K's cup.", "she has picked up K s cup"),
        ("They're at home; it isn’t.", "they are at home it isn't"),
        ("John's holding it, and Mary's just left.", "john is holding it and mary has just left"),
        ("They've gone; Mary hasn’t.", "they have gone mary has not"),
        ("Didn't he? He doesn't, can't and won't.", "didn't he he doesn't can't and won't"),
        ("Mary's garden is John's.", "mary's garden is john's"),
        ("Where's the cup? WHO'S in there?", "where's the cup who's in there"),
        ("O’Brien's a cook, and so's O'Brien.", "o'brien is a cook and so's o'brien"),
    ],
)
def test_verbs_that_are_contracted_are_words_and_apostrophes_are_all_one(text: str, found: str) -> None:
    assert words(text) == tuple(found.split())
    assert words_of([text, "Mary's", "in"]) == [words(text), ("mary's",), ("in",)]


def test_apostrophes_of_answers_and_of_older_vocabularies_are_those_of_stories() -> None:
    asked = (Question(text="Who left?", answer="O’Brien", after=1),)
    story = Story(sentences=("O’Brien left.",), questions=asked)
    (example,) = examples([story])
    assert example.answers == ("O'Brien",) and Vocabulary.of([story]).answer_id("O'Brien") == 0
    assert in_slots(example, Vocabulary.of([story])).answer_slots == [1]
    older = Vocabulary.from_json({"words": ["o’brien"], "answers": ["o’brien"]})
    assert (older.word_id("o'brien"), older.answer_id("o'brien")) == (2, 0)


def test_sentences_end_as_their_script_ends_them_and_numbers_stay_whole() -> None:
    assert split_sentences("मरियम रसोई में गई। It weighs 3.5 kg. Done") == [
        "मरियम रसोई में गई।",
        "It weighs 3.5 kg.",
        "Done",
    ]
