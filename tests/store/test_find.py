"""How names of models are looked up: on this machine, then in the package, then on the hub."""

import json
import sys
from pathlib import Path

import pytest

from amn.errors import AMNError
from amn.pretrained import shipped_directory
from amn.store.find import find_model


def make_model(directory: Path) -> Path:
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps({}))
    return directory


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What the hub is asked for; it has everything but what is broken."""
    names: list[str] = []

    class Hub:
        @staticmethod
        def snapshot_download(name: str, **_: object) -> str:
            names.append(name)
            if name.endswith("broken"):
                raise OSError("offline")
            return str(tmp_path / "downloaded")

    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub)
    monkeypatch.chdir(tmp_path)
    return names


def test_a_directory_comes_before_a_shipped_model_and_both_before_the_hub(asked: list[str], tmp_path: Path) -> None:
    assert find_model("qa1") == shipped_directory("qa1")
    make_model(tmp_path / "qa1")
    make_model(tmp_path / "some" / "model")
    assert find_model("qa1") == Path("qa1")
    assert find_model(Path("some/model")) == Path("some/model")
    assert asked == []


def test_a_run_directory_stands_for_its_best_model(tmp_path: Path) -> None:
    make_model(tmp_path / "run" / "best")
    assert find_model(tmp_path / "run") == tmp_path / "run" / "best"


def test_a_folder_without_a_model_hides_no_shipped_one(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "babi").mkdir()
    assert find_model("babi") == shipped_directory("babi")
    assert asked == []


def test_the_hub_is_asked_for_names_that_are_no_paths(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "runs" / "empty").mkdir(parents=True)
    for name in ("./model", "../model", "some/..", "some/.hidden", "~/model", "some/deep/path", "/model", "runs/empty"):
        with pytest.raises(AMNError, match="no model is called"):
            find_model(name)
    assert asked == []
    assert find_model("some/model-1.0") == tmp_path / "downloaded"
    with pytest.raises(AMNError, match="offline"):
        find_model("some/broken")
    assert asked == ["some/model-1.0", "some/broken"]


def test_a_mistyped_directory_is_refused_with_the_nearest_one(asked: list[str], tmp_path: Path) -> None:
    with pytest.raises(AMNError, match="no model is called 'runs/robots'"):
        find_model("runs/robots")
    make_model(tmp_path / "mine" / "robots-seed0" / "best")
    make_model(tmp_path / "parcels")
    with pytest.raises(AMNError, match="did you mean mine/robots-seed0[?]"):
        find_model("mine/robot-seed0")
    with pytest.raises(AMNError, match="did you mean parcels[?]"):
        find_model("parcel")
    assert asked == []


def test_a_run_that_was_stopped_before_it_had_a_model_goes_on(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(AMNError, match="holds a run without a model yet: amn train --out .* --resume"):
        find_model(tmp_path)


def test_without_the_hubs_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(AMNError, match=r"'some/model' is neither a local .* pip install"):
        find_model("some/model")


def test_near_names_are_suggested() -> None:
    with pytest.raises(AMNError, match=r"no model is called 'bab', .*shipped: qa1, .*did you mean babi"):
        find_model("bab")
    with pytest.raises(AMNError, match="qa20") as found:
        find_model("nonsense")
    assert "did you mean" not in str(found.value)
