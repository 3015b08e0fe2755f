"""Training of the gate."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from add_gate import easiest_leaks
from amn.cli.main import main
from amn.data.examples import Example, examples
from amn.data.formats import write_jsonl
from amn.data.sentences import split_prose
from amn.data.story import Story, words
from amn.data.tasks import generate
from amn.data.vocabulary import UNKNOWN, Vocabulary
from amn.errors import CheckpointError, DataError
from amn.inference.engine import open_gate
from amn.inference.torch_batches import plain_batch
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.models.gate import Gate
from amn.store.find import find_model
from amn.store.model_directory import load_model, save_model
from amn.training.distract import text_files
from amn.training.gate import fit_gate
from amn.training.gate_data import GateConfig, Needs, Pairs, Rows, known_names, names_in, shuffled_words, spoken_pairs
from amn.training.gate_thresholds import lost, search, with_gate
from amn.training.warm_start import settings_of, start_from

PROSE = """It was a bright cold day, and the clocks of the town had struck thirteen before anybody thought of it.
Nobody spoke. "What do you want?" he cried. She had never seen so strange a face. The old man went on talking of his
daughter and of the war. He did not answer. They sat for a long time by the fire. Why should he go? And so it ended.
The rain beat against the windows all night long. "I am the happiest of women," said she, laughing. There was no hope.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("books")
    for number in range(4):
        (folder / f"book{number}.txt").write_text(PROSE * 3, encoding="utf-8")
    return folder


def _stories(seed: int) -> list[Story]:
    return list(generate(1, questions=60, seed=seed))


@pytest.fixture(scope="module")
def gated(folder: Path) -> TrainedModel:
    vocabulary = Vocabulary.of(_stories(0))
    plain = TrainedModel.of("amn", build_model("amn", vocabulary, {"hidden": 16, "pointer": True}), vocabulary)
    config = GateConfig(
        width=12, epochs=4, steps=25, batch_size=64, learning_rate=2e-2, missed=0.0, early=0.1, searched=0
    )
    return fit_gate(plain, _stories(0), _stories(1), folder, names_in(_stories(0)), config)


def test_it_lets_in_stories_and_turns_away_prose(gated: TrainedModel) -> None:
    judge = open_gate(gated, [("where", "is", "mary")], needs=False)
    assert judge is not None
    told = [words(text) for story in _stories(2) for text in story.sentences]
    prose = [words(text) for text in split_prose([PROSE])]
    assert judge.judge(told).all()
    assert judge.judge(prose).mean() < 0.2


@pytest.mark.parametrize("name", ["mary", "zelda"])
def test_of_a_story_it_lets_in_what_the_question_needs(gated: TrainedModel, name: str) -> None:
    told = [words(text.replace("Mary", name)) for story in _stories(2) for text in story.sentences]
    judge = open_gate(gated, [("where", "is", name)])
    assert judge is not None
    assert judge.judge(told)[0].tolist() == [name in spoken for spoken in told]
    assert judge.state.facts.tolist() == [len(told)]


def test_a_gate_whose_data_name_no_support_does_not_tell_what_is_needed(gated: TrainedModel, folder: Path) -> None:
    bare = [
        replace(story, questions=tuple(replace(one, support=()) for one in story.questions)) for story in _stories(0)
    ]
    found = fit_gate(gated, bare, bare, folder, names_in(bare), GateConfig(width=8, epochs=1, steps=2, batch_size=16))
    assert not found.config["needs"]
    judge = open_gate(found, [("where", "is", "mary")])
    assert judge is not None
    assert not any(name.startswith("gate.need") for name in found.weights)


def test_names_that_training_never_had_get_in(gated: TrainedModel) -> None:
    judge = open_gate(gated, [("where", "is", "zelda")])
    assert judge is not None
    assert judge.judge([("zelda", "went", "to", "the", "observatory")]).all()


def test_the_memory_is_as_it_was(gated: TrainedModel) -> None:
    assert {name for name in gated.weights if name.startswith("gate.")}
    assert gated.config["gate"] == 12
    assert gated.record["gate"]["missed_percent"] == 0.0
    asked = list(examples(_stories(3)))[:4]
    plain = replace(gated, config={**gated.config, "gate": 0}, weights=_without_gate(gated))
    batch = plain_batch(plain, asked)
    torch.testing.assert_close(gated.model(batch).logits, plain.model(batch).logits)


def _without_gate(trained: TrainedModel) -> dict[str, np.ndarray]:
    return {name: value for name, value in trained.weights.items() if not name.startswith("gate.")}


def test_the_easiest_leaks_are_sentences_of_the_folder(gated: TrainedModel, folder: Path) -> None:
    found = easiest_leaks(gated, _stories(0), folder, 5)
    assert len(found) == 5
    assert all(sentence in " ".join(PROSE.split()) for sentence in found)


def test_a_folder_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a folder with texts"):
        text_files(tmp_path)


def test_a_sentence_stands_with_a_question_asked_after_it() -> None:
    stories = _stories(0)
    vocabulary = Vocabulary.of(stories)
    numbers = {word: vocabulary.word_id(word) for word in vocabulary.words}
    names = frozenset(known_names(names_in(stories), vocabulary).tolist()) - {UNKNOWN}
    pairs = Pairs.of(spoken_pairs(stories[:1]), Needs(numbers, names))
    told = {tuple(vocabulary.word_id(word) for word in words(text)) for text in stories[0].sentences}
    rows = [tuple(row[row > 0].tolist()) for row in pairs.sentences.padded(np.arange(len(pairs.sentences)))]
    assert set(rows) == told
    assert set(pairs.rows[:, 0]) == set(range(len(pairs.sentences)))
    for sentence, question, shared, _ in pairs.rows.tolist():
        asked = pairs.questions.padded(np.array([question]))[0].tolist()
        assert shared == bool(names.intersection(asked).intersection(rows[sentence]))


def test_what_is_needed_of_one_is_needed_of_all() -> None:
    needs = Needs(
        {word: place for place, word in enumerate("mary john went home slept where is".split(), 2)}, frozenset((2, 3))
    )
    needs.note(("mary", "went", "home"), ("where", "is", "mary"))
    looks = [
        needs.look(words(sentence), ("where", "is", name))
        for sentence, name in (
            ("mary went home", "mary"),
            ("john went home", "john"),
            ("zelda went home", "zelda"),
            ("john went home", "mary"),
            ("mary slept", "mary"),
            ("she went home", "mary"),
        )
    ]
    needed, known = needs.labels
    assert [shared for shared, _ in looks] == [1, 1, 1, 0, 1, 0]
    assert [bool(needed[saying]) for _, saying in looks] == [True, True, True, False, False, False]
    assert [bool(known[saying]) for _, saying in looks] == [True] * 5 + [False]


def test_what_changed_an_answer_when_it_was_turned_away_is_needed() -> None:
    plain = load_model(find_model("qa1"))
    gate = Gate(len(plain.vocabulary.words), 4, needs=True)
    assert gate.need is not None
    with torch.no_grad():
        gate.bars.copy_(torch.tensor([-1e4, 0.0, -1e4]))
        gate.need.verdict.bias.fill_(-1e4)  # it turns everything away
    told = tuple(words(text) for text in ("Mary went to the garden.", "John went to the office.", "She danced."))
    asked = Example(sentences=told, questions=(("where", "is", "mary"),), answers=("garden",))
    needs = Needs(plain.numbers, frozenset())
    assert search(needs, plain, with_gate(plain, gate, {}), [asked]) == 1
    assert needs.missed == [(told[0], asked.questions[0])]
    assert lost(plain, with_gate(plain, gate, {}), [asked], [True]) == (1, 0)


def test_words_are_changed_alike_in_a_sentence_and_its_question() -> None:
    names = torch.arange(10, 20)
    rows = torch.randint(2, 30, (200, 8), generator=torch.Generator().manual_seed(0))
    key = torch.randint(0, 1 << 62, (200, 1), generator=torch.Generator().manual_seed(1))
    share = torch.full((200, 1), 0.5)

    first = shuffled_words(rows, key, names, share, share, share)
    second = shuffled_words(rows.flip(1), key, names, share, share, share).flip(1)

    assert torch.equal(first, second)
    changed = first != rows
    is_name = torch.isin(rows, names)
    assert 0.4 < changed[is_name].float().mean() < 0.6
    assert torch.isin(first[changed & is_name], torch.cat((names, torch.tensor([UNKNOWN])))).all()
    assert (first[changed & ~is_name] == UNKNOWN).all()


def test_rows_are_padded_with_zeros() -> None:
    rows = Rows([(1, 2, 3), (), (4,)])
    assert rows.padded(np.array([2, 0, 1])).tolist() == [[4, 0, 0], [1, 2, 3], [0, 0, 0]]


def test_a_run_that_starts_from_a_model_with_a_gate_trains_the_memory_alone(
    gated: TrainedModel, tmp_path: Path
) -> None:
    save_model(tmp_path / "gated", gated)
    settings = settings_of(str(tmp_path / "gated"))
    fresh = build_model("amn", gated.vocabulary, settings, seed=5)
    start_from(fresh, gated.vocabulary, str(tmp_path / "gated"))
    assert not any(name.startswith("gate.") for name, _ in fresh.named_parameters())
    np.testing.assert_array_equal(fresh.state_dict()["create.weight"].numpy(), gated.weights["create.weight"])


def test_a_model_with_a_gate_is_saved_loaded_and_checked(gated: TrainedModel, tmp_path: Path) -> None:
    save_model(tmp_path / "gated", gated)
    found = load_model(tmp_path / "gated")
    told = [("mary", "went", "to", "the", "garden"), ("nobody", "spoke")]
    before, after = (open_gate(one, [("where", "is", "mary")]) for one in (gated, found))
    assert before is not None
    assert after is not None
    np.testing.assert_array_equal(before.judge(told), after.judge(told))
    wider = replace(gated, config={**gated.config, "gate": 13})
    save_model(tmp_path / "wider", wider)
    with pytest.raises(CheckpointError, match="as the config says"):
        load_model(tmp_path / "wider")


def test_amn_train_adds_a_gate_where_texts_are_to_be_passed_over(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_jsonl(_stories(0), tmp_path / "stories.jsonl")
    settings = ("--set", "hidden=8", "--set", "heads=2", "--start", "none", "--epochs", "1")
    quick = GateConfig(width=8, epochs=1, steps=3, batch_size=16)
    monkeypatch.setattr("amn.training.gate.GateConfig", lambda: quick)
    command = ["train", str(tmp_path / "stories.jsonl"), *settings, "--distract", str(folder)]
    assert main([*command, "--out", str(tmp_path / "run"), "--device", "cpu"]) == 0
    found = load_model(tmp_path / "run" / "best")
    assert found.config["gate"] == 8
    assert found.record["gate"]["texts"] == 4
    assert open_gate(found, [("where", "is", "mary")]) is not None


@pytest.mark.parametrize("verb", ["train --task 1", "sweep --tasks 1"])
def test_a_gate_that_nobody_would_train_is_refused(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*verb.split(), "--set", "gate=48", "--out", str(tmp_path / "run")]) == 2
    assert "amn train --distract FOLDER" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
