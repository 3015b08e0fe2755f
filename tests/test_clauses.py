"""A sentence of several clauses is read clause by clause, and shown and counted as one."""

from random import Random

import pytest

from amn.api import QA, load
from amn.data.story import Punctuated, same_answer, words, words_of
from amn.data.tasks import generate
from amn.inference.clauses import clauses
from amn.inference.story_memory import Change, merged

STORY = "Mary went to the kitchen, and John took the ball and walked to the garden. Bill is in the office."
QUESTIONS = ["Where is Mary?", "Where is the ball?", "What is John carrying?", "Where is Bill?"]
ANSWERS = ["kitchen", "garden", "ball", "office"]


@pytest.fixture(scope="module")
def qa() -> QA:
    return load()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Mary went to the kitchen, and John went to the garden.", "mary went to the kitchen|john went to the garden"),
        ("Mary is in the park, the dog is at home.", "mary is in the park|the dog is at home"),
        ("Mary is in the park; Zaphod is in Xanadu.", "mary is in the park|zaphod is in xanadu"),
        ("Mary went home while Dr. Lee and Bill went out.", "mary went home|dr lee and bill went out"),
        ("Mary took the ball and went to the garden.", "mary took the ball|mary went to the garden"),
        ("He took the red ball and the lamp and left.", "he took the red ball and the lamp|he left"),
        (
            "Mary picked up the milk, walked to the hallway and dropped it there.",
            "mary picked up the milk|mary walked to the hallway|mary dropped it there",
        ),
        ("After that Mary took it, but then she went home.", "after that mary took it|she went home"),
        ("When Mary went out, Bill was at home.", "when mary went out|bill was at home"),
        ("Mary went home because she was hungry.", "mary went home|she was hungry"),
        ("John took the lamp and yesterday he went to the park.", "john took the lamp|yesterday he went to the park"),
    ],
)
def test_clauses_have_a_subject_and_a_verb(qa: QA, sentence: str, expected: str) -> None:
    found = clauses(words_of([sentence]), qa.trained.phrasing)
    assert found == clauses([words(sentence)], qa.trained.phrasing) == [tuple(c.split()) for c in expected.split("|")]


@pytest.mark.parametrize(
    "sentence",
    [
        "Mary and Daniel went to the garden.",
        "Ella, Finn and Greta are in the playground.",
        "The red square is to the left of the blue square and below the circle.",
        "John went to the office and then to the kitchen.",
        "Mary gave the ball and the lamp to Bill and Fred.",
        "Before Mary went to the kitchen, she was in the garden.",
        "In the park, Mary found and took the ball.",
        "They say Mary and Bill went to the park.",
        "It seems that Mary and Bill went to the park.",
        "It seems the ball and the lamp were taken by Mary.",
        "Mary went to the park, and so did Bill.",
        "Mary had five apples and ate two of them.",
        "Mary had 1,000 apples, lost 2.",
        "Now, they went to the park.",
    ],
)
def test_other_sentences_stay_whole(qa: QA, sentence: str) -> None:
    assert clauses([words(sentence)], qa.trained.phrasing) == [words(sentence)]


def test_nothing_is_split_for_a_model_that_has_no_phrasing() -> None:
    told = [words(STORY)]
    assert clauses(told, None) == told


def test_the_words_of_a_text_say_where_its_commas_stood() -> None:
    found = words("Mary, John and Bill left; Sue stayed.")
    assert isinstance(found, Punctuated) and found.after_commas == {1, 5}
    assert found == ("mary", "john", "and", "bill", "left", "sue", "stayed")
    assert not isinstance(words("Mary left."), Punctuated)


def test_what_clauses_did_is_what_their_sentence_did() -> None:
    first = Change({"mary": None, "to": 0}, {"mary": 1, "to": 0}, {"mary": 0.5}, 2, True)
    second = Change({"mary": 1, "john": None}, {"mary": 2, "john": 0}, {"mary": 0.7, "john": 0.1}, 3)
    both = merged([first, second])
    assert both.before == {"mary": None, "to": 0, "john": None} and both.after == {"mary": 2, "to": 0, "john": 0}
    assert both.strengths == {"mary": 0.7, "john": 0.1} and both.banks == 3 and both.created
    assert merged([first]) == first


def test_every_way_to_tell_and_ask_reads_clauses(implementation: str) -> None:
    qa = load()
    given = qa(STORY, QUESTIONS)
    assert [answer.answer for answer in given] == ANSWERS, implementation
    told, streamed = qa.memory(QUESTIONS), qa.memory(QUESTIONS)
    traces = told.tell(STORY)
    streamed.read([*told.sentences])
    for other in (
        told.ask(),
        streamed.ask(),
        qa.memory("Where is Bill?").from_bytes(told.to_bytes(), qa.trained).ask(),
    ):
        assert [one.answer for one in other] == ANSWERS
        assert [one.score for one in other] == pytest.approx([one.score for one in given], abs=1e-5)
    assert told.ask("Who has the ball?").answer == "john"
    assert [trace.text for trace in traces] == told.sentences and len(traces) == told.seen == 2
    depth = {word: deepest for trace in traces for word, deepest in trace.depth.items()}
    assert depth == {entity.word: bank.index for bank in told.snapshot() for entity in bank.entities}


def test_an_answer_rests_on_the_sentence_as_it_was_told(qa: QA) -> None:
    memory = qa.memory(["Where is Mary?"])
    memory.tell(STORY)
    answer = memory.ask("Where is Mary?", explain=True)
    assert [memory.sentences[number] for number in answer.sentences] == [STORY.partition(" Bill")[0]]


@pytest.mark.parametrize("task", [1, 2, 5, 7, 8, 9, 12])
def test_joined_sentences_are_answered_like_those_that_they_join(qa: QA, task: int) -> None:
    rng = Random(task)
    stories = list(generate(task, questions=60, seed=3))
    plain = [(list(story.sentences), story.questions[-1].text) for story in stories]
    joined = [(_joined(sentences, rng), question) for sentences, question in plain]
    assert all(same_answer(one.answer, other.answer) for one, other in zip(qa(joined), qa(plain), strict=True))


def _joined(sentences: list[str], rng: Random) -> str:
    return "".join(f"{one[:-1]}{rng.choice(('.', ', and', ' and', ',', ' while'))} " for one in sentences)
