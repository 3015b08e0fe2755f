"""What is installed: bounds for `pip install`, and for `make` a lock with hashes that fits them."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
FOR_DEVELOPERS = ("dev", "docs")  # theirs are those of the lock


def requirements(*extras: str) -> Iterator[Requirement]:
    listed = [*PROJECT["dependencies"], *(text for extra in extras for text in PROJECT["optional-dependencies"][extra])]
    return (one for one in map(Requirement, listed) if one.name != PROJECT["name"])


def locked() -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;\\]+)", LOCK, re.MULTILINE))


def test_what_users_install_has_a_lower_and_an_upper_bound() -> None:
    extras = [name for name in PROJECT["optional-dependencies"] if name not in FOR_DEVELOPERS]
    for one in requirements(*extras):
        assert {">=", "<"} <= {bound.operator for bound in one.specifier}, str(one)


def test_everything_that_make_installs_is_locked_within_these_bounds() -> None:
    versions = locked()
    for one in requirements(*PROJECT["optional-dependencies"]):
        if one.name != "torch":  # of which a machine may have its own build
            assert Version(versions[one.name.replace("_", "-").lower()]) in one.specifier, str(one)


def test_every_locked_package_has_a_hash() -> None:
    packages = re.split(r"^(?=[\w.-]+(?:\[[\w,-]+\])?==)", LOCK, flags=re.MULTILINE)[1:]
    assert len(packages) > 50
    assert [one.split("==")[0] for one in packages if "--hash=sha256:" not in one] == []
    assert "--require-hashes --requirements requirements.lock" in (ROOT / "Makefile").read_text()
