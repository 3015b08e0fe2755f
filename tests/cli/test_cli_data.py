import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from amn.cli import main as cli
from amn.cli import verbs
from amn.cli.plain import call, parser_of, run_plain
from amn.cli.verbs import VERBS, Verb, find_verb
from amn.data.source import read_stories
from amn.errors import AMNError, ConfigError

GOOD = "1 Mary went home.\n2 Where is Mary?\thome\t1\n"
BAD = GOOD + "1 John left.\n2 Who left?\tjohn\t9\n3 Where is John?\tout\t1\n"
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}

Output = pytest.CaptureFixture[str]


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "qa1_train.txt"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.txt"
    path.write_text(BAD)
    return path


@pytest.fixture(params=["cyclopts", "plain"])
def front(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test through both front ends: with cyclopts, and as if it were not installed."""
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "cyclopts", None)
    return str(request.param)


def run(capsys: Output, *words: object) -> tuple[int, str, str]:
    code = cli.main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_check_counts(capsys: Output, front: str, good: Path) -> None:
    code, out, err = run(capsys, "data", "check", good)
    assert (code, err) == (0, "")
    assert "stories             1\n" in out
    assert "bad lines           0\n" in out


def test_check_names_bad_lines_and_fails(capsys: Output, front: str, bad: Path) -> None:
    code, out, err = run(capsys, "data", "check", bad)
    assert code == 1
    assert f"{bad}, line 4: expected supporting ids that name sentences above, separated by spaces, found '9'\n" == err
    assert "lost support        1\n" in out


def test_check_says_once_what_is_wrong_in_many_lines(capsys: Output, front: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("notes,asked,reply\n" + "R2 left. R3 came.,Who left?,R2\n" * 400)
    code, out, err = run(capsys, "data", "check", tmp_path / "a.csv")
    assert code == 1 and "bad lines           400\n" in out
    assert "a.csv, line 2: " in err and err.endswith("(and 399 more lines like it)\n") and err.count("\n") == 1


def test_check_goes_on_where_asked(capsys: Output, front: str, bad: Path) -> None:
    code, out, _ = run(capsys, "data", "check", bad, "--skip-bad")
    assert code == 0
    assert "questions           2\n" in out


def test_check_prints_one_json_document(capsys: Output, front: str, bad: Path, good: Path) -> None:
    code, out, err = run(capsys, "data", "check", bad, "--json", "--vocabulary", good)
    report = json.loads(out)
    assert (code, err) == (1, "")
    assert report["bad_lines"][0]["line"] == 4
    assert report["unknown_words"] == {"john": 2, "left": 1}
    assert (report["stories"], report["questions"], report["lost_support"]) == (2, 2, 1)


def test_convert_there_and_back(capsys: Output, front: str, good: Path, tmp_path: Path) -> None:
    assert run(capsys, "data", "convert", good, tmp_path / "all.jsonl")[0] == 0
    assert run(capsys, "data", "convert", tmp_path / "all.jsonl", tmp_path / "back.txt")[0] == 0
    assert (tmp_path / "back.txt").read_text() == GOOD


def test_convert_leaves_nothing_behind_when_it_fails(capsys: Output, front: str, bad: Path, tmp_path: Path) -> None:
    code, _, err = run(capsys, "data", "convert", bad, tmp_path / "out.jsonl")
    assert (code, list(tmp_path.iterdir())) == (1, [bad])
    assert f"amn: {bad}, line 4: expected" in err
    code, _, err = run(capsys, "data", "convert", bad, tmp_path / "out.jsonl", "--skip-bad")
    assert (code, err) == (0, f"2 questions written to {tmp_path / 'out.jsonl'}, 1 bad lines left out\n")


def test_convert_does_not_write_over_its_source(capsys: Output, front: str, good: Path) -> None:
    code, _, err = run(capsys, "data", "convert", good, good.parent / "." / good.name, "--format", "jsonl")
    assert (code, good.read_text()) == (1, GOOD)
    assert "are one file" in err


def test_generate_writes_the_same_bytes_for_the_same_seed(capsys: Output, front: str, tmp_path: Path) -> None:
    line = ("generate", "--task", 1, "--questions", 50, "--seed", 3)
    code, out, err = run(capsys, *line)
    assert (code, err) == (0, "")
    assert run(capsys, *line)[1] == out
    assert run(capsys, *line[:-1], 4)[1] != out
    file = tmp_path / "qa1.txt"
    code, nothing, err = run(capsys, *line, "--out", file)
    assert (code, nothing, err) == (0, "", f"50 questions written to {file}\n")
    assert file.read_text() == out


def test_generate_follows_format_knobs_and_renaming(capsys: Output, front: str, tmp_path: Path) -> None:
    file = tmp_path / "qa1.jsonl"
    line = ("generate", "--task", 1, "--questions", 20, "--out", file)
    code, out, _ = run(capsys, *line, "--people", 6, "--sentences", 12, "--questions-per-story", 2, "--json")
    summary = json.loads(out)
    assert (code, summary["questions"], summary["format"], summary["task"]) == (0, 20, "jsonl", 1)
    assert {(len(story.sentences), len(story.questions)) for story in read_stories(file)} == {(12, 2)}
    assert run(capsys, *line, "--together", "--reach", 0, "--held-out", "Mary", "--held-out", "John")[0] == 0
    assert all(question.after == len(story.sentences) for story in read_stories(file) for question in story.questions)
    assert not any("Mary" in sentence for story in read_stories(file) for sentence in story.sentences)
    assert run(capsys, *line, "--rename")[0] == 0
    assert not any("Mary" in sentence for story in read_stories(file) for sentence in story.sentences)


@pytest.mark.parametrize("preset", ["scaled", "multi"])
def test_generate_knows_the_presets_of_the_paper(capsys: Output, front: str, preset: str, tmp_path: Path) -> None:
    file = tmp_path / "preset.jsonl"
    assert run(capsys, "generate", "--preset", preset, "--questions", 20, "--out", file)[0] == 0
    assert sum(len(story.questions) for story in read_stories(file)) == 20


def test_generate_tells_mixed_stories(capsys: Output, front: str, tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    line = ("generate", "--task", "mixed", "--questions", 30, "--out", file)
    knobs = ("--wordings", "kept-out", "--names", "new", "--sentences", 9, "--unknown", 1, "--irrelevant", 0.2)
    rare = ("--hard", 0.5, "--actors", 0.5)
    assert run(capsys, *line, *knobs, *rare)[0] == 0
    stories = list(read_stories(file))
    assert {len(story.sentences) for story in stories} == {9}
    assert [question.answer for story in stories for question in story.questions] == ["unknown"] * 30


USAGE = {
    "no verb of that name": (["generat"], "generate"),
    "no verb of that name in the group": (["data", "chek", "x"], "check"),
    "no option of that name": (["generate", "--taks", "1"], "--task"),
    "an argument too many": (["data", "check", "a.txt", "b.txt"], "unexpected argument b.txt"),
    "no number": (["generate", "--task", "one"], "one"),
    "no argument": (["data", "check"], "path"),
    "no choice": (["generate", "--task", "1", "--format", "xml"], "jsonl"),
    "no task of that number": (["generate", "--task", "21"], "task 21 is unknown"),
    "no preset of that name": (["generate", "--preset", "scald"], "did you mean scaled?"),
    "neither": (["generate"], "either --task or --preset"),
    "both": (["generate", "--task", "1", "--preset", "multi"], "either --task or --preset"),
    "no questions": (["generate", "--task", "1", "--questions", "0"], "at least 1"),
    "knobs of a preset": (["generate", "--preset", "multi", "--people", "3"], "people can only go with --task"),
    "knobs at odds with the task": (["generate", "--task", "16", "--sentences", "3"], "sentences is fixed"),
    "a name that no story holds": (["generate", "--task", "1", "--held-out", "Marry"], "did you mean mary"),
    "knobs of mixed stories": (["generate", "--task", "1", "--names", "new"], "--names goes with --task mixed only"),
    "knobs that mixed stories lack": (["generate", "--task", "mixed", "--people", "3"], "no setting 'people'"),
    "JSON without a file": (["generate", "--task", "1", "--json"], "--out"),
}


@pytest.mark.parametrize("case", USAGE)
def test_a_wrong_line_gives_code_2_and_one_line(capsys: Output, front: str, case: str) -> None:
    words, expected = USAGE[case]
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert expected.lower() in err.lower()
    assert err.startswith("amn: ") and err.count("\n") == 1


def test_a_missing_file_gives_code_1_and_one_line(capsys: Output, front: str, tmp_path: Path) -> None:
    code, out, err = run(capsys, "data", "check", tmp_path / "absent.txt")
    expected = "expected a file that can be read, found No such file or directory"
    assert (code, out, err) == (1, "", f"amn: {tmp_path / 'absent.txt'}: {expected}\n")


def test_debug_shows_the_traceback_and_keeps_the_code(capsys: Output, front: str, tmp_path: Path) -> None:
    code, _, err = run(capsys, "--debug", "data", "check", tmp_path / "absent.txt")
    assert code == 1
    assert "Traceback" in err


How = Literal["fault", "stop", "data", "pipe", "code"]


def failing(*, how: How, code: int = 0, names: tuple[str, ...] = ()) -> int:
    """Fail as told."""
    errors = {"fault": KeyError("x"), "stop": KeyboardInterrupt(), "data": AMNError("bad"), "pipe": BrokenPipeError()}
    if how != "code":
        raise errors[how]
    print(names)
    return code


@pytest.fixture
def failing_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    table = (*VERBS, Verb("failing", "test_verbs"))
    monkeypatch.setitem(sys.modules, "test_verbs", sys.modules[__name__])
    for module in (verbs, cli, sys.modules["amn.cli.plain"]):
        monkeypatch.setattr(module, "VERBS", table)


@pytest.mark.usefixtures("failing_verb")
@pytest.mark.parametrize(
    ("how", "code", "said"),
    [("fault", 1, "internal error, KeyError"), ("stop", 130, "interrupted"), ("data", 1, "bad"), ("pipe", 1, "")],
)
def test_whatever_goes_wrong_is_one_line_and_a_code(capsys: Output, front: str, how: str, code: int, said: str) -> None:
    found, out, err = run(capsys, "failing", "--how", how)
    assert (found, out) == (code, "")
    assert said in err and "Traceback" not in err


@pytest.mark.usefixtures("failing_verb")
def test_a_verb_gives_its_own_code_and_takes_several_values(capsys: Output, front: str) -> None:
    code, out, _ = run(capsys, "failing", "--how", "code", "--code", 5, "--names", "a", "--names", "b")
    assert (code, out) == (5, "('a', 'b')\n")
    assert run(capsys, "failing", "--how", "code")[:2] == (0, "()\n")


def test_every_verb_has_help_in_both_fronts(capsys: Output, front: str) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert all(verb.name.split()[0] in out for verb in VERBS)
    for verb in VERBS:
        code, out, _ = run(capsys, *verb.name.split(), "--help")
        assert (code, verb.name in out) == (0, True)


def test_every_verb_can_be_parsed_plainly() -> None:
    for verb in VERBS:
        assert parser_of(verb.function(), verb.name).format_usage()


def test_plain_arguments_may_be_many() -> None:
    def ask(*questions: str, model: str = "babi", banks: int | None = None, ratio: float = 0.5) -> Any:
        return questions, model, banks, ratio

    values = vars(parser_of(ask, "ask").parse_args(["a?", "b?", "--banks", "2"]))
    given: Any = call(ask, values)
    assert given == (("a?", "b?"), "babi", 2, 0.5)


def test_verbs_are_found_by_one_or_two_words(capsys: Output) -> None:
    assert find_verb(["data", "check", "x"])[1] == ["x"]
    assert find_verb(["info"])[0].name == "info"
    with pytest.raises(ConfigError, match="unknown command 'data chek': did you mean data check"):
        find_verb(["data", "chek"])
    assert run_plain([]) is None
    assert "generate" in capsys.readouterr().out


def test_info_in_three_forms(capsys: Output, front: str) -> None:
    assert "torch threads" in run(capsys, "info")[1]
    assert run(capsys, "info", "--markdown")[1].startswith("| what | value |\n|---|---|\n| amn | ")
    assert json.loads(run(capsys, "info", "--json")[1])["amn"]


def test_models_lists_architectures_and_shipped_weights(capsys: Output, front: str) -> None:
    code, out, _ = run(capsys, "models", "--json")
    listed = json.loads(out)
    assert code == 0
    assert set(listed) == {"architectures", "shipped"}
    assert "amn" in listed["architectures"]


def test_a_reader_that_stops_early_gets_no_complaint() -> None:
    line = f"'{sys.executable}' -m amn generate --task 1 --questions 5000 | head -n 1"
    done = subprocess.run(line, shell=True, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("1 ")
    assert done.stderr == ""
