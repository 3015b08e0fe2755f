"""A power loss leaves all that was acknowledged, and of a file that is replaced the old one or the new one."""

from pathlib import Path

import pytest

from amn.store.memories import open_store
from store.power import Disk, calls_of

TELLINGS = 60
TELLER = f"""
import os, sys
from amn.store import sqlite
from amn.store.memories import Record, open_store
connect = sqlite._connect
def connect_with(*given):
    db = connect(*given)
    db.execute("PRAGMA wal_autocheckpoint = 20")  # so that the log is written back to the file in the middle of it
    {{pragma}}
    return db
sqlite._connect = connect_with
{{patch}}
store = open_store(sys.argv[1])
store.create(Record(id="told", owner="", model="small", questions=("Where is Mary?",)), most=9, now=0.0)
for number in range({TELLINGS}):
    store.append("told", [f"{{{{number}}}} {{{{part}}}} Mary went to the garden." for part in range(30)], most=10**6)
    os.write(1, b".")
"""
SAVER = """
import os, sys
from pathlib import Path
from amn.store.atomic import write_atomically
for content in ("old" * 3000, "new" * 3000):
    write_atomically(Path(sys.argv[1]), content)
    os.write(1, b".")
"""


def kept_after(disk: Disk, folder: Path, database: str) -> int:
    """How many tellings a store has after a loss, each of them whole; -1 where it has no such memory."""
    disk.lose_power(folder)
    if not (folder / database).exists():
        return -1
    store = open_store(f"sqlite:///{folder / database}")
    found = store.find("told", 0.0)
    sentences = store.sentences("told", 0, 10**6)
    store.close()
    assert [text.split()[:2] for text in sentences] == [[str(i // 30), str(i % 30)] for i in range(len(sentences))]
    assert len(sentences) % 30 == 0
    return -1 if found is None else len(sentences) // 30


def losses(tmp_path: Path, pragma: str = "", patch: str = "") -> list[tuple[int, int]]:
    """After some of its acknowledgements, how many tellings there were, and how many of them a loss leaves."""
    disk, found, told = Disk(tmp_path / "disk"), [], 0
    (tmp_path / "disk").mkdir()
    where = "new/folder/memories.db"
    program = TELLER.format(pragma=pragma, patch=patch)
    for call, given in calls_of(program, tmp_path / "disk", f"sqlite:///{tmp_path / 'disk' / where}"):
        disk.do(call, given)
        if call == "write" and given.startswith("1<"):
            told += 1
            if told % 10 == 1 or told == TELLINGS:
                found.append((told, kept_after(disk, tmp_path / f"left-{told}", where)))
    assert told == TELLINGS
    return found


def test_what_was_acknowledged_is_there_after_a_power_loss(tmp_path: Path) -> None:
    assert all(kept >= told for told, kept in losses(tmp_path))


@pytest.mark.parametrize(
    "unsafe",
    [
        {"pragma": "db.execute('PRAGMA synchronous = NORMAL')"},
        {"patch": "sqlite.make_folder = lambda folder: folder.mkdir(parents=True, exist_ok=True)"},
    ],
    ids=["log", "folder"],
)
def test_what_is_not_flushed_is_lost(tmp_path: Path, unsafe: dict[str, str]) -> None:
    """So the test above can fail: each of these is a store that does not do all that it must."""
    assert any(kept < told for told, kept in losses(tmp_path, **unsafe))


def test_a_file_is_the_old_one_or_the_new_one_after_a_power_loss(tmp_path: Path) -> None:
    disk, saved, cut = Disk(tmp_path / "disk"), 0, 0
    (tmp_path / "disk").mkdir()
    whole = [None, "old" * 3000, "new" * 3000]
    for call, given in calls_of(SAVER, tmp_path / "disk", str(tmp_path / "disk" / "saved")):
        disk.do(call, given)
        saved += call == "write" and given.startswith("1<")
        for names_too in (True, False):
            cut += 1
            disk.lose_power(tmp_path / f"left-{cut}", names_too=names_too)
            left = tmp_path / f"left-{cut}" / "saved"
            assert (left.read_text() if left.exists() else None) in whole[saved:]
    assert saved == 2
