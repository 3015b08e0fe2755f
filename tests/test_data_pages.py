"""What the pages on one's own data and on boards show works: the Python runs, and every line is understood."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from amn.cli.plain import parser_of
from amn.cli.verbs import find_verb
from amn.data.boards import BOARDS
from amn.data.check import check_data
from amn.training.sweep import parse_tasks

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = ("your-data.md", "benchmarks.md")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_table_of_events_becomes_stories_that_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks("your-data.md", "python"):
        exec(compile(block, "your-data.md", "exec"), {})  # noqa: S102
    report = check_data(tmp_path / "robots.jsonl")
    assert (report.stories, report.num_bad_lines) == (400, 0)
    assert report.questions > 400


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_understood(page: str, tmp_path: Path) -> None:
    """The shell expands the lines, with `amn` noting its words instead of running."""
    start = 'amn() { printf "%q " "$@" >> lines; echo >> lines; }\ncurl() { :; }\n'
    script = start + "\n".join(blocks(page, "bash"))
    subprocess.run(["bash", "-euc", script], cwd=tmp_path, check=True, capture_output=True)
    lines = [shlex.split(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert lines
    for words in lines:
        verb, rest = find_verb(words)
        values, unknown = parser_of(verb.function(), verb.name).parse_known_args(rest)
        assert not unknown, words
        if tasks := getattr(values, "tasks", None):
            assert parse_tasks(tasks)


def test_every_board_has_its_place_on_the_page() -> None:
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert all(f"--tasks {name}" in text for name in BOARDS)
