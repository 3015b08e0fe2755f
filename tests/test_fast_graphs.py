"""Word graphs side by side are those of single stories, and attention is only hurried where that is safe."""

import random

import numpy as np
import pytest
from amn.fast.graphs import Members, WordGraphs
from amn.fast.texts import ranges
from amn.fast.weights import Weights, divide, normalise, product, row_sums

from amn.data.graph import CONTEXT, WordGraph, path_kinds, places_of
from amn.models import build_model
from amn.models.amn import AMN
from random_stories import VOCABULARY, shaken

STORIES, NAMED = 7, (3, 2)


def told_by_all(rng: random.Random, words: int, most: int) -> list[list[int]]:
    """A sentence for each story, of several lengths; some say a word twice."""
    return [[rng.randint(1, words) for _ in range(rng.randint(1, most))] for _ in range(STORIES)]


def members_of(sentences: list[list[int]], known: list[set[int]], words: int) -> Members:
    """The members of the sentences, with the entities of each story after those of the story before."""
    spoken = [list(dict.fromkeys(sentence)) for sentence in sentences]
    named = [[e for e in NAMED if e in known[i] and e not in told] for i, told in enumerate(spoken)]
    rows = [(i, place, entity) for i, told in enumerate(spoken) for place, entity in enumerate(told)]
    rows += [(i, len(spoken[i]) + place, entity) for i, more in enumerate(named) for place, entity in enumerate(more)]
    story, place, entity = np.array(rows).T
    counts = np.array([len(told) for told in spoken])
    return Members(entity + words * story, story, place, counts, counts + [len(more) for more in named])


@pytest.mark.parametrize(("words", "most"), [(6, 4), (30, 6), (60, 25)])
@pytest.mark.parametrize("seed", range(3))
def test_graphs_side_by_side_give_the_views_of_each_story(seed: int, words: int, most: int) -> None:
    rng = random.Random(seed)
    graphs, alone = WordGraphs(STORIES * words), [WordGraph(NAMED) for _ in range(STORIES)]
    known: list[set[int]] = [set() for _ in range(STORIES)]
    for _ in range(25):
        sentences = told_by_all(rng, words, most)
        members = members_of(sentences, known, words)
        kinds = b"".join(chunk for told in sentences for chunk in path_kinds(places_of(told)))
        views = graphs.tell(members, np.frombuffer(kinds, np.int8))
        for i, told in enumerate(sentences):
            view, count = alone[i].tell(told), int(members.counts[i])
            context = [entity - words * i for entity in views.context[i].tolist() if entity]
            assert context == view.context and len(context) <= CONTEXT
            rows = [*range(count), *range(members.most, members.most + len(context))]
            np.testing.assert_array_equal(views.edges[i, :count, rows].T, view.edges)
            known[i] |= set(told)


def test_ranges_follow_each_other() -> None:
    assert ranges(np.array([5, 0, 2]), np.array([2, 0, 3])).tolist() == [5, 6, 2, 3, 4]


@pytest.mark.parametrize("seed", range(3))
def test_no_score_is_larger_than_the_bound_that_lets_attention_skip_its_maximum(seed: int) -> None:
    model = build_model("amn", VOCABULARY, {"hidden": 16, "heads": 2}, seed)
    shaken(model, seed)
    assert isinstance(model, AMN)
    weights = Weights(model)
    states = normalise(np.random.default_rng(seed).standard_normal((400, 16)).astype(np.float32))
    asks, keys = product(states, weights.ask), product(states, weights.tell)[:, :16]
    scores = [asks[:, head : head + 8] @ keys[:, head : head + 8].T for head in (0, 8)]
    bias = np.abs(weights.edge_bias[:, 1:]).max()
    assert np.abs(scores).max() + bias <= weights.largest_score()


@pytest.mark.parametrize("rows", [3, 3000])
def test_few_and_many_short_rows_are_summed_and_divided_alike(rows: int) -> None:
    values = np.random.default_rng(0).random((rows, 5))
    sums = row_sums(values)
    np.testing.assert_allclose(sums[:, 0], values.sum(1), rtol=1e-12)
    divide(values, sums)
    np.testing.assert_allclose(values.sum(1), 1, rtol=1e-12)


def test_narrow_products_are_products() -> None:
    rows, weight = np.random.default_rng(0).random((9000, 64)), np.random.default_rng(1).random((64, 6))
    np.testing.assert_allclose(product(rows, weight), rows @ weight, rtol=1e-12)
