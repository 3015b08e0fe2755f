"""Other people's boards: each is read in the format that it was released in, and scored as its paper does."""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from amn.config import RunSpec
from amn.data.boards import BOARDS, board_stories, find_board, tasks_of
from amn.data.boards.babi_1k import first_questions
from amn.data.boards.stepgame_noise import STEPS, Noise, with_other_names
from amn.data.story import Question, Story, words
from amn.errors import ConfigError, DataError
from amn.evaluation.score import means_of
from amn.training.prepare import data_key, parts_of
from amn.training.sweep import parse_tasks

RELEASED = Path(__file__).parents[3] / "shared/data"

STEPGAME = [
    {"story": ["A is at K's 3 o'clock."], "question": "What is the relation of the agent A to the agent K?"}
    | {"answer": "right", "k": 1},
    {"story": ["D is below B.", "If B is the center of a clock face, A is located between 10 and 11."]}
    | {"question": "What is the relation of the agent D to the agent A?", "answer": "lower-right", "k": 2},
]
HINDI = "1 Sita rasoi me gayi .\n2 Sita kahan hai ?\trasoi\t1\n"


@pytest.fixture
def stepgame(tmp_path: Path) -> Path:
    for split in ("train", "valid"):
        with gzip.open(tmp_path / f"{split}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in STEPGAME)
    return tmp_path


def test_stepgame_keeps_the_case_of_agents_and_can_be_had_by_chain_length(stepgame: Path) -> None:
    first, second = board_stories("stepgame", stepgame, "train")
    assert words(first.sentences[0]) == ("A", "is", "at", "K", "s", "3", "o'clock")
    assert {"A", "a"} <= set(words(second.sentences[1]))
    assert board_stories("stepgame-2", stepgame, "valid") == [second]
    (stepgame / "test.jsonl").write_text(json.dumps(STEPGAME[0] | {"story": ["A is at I's 3 o'clock."]}) + "\n")
    assert words(board_stories("stepgame", stepgame, "test")[0].sentences[0])[3:5] == ("i", "s")
    (stepgame / "test.jsonl").unlink()
    assert board_stories("stepgame-7", stepgame, "valid") == []
    with pytest.raises(DataError, match="expected test.jsonl.gz or test.jsonl, found neither"):
        board_stories("stepgame", stepgame, "test")
    (stepgame / "test.jsonl").write_text('{"story": ["A left."], "question": "Who?", "answer": "A"}\n')
    with pytest.raises(DataError, match='line 1: expected "k": the number of steps'):
        board_stories("stepgame", stepgame, "test")


def spoken(step: tuple[int, int]) -> str:
    """A wording of ours for each relation."""
    return next(f"{{0}} is {name.replace('-', ' ')} of {{1}}." for name, way in STEPS.items() if way == step)


NOISE = Noise({step: [spoken(step)] for step in STEPS.values()})
ASKED = Question(text="What is the relation of the agent A to the agent C?", answer="right", after=2)
CHAIN = Story(sentences=("A is right of B.", "B is upper right of C."), questions=(ASKED,))


def places(story: Story) -> list[dict[str, tuple[int, int]]]:
    """Where agents are by all sentences, one frame for agents that hang together; None of them may contradict."""
    frames: list[dict[str, tuple[int, int]]] = []
    for _ in range(len(story.sentences)):
        for sentence in story.sentences:
            parts = re.fullmatch(r"(\w) is (.*) of (\w)\.", sentence)
            assert parts is not None
            one, relation, other = parts.groups()
            step = STEPS[relation.replace(" ", "-")]
            frame = next((found for found in frames if one in found or other in found), None)
            if frame is None:
                frames.append(frame := {other: (0, 0)})
            if other in frame:
                found = (frame[other][0] + step[0], frame[other][1] + step[1])
                assert frame.setdefault(one, found) == found
            else:
                frame[other] = (frame[one][0] - step[0], frame[one][1] - step[1])
    return frames


def test_noise_adds_sentences_that_contradict_nothing_and_leaves_the_question() -> None:
    rng = Random(3)
    noisy = [NOISE.add(CHAIN, rng) for _ in range(200)]
    for story in noisy:
        assert [sentence for sentence in story.sentences if sentence in CHAIN.sentences] == list(CHAIN.sentences)
        assert story.questions[0].after == len(story.sentences)
        frame = next(frame for frame in places(story) if "A" in frame and "C" in frame)
        assert (frame["A"][0] - frame["C"][0], frame["A"][1] - frame["C"][1]) == (2, 1)
    longer = [story for story in noisy if len(story.sentences) > 2]
    assert 100 < len(longer) < 200
    told = {tuple(sorted(re.findall(r"\b[A-Z]\b", s))) for story in longer for s in story.sentences[:]}
    assert any({"A", "B", "C"}.isdisjoint(pair) for pair in told)  # apart from the chain


def test_noise_is_worded_as_questions_of_one_step_are_and_never_by_a_wording_that_is_used_for_two_relations() -> None:
    row = [("A is over B.", "A", "B", "above"), ("X is near K.", "X", "K", "left"), ("X is near K.", "X", "K", "above")]
    stories = [
        Story(sentences=(text,), questions=(Question(text=f"The agent {x} to the agent {y}?", answer=a, after=1),))
        for text, x, y, a in row
    ]
    assert Noise.learned_from(stories).wordings == {(0, 1): ["{0} is over {1}."], (-1, 0): []}


def test_noise_of_our_own_is_in_training_and_validation_and_never_in_a_test(stepgame: Path) -> None:
    (stepgame / "test.jsonl").write_text(json.dumps(STEPGAME[0]) + "\n")
    assert board_stories("stepgame-noisy", stepgame, "test") == board_stories("stepgame", stepgame, "test")
    assert len(board_stories("stepgame-noisy", stepgame, "valid")) == 2
    assert len(board_stories("stepgame-noisy", stepgame, "train")) == 4  # each once more, varied


def test_a_story_can_be_asked_about_the_ends_of_its_chain_or_any_two_of_its_agents() -> None:
    rng = Random(1)
    near = replace(CHAIN, questions=(replace(ASKED, text="What is the relation of the agent A to the agent B?"),))
    ends = {(asked.text[34], asked.text[-2], asked.answer) for asked in other_questions(near, rng, ends=True)}
    assert ends == {("A", "C", "upper-right"), ("C", "A", "lower-left")}
    assert len({asked.text for asked in other_questions(near, rng, ends=False)}) == 6
    unknown = replace(CHAIN, sentences=("A is right of B.", "B is near C."))
    assert list(other_questions(unknown, rng, ends=True)) == [ASKED] * 50


def other_questions(story: Story, rng: Random, *, ends: bool) -> Iterator[Question]:
    return (NOISE.ask_other(story, rng, ends=ends).questions[0] for _ in range(50))


def test_chains_of_our_own_are_answered_by_their_sentences() -> None:
    rng = Random(2)
    for story in [NOISE.chain(7, rng) for _ in range(50)]:
        (frame,) = [frame for frame in places(story) if len(frame) == 8]
        one, other = story.questions[0].text[34], story.questions[0].text[-2]
        x, y = frame[one][0] - frame[other][0], frame[one][1] - frame[other][1]
        step = ((x > 0) - (x < 0), (y > 0) - (y < 0))
        assert story.questions[0].answer == next((name for name, way in STEPS.items() if way == step), "overlap")


def test_long_chains_are_there_to_validate_with_alone(stepgame: Path) -> None:
    with pytest.raises(ConfigError, match="stepgame-long is there to validate with, and has no split 'train'"):
        board_stories("stepgame-long", stepgame, "train")


def test_other_names_are_other_letters_in_story_and_question_alike() -> None:
    renamed = with_other_names(CHAIN, Random(0))
    names = dict(zip(re.findall(r"\b[A-Z]\b", str(CHAIN)), re.findall(r"\b[A-Z]\b", str(renamed)), strict=True))
    assert len(set(names.values())) == 3 and names != {name: name for name in names}
    assert re.sub(r"\b[A-Z]\b", lambda match: names[match[0]], str(CHAIN)) == str(renamed)


def test_one_model_may_learn_all_tasks_of_a_board_that_has_one_for_each() -> None:
    key = data_key(RunSpec(task="babi1k-joint"))
    assert [part.key.task for part in parts_of(key)] == [f"babi1k-{task}" for task in range(1, 21)]


def test_hindi_keeps_a_tenth_of_a_training_file_to_validate_with(tmp_path: Path) -> None:
    (tmp_path / "qa2_two-supporting-facts_train.txt").write_text(
        "".join(HINDI.replace("Sita", f"S{i}") for i in range(20))
    )
    training, validation = (board_stories("hindi-2", tmp_path, split) for split in ("train", "valid"))
    assert (len(training), len(validation)) == (18, 2)
    assert not set(training) & set(validation)
    with pytest.raises(DataError, match="task 2, split test"):
        board_stories("hindi-2", tmp_path, "test")


def test_one_thousand_questions_are_the_first(tmp_path: Path) -> None:
    asked = [Question(text=f"Who {i}?", answer="a", after=1) for i in range(3)]
    stories = [Story(sentences=("A b.",), questions=tuple(asked))] * 3
    assert [len(story.questions) for story in first_questions(stories, 5)] == [3, 2]
    folder = tmp_path / "en-valid-10k"
    folder.mkdir()
    (folder / "qa1_train.txt").write_text("".join(HINDI.replace("Sita", f"S{i}") for i in range(1100)))
    (folder / "qa1_valid.txt").write_text(HINDI * 3 + HINDI.replace("Sita", "S7"))
    assert len(board_stories("babi1k-1", folder, "train")) == 999  # one of them is asked in validation, too
    assert len(board_stories("babi1k-1", folder, "valid")) == 4


def test_a_training_file_may_lie_beside_in_the_folder_of_the_first_release(tmp_path: Path) -> None:
    for name in ("en/qa3_three_train.txt", "en-valid-10k/qa3_valid.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(HINDI.replace("Sita", name[:8].title()))
    assert len(board_stories("babi1k-3", tmp_path / "en-valid-10k", "train")) == 1
    with pytest.raises(DataError, match="task 3, split test"):
        board_stories("babi1k-3", tmp_path / "en-valid-10k", "test")


def test_boards_are_tasks_of_a_sweep_and_unknown_ones_are_refused(stepgame: Path) -> None:
    assert parse_tasks("stepgame,hindi-4,stepgame-noisy") == ["stepgame", "hindi-4", "stepgame-noisy"]
    assert len(parse_tasks("hindi")) == 19 and "hindi-3" not in tasks_of("hindi")
    assert find_board(3) is None and find_board("joint") is None
    with pytest.raises(ConfigError, match="cannot be generated: give the folder"):
        board_stories("stepgame", None, "train")
    with pytest.raises(ConfigError, match="did you mean stepgame"):
        board_stories("stepgam", stepgame, "train")
    with pytest.raises(ConfigError, match="unknown split"):
        board_stories("stepgame", stepgame, "dev")


def test_means_are_those_of_the_papers_where_all_parts_were_asked() -> None:
    rows = [{"part": str(k), "error_percent": float(k)} for k in range(1, 8)]
    assert means_of(BOARDS["stepgame"], rows) == [{"mean": "k 1-5", "error_percent": 3.0, "right_percent": 97.0}]


@pytest.mark.skipif(not (RELEASED / "stepgame").is_dir(), reason="StepGame is not beside this checkout")
def test_stepgame_is_read_as_released() -> None:
    stories = board_stories("stepgame", RELEASED / "stepgame", "valid")
    assert len(stories) == 5000
    assert {story.questions[0].answer for story in stories} == {*STEPS, "overlap"}
    noisy = board_stories("stepgame-noisy", RELEASED / "stepgame", "valid")
    assert sum(len(story.sentences) for story in noisy) > sum(len(story.sentences) for story in stories) * 1.5
