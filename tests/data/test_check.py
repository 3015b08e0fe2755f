from pathlib import Path

import pytest

from amn.data.check import answer_kind, check_data, known_words, seen_answers
from amn.errors import DataError

BABI = "1 Mary went home.\n2 Mary got the milk.\n3 Where is Mary?\thome\t1\n4 What has Mary?\tmilk\t2\n1 John left.\n"
JSONL = '{"story": ["Bill ate."], "question": "Who ate?", "answer": "bill"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "qa1_train.txt").write_text(BABI)
    (tmp_path / "deep" / "own.jsonl").write_text(JSONL)
    (tmp_path / "LICENSE.txt").write_text("no story")
    return tmp_path


def test_a_file_is_counted(folder: Path) -> None:
    report = check_data(folder / "qa1_train.txt")
    assert (report.files, report.stories, report.sentences, report.questions) == (1, 2, 3, 2)
    assert (report.longest_story, report.most_told, report.without_question) == (2, 2, 1)
    assert report.vocabulary["mary"] == 4
    assert report.answers == {"home": 1, "milk": 1}
    assert report.answer_kinds == {"word": 2}
    assert report.unknown_words is None
    assert (report.num_bad_lines, report.lost_support, report.bad_lines) == (0, 0, [])


def test_a_folder_is_counted_at_any_depth_and_other_files_are_left_alone(folder: Path) -> None:
    report = check_data(folder)
    assert (report.files, report.stories, report.questions, len(report.answers)) == (2, 3, 3, 3)


def test_rows_about_one_story_count_once_as_in_training(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(2 * JSONL + JSONL.replace("Bill ate", "Bill ate bread") + JSONL)
    report = check_data(tmp_path)
    assert (report.stories, report.sentences, report.questions, report.vocabulary["bread"]) == (3, 3, 4, 1)


def test_bad_lines_are_listed_with_their_numbers_and_reading_goes_on(folder: Path) -> None:
    file = folder / "qa1_train.txt"
    file.write_text(BABI + "2 Who left?\tjohn\t7\n3 Who?\n4 Who left?\tjohn\t1\n")
    report = check_data(file)
    assert [bad.line for bad in report.bad_lines] == [6, 7]
    assert str(report.bad_lines[1]) == f"{file}, line 7: expected a tab and an answer after the question, " + (
        "found no tab in 'Who?'"
    )
    assert (report.num_bad_lines, report.lost_support, report.questions) == (2, 1, 3)


def test_unknown_words_are_those_the_vocabulary_lacks(folder: Path) -> None:
    (folder / "words.txt").write_text("mary went\nHome\nwhere is what has\n")
    report = check_data(folder / "qa1_train.txt", vocabulary=folder / "words.txt")
    assert report.unknown_words == {"got": 1, "the": 1, "milk": 1, "john": 1, "left": 1}
    assert check_data(folder / "qa1_train.txt", vocabulary=folder).unknown_words == {}
    assert check_data(folder, vocabulary=folder / "qa1_train.txt").unknown_words == {"ate": 2, "bill": 1, "who": 1}


def test_known_words_come_from_word_lists_and_data(folder: Path) -> None:
    assert known_words(folder / "deep") == {"bill", "ate", "who"}
    assert known_words(folder / "LICENSE.txt") == {"no", "story"}


def test_the_report_becomes_plain_values(folder: Path) -> None:
    (folder / "qa1_train.txt").write_text("x\n" + BABI)
    document = check_data(folder, vocabulary=folder / "deep" / "own.jsonl").as_json()
    assert document["vocabulary"] == 15
    assert document["answers"] == 3
    assert document["bad_lines"] == [
        {"file": str(folder / "qa1_train.txt"), "line": 1, "expected": "id 1 and a space", "found": "'x'"}
    ]


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        check_data(tmp_path / "absent.txt")
    with pytest.raises(DataError, match="found an empty folder"):
        check_data(tmp_path)
    (tmp_path / "notes.md").write_text("hello")
    with pytest.raises(DataError, match=r"bAbI files \(qa\*.txt\) or files that end in .jsonl, .*, found notes.md"):
        check_data(tmp_path)


def test_an_answer_is_a_word_of_the_story_several_a_list_or_a_class(folder: Path) -> None:
    told = {"r2", "moved", "to", "depot", "3"}
    assert [answer_kind(answer, told) for answer in ("R2", "Depot 3", "R2,K9", "yes", "?")] == [
        *("word", "phrase", "list", "class", "class")
    ]
    assert seen_answers(check_data(folder)) == "words of the story 100%"
