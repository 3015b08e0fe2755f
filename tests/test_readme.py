"""What the README and the pages of the docs show works: their Python runs, their verbs exist."""

import re
from pathlib import Path

import pytest

from amn.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run_python(text: str, name: str) -> None:
    """Runs the Python of a page, one block after the other."""
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)  # noqa: S102


def test_the_python_of_the_readme_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(README.replace("questions=1000", "questions=100"), "README.md")  # as many take a quarter of a minute
    printed = capsys.readouterr().out
    assert "bathroom 1 of 8" in printed
    assert all(said in printed for said in ("new york (score", "ball, lamp (score", "the story does not say (score"))
    assert "hallway" in printed
    assert (tmp_path / "my-model" / "config.json").exists()


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("index.md", "Where is Mary? bathroom\nWhere is the football? bathroom\n"),
        ("live-memories.md", "['kitchen', 'hallway']\n"),
        ("long-texts.md", "bathroom\n"),
        ("python.md", "story: expected at least one sentence with a word in it, found none\n"),
    ],
)
def test_the_python_of_the_pages_runs(
    page: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    run_python(re.sub(r"<details.*?</details>", "", text, flags=re.DOTALL), page)  # what is folded takes minutes
    assert capsys.readouterr().out.endswith(told)


def test_every_verb_in_the_readme_exists() -> None:
    named = set(re.findall(r"\bamn ([a-z]+)", " ".join(re.findall(r"```sh\n(.*?)```|`([^`]+)`", README)[0])))
    named |= set(re.findall(r"^amn ([a-z]+)", README, re.MULTILINE))
    known = {verb.name.split()[0] for verb in VERBS}
    assert named
    assert named <= known


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len(README.splitlines()) <= 130
