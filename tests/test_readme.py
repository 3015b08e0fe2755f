"""What the README shows works: its Python runs, its verbs exist, its pictures and pages are there."""

import re
from pathlib import Path

import pytest

from amn.cli.verbs import VERBS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102
    printed = capsys.readouterr().out
    assert "bathroom 1 of 8" in printed
    assert "hallway" in printed
    assert (tmp_path / "my-model" / "config.json").exists()


def test_every_verb_in_the_readme_exists() -> None:
    named = set(re.findall(r"\bamn ([a-z]+)", " ".join(re.findall(r"```sh\n(.*?)```|`([^`]+)`", README)[0])))
    named |= set(re.findall(r"^amn ([a-z]+)", README, re.MULTILINE))
    known = {verb.name.split()[0] for verb in VERBS}
    assert named
    assert named <= known


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len(README.splitlines()) <= 130
