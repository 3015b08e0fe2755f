"""The rule solver gives the known answers: on small stories made by hand and on the released data."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from solver import RULES, Unanswerable, solve

RELEASED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "babi-v1.2"
TASKS = sorted(RULES)
# Two labels in a thousand of task 5 are noise: they name an earlier giving than the most recent one.
FLOOR = {task: 0.998 if task == 5 else 1.0 for task in TASKS}

CARRIED = (
    "Mary moved to the office. Mary got the apple there. Mary went to the hallway. Mary travelled to the office. "
    "Mary journeyed to the garden. Mary went back to the office. Mary dropped the apple. Mary moved to the hallway."
)
RETAKEN = "Mary got the milk there. Mary took the apple. Mary left the milk there. Mary picked up the milk."
GIVEN = (
    "Fred got the apple there. Fred gave the apple to Bill. Bill handed the apple to Fred. Jeff took the milk there. "
    "Fred passed the apple to Mary. Jeff gave the milk to Mary. Mary dropped the milk."
)
GIVEN_LUA = "Fred got the apple. Fred gave Bill the apple. Bill gave Fred the apple. Fred gave Mary the apple."
DAYS = (
    "This evening Bill went to the park. Bill moved to the cinema this morning. Yesterday Bill journeyed to the park. "
    "Fred went to the school this evening. This afternoon Bill travelled to the office."
)
FEARS = (
    "Mice are afraid of wolves. Gertrude is a mouse. Wolves are afraid of sheep. Sheep are afraid of mice. "
    "Winona is a wolf. Jessica is a sheep."
)
COLORS = (
    "Lily is a swan. Brian is white. Brian is a swan. Greg is a swan. Julius is a lion. Julius is green. Greg is gray. "
    "Lily is yellow. Bernhard is a swan. Brian is a swan."
)
SHAPES = "The red sphere is to the left of the triangle. The pink rectangle is below the triangle."
COLUMN = "The red sphere is above the triangle. The triangle is above the blue square."
SIZES = (
    "The box fits inside the chest. The box of chocolates is bigger than the chocolate. The chest is bigger than the "
    "box of chocolates. The suitcase is bigger than the chest."
)
ROOMS = (
    "The kitchen is west of the office. The garden is south of the office. The hallway is east of the garden. "
    "The bedroom is north of the kitchen. The bathroom is east of the hallway."
)
NEEDS = (
    "Jason is thirsty. Yann is hungry. Jason went to the kitchen. Yann moved to the kitchen. Yann got the apple there."
)

BY_HAND = [
    (
        1,
        "Mary moved to the office. John went to the garden. Mary went back to the hallway.",
        "Where is Mary?",
        "hallway",
    ),
    (1, "Zorblat moved to the plim. John went to the garden.", "Where is Zorblat?", "plim"),
    (2, CARRIED, "Where is the apple?", "office"),
    (
        2,
        "Mary got the apple there. Mary moved to the office. John went to the garden.",
        "Where is the apple?",
        "office",
    ),
    (2, "Mary went to the office. Mary got the apple. Mary let go of the apple.", "Where is the apple?", "office"),
    (3, CARRIED, "Where was the apple before the office?", "garden"),
    (3, CARRIED, "Where was the apple before the garden?", "office"),
    (3, CARRIED, "Where was the apple before the hallway?", "office"),
    (
        4,
        "The office is north of the kitchen. The garden is south of the kitchen.",
        "What is the kitchen north of?",
        "garden",
    ),
    (
        4,
        "The office is north of the kitchen. The garden is south of the kitchen.",
        "What is north of the garden?",
        "kitchen",
    ),
    (
        4,
        "The garden is west of the office. The office is west of the hallway.",
        "What is east of the office?",
        "hallway",
    ),
    (5, GIVEN, "What did Fred give to Mary?", "apple"),
    (5, GIVEN, "What did Jeff give to Mary?", "milk"),
    (5, GIVEN, "Who gave the apple?", "Fred"),
    (5, GIVEN, "Who gave the apple to Fred?", "Bill"),
    (5, GIVEN, "Who received the apple?", "Mary"),
    (5, GIVEN, "Who did Fred give the apple to?", "Mary"),
    (5, GIVEN_LUA, "Who did Fred last give the apple to?", "Mary"),
    (5, GIVEN_LUA, "Who last gave the apple to Fred?", "Bill"),
    (6, "Mary got the milk there. Mary moved to the office. John went to the garden.", "Is Mary in the office?", "yes"),
    (6, "Mary moved to the office. Mary went to the garden.", "Is Mary in the office?", "no"),
    (7, RETAKEN, "How many objects is Mary carrying?", "two"),
    (7, RETAKEN + " Mary handed the milk to John.", "How many objects is Mary carrying?", "one"),
    (7, RETAKEN + " Mary gave John the milk.", "How many objects is John holding?", "one"),
    (7, "John took the milk there. John left the milk.", "How many objects is John carrying?", "none"),
    (7, "John took the milk. John dropped the milk.", "How many objects is John holding?", "zero"),
    (8, RETAKEN, "What is Mary carrying?", "milk,apple"),
    (8, RETAKEN + " Mary discarded the milk.", "What is Mary holding?", "apple"),
    (8, "Mary took the milk there. Mary put down the milk there.", "What is Mary carrying?", "nothing"),
    (9, "Mary is in the office. John is not in the garden.", "Is Mary in the office?", "yes"),
    (9, "Mary moved to the office. Mary is no longer in the office.", "Is Mary in the office?", "no"),
    (9, "John is not in the garden.", "Is John in the garden?", "no"),
    (9, "John is not in the garden. John is in the garden.", "Is John in the garden?", "yes"),
    (10, "Bill is either in the park or the school.", "Is Bill in the school?", "maybe"),
    (10, "Bill is either in the park or in the school.", "Is Bill in the park?", "maybe"),
    (10, "Bill is either in the park or the school.", "Is Bill in the cinema?", "no"),
    (10, "Bill is either in the park or the school. Bill is in the park.", "Is Bill in the park?", "yes"),
    (
        11,
        "Mary went to the office. Then she moved to the garden. John went to the hallway.",
        "Where is Mary?",
        "garden",
    ),
    (
        11,
        "Mary went to the office. John went to the hallway. After that he moved to the garden.",
        "Where is Mary?",
        "office",
    ),
    (12, "Mary and John went to the office. John and Daniel moved to the garden.", "Where is Mary?", "office"),
    (12, "Mary and John went to the office. Daniel and John moved to the garden.", "Where is John?", "garden"),
    (13, "Mary and John went to the office. Following that they moved to the garden.", "Where is John?", "garden"),
    (
        13,
        "Mary and John went to the office. Sandra went to the hallway. Then they moved to the garden.",
        "Where is Mary?",
        "garden",
    ),
    (14, DAYS, "Where was Bill before the park?", "office"),
    (14, DAYS, "Where was Bill before the cinema?", "park"),
    (14, DAYS, "Where was Bill before the office?", "cinema"),
    (15, FEARS, "What is gertrude afraid of?", "wolf"),
    (15, FEARS, "What is winona afraid of?", "sheep"),
    (15, FEARS, "What is jessica afraid of?", "mouse"),
    (
        16,
        "Lily is a swan. Greg is a lion. Lily is white. Greg is gray. Julius is a lion.",
        "What color is Julius?",
        "gray",
    ),
    (16, COLORS, "What color is Bernhard?", "white"),
    (16, COLORS.removesuffix(" Brian is a swan."), "What color is Bernhard?", "gray"),
    (17, SHAPES, "Is the red sphere above the pink rectangle?", "yes"),
    (17, SHAPES, "Is the red sphere to the left of the pink rectangle?", "yes"),
    (17, SHAPES, "Is the pink rectangle above the red sphere?", "no"),
    (17, SHAPES, "Is the pink rectangle to the right of the red sphere?", "yes"),
    (17, COLUMN, "Is the red sphere to the left of the blue square?", "no"),
    (17, COLUMN, "Is the red sphere to the right of the blue square?", "no"),
    (17, COLUMN, "Is the blue square below the red sphere?", "yes"),
    (18, SIZES, "Does the chocolate fit in the suitcase?", "yes"),
    (18, SIZES, "Is the box bigger than the suitcase?", "no"),
    (18, SIZES, "Does the suitcase fit in the box of chocolates?", "no"),
    (18, SIZES, "Is the suitcase bigger than the box?", "yes"),
    (19, ROOMS, "How do you go from the kitchen to the garden?", "e,s"),
    (19, ROOMS, "How do you go from the garden to the kitchen?", "n,w"),
    (19, ROOMS, "What is the path from hallway to office?", "w,n"),
    (19, ROOMS, "How do you go from the bathroom to the garden?", "w,w"),
    (20, NEEDS, "Where will jason go?", "kitchen"),
    (20, NEEDS, "Why did yann go to the kitchen?", "hungry"),
    (20, NEEDS, "Why did jason go to the kitchen?", "thirsty"),
    (20, NEEDS, "Why did yann get the apple?", "hungry"),
    (20, "Sumit is tired. Antoine is bored.", "Where will antoine go?", "garden"),
]

UNSETTLED = [
    (1, "Mary moved to the office.", "Where is John?"),
    (2, "Mary got the apple there.", "Where is the apple?"),
    (3, "Mary got the apple there. Mary moved to the office.", "Where was the apple before the office?"),
    (5, GIVEN, "What did Mary give to Fred?"),
    (9, "John is not in the garden.", "Is John in the office?"),
    (14, DAYS, "Where was Fred before the school?"),
    (16, COLORS, "What color is Nobody?"),
    (18, SIZES, "Is the box bigger than the chocolate?"),
    (19, ROOMS, "How do you go from the kitchen to the cellar?"),
    (20, NEEDS, "Why did jason get the apple?"),
    (1, "Mary moved to the office.", "Whither went Mary?"),
]


def told(story: str) -> list[str]:
    """The sentences of a story written as one line."""
    return re.split(r"(?<=\.) ", story)


def read_labels(path: Path) -> Iterator[tuple[list[str], str, str]]:
    """The (statements before it, question, answer) of every question of a released file."""
    sentences: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        number, text = line.split(" ", 1)
        if number == "1":
            sentences = []
        if "\t" in text:
            question, answer, _ = text.split("\t")
            yield sentences, question.strip(), answer
        else:
            sentences.append(text)


def released_file(task: int, split: str) -> Path:
    """The file of a split; the 10k train file of task 3 is not at hand, so the 1k one stands in."""
    if task == 3 and split == "train":
        return RELEASED / "en" / "qa3_three-supporting-facts_train.txt"
    return RELEASED / "en-valid-10k" / f"qa{task}_{split}.txt"


@pytest.mark.parametrize(("task", "story", "question", "answer"), BY_HAND)
def test_known_answer_of_a_story_made_by_hand(task: int, story: str, question: str, answer: str) -> None:
    assert solve(task, told(story), question) == answer


@pytest.mark.parametrize(("task", "story", "question"), UNSETTLED)
def test_an_unsettled_question_is_refused(task: int, story: str, question: str) -> None:
    with pytest.raises(Unanswerable):
        solve(task, told(story), question)


def test_every_task_has_a_story_made_by_hand() -> None:
    assert {task for task, *_ in BY_HAND} == set(range(1, 21))


@pytest.mark.parametrize(("task", "story", "question", "answer"), BY_HAND)
def test_sentences_about_others_change_nothing(task: int, story: str, question: str, answer: str) -> None:
    others = ["Zed went to the cellar.", "Zed took the rope there.", "Zed dropped the rope.", "Zed moved to the attic."]
    assert solve(task, [*others[:2], *told(story), *others[2:]], question) == answer


@pytest.mark.skipif(not RELEASED.is_dir(), reason="the released bAbI files are not beside the repository")
@pytest.mark.parametrize("split", ["train", "valid"])
@pytest.mark.parametrize("task", TASKS)
def test_released_labels_are_reproduced(task: int, split: str) -> None:
    right = [
        solve(task, story, question) == answer for story, question, answer in read_labels(released_file(task, split))
    ]
    assert len(right) >= 990
    assert sum(right) / len(right) >= FLOOR[task]
