"""Every kind of store keeps what it acknowledged: in order, in one piece, whoever tells, whatever is killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

from amn.errors import ConfigError
from amn.store.memories import (
    ConflictError,
    FullError,
    MemoryFullError,
    MemoryStore,
    MissingMemoryError,
    Record,
    StoreError,
    StoreFullError,
    open_store,
)
from server.stores import RedisProcess, redis_server, telling

NOW = 4_000_000_000.0  # Redis goes by its own clock, so this must not be over
MOST = 1000
LASTING = ["sqlite", "redis"]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisProcess]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "redis":
        return str(request.getfixturevalue("redis").url)
    return f"sqlite:///{tmp_path / 'folder' / 'memories.db'}" if request.param == "sqlite" else "memory:"


@pytest.fixture
def store(url: str) -> Iterator[MemoryStore]:
    opened = open_store(url)
    yield opened
    opened.close()


every_kind = pytest.mark.parametrize("url", ["memory", *LASTING], indirect=True)
lasting_kinds = pytest.mark.parametrize("url", LASTING, indirect=True)


def record(name: str, owner: str = "me", expires_at: float = NOW + 100) -> Record:
    return Record(id=name, owner=owner, model="small", questions=("Where is Mary?", "ä🦊?"), expires_at=expires_at)


def created(store: MemoryStore, name: str, owner: str = "me", expires_at: float = NOW + 100) -> Record:
    found = record(name, owner, expires_at)
    store.create(found, MOST, NOW)
    return found


@every_kind
def test_a_memory_is_found_as_it_was_told(store: MemoryStore) -> None:
    kept = created(store, "found")
    assert store.find("found", NOW) == kept and store.sentences("found", 0, 10) == []
    assert store.append("found", ["a\0b", "ä🦊"], most=5) == 0
    assert store.append("found", ["c"], most=5, after=2) == 2
    assert store.sentences("found", 0, 10) == ["a\0b", "ä🦊", "c"] and store.sentences("found", 1, 2) == ["ä🦊"]
    told = store.find("found", NOW)
    assert told is not None and told.sentences == 3 and told.questions == kept.questions
    store.delete(kept)
    assert store.find("found", NOW) is None and store.sentences("found", 0, 10) == []


@every_kind
def test_what_is_refused_leaves_nothing_behind(store: MemoryStore) -> None:
    created(store, "refused")
    store.append("refused", ["a", "b"], most=3)
    with pytest.raises(MemoryFullError, match="at most 3 sentences, and this one has 2"):
        store.append("refused", ["c", "d"], most=3)
    with pytest.raises(ConflictError, match="has 2 sentences, not 1"):
        store.append("refused", ["c"], most=9, after=1)
    with pytest.raises(MissingMemoryError):
        store.append("nobody", ["c"], most=9)
    assert store.sentences("refused", 0, 10) == ["a", "b"]


@every_kind
def test_each_owner_has_its_share_until_time_is_over(store: MemoryStore) -> None:
    for name in ("first", "second"):
        store.create(record(name, "few", NOW + 50), 2, NOW)
    with pytest.raises(FullError, match="All 2 memories") as refused:
        store.create(record("third", "few"), 2, NOW)
    assert refused.value.seconds == 50
    store.create(record("other", "many"), 2, NOW)
    before = store.count(NOW)
    assert store.find("first", NOW + 50) is None
    store.create(record("third", "few"), 2, NOW + 51)
    assert store.count(NOW + 51) == before - 1


@every_kind
def test_a_memory_in_use_lives_longer(store: MemoryStore) -> None:
    kept = created(store, "used")
    store.append("used", ["a"], most=9)
    store.keep(kept, NOW + 500)
    store.append("used", ["b"], most=9)  # by now that is done
    found = store.find("used", NOW + 400)
    assert found is not None and found.expires_at == NOW + 500 and found.sentences == 2


@every_kind
def test_the_latest_snapshot_counts(store: MemoryStore) -> None:
    kept = created(store, "saved")
    assert store.snapshot("saved") is None
    for sentences, data in ((5, b"\0five"), (9, b"nine"), (7, b"seven")):
        store.save_snapshot("saved", sentences, data)
    store.save_snapshot("nobody", 1, b"lost")
    store.append("saved", ["a"], most=9)
    assert store.snapshot("saved") == b"nine" and store.snapshot("nobody") is None
    store.delete(kept)
    created(store, "saved")
    assert store.snapshot("saved") is None


@every_kind
def test_tellings_at_once_are_kept_whole_and_in_their_order(store: MemoryStore) -> None:
    created(store, "shared")

    def tell(teller: int) -> list[int]:
        return [store.append("shared", [f"{teller} {i} {part}" for part in "ab"], most=MOST) for i in range(10)]

    with ThreadPoolExecutor(8) as pool:
        firsts = list(pool.map(tell, range(8)))
    sentences = store.sentences("shared", 0, MOST)
    assert len(sentences) == 160
    for teller, numbers in enumerate(firsts):
        assert numbers == sorted(numbers)
        for i, first in enumerate(numbers):
            assert sentences[first : first + 2] == [f"{teller} {i} a", f"{teller} {i} b"]


@lasting_kinds
def test_two_processes_tell_one_memory_and_both_are_killed(url: str, store: MemoryStore) -> None:
    """Whatever was acknowledged is there, once, in order; of the rest, a telling is there whole or not at all."""
    assert store.durable
    created(store, "killed")
    acknowledged = {}
    with telling(url, "killed", "left") as left, telling(url, "killed", "right") as right:
        for name, process in (("left", left), ("right", right)):
            assert process.stdout is not None
            acknowledged[name] = [int(line) for line in islice(process.stdout, 40)]
        left.kill()
        right.kill()
        for name, process in (("left", left), ("right", right)):
            assert process.stdout is not None
            acknowledged[name] += [int(line) for line in process.stdout if line.endswith("\n")]
    sentences = store.sentences("killed", 0, 10**6)
    assert sentences[0::2] == [text.replace(" b.", " a.") for text in sentences[1::2]]
    for name, numbers in acknowledged.items():
        found = [int(text.split()[1]) for text in sentences[0::2] if text.startswith(name)]
        assert found == list(range(len(found))) and len(numbers) <= len(found) <= len(numbers) + 1


def test_redis_itself_is_killed(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        store = open_store(server.url)
        created(store, "kept")
        told = [store.append("kept", [str(i)], most=MOST) for i in range(50)]
        server.kill()
        with pytest.raises(StoreError, match="cannot be reached"):
            store.append("kept", ["lost"], most=MOST)
        server.start()
        assert store.sentences("kept", 0, MOST) == [str(i) for i in told]
        assert store.append("kept", ["on"], most=MOST) == 50
        store.close()


FILL = """
import resource, sys
from amn.store.memories import FullError, open_store
store = open_store(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
told = 0
try:
    while True:
        told = store.append("full", ["x" * 500] * 20, most=10**9) + 20
except FullError as error:
    print(told, error, flush=True)
"""


def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'memories.db'}"
    store = open_store(url)
    created(store, "full")
    store.close()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", FILL, url], capture_output=True, text=True, env=environment, check=True
    )
    told, _, said = ended.stdout.partition(" ")
    assert int(told) > 0 and "is full" in said
    store = open_store(url)
    assert len(store.sentences("full", 0, 10**9)) == int(told)
    assert store.append("full", ["room again"], most=10**9) == int(told)
    store.close()


def test_a_telling_that_does_not_fit_spoils_no_other() -> None:
    store = open_store("memory:", most_bytes=100_000)
    created(store, "big")
    with ThreadPoolExecutor(16) as pool:
        sent = [pool.submit(store.append, "big", ["x" * (200_000 if i == 7 else 10)], most=MOST) for i in range(16)]
    assert [i for i, job in enumerate(sent) if isinstance(job.exception(), StoreFullError)] == [7]
    assert store.sentences("big", 0, MOST) == ["x" * 10] * 15
    store.close()


@pytest.mark.parametrize("url", ["postgres://x", "sqlite://", "sqlite:///", "memories", "", "sqlite:file"])
def test_what_is_no_store_is_said(url: str) -> None:
    with pytest.raises(ConfigError, match="store: expected sqlite:///FILE"):
        open_store(url)


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough" * 100, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"other\.db"):
        open_store(f"sqlite:///{path}")
    assert path.read_bytes() == content


def test_a_store_belongs_to_its_user(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path / 'memories.db'}").close()
    assert (tmp_path / "memories.db").stat().st_mode & 0o077 == 0
