import io
import re
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amn.data.babi import find_task_file, read_babi, write_babi
from amn.data.files import MAX_KEPT_ERRORS, BadLines
from amn.data.story import Question, Story
from amn.errors import DataError, SupportError

RELEASED = Path(__file__).parents[3] / "shared/data/babi-v1.2"
RELEASED_FILES = sorted(RELEASED.glob("*/qa*.txt"))
needs_released = pytest.mark.skipif(not RELEASED_FILES, reason="the released bAbI files are not beside this checkout")

GOOD = "1 Mary went home.\n2 John left.\n3 Where is Mary? \thome\t1\n1 Bill ate.\n2 Who ate?\tbill\t1\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "qa1_train.txt"


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@contextmanager
def temporary_path() -> Iterator[Path]:
    """Property tests need a new file for each example, which a fixture does not give."""
    with TemporaryDirectory() as folder:
        yield Path(folder) / "stories.txt"


def read_all(path: Path, bad: BadLines | None = None) -> list[Story]:
    return list(read_babi(path, skip_bad=bad))


def test_stories_questions_and_support_are_read(path: Path) -> None:
    first, second = read_all(put(path, GOOD))
    assert first.sentences == ("Mary went home.", "John left.")
    assert first.questions == (Question(text="Where is Mary?", answer="home", after=2, support=(0,)),)
    assert second.sentences == ("Bill ate.",)


def test_support_names_lines_in_files_and_sentences_in_memory(path: Path) -> None:
    lines = "1 A b.\n2 Who b?\ta\t1\n3 C d.\n4 E f.\n5 Who f?\te,c\t4 3 1\n"
    (story,) = read_all(put(path, lines))
    assert [question.support for question in story.questions] == [(0,), (2, 1, 0)]
    assert [question.after for question in story.questions] == [1, 3]
    stream = io.StringIO()
    assert write_babi([story], stream) == 2
    assert stream.getvalue() == lines


def test_a_question_may_have_no_support_field(path: Path) -> None:
    (story,) = read_all(put(path, "1 A b.\n2 Who b?\ta\n"))
    assert story.questions[0].support == ()


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_mean_nothing(path: Path) -> None:
    content = b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").replace("1 Bill", "\r\n1 Bill").encode()
    assert read_all(put(path, content)) == read_all(put(path, GOOD))


def test_a_story_without_questions_is_a_story(path: Path) -> None:
    assert read_all(put(path, "1 A b.\n2 C d.\n")) == [Story(sentences=("A b.", "C d."))]


# As released: statements that end in "?.", and support by such lines.
HINDI = """1 Chuhe bhedion se darte hein .
2 Bhedie chuhon se darte hein .
3 Pallavi bhedia hai ?.
4 Pallavi kis sey darti hai?\tchuha\t3 2
"""


def test_statements_of_the_released_hindi_may_end_in_a_question_mark_and_a_point(path: Path) -> None:
    (story,) = read_all(put(path, HINDI))
    assert story.sentences[2] == "Pallavi bhedia hai ?."
    assert story.questions == (Question(text="Pallavi kis sey darti hai?", answer="chuha", after=3, support=(2, 1)),)
    stream = io.StringIO()
    write_babi([story], stream)
    assert stream.getvalue() == HINDI


@pytest.mark.skipif(not (RELEASED / "hn-10k.tar.gz").exists(), reason="the released Hindi is not beside this checkout")
def test_all_of_the_released_hindi_is_read(tmp_path: Path) -> None:
    with tarfile.open(RELEASED / "hn-10k.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    files = sorted(tmp_path.glob("hn-10k/qa*.txt"))
    assert len(files) == 19
    assert [sum(len(story.questions) for story in read_all(file)) for file in files] == [10_000] * 19


BAD: dict[str, tuple[str | bytes, int | None, str, str]] = {
    "cut short": ("1 A b.\n2 Who b?\ta", 2, "a line end after the last line", "cut short after '2 Who b?\\ta'"),
    "question first": ("1 Who b?\ta\t1\n2 A b.\n", 1, "a sentence before the first question", "'Who b?\\ta\\t1'"),
    "ids do not restart": ("1 A b.\n2 Who b?\ta\t1\n2 C d.\n", 3, "id 3 and a space, or id 1 of a new", "'2 C d.'"),
    "ids jump": ("1 A b.\n3 C d.\n", 2, "id 2 and a space, or id 1 of a new story", "'3 C d.'"),
    "first id": ("2 A b.\n", 1, "id 1 and a space", "'2 A b.'"),
    "no id": ("A b.\n", 1, "id 1 and a space", "'A b.'"),
    "no space": ("1A b.\n", 1, "id 1 and a space", "'1A b.'"),
    "no tab": ("1 A b.\n2 Who b? a 1\n", 2, "a tab and an answer after the question", "no tab in 'Who b? a 1'"),
    "no sentence": ("1 A b.\n2 \n", 2, "a sentence after the id", "nothing"),
    "empty answer": ("1 A b.\n2 Who b?\t\t1\n", 2, "its answer", "an empty answer in 'Who b?\\t\\t1'"),
    "empty answer, last": ("1 A b.\n2 Who b?\t\n", 2, "its answer", "an empty answer in 'Who b?\\t'"),
    "empty question": ("1 A b.\n2 \ta\t1\n", 2, "a question", "an empty question in '\\ta\\t1'"),
    "four fields": ("1 A b.\n2 Who b?\ta\t1\t1\n", 2, "question, answer and supporting ids", "4 fields"),
    "support later": ("1 A b.\n2 Who b?\ta\t3\n3 C d.\n", 2, "supporting ids that name sentences above", "'3'"),
    "support question": ("1 A b.\n2 Who b?\ta\t1\n3 Who b?\ta\t2\n", 3, "name sentences above", "'2'"),
    "support word": ("1 A b.\n2 Who b?\ta\tone\n", 2, "supporting ids that name sentences above", "'one'"),
    "not UTF-8": (b"1 A b.\n2 C \xff.\n", 2, "UTF-8 text", "byte 0xff in '2 C \\\\xff.\\n'"),
    "empty": ("", None, "at least one story", "no line that can be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_place_expectation_and_find(case: str, path: Path) -> None:
    content, line, expected, found = BAD[case]
    with pytest.raises(DataError) as caught:
        read_all(put(path, content))
    assert caught.value.source == str(path)
    assert caught.value.line == line
    assert expected in caught.value.expected
    assert found in caught.value.found
    assert isinstance(caught.value, SupportError) == case.startswith("support")


@pytest.mark.parametrize("case", BAD)
def test_skipping_goes_on_with_the_next_story_and_counts(case: str, path: Path) -> None:
    content = BAD[case][0]
    raw = content if isinstance(content, bytes) else content.encode()
    bad = BadLines()
    stories = read_all(put(path, raw), bad)
    assert bad.count == len(bad.errors) == 1
    assert bad.lost_support == case.startswith("support")
    if not raw or case == "cut short":
        return
    after = read_all(put(path, raw + GOOD.encode()), BadLines())
    assert after == stories + read_all(put(path, GOOD))


def test_skipping_a_sentence_drops_the_questions_that_rest_on_it(path: Path) -> None:
    bad = BadLines()
    content = b"1 A b.\n2 C \xff.\n3 E f.\n4 Who d?\tc\t2\n5 Who f?\te\t3\n"
    (story,) = read_all(put(path, content), bad)
    assert story.sentences == ("A b.", "E f.")
    assert story.questions == (Question(text="Who f?", answer="e", after=2, support=(1,)),)
    assert [error.line for error in bad.errors] == [2, 4]


def test_skipping_after_a_lost_start_waits_for_the_next_story(path: Path) -> None:
    bad = BadLines()
    stories = read_all(put(path, b"1 A b.\n\xff C d.\n2 E f.\n3 Who f?\te\t2\n" + GOOD.encode()), bad)
    assert [story.sentences[0] for story in stories] == ["A b.", "Mary went home.", "Bill ate."]
    assert stories[0].questions == ()
    assert bad.count == 3


def test_errors_are_counted_but_not_hoarded(path: Path) -> None:
    bad = BadLines()
    read_all(put(path, GOOD + "x\n" * (MAX_KEPT_ERRORS + 50)), bad)
    assert (bad.count, len(bad.errors)) == (MAX_KEPT_ERRORS + 50, MAX_KEPT_ERRORS)


def test_a_gigabyte_long_line_is_refused_without_being_read(path: Path) -> None:
    with put(path, "1 A b.\n2 ").open("r+b") as stream:
        stream.truncate(1 << 30)  # sparse: takes no room on disk, and would take a gigabyte if it were read
    with pytest.raises(DataError, match=r"line 2: expected at most 1048576 bytes in a line, found a longer one") as bad:
        read_all(path)
    assert len(str(bad.value)) < 1000


def test_a_long_line_is_skipped_to_its_end(path: Path) -> None:
    bad = BadLines()
    put(path, "1 A b.\n2 " + "c" * 1000 + ".\n3 Who b?\ta\t1\n")
    (story,) = read_babi(path, skip_bad=bad, max_line_bytes=64)
    assert (story.sentences, len(story.questions), bad.count) == (("A b.",), 1, 1)


def test_a_line_of_exactly_the_limit_is_read(path: Path) -> None:
    put(path, "1 A b.\n")
    assert len(list(read_babi(path, max_line_bytes=7))) == 1
    with pytest.raises(DataError, match="at most 5 bytes"):
        list(read_babi(path, max_line_bytes=5))


def test_reading_is_lazy(path: Path) -> None:
    stories = read_babi(put(path, GOOD + "nonsense\n"))
    assert next(stories).sentences[0] == "Mary went home."


def test_what_cannot_be_opened_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_all(tmp_path / "absent.txt")
    with pytest.raises(DataError, match="directory"):
        read_all(tmp_path)


UNWRITABLE = {
    "unknown answer": Story(sentences=("A b.",), questions=(Question(text="Who b?", after=1),)),
    "tab": Story(sentences=("A\tb.",)),
    "line end": Story(sentences=("A b.\nC d.",)),
    "question mark": Story(sentences=("A b?",)),
    "empty": Story(sentences=("",)),
    "asked first": Story(sentences=("A b.",), questions=(Question(text="Who b?", answer="a", after=0),)),
    "asked too late": Story(sentences=("A b.",), questions=(Question(text="Who b?", answer="a", after=2),)),
    "support": Story(sentences=("A b.",), questions=(Question(text="Who b?", answer="a", after=1, support=(1,)),)),
}


@pytest.mark.parametrize("case", UNWRITABLE)
def test_what_the_format_cannot_hold_is_refused_and_leaves_nothing(case: str, path: Path) -> None:
    with pytest.raises(DataError, match=r"qa1_train\.txt, story 2: expected"):
        write_babi([Story(sentences=("A b.",)), UNWRITABLE[case]], path)
    assert list(path.parent.iterdir()) == []


def test_a_failed_write_keeps_the_old_file(path: Path) -> None:
    def broken() -> Iterable[Story]:
        yield Story(sentences=("A b.",))
        raise RuntimeError("no more")

    put(path, GOOD)
    with pytest.raises(RuntimeError):
        write_babi(broken(), path)
    assert path.read_text() == GOOD
    assert list(path.parent.iterdir()) == [path]


def test_writing_follows_a_link_and_takes_a_plain_name(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(put(path, ""))
    assert write_babi(read_all_text(GOOD, tmp_path), str(link)) == 2
    assert link.is_symlink()
    assert path.read_text() == GOOD.replace(" \t", "\t")
    assert path.stat().st_mode & 0o777 == put(tmp_path / "plain", "").stat().st_mode & 0o777


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_babi([Story(sentences=("A b.",))], Path("/dev/null"))
    assert Path("/dev/null").is_char_device()


def test_a_place_that_cannot_be_written_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a place that can be written to, found No such file"):
        write_babi([], tmp_path / "absent" / "file.txt")
    with pytest.raises(DataError, match="a place that can be written to"):
        write_babi([], tmp_path)


def read_all_text(text: str, folder: Path) -> list[Story]:
    return read_all(put(folder / "text.txt", text))


TEXT = st.text(st.characters(exclude_characters="\t?", exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=12)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    sentences = draw(st.lists(TEXT, min_size=1, max_size=6))
    asked = sorted(draw(st.lists(st.integers(1, len(sentences)), max_size=4)))
    return Story(sentences=tuple(sentences), questions=tuple(draw(question(after)) for after in asked))


@st.composite
def question(draw: st.DrawFn, after: int) -> Question:
    support = draw(st.lists(st.integers(0, after - 1), max_size=3))
    return Question(text=draw(TEXT) + "?", answer=draw(TEXT), after=after, support=tuple(support))


@given(st.lists(stories(), min_size=1, max_size=4))
def test_what_is_written_is_read_back(told: list[Story]) -> None:
    with temporary_path() as path:
        write_babi(told, path)
        assert read_all(path) == told


@given(st.binary(max_size=200))
def test_any_bytes_give_stories_or_one_data_error(content: bytes) -> None:
    with temporary_path() as path:
        put(path, content)
        bad = BadLines()
        told = read_all(path, bad)
        if bad.count:
            with pytest.raises(DataError):
                read_all(path)
        else:
            assert read_all(path) == told


@needs_released
@pytest.mark.parametrize("file", RELEASED_FILES or [RELEASED], ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_released_files_round_trip_to_the_byte(file: Path) -> None:
    stream = io.StringIO()
    write_babi(read_babi(file), stream)
    assert stream.getvalue() == re.sub(" +\t", "\t", file.read_text(encoding="utf-8"))


@needs_released
def test_released_files_are_found_in_both_naming_styles() -> None:
    tasks = [find_task_file(RELEASED / "en-valid-10k", task, "valid").name for task in range(1, 21)]
    assert tasks == [f"qa{task}_valid.txt" for task in range(1, 21)]
    assert find_task_file(RELEASED / "en", 3, "train").name == "qa3_three-supporting-facts_train.txt"


def test_task_files_are_told_apart(tmp_path: Path) -> None:
    names = [
        "qa1_single-supporting-fact_train.txt",
        "qa11_basic-coreference_train.txt",
        "qa1_test.txt",
        "qa2_train.jsonl",
    ]
    for name in names:
        put(tmp_path / name, GOOD)
    asked = [(1, "train"), (11, "train"), (1, "test"), (2, "train")]
    assert [find_task_file(tmp_path, *pair).name for pair in asked] == names


def test_a_missing_task_is_refused_with_what_there_is(tmp_path: Path) -> None:
    for name in ("qa1_train.txt", "qa2_two_train.txt", "qa1_test.txt", "notes.txt"):
        put(tmp_path / name, GOOD)
    with pytest.raises(DataError) as caught:
        find_task_file(tmp_path, 3, "train")
    assert "one file of task 3, split train (qa3_train.txt" in caught.value.expected
    assert caught.value.found == "test of task 1; train of task 1, 2"


def test_a_folder_that_cannot_serve_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found no bAbI file"):
        find_task_file(tmp_path, 1, "train")
    with pytest.raises(DataError, match="found no such folder"):
        find_task_file(tmp_path / "absent", 1, "train")
    for name in ("qa1_train.txt", "qa1_one_train.txt"):
        put(tmp_path / name, GOOD)
    with pytest.raises(DataError, match="found qa1_one_train.txt and qa1_train.txt"):
        find_task_file(tmp_path, 1, "train")
