"""What stories cost: operations that can be counted by hand, and none of them twice."""

from dataclasses import asdict

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from amn.data.examples import Example, examples
from amn.data.tasks import generate
from amn.data.vocabulary import Vocabulary
from amn.evaluation.cost import COUNTED_STORIES, cost_of, work_of
from amn.inference.torch_batches import plain_batch
from amn.inference.trained import TrainedModel
from amn.models import MODELS, build_model

STORIES = list(generate(1, questions=20, seed=0))
HIDDEN, SLOTS = 8, 5


def trained(architecture: str, **settings: object) -> TrainedModel:
    vocabulary = Vocabulary.of(STORIES)
    model = build_model(architecture, vocabulary, {"hidden": HIDDEN, **settings}).eval()
    return TrainedModel.of(architecture=architecture, model=model, vocabulary=vocabulary, record={})


def told(sentences: int) -> list[Example]:
    """Stories of so many sentences."""
    return [
        Example(
            sentences=(("mary", "went", "home"),) * sentences, questions=(("where", "is", "mary"),), answers=("home",)
        )
    ]


def test_an_answer_of_entnet_costs_what_its_equations_say() -> None:
    model = trained("entnet", num_slots=SLOTS)
    answers = model.model.config.num_answers
    products = 2 * SLOTS * HIDDEN + HIDDEN * HIDDEN + HIDDEN * answers  # q . h_j, sum p_j h_j, H u, R y
    assert work_of(model, told(3)).decode == 2 * products
    assert work_of(model, told(3)).read == SLOTS


def test_an_answer_of_memn2n_grows_by_two_products_a_sentence_and_hop() -> None:
    model = trained("memn2n", hops=3)
    short, long = (work_of(model, told(sentences)) for sentences in (2, 7))
    assert long.decode - short.decode == 2 * (7 - 2) * 3 * 2 * HIDDEN
    assert (short.read, long.read) == (2, 7)


def test_amn_pays_for_the_entities_it_reads() -> None:
    costs = []
    for bias in (-50.0, 50.0):  # nothing moves to the last bank, or everything does
        model = trained("amn", heads=2)
        with torch.no_grad():
            model.model.get_parameter("create.bias").fill_(50.0)
            model.model.get_parameter("move_state.bias").fill_(bias)
        costs.append(work_of(model, list(examples(STORIES, window=50))))
    few, many = costs
    assert few.read < many.read and few.decode < many.decode


@pytest.mark.parametrize("architecture", sorted(MODELS))
def test_reading_and_answering_are_the_whole_work(architecture: str) -> None:
    own = {"capacity": 32} if "paper" in architecture else {"heads": 2} if architecture.startswith("amn") else {}
    model, example = trained(architecture, **own), next(examples(STORIES, window=50))
    batch = plain_batch(model, [example])
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model.model(batch)
    work = work_of(model, [example])
    whole = counter.get_total_flops()
    if architecture == "amn":  # answering leaves out what is not read, where a whole pass masks it
        assert work.ingest + work.decode <= whole
    else:
        assert work.ingest + work.decode == whole
    assert work.decode > 0


def test_costs_are_means_over_the_first_stories() -> None:
    model, asked = trained("entnet"), list(examples(STORIES, window=50))
    cost = cost_of(model, asked)
    counted = asked[:COUNTED_STORIES]
    assert cost.sentences == pytest.approx(sum(len(one.sentences) for one in counted) / len(counted))
    assert cost.entities == pytest.approx(
        sum(len({word for row in one.sentences for word in row}) for one in counted) / len(counted)
    )
    assert cost.ingest_seconds > 0 and cost.decode_seconds > 0
    assert asdict(work_of(model, asked)).items() <= cost.figures().items()  # operations are the same each time
