"""An empty last bank is counted, and left out where it may not be read."""

import torch

from amn.data.examples import examples
from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary
from amn.inference.trained import TrainedModel
from amn.models import build_model
from amn.store.find import find_model
from amn.store.model_directory import load_model
from empty_bank import emptiness


def test_a_bank_that_nothing_enters_is_empty_for_every_answer() -> None:
    stories = list(generate(1, questions=30, seed=5))
    vocabulary = Vocabulary.of(stories)
    model = build_model("amn", vocabulary, {"hidden": 8, "heads": 2}).eval()
    for bias, empty in ((-50.0, 100.0), (50.0, 0.0)):
        with torch.no_grad():
            model.get_parameter("create.bias").fill_(50.0)
            model.get_parameter("move_state.bias").fill_(bias)
        rows = emptiness(TrainedModel.of("amn", model, vocabulary), list(examples(stories, window=50)))
        assert {row.empty for row in rows} == {empty}
        assert rows[-1].answer == "all" and rows[-1].questions == sum(row.questions for row in rows[:-1]) == 30
        if not empty:
            assert all(row.error == row.error_filled for row in rows)


def test_an_empty_bank_stands_for_no_and_is_not_needed_for_it() -> None:
    asked = list(examples(generate(18, questions=120, seed=5), window=50))
    found = {row.answer: row for row in emptiness(load_model(find_model("qa18")), asked)}
    assert found["no"].empty > 50 and found["yes"].empty == 0
    assert found["no"].error == found["no"].error_filled == 0
