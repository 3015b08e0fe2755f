"""Generated stories have the shape of the released ones: lengths, gaps, mixes, answers and words, task by task.

The numbers are those measured on the released data; where that data lies beside the project, the two are also compared
directly. Shares are in percent, and may differ by a few points, since a few thousand questions are drawn.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from amn.data.names import RELEASED, known_names
from amn.data.story import Question, Story, words
from amn.data.tasks import TASKS, generate

RELEASED_DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "babi-v1.2"
NUMBERS = sorted(TASKS)
QUESTIONS = 4000
POINTS = 3.0  # how far a share may be off
BLOCKS = [1, 9, 10, 11, 12, 13]  # two sentences, a question, five times over
HANDLING = [2, 3, 5, 6, 7, 8]
FEW_RELEASED = {3}  # only some hundred stories are published, so that their own numbers are not sharp

needs_released = pytest.mark.skipif(not RELEASED_DATA.is_dir(), reason="the released bAbI data is not at hand")


@cache
def made(task: int) -> list[Story]:
    return list(generate(task, questions=QUESTIONS, seed=11))


def whole(task: int) -> list[Story]:
    """Without the last story, which may be cut short."""
    return made(task)[:-1]


@cache
def released(task: int) -> list[Story]:
    folder = RELEASED_DATA / ("en" if task == 3 else "en-valid-10k")
    (file,) = folder.glob(f"qa{task}_*train.txt")
    stories: list[tuple[list[str], list[Question]]] = []
    for line in file.read_text().splitlines():
        number, text = line.split(" ", 1)
        if number == "1":
            stories.append(([], []))
            sentence_at: dict[str, int] = {}
        sentences, questions = stories[-1]
        if "\t" not in text:
            sentence_at[number] = len(sentences)
            sentences.append(text.strip())
            continue
        asked, answer, lines = text.split("\t")
        support = tuple(sentence_at[line] for line in lines.split())
        questions.append(Question(text=asked.strip(), answer=answer, after=len(sentences), support=support))
    return [Story(sentences=tuple(sentences), questions=tuple(questions)) for sentences, questions in stories]


def shares(values: Iterable[Hashable]) -> dict[Hashable, float]:
    counts = Counter(values)
    total = sum(counts.values())
    return {value: 100 * count / total for value, count in counts.items()}


def near(found: Mapping[Any, float], expected: Mapping[Any, float], points: float = POINTS) -> bool:
    """Whether all shares are as expected; what is not expected must be as good as absent."""
    return all(abs(found.get(key, 0) - expected.get(key, 0)) <= points for key in {*found, *expected})


def asked(stories: list[Story]) -> list[tuple[Story, Question]]:
    return [(story, question) for story in stories for question in story.questions]


def answers(task: int) -> dict[Hashable, float]:
    return shares(question.answer for _, question in asked(made(task)))


def kind(sentence: str) -> str:
    """The action that a sentence tells."""
    verb = sentence.split()[1]
    kinds = {"get": "got took grabbed picked", "drop": "dropped left discarded put", "give": "gave passed handed"}
    return next((name for name, verbs in kinds.items() if verb in verbs.split()), "move")


def gaps(story: Story) -> list[int]:
    after = [question.after for question in story.questions]
    return [after[0], *(later - earlier for earlier, later in zip(after, after[1:], strict=False))]


def newest_age(question: Question) -> int:
    """How many sentences were told after the newest support."""
    return question.after - 1 - max(question.support)


@pytest.mark.parametrize(
    ("task", "least", "most", "mean"),
    [
        *((task, 10, 10, 10) for task in BLOCKS),
        (2, 10, 90, 22.0),
        (3, 10, 300, 74),
        (4, 2, 2, 2),
        (5, 10, 160, 27.3),
        (6, 10, 26, 10.3),
        (7, 10, 60, 13.0),
        (8, 10, 60, 13.3),
        (14, 10, 16, 11.7),
        (15, 8, 8, 8),
        (16, 9, 9, 9),
        (17, 2, 2, 2),
        (18, 5, 25, 6.3),
        (19, 5, 5, 5),
        (20, 9, 12, 10.7),
    ],
)
def test_sentences_of_a_story(task: int, least: int, most: int, mean: float) -> None:
    lengths = [len(story.sentences) for story in whole(task)]
    assert least <= min(lengths) <= max(lengths) <= most
    assert sum(lengths) / len(lengths) == pytest.approx(mean, rel=0.06)


@pytest.mark.parametrize("task", [number for number in NUMBERS if number not in (18, 20)])
def test_questions_of_a_story(task: int) -> None:
    usual = {4: 1, 15: 4, 16: 1, 17: 8, 19: 1}.get(task, 5)
    assert {len(story.questions) for story in whole(task)} == {usual}


@pytest.mark.parametrize("task", BLOCKS)
def test_a_question_follows_every_two_sentences(task: int) -> None:
    assert all(gaps(story) == [2, 2, 2, 2, 2] for story in whole(task))


@pytest.mark.parametrize(
    ("task", "first", "later"),
    [
        (2, {2: 5, 4: 18, 6: 18, 8: 16, 10: 12, 12: 10, 14: 7, 16: 14}, {2: 71, 4: 15, 6: 7, 8: 3, 10: 4}),
        (3, {2: 0, 4: 3, 6: 5, 8: 5, 10: 5, 12: 5, 14: 5, 16: 72}, {2: 57, 4: 6, 6: 5, 8: 3, 10: 30}),
        (5, {2: 5, 4: 11, 6: 12, 8: 12, 10: 10, 12: 7, 14: 7, 16: 35}, {2: 87, 4: 3, 6: 2, 8: 2, 10: 6}),
        (6, {2: 89, 4: 10, 6: 1}, {2: 99.5, 4: 0.4}),
        (7, {2: 50, 4: 23, 6: 11, 8: 7, 10: 3, 12: 3, 14: 1, 16: 2}, {2: 96, 4: 2, 6: 1, 8: 0.4, 10: 0.3}),
        (8, {2: 49, 4: 23, 6: 12, 8: 7, 10: 3, 12: 2, 14: 1, 16: 2}, {2: 94, 4: 3, 6: 2, 8: 1, 10: 0.5}),
    ],
)
def test_gaps_before_questions(task: int, first: dict[int, float], later: dict[int, float]) -> None:
    told = [gaps(story) for story in whole(task)]
    points = 9 if task in FEW_RELEASED else 4
    assert near(shares(min(gap[0], 16) for gap in told), first, points)
    assert near(shares(min(gap, 10) for story in told for gap in story[1:]), later, points)


@pytest.mark.parametrize(
    ("task", "mix"),
    [
        (2, {"move": 65, "get": 20, "drop": 15}),
        (3, {"move": 64, "get": 19, "drop": 17}),
        (5, {"move": 56, "get": 17, "give": 15.5, "drop": 12}),
        (6, {"move": 68, "get": 21, "drop": 11}),
        (7, {"move": 60, "get": 18, "drop": 9, "give": 13}),
        (8, {"move": 66, "get": 21, "drop": 13}),
    ],
)
def test_mix_of_actions(task: int, mix: dict[str, float]) -> None:
    assert near(shares(kind(sentence) for story in made(task) for sentence in story.sentences), mix, 2)


@pytest.mark.parametrize("task", HANDLING)
def test_there_after_actions(task: int) -> None:
    told = [(kind(sentence), sentence.endswith(" there.")) for story in made(task) for sentence in story.sentences]
    for action, share in (("get", 19 if task == 3 else 100), ("drop", 20), ("move", 0), ("give", 0)):
        ends = [there for what, there in told if what == action]
        assert not ends or near(shares(ends), {True: share, False: 100 - share}, 4)


@pytest.mark.parametrize("task", [1, 6, 12, 20])
def test_moving_verbs_are_used_alike(task: int) -> None:
    pattern = re.compile(r"(went to|went back to|moved to|journeyed to|travelled to) the")
    found = [match[1] for story in made(task) for text in story.sentences if (match := pattern.search(text))]
    assert near(shares(found), dict.fromkeys(set(found), 20))
    assert len(set(found)) == 5


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (6, {"yes": 50, "no": 50}),
        (7, {"none": 47, "one": 48.7, "two": 4.1, "three": 0.2}),
        (9, {"no": 62.5, "yes": 37.5}),
        (10, {"no": 47.5, "yes": 37.7, "maybe": 14.7}),
        (15, {"mouse": 25, "sheep": 25, "wolf": 25, "cat": 25}),
        (16, {"gray": 25, "white": 25, "yellow": 25, "green": 25}),
        (17, {"yes": 50, "no": 50}),
        (18, {"yes": 50, "no": 50}),
    ],
)
def test_answers(task: int, expected: dict[str, float]) -> None:
    assert near(answers(task), expected)


@pytest.mark.parametrize("task", [1, 2, 3, 4, 11, 12, 13, 14])
def test_places_are_answers_alike(task: int) -> None:
    places = TASKS[task].places
    assert near(answers(task), dict.fromkeys(places, 100 / len(places)), 4)


def test_lists_and_paths_are_one_answer() -> None:
    assert near({"nothing": answers(8)["nothing"]}, {"nothing": 36})
    several = sum(share for answer, share in answers(8).items() if "," in str(answer))
    assert several == pytest.approx(6.4, abs=2)
    back = {"n,s", "s,n", "e,w", "w,e"}
    assert set(answers(19)) == {f"{one},{two}" for one in "nsew" for two in "nsew"} - back
    assert near(answers(19), dict.fromkeys(answers(19), 100 / 12), 2)


@pytest.mark.parametrize("task", [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13])
def test_questions_are_about_the_last_five_sentences(task: int) -> None:
    ages = [newest_age(question) for _, question in asked(made(task))]
    assert max(ages) == {12: 2, 13: 2}.get(task, 4)


@pytest.mark.parametrize(
    ("task", "numbers"),
    [(1, {1}), (2, {2}), (3, {3}), (4, {1}), (5, {1}), (6, {1}), (9, {1}), (10, {1}), (11, {2}), (12, {1}), (13, {2})]
    + [(14, {2}), (15, {2}), (16, {3}), (17, {2}), (18, {2}), (19, {2}), (20, {1})],
)
def test_number_of_supports(task: int, numbers: set[int]) -> None:
    assert {len(question.support) for _, question in asked(made(task))} == numbers


def test_task_1_asks_about_people_told_of_lately() -> None:
    ranks = []
    for story, question in asked(made(1)):
        latest = dict.fromkeys(sentence.split()[0] for sentence in reversed(story.sentences[: question.after]))
        if len(latest) == 4:
            ranks.append(list(latest).index(question.text.rstrip("?").split()[-1]) + 1)
    assert near(shares(ranks), {1: 36, 2: 30, 3: 24, 4: 10})


def test_task_2_and_3_ask_about_dropped_and_held_things() -> None:
    for task, dropped in ((2, 69), (3, 79)):
        found = shares(kind(story.sentences[question.support[0]]) for story, question in asked(made(task)))
        assert near(found, {"drop": dropped, "get": 100 - dropped})


def test_task_4_names_the_middle_room_in_two_of_three() -> None:
    named, same = [], []
    for story, question in asked(made(4)):
        (one,), (two,) = (re.findall(r"The (\w+) is (\w+) of the (\w+)", text) for text in story.sentences)
        (middle,) = {one[0], one[2]} & {two[0], two[2]}
        named.append(middle in words(question.text))
        same.append(one[1] == two[1])
    assert near(shares(named), {True: 66, False: 34})
    assert near(shares(same), {True: 46, False: 54})


def test_task_5_asks_in_five_forms_about_the_latest_give() -> None:
    names = "|".join((*TASKS[5].people, *TASKS[5].objects))
    forms = shares(re.sub(names, "_", question.text) for _, question in asked(made(5)))
    rare = ("Who gave the _?", "Who gave the _ to _?", "Who received the _?", "Who did _ give the _ to?")
    assert near(forms, {"What did _ give to _?": 34, **dict.fromkeys(rare, 16.5)})
    assert near(shares(newest_age(question) for _, question in asked(made(5))), {0: 43, 1: 22, 2: 15, 3: 11, 4: 8})


@pytest.mark.parametrize(
    ("task", "own"), [(9, r" is (not|no longer) in the \w+\.$"), (10, r" is either in the \w+ or the \w+\.$")]
)
def test_half_the_moves_are_told_in_other_ways(task: int, own: str) -> None:
    def way(sentence: str) -> str:
        return "own" if re.search(own, sentence) else "is" if " is in the " in sentence else "move"

    found = shares(way(sentence) for story in made(task) for sentence in story.sentences)
    assert near(found, {"move": 50, "is": 25, "own": 25}, 2)


@pytest.mark.parametrize(("task", "share"), [(11, 65), (12, 96), (13, 92)])
def test_most_questions_are_about_the_last_two_sentences(task: int, share: float) -> None:
    own = shares(newest_age(question) < 2 for _, question in asked(made(task)))
    assert own[True] == pytest.approx(share, abs=POINTS)


def test_task_14_tells_days_out_of_order() -> None:
    assert near(shares(story.questions[0].after for story in whole(14)), {2: 25, 4: 65, 6: 10}, 4)
    starts = shares(sentence.startswith(("Yesterday", "This")) for story in made(14) for sentence in story.sentences)
    assert near(starts, {True: 50, False: 50})
    times = ("yesterday", "this morning", "this afternoon", "this evening")
    for story in whole(14):
        told: dict[str, list[int]] = {}
        for sentence in story.sentences:
            person = next(name for name in TASKS[14].people if name in sentence)
            told.setdefault(person, []).append(next(n for n, time in enumerate(times) if time in sentence.lower()))
        assert all(sorted(slots) == list(range(len(slots))) for slots in told.values())


def test_task_15_tells_a_fear_before_its_kind() -> None:
    distinct = []
    for story in whole(15):
        kinds = [text.rstrip(".").split()[-1] for text in story.sentences if " is a " in text]
        distinct.append(len(set(kinds)))
        assert " are afraid of " in story.sentences[0]
        assert sum(" are afraid of " in text for text in story.sentences) == len(kinds) == 4
    assert near(shares(distinct), {1: 3, 2: 42, 3: 50, 4: 5}, 5)


def test_task_16_has_others_of_the_kind_and_some_doubt() -> None:
    others, doubtful = [], []
    for story, question in asked(made(16)):
        told = [text.rstrip(".").split() for text in story.sentences]
        kind_of = {line[0]: line[3] for line in told if line[2] == "a"}
        colour_of = {line[0]: line[2] for line in told if line[2] != "a"}
        person = question.text.rstrip("?").split()[-1]
        assert {*kind_of} - {*colour_of} == {person}
        alike = [name for name in kind_of if kind_of[name] == kind_of[person] and name != person]
        others.append(len(alike))
        doubtful.append(len({colour_of[name] for name in alike}) > 1)
        assert question.answer == colour_of[alike[-1]]
    assert near(shares(others), {1: 89, 3: 10, 4: 1}, 2)
    assert near(shares(doubtful), {True: 7.5, False: 92.5}, 2)


def test_task_18_tells_in_fives() -> None:
    first = shares(story.questions[0].after for story in whole(18))
    assert near(first, {5: 77, 10: 21.5, 15: 1.3}, 5)
    repeats = shares(len(set(story.sentences)) < len(story.sentences) for story in whole(18))
    assert repeats[True] == pytest.approx(40, abs=6)
    assert {len(story.questions) for story in whole(18)} >= {5}
    assert shares(len(story.questions) for story in whole(18))[5] > 95


def test_task_20_asks_after_every_sentence_until_nobody_can_go_on() -> None:
    assert near(shares(len(story.sentences) for story in whole(20)), {9: 1, 10: 34, 11: 56, 12: 9}, 6)
    for story in whole(20):
        assert [question.after for question in story.questions] == list(range(1, len(story.sentences) + 1))


@needs_released
@pytest.mark.parametrize("task", NUMBERS)
def test_vocabulary_is_the_released_one(task: int) -> None:
    def vocabulary(stories: list[Story]) -> set[str]:
        texts = {text for story in stories for text in story.sentences}
        texts |= {text for _, question in asked(stories) for text in (question.text, question.answer or "")}
        return {word for text in texts for word in words(text)}

    assert vocabulary(made(task)) == vocabulary(released(task))


@needs_released
@pytest.mark.parametrize("task", NUMBERS)
def test_forms_of_sentences_and_questions_are_the_released_ones(task: int) -> None:
    names = re.compile(rf"\b({'|'.join(sorted(known_names((RELEASED,)), key=len, reverse=True))})\b", re.IGNORECASE)

    def forms(stories: list[Story]) -> set[str]:
        texts = {text for story in stories for text in (*story.sentences, *(q.text for q in story.questions))}
        return {names.sub("_", text) for text in texts}

    assert forms(made(task)) == forms(released(task))


def by_answer(_: Story, question: Question) -> Hashable:
    return question.answer


def by_support_order(_: Story, question: Question) -> Hashable:
    """The order in which the newest and the oldest few supports are given."""
    order = sorted(range(len(question.support)), key=question.support.__getitem__)
    return tuple(order[:3])


def by_age(_: Story, question: Question) -> Hashable:
    return newest_age(question)


def by_oldest(_: Story, question: Question) -> Hashable:
    return min(12, question.after - min(question.support))


def by_sentences_seen(_: Story, question: Question) -> Hashable:
    return min(question.after // 4, 6)


FEATURES = (by_answer, by_support_order, by_age, by_oldest, by_sentences_seen)


@needs_released
@pytest.mark.parametrize("task", NUMBERS)
@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.__name__)
def test_questions_are_spread_as_released(task: int, feature: Callable[[Story, Question], Hashable]) -> None:
    """The two sets put at most a few percent of their questions differently (half the sum of all differences)."""
    ours = shares(feature(*both) for both in asked(made(task)))
    theirs = shares(feature(*both) for both in asked(released(task)))
    apart = sum(abs(ours.get(key, 0) - theirs.get(key, 0)) for key in {*ours, *theirs}) / 2
    uneven = task == 5 and feature is by_answer  # the released stories favour Mary and the apple
    assert apart < (9 if task in FEW_RELEASED or uneven else 5.5)
