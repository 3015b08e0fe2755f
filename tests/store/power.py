"""A disk that loses power: of what a program did to files, only what it flushed is left.

The program runs under strace, and what it did is done again to a disk of our own, up to the moment of the loss.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_CALLS = "openat,mkdir,pwrite64,write,ftruncate,fsync,fdatasync,rename,unlink"
_CALL = re.compile(r"\d+ +(\w+)\((.*)\) += (\d+)")  # a call that succeeded
_CUT = re.compile(r"(\d+) +(.*) <unfinished \.\.\.>"), re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)")
_FILE, _TEXT = re.compile(r"\d+<([^>]*)>"), re.compile(r'"((?:\\x..)*)"')  # strace spells all of them in hex


@dataclass
class Held:
    """A file or folder: what it holds, and what of this was flushed."""

    data: bytes = b""
    flushed: bytes = b""
    names: dict[str, "Held"] = field(default_factory=dict)  # of a folder
    flushed_names: dict[str, "Held"] = field(default_factory=dict)


class Disk:
    """What became of a folder.

    Args:
        folder: it; what is done elsewhere is not looked at.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._root = folder, Held()

    def _holder(self, path: str) -> tuple[Held, str] | None:
        """The folder that a path is in, and its name there; None where it is not ours."""
        if not Path(path).is_relative_to(self._folder) or Path(path) == self._folder:
            return None
        *above, name = Path(path).relative_to(self._folder).parts
        held = self._root
        for part in above:
            held = held.names[part]
        return held, name

    def _at(self, path: str) -> Held | None:
        if Path(path) == self._folder:
            return self._root
        place = self._holder(path)
        return None if place is None else place[0].names.get(place[1])

    def do(self, call: str, given: str) -> None:
        """Does what a program did."""
        opened, texts = _FILE.match(given), [_spelled(text) for text in _TEXT.findall(given)]
        if call in ("openat", "mkdir"):
            place = self._holder(os.fsdecode(texts[0]))
            if place is not None and (call == "mkdir" or "O_CREAT" in given):
                made = place[0].names.setdefault(place[1], Held())
                made.data = b"" if "O_TRUNC" in given else made.data
        elif call in ("rename", "unlink"):
            self._rename(*map(os.fsdecode, texts))
        elif opened and (held := self._at(os.fsdecode(_spelled(opened[1])))) is not None:
            numbers = [int(number) for number in re.findall(r", (\d+)(?=,|$)", given)]
            if call == "pwrite64":
                start = numbers[-1]
                held.data = held.data[:start].ljust(start, b"\0") + texts[0] + held.data[start + len(texts[0]) :]
            elif call == "write":
                held.data += texts[0]
            elif call == "ftruncate":
                held.data = held.data[: numbers[-1]].ljust(numbers[-1], b"\0")
            else:
                held.flushed, held.flushed_names = held.data, dict(held.names)

    def _rename(self, old: str, new: str | None = None) -> None:
        place = self._holder(old)
        if place is not None:
            held = place[0].names.pop(place[1])
            if new is not None and (goes := self._holder(new)) is not None:
                goes[0].names[goes[1]] = held

    def lose_power(self, into: Path, *, names_too: bool = True) -> None:
        """Writes to a new folder what is left.

        Args:
            into: the folder.
            names_too: whether names are lost as well; the disk may have kept them by chance.
        """
        _write(self._root, into, names_too)


def _spelled(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _write(held: Held, into: Path, names_too: bool) -> None:
    into.mkdir()
    for name, one in (held.flushed_names if names_too else held.names).items():
        if one.names or one.flushed_names:
            _write(one, into / name, names_too)
        else:
            (into / name).write_bytes(one.flushed)


def calls_of(program: str, folder: Path, *words: str) -> Iterator[tuple[str, str]]:
    """Runs a program of Python, and gives its calls of the system with what they were given, in their order."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = folder.with_name("calls.log")
    tracing = ["strace", "-f", "-y", "-xx", "-s", "100000", "--seccomp-bpf", "-e", f"trace={_CALLS}", "-o", str(log)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*tracing, sys.executable, "-c", program, *words], env=environment, capture_output=True, text=True, check=False
    )
    if "ptrace" in done.stderr:
        pytest.skip(f"nothing may be traced here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    begun: dict[str, str] = {}
    for line in log.read_text(encoding="ascii").splitlines():
        if cut := _CUT[0].match(line):  # another thread's call came in between
            begun[cut[1]] = cut[2]
            continue
        if further := _CUT[1].match(line):
            line = f"{further[1]} {begun.pop(further[1])}{further[2]}"
        if call := _CALL.match(line):
            yield call[1], call[2]
