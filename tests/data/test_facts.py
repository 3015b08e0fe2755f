"""What holds after each sentence: a reader that knows only sentences finds the very facts that the generator gives."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from amn.data.babi import read_babi, write_babi
from amn.data.examples import examples
from amn.data.facts import KINDS, Fact, Facts, with_earlier_places
from amn.data.story import Story, words
from amn.data.tasks import TASKS, GeneratorConfig, generate, generate_preset, rename

WITHOUT = (14, 17)  # times of the day, and shapes of two words that share them
WITH = [task for task in sorted(TASKS) if task not in WITHOUT]
PLURALS = {"mouse": "mice", "wolf": "wolves", "cat": "cats"}
PLACES = {"in": r"is in the (\w+)", "not in": r"is (?:not|no longer) in the (\w+)"}
GET, DROP = r"(?:got|took|grabbed|picked up)", r"(?:dropped|left|discarded|put down|let go of)"
MOVE = r"(?:went|went back|moved|journeyed|travelled) to the (\w+)"


class Reader:
    """Follows a story by its sentences alone."""

    def __init__(self) -> None:
        self.facts: set[Fact] = set()
        self.heard: set[str] = set()
        self.last: list[str] = []  # who "he", "she" and "they" are

    def read(self, sentence: str) -> Facts:
        """What holds after one more sentence."""
        text = " ".join(words(sentence))
        self.heard |= set(words(sentence))
        for rule in (self.moves, self.stays, self.handles, self.lies, self.compares, self.is_something):
            if rule(text):
                break
        pairs = [Fact(one, "is", many) for one, many in PLURALS.items() if {one, many} <= self.heard]
        self.facts |= set(pairs)
        return frozenset(self.facts)

    def put(self, who: str, kind: str, *places: str) -> None:
        self.facts -= {fact for fact in self.facts if fact.source == who and fact.kind in ("in", "not in", "maybe in")}
        self.facts |= {Fact(who, kind, place) for place in places}

    def moves(self, text: str) -> bool:
        found = re.fullmatch(rf"(?:(?:afterwards|then|after that|following that) )?(.+?) {MOVE}", text)
        if found:
            who = found[1].split(" and ")
            self.last = self.last if who[0] in ("he", "she", "they") else who
            for one in self.last:
                self.put(one, "in", found[2])
        return bool(found)

    def stays(self, text: str) -> bool:
        either = re.fullmatch(r"(\w+) is either in the (\w+) or (?:in )?the (\w+)", text)
        if either:
            self.put(either[1], "maybe in", either[2], either[3])
        for kind, pattern in PLACES.items():
            found = re.fullmatch(rf"(\w+) {pattern}", text)
            if found:
                self.put(found[1], kind, found[2])
                return True
        return bool(either)

    def handles(self, text: str) -> bool:
        got = re.fullmatch(rf"(\w+) {GET} the (\w+)(?: there)?", text)
        gave = re.fullmatch(r"\w+ (?:gave|passed|handed) the (\w+) to (\w+)", text)
        dropped = re.fullmatch(rf"(\w+) {DROP} the (\w+)(?: there)?", text)
        if got or gave:
            who, item = (got[1], got[2]) if got else (gave[2], gave[1])  # type: ignore[index]
            self.facts -= {fact for fact in self.facts if item in (fact.source, fact.target)}
            self.facts.add(Fact(who, "holds", item))
        elif dropped:
            who, item = dropped[1], dropped[2]
            self.facts.discard(Fact(who, "holds", item))
            self.facts |= {Fact(item, "in", fact.target) for fact in self.facts if fact[:2] == (who, "in")}
        return bool(got or gave or dropped)

    def lies(self, text: str) -> bool:
        found = re.fullmatch(r"the (\w+) is (north|south|east|west) of the (\w+)", text)
        if found:
            ahead, kind = found[2] in ("north", "east"), f"{'north' if found[2] in ('north', 'south') else 'east'} of"
            self.facts.add(Fact(found[1], kind, found[3]) if ahead else Fact(found[3], kind, found[1]))
        return bool(found)

    def compares(self, text: str) -> bool:
        text = text.replace("box of chocolates", "chocolates")
        bigger = re.fullmatch(r"the (\w+) is bigger than the (\w+)", text)
        smaller = re.fullmatch(r"the (\w+) fits inside the (\w+)", text)
        if bigger or smaller:
            big, small = bigger.groups() if bigger else smaller.groups()[::-1]  # type: ignore[union-attr]
            self.facts.add(Fact(big, "bigger than", small))
        return bool(bigger or smaller)

    def is_something(self, text: str) -> bool:
        fear = re.fullmatch(r"(\w+) are afraid of (\w+)", text)
        being = re.fullmatch(r"(\w+) is (?:a )?(\w+)", text)
        if fear or being:
            self.facts.add(Fact(fear[1], "fears", fear[2]) if fear else Fact(being[1], "is", being[2]))  # type: ignore[index]
        return bool(fear or being)


def read(sentences: Sequence[str]) -> list[Facts]:
    reader = Reader()
    return [reader.read(sentence) for sentence in sentences]


HAND_WRITTEN: dict[str, tuple[list[str], str]] = {
    "1": (["Mary went to the kitchen.", "Mary moved to the hall."], "mary in hall"),
    "2": (["Mary went to the hall.", "Mary got the milk.", "Mary went to the den."], "mary in den|mary holds milk"),
    "3": (["Mary went to the hall.", "Mary took the milk.", "Mary dropped the milk."], "mary in hall|milk in hall"),
    "4": (["The hall is south of the den.", "The den is west of the office."], "den north of hall|office east of den"),
    "5": (["Fred got the milk there.", "Fred gave the milk to Bill."], "bill holds milk"),
    "6": (["John grabbed the apple there.", "John discarded the apple."], ""),  # nobody said where
    "9": (["Mary is in the hall.", "Mary is no longer in the hall."], "mary not in hall"),
    "10": (["Bill is either in the park or the school."], "bill maybe in park|bill maybe in school"),
    "11": (["Mary went to the hall.", "Then she moved to the den."], "mary in den"),
    "12": (["Mary and John went to the hall."], "john in hall|mary in hall"),
    "13": (["Mary and John went to the hall.", "Then they moved to the den."], "john in den|mary in den"),
    "15": (["Mice are afraid of cats.", "Emily is a mouse."], "emily is mouse|mice fears cats|mouse is mice"),
    "16": (["Lily is a swan.", "Lily is gray."], "lily is gray|lily is swan"),
    "18": (["The box fits inside the chest.", "The chest is bigger than the box of chocolates."],
           "chest bigger than box|chest bigger than chocolates"),
    "19": (["The hall is west of the den."], "den east of hall"),
    "20": (["Yann is bored.", "Yann went to the garden."], "yann in garden|yann is bored"),
}  # fmt: skip


@pytest.mark.parametrize("task", HAND_WRITTEN)
def test_hand_written_stories_are_read_as_expected(task: str) -> None:
    sentences, expected = HAND_WRITTEN[task]
    assert {" ".join(fact) for fact in read(sentences)[-1]} == set(filter(None, expected.split("|")))


@pytest.mark.parametrize("task", WITH)
def test_the_generator_gives_the_facts_that_its_sentences_tell(task: int) -> None:
    for story in generate(task, questions=60, seed=4):
        present = [frozenset(fact for fact in known if fact.kind != "was in") for known in story.facts]
        assert present == read(story.sentences), story.sentences
        assert task == 3 or present == list(story.facts)


def test_things_were_where_their_holders_took_them_from() -> None:
    sentences = [
        *("Ann got the milk.", "Ann went to the hall.", "Ann dropped the milk.", "Ann went to the den."),
        *("Bob went to the hall.", "Bob took the milk.", "Bob moved to the hall.", "Bob went to the loft."),
    ]
    earlier = [{fact for fact in known if fact.kind == "was in"} for known in with_earlier_places(read(sentences))]
    assert earlier == [set()] * 7 + [{Fact("milk", "was in", "hall")}]


def test_the_facts_of_task_3_hold_the_answers_about_the_place_where_a_thing_is() -> None:
    for story in generate_preset("short", questions=300, seed=2):
        for question in story.questions:
            thing, place = question.text.lower().rstrip("?").split()[3::3]
            known = story.facts[question.after - 1]
            assert [fact.target for fact in known if fact[:2] == (thing, "was in")] == [question.answer]
            holders = {fact.source for fact in known if fact[1:] == ("holds", thing)} or {thing}
            assert {Fact(holder, "in", place) for holder in holders} <= known


def test_kinds_and_words_are_known() -> None:
    for task in WITH:
        for story in generate(task, questions=30, seed=0, config=GeneratorConfig(wording="lua")):
            told: set[str] = set()
            for sentence, facts in zip(story.sentences, story.facts, strict=True):
                told |= set(words(sentence))
                assert all(fact.kind in KINDS and {fact.source, fact.target} <= told for fact in facts)


@pytest.mark.parametrize("task", WITHOUT)
def test_some_tasks_have_no_facts(task: int) -> None:
    assert next(generate(task, questions=1, seed=0)).facts == ()


def test_remarks_change_nothing_and_new_names_change_everywhere() -> None:
    config = GeneratorConfig(distractors=3)
    (story,) = generate(2, questions=3, seed=0, config=config)
    assert list(story.facts) == read(story.sentences)
    (renamed,) = rename([story], seed=0)
    assert list(renamed.facts) == read(renamed.sentences) != read(story.sentences)


def test_a_window_keeps_what_its_own_words_are_about() -> None:
    (story,) = generate(1, questions=5, seed=0)
    (*_, last) = examples([story], window=3, facts=True)
    assert len(last.facts) == len(last.sentences) == 3
    spoken: set[str] = set()
    for sentence, facts, whole in zip(last.sentences, last.facts, story.facts[-3:], strict=True):
        spoken |= set(sentence)
        assert facts == {fact for fact in whole if {fact.source, fact.target} <= spoken}


def test_facts_come_only_when_asked_for_and_no_file_holds_them(tmp_path: Path) -> None:
    stories = list(generate(1, questions=5, seed=0))
    assert all(example.facts == () for example in examples(stories))
    path = tmp_path / "stories.txt"
    write_babi(stories, path)
    found: list[Story] = list(read_babi(path))
    assert found == stories and not any(story.facts for story in found)
