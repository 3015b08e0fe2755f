"""Names: the shipped lists share nothing, and renaming changes names and nothing else."""

import re

import pytest

from amn.data.names import FURTHER, RELEASED, UNSEEN, NameList, known_names, pronoun
from amn.data.story import Question, Story, words
from amn.data.tasks import TASKS, generate, generate_preset, rename
from amn.errors import ConfigError

LISTS = {"released": RELEASED, "further": FURTHER, "unseen": UNSEEN}
RENAMED = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19]
KNOWN = known_names()


def tokens(story: Story) -> list[str]:
    """All words of a story as written, answers included."""
    texts = (*story.sentences, *(text for q in story.questions for text in (q.text, q.answer or "")))
    return re.findall(r"\w+", " ".join(texts))


def groups(names: NameList) -> tuple[tuple[str, ...], ...]:
    return names.people, names.places, names.objects


def test_lists_are_long_enough() -> None:
    assert len(FURTHER.people) >= 120
    assert len(FURTHER.places) >= 80
    assert len(FURTHER.objects) >= 80
    assert min(len(UNSEEN.women), len(UNSEEN.men), len(UNSEEN.places), len(UNSEEN.objects)) >= 50


def test_no_name_stands_twice() -> None:
    names = [name.lower() for names in LISTS.values() for group in groups(names) for name in group]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("names", LISTS.values(), ids=LISTS)
def test_names_are_single_words_and_people_have_capitals(names: NameList) -> None:
    assert all(re.fullmatch(r"[A-Z][a-z]+", name) for name in names.people)
    assert all(re.fullmatch(r"[a-z]+", name) for name in (*names.places, *names.objects))


def test_people_take_turns_so_that_a_few_hold_women_and_men() -> None:
    assert [pronoun(name) for name in FURTHER.people[:4]] == ["she", "he", "she", "he"]
    assert {*FURTHER.people} == {*FURTHER.women, *FURTHER.men}
    assert (pronoun("Mary"), pronoun("Daniel"), pronoun("Ursula")) == ("she", "he", "she")


def test_new_names_are_no_words_of_any_task() -> None:
    told = {word for task in TASKS for story in generate(task, questions=400, seed=0) for word in tokens(story)}
    told = {word.lower() for word in told}
    assert told.isdisjoint(known_names((FURTHER, UNSEEN)))


@pytest.mark.parametrize("task", RENAMED)
def test_no_old_name_is_left_and_the_new_ones_map_back(task: int) -> None:
    old = list(generate(task, questions=150, seed=2))
    for before, after in zip(old, rename(old, seed=1), strict=True):
        assert KNOWN.isdisjoint(word.lower() for word in tokens(after))
        pairs = {(a.lower(), b.lower()) for a, b in zip(tokens(before), tokens(after), strict=True)}
        assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
        changed = {a for a, b in pairs if a != b}
        assert changed == {a for a, _ in pairs if a in KNOWN}
        assert [a.istitle() for a in tokens(before)] == [b.istitle() for b in tokens(after)]


@pytest.mark.parametrize("task", sorted(TASKS))
def test_questions_keep_their_place_and_support(task: int) -> None:
    old = list(generate(task, questions=60, seed=2))
    for before, after in zip(old, rename(old, seed=1), strict=True):
        assert len(after.sentences) == len(before.sentences)
        kept = [(q.after, q.support) for q in before.questions]
        assert [(q.after, q.support) for q in after.questions] == kept


def test_pronouns_still_fit() -> None:
    for story in rename(generate(11, questions=200, seed=2), seed=1):
        for named, unnamed in zip(story.sentences[::2], story.sentences[1::2], strict=True):
            assert pronoun(named.split()[0]) in unnamed.split()


def test_motives_keep_their_places_and_things() -> None:
    old = list(generate(20, questions=100, seed=2))
    for before, after in zip(old, rename(old, seed=1), strict=True):
        assert [q.answer for q in after.questions] == [q.answer for q in before.questions]
        assert not {"jason", "antoine", "sumit", "yann"} & {word.lower() for word in tokens(after)}


@pytest.mark.parametrize("task", [17, 18])
def test_stories_without_names_stay(task: int) -> None:
    old = list(generate(task, questions=60, seed=2))
    assert list(rename(old, seed=1)) == old


def test_lists_of_things_and_lower_case_names_are_renamed() -> None:
    story = Story(
        sentences=("Mary got the apple there.", "Gertrude is a mouse."),
        questions=(
            Question(text="What is Mary carrying?", answer="apple,football", after=1, support=(0,)),
            Question(text="What is gertrude afraid of?", answer="wolf", after=2, support=(1,)),
            Question(text="Where is the apple?", after=2),
        ),
    )
    names = NameList(women=("Ada", "Eve"), men=(), places=(), objects=("cog", "gem"))
    (new,) = rename([story], seed=0, names=names)
    ada, eve = new.sentences[0].split()[0], new.sentences[1].split()[0]
    assert {ada, eve} == {"Ada", "Eve"}
    item = words(new.sentences[0])[3]
    assert new.questions[0].answer in ("cog,gem", "gem,cog")
    assert new.questions[0].answer.startswith(item)
    assert new.questions[1].text == f"What is {eve.lower()} afraid of?"
    assert new.questions[1].answer == "wolf"
    assert new.questions[2] == Question(text=f"Where is the {item}?", after=2)


def test_a_seed_gives_the_same_names_again_and_another_seed_others() -> None:
    old = list(generate(1, questions=20, seed=2))
    assert list(rename(old, seed=1)) == list(rename(old, seed=1))
    assert list(rename(old, seed=1)) != list(rename(old, seed=2))


def test_scaled_stories_can_be_renamed() -> None:
    (story,) = rename(generate_preset("scaled", questions=5, seed=0), seed=1)
    assert KNOWN.isdisjoint(word.lower() for word in tokens(story))


def test_too_few_new_names_are_refused() -> None:
    few = NameList(women=("Ada",), men=(), places=(), objects=())
    with pytest.raises(ConfigError, match="to rename, but there are only"):
        list(rename(generate(1, questions=5, seed=0), seed=0, names=few))
