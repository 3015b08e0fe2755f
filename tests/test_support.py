"""What an answer rests on, against a literal twin that reads the whole story again without each sentence."""

from collections.abc import Sequence

import pytest

from amn.answers import Answer
from amn.data.examples import Words
from amn.data.story import words
from amn.inference.story_memory import StoryMemory
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory, support
from live_memories import QUESTIONS, trained

STORY = [
    f"{who} {did} the {what}."
    for who, did, what in [
        ("Mary", "went to", "garden"),
        ("John", "took", "milk"),
        ("Mary", "took", "milk"),
        ("John", "went to", "office"),
        ("Mary", "went to", "office"),
    ]
    * 4
]


def asked(model: TrainedModel, story: list[str], shared: bool | None = None) -> tuple[LiveMemory, list[Answer]]:
    memory = LiveMemory(model, QUESTIONS, shared)
    memory.tell(story)
    return memory, memory.ask(banks=0)


def literally(model: TrainedModel, story: list[str], question: int, shared: bool) -> tuple[int, ...]:
    """The same by reading everything again, every time."""
    answer = asked(model, story, shared)[1][question]
    found = []
    for left_out in range(len(story)):
        then = asked(model, story[:left_out] + story[left_out + 1 :], shared)[1][question]
        if then.answer != answer.answer or then.score < answer.score * support.LESS_SURE:
            found.append(left_out)
    return tuple(found)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_reading_all_again_without_each_sentence_gives(seed: int, shared: bool) -> None:
    model = trained(seed)
    memory, answers = asked(model, STORY, shared)
    for number, answer in enumerate(answers):
        *_, found = memory.explaining(number, answer)
        near = {*words(QUESTIONS[number]), *words(answer.answer)}
        tried = [i for i, text in enumerate(STORY) if near.intersection(words(text))]
        expected = [i for i in literally(model, STORY, number, shared) if i in tried]
        assert list(found.sentences) == expected


def test_a_model_without_banks_is_explained_as_well() -> None:
    model = trained(0, "entnet", hidden=8)
    memory, answers = asked(model, STORY[:6])
    *_, found = memory.explaining(0, answers[0])
    assert set(found.sentences) <= set(range(6))


def test_little_is_read_again_however_long_the_story(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, answers = asked(trained(0), STORY * 10)
    heard: list[int] = []
    kind = type(memory._groups[0].memory)
    ingest = kind.ingest

    def counted(self: StoryMemory, part: Sequence[Words]) -> None:
        heard.append(len(part))
        ingest(self, part)

    monkeypatch.setattr(kind, "ingest", counted)
    monkeypatch.setattr(support, "READ_AGAIN", 300)
    *_, found = memory.explaining(0, answers[0])
    assert sum(heard) <= 300 + len(STORY) * 10 and max(heard) <= support.STEP_WORDS
    assert found.explanation is not None


def test_a_deadline_ends_the_search_and_the_explanation_stays() -> None:
    memory, _ = asked(trained(0), STORY)
    (first, _) = memory.ask(explain=True, deadline=0.0)
    assert first.explanation is not None and first.sentences == ()
    assert memory.ask(explain=True, deadline=100.0)[0].explanation is not None
