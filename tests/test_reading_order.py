"""A model that was trained to read outwards from the question does so wherever it is asked."""

from itertools import permutations

from amn.api import QA
from amn.config import RunSpec, TrainConfig
from amn.data.vocabulary import Vocabulary
from amn.inference.engine import order_of
from amn.inference.trained import TrainedModel, TrainingRecord
from amn.models import build_model
from random_stories import shaken

WORDS = Vocabulary.from_json({"words": ["A", "B", "above", "is", "of", "where"], "answers": ["above", "left"]})
TOLD = ["A is above B.", "B is above Corinna.", "Corinna is above Dagobert."]
QUESTION = "Where is A of Dagobert?"


def reader(order: str) -> QA:
    model = build_model("amn", WORDS, {"hidden": 16, "heads": 2}, 0).eval()
    shaken(model, 0)
    spec = RunSpec(task="stepgame", train=TrainConfig(order=order))  # type: ignore[arg-type]
    return QA(TrainedModel.of("amn", model, WORDS, {"run": spec.to_json(), "names": ["A", "B"]}))


def test_a_story_in_any_order_is_the_same_to_a_model_that_reads_outwards() -> None:
    shuffled = [list(told) for told in permutations(TOLD)]
    assert len({round(reader("outward")(told, QUESTION).score, 5) for told in shuffled}) == 1
    assert len({round(reader("told")(told, QUESTION).score, 5) for told in shuffled}) > 1


def test_an_explanation_is_of_the_same_answer() -> None:
    qa, told = reader("outward"), TOLD[::-1]
    assert round(qa(told, QUESTION, explain=True).score, 5) == round(qa(told, QUESTION).score, 5)


def test_a_memory_that_hears_sentences_as_they_come_reads_them_in_order_when_it_is_asked() -> None:
    qa, told = reader("outward"), TOLD[::-1]
    right = round(qa(told, QUESTION).score, 5)
    memory = qa.memory([QUESTION, "Where is B of A?"])
    for sentence in told:
        memory.tell(sentence)
    assert [round(answer.score, 5) for answer in memory.ask()][0] == round(memory.ask(QUESTION).score, 5) == right
    read = qa.memory(QUESTION)
    read.read(told)
    assert round(read.ask()[0].score, 5) == right


def test_an_explanation_numbers_sentences_as_they_were_told() -> None:
    told = TOLD[::-1]
    why = reader("outward")(told, QUESTION, explain=True).explanation
    assert why is not None
    assert [trace.sentence for trace in why.sentences] == [2, 1, 0]
    assert all(told[trace.sentence] == trace.text for trace in why.sentences)


def test_names_of_the_training_and_unknown_words_join_sentences() -> None:
    spoken = [("corinna", "is", "above", "dagobert"), ("b", "is", "above", "corinna"), ("A", "is", "above", "B")]
    assert TrainingRecord.of(reader("outward").record).names == {"A", "B"}
    assert list(order_of(reader("outward").trained, spoken, ("where", "is", "dagobert"))) == [2, 0, 1]
    assert list(order_of(reader("told").trained, spoken, ("where", "is", "dagobert"))) == [0, 1, 2]
