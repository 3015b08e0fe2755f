"""The benchmark of the server counts what it asked and what failed; no test looks at the clock."""

import asyncio
import json
from pathlib import Path

import pytest

from amn.bench.serve import Load, Rounds, drive, percentile, request_bodies, serving
from amn.cli import main as cli
from amn.errors import AMNError, ConfigError
from amn.store.memories import open_store
from server.serving import running

COLUMNS = {"clients", "batching", "requests", "failed", "requests_per_second", "p50_ms", "p99_ms"}


def test_a_row_for_every_number_of_clients_with_and_without_batching(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMN_TOKEN", "a token of another server")
    words = ["--model", str(model), "--clients", "1,3", "--requests", "6", "--seconds", "20", "--json"]
    assert cli.main(["bench", "serve", *words]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"bench", "machine", "rows"} and document["bench"] == "serve"
    rows = document["rows"]
    assert [(row["clients"], row["batching"]) for row in rows] == [(1, True), (1, False), (3, True), (3, False)]
    assert all(set(row) == COLUMNS and row["failed"] == 0 and row["requests"] == 6 for row in rows)
    assert all(row["requests_per_second"] > 0 and 0 < row["p50_ms"] <= row["p99_ms"] for row in rows)


def test_a_row_for_every_number_of_servers(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", str(model), "--servers", "1,2", "--clients", "2", "--requests", "6", "--seconds", "20"]
    assert cli.main(["bench", "serve", *words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["servers"], row["failed"], row["requests"]) for row in rows] == [(1, 0, 6), (2, 0, 6)]


def test_several_servers_are_asked_for_the_memories_of_one_store(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path / 'memories.db'}"
    words = ["--model", str(model), "--servers", "2", "--store", url, "--clients", "2", "--requests", "20"]
    assert cli.main(["bench", "serve", *words, "--seconds", "20", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert (row["servers"], row["failed"], row["requests"]) == (2, 0, 20)
    store = open_store(url)
    assert store.count(0.0) == 0  # it leaves nothing behind
    store.close()


def test_many_memories_are_asked_at_random(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", str(model), "--memories", "20", "--clients", "2", "--requests", "30", "--seconds", "20"]
    assert cli.main(["bench", "serve", *words, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert (row["memories"], row["failed"], row["requests"]) == (20, 0, 30) and row["store_bytes"] > 0


def test_requests_that_are_refused_count_as_failed(model: Path) -> None:
    load = Load(request_bodies(1), requests=10)
    with running(model, tokens=("secret",)) as address:
        row = asyncio.run(drive(address, 2, load, seconds=5.0))
    assert (row["requests"], row["failed"], row["p50_ms"]) == (0, 2, None)


def test_time_that_is_up_ends_a_row(model: Path) -> None:
    with running(model) as address:
        row = asyncio.run(drive(address, 2, Load(request_bodies(1), requests=10), seconds=0.0))
    assert (row["requests"], row["failed"]) == (0, 0)


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(AMNError, match=r"did not start: .*no model is called"), serving(str(tmp_path / "x"), batch=1):
        pass


@pytest.mark.parametrize(
    ("clients", "seconds", "requests"), [([], 1.0, 1), ([0], 1.0, 1), ([1], 0.0, 1), ([1], 1.0, 0)]
)
def test_bounds_are_checked_before_a_server_starts(clients: list[int], seconds: float, requests: int) -> None:
    with pytest.raises(ConfigError, match="must be"):
        Rounds(clients=clients, seconds=seconds, requests=requests)


def test_percentiles_are_times_that_were_measured() -> None:
    times = [number / 1000 for number in range(1, 201)]
    assert percentile(times, 50) == 100 and percentile(times, 99) == 198 and percentile(times[:1], 99) == 1
    assert percentile([], 50) is None
