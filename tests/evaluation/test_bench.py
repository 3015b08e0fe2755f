"""Benchmarks say what they must, count work truly, and time what they claim to; no test looks at the clock."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from amn.api import QA
from amn.bench import scale
from amn.bench.ingest import CORE, RIVALS, work
from amn.bench.scale import names
from amn.bench.timing import Timing, measure, report
from amn.cli import main as cli
from amn.core import boundary
from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary
from amn.inference import engine
from amn.inference.story_memory import StoryMemory
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.amn import AMN
from random_stories import VOCABULARY, batch_of, random_examples

Output = pytest.CaptureFixture[str]


def small(architecture: str = "amn", vocabulary: Vocabulary = VOCABULARY) -> TrainedModel:
    settings = {"hidden": 8, "heads": 2, "max_banks": 4} if architecture == "amn" else {"hidden": 8}
    model = build_model(architecture, vocabulary, settings, seed=3).eval()
    return TrainedModel.of(architecture, model, vocabulary)


def amn_of(trained: TrainedModel) -> AMN:
    assert isinstance(trained.model, AMN)
    return trained.model


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "small"
    QA(small(vocabulary=Vocabulary.of(generate(1, questions=100, seed=1)))).save_pretrained(path)
    return path


def rows_of(capsys: Output, kind: str, *words: object) -> list[dict[str, Any]]:
    assert cli.main(["bench", kind, "--json", *map(str, words)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"bench", "machine", "rows"}
    assert document["bench"] == kind
    assert "torch threads" in document["machine"] and torch.__version__ in document["machine"]
    return document["rows"]


def test_decode_rows_hold_times_error_and_entities(capsys: Output, directory: Path) -> None:
    (row,) = rows_of(
        capsys, "decode", "--tasks", 1, "--model", directory, "--questions", 12, "--single", 3, "--repeats", 2
    )
    assert {"task", "seconds_all_banks", "seconds_required_banks", "speedup", "error_percent"} <= set(row)
    assert (row["task"], row["questions"], row["weights"]) == (1, 12, str(directory))
    assert 0 < row["entities_required_banks"] <= row["entities_all_banks"]
    assert row["speedup"] == pytest.approx(row["seconds_all_banks"] / row["seconds_required_banks"], rel=0.01)


def test_ingest_rows_compare_every_model_at_every_batch(capsys: Output, directory: Path) -> None:
    rows = rows_of(capsys, "ingest", "--model", directory, "--batches", "1,3", "--sentences", 4, "--repeats", 1)
    named = {(row["model"], row["batch"]): row for row in rows}
    for model in ("amn", *RIVALS, "encoding"):
        assert {"seconds", "relative", "device"} <= set(named[model, 1]) & set(named[model, 3])
    assert named["entnet", 3]["relative"] == 1
    if boundary.library() is not None:
        assert named[CORE, 1]["same_answers"] == named[CORE, 3]["same_answers"] == 1


def test_scale_rows_say_that_the_work_stays_the_same(capsys: Output, directory: Path) -> None:
    rows = rows_of(capsys, "scale", "--model", directory, "--sizes", "40,200", "--sentences", 4)
    keys = {"entities", "seconds_per_sentence", "seconds_per_answer", "bytes_per_entity"}
    assert all(keys <= set(row) for row in rows)
    few, many = [row for row in rows if row["model"] == "amn"]
    assert few["entities"] >= 40 and many["entities"] >= 200
    assert few["entities_updated"] <= 6 and many["entities_updated"] <= 6
    assert [row["entities_updated"] for row in rows if row["model"] == "entnet"] == [40, 200]


def test_a_table_for_people_has_the_machine_and_a_line_for_each_row(capsys: Output, directory: Path) -> None:
    words = ["bench", "scale", "--model", str(directory), "--sizes", "20", "--sentences", "3"]
    assert cli.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "torch threads" in lines[0]
    assert [line.split()[0] for line in lines[-3:]] == ["amn", "entnet", "attention"]
    assert len({len(line) for line in lines[1:]}) == 1


def test_too_few_stories_or_another_architecture_are_refused(capsys: Output, directory: Path, tmp_path: Path) -> None:
    assert cli.main(["bench", "ingest", "--model", str(directory), "--sentences", "77"]) == 2
    assert "--sentences" in capsys.readouterr().err
    QA(small("entnet")).save_pretrained(tmp_path)
    assert cli.main(["bench", "scale", "--model", str(tmp_path)]) == 2
    assert "architecture amn" in capsys.readouterr().err


def test_work_is_counted_from_the_batch() -> None:
    batch = batch_of(random_examples(5, seed=6))
    sentences = int(batch.sentence_mask.sum())
    ours, theirs = work(small().model, batch), work(small("entnet").model, batch)
    assert ours["entities_updated"] == pytest.approx(int((batch.members > 0).sum()) / sentences)
    assert ours["attention_pairs"] == pytest.approx(int((batch.edges > 0).sum()) / sentences)
    assert theirs["entities_updated"] == 20
    assert (ours["operations_per_sentence"] or 0) > 0


def test_the_named_entity_and_all_others_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[StoryMemory] = []
    trained, opens = small(), engine.open_memory

    def opening(*given: Any) -> StoryMemory:
        opened.append(opens(*given))
        return opened[-1]

    monkeypatch.setattr(scale, "open_memory", opening)
    scale.bench_scale(amn_of(trained), trained, sizes=[50], sentences=2)
    first = [name for name, _ in zip(names(0), range(50), strict=False)]
    assert set(first) <= set(opened[0].words)
    assert len(set(first)) == 50


def test_timing_is_the_median_and_its_spread() -> None:
    timing = Timing.of([1.0, 2.0, 3.0, 4.0, 100.0])
    assert timing.seconds == 3.0
    assert Timing.of([2.0]) == Timing(2.0, 0.0)
    calls: list[str] = []
    times = measure({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=3)
    assert set(times) == {"a", "b"} and calls[-4:] == ["a", "b", "a", "b"]
    assert report("x", [{"n": 1, "t": 0.123456789}])["rows"] == [{"n": 1, "t": 0.1235}]
