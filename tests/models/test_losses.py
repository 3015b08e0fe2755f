"""Facts about the secondary losses of the paper (section 4.4) and their targets (section 5.1)."""

from dataclasses import replace
from math import sqrt

import torch

from amn.models.layers import uniform
from amn.models.losses import bernoulli_divergence, creation_prior, expected_strengths, strength_divergence
from amn.models.paper.model import answer_words
from amn.models.paper.word_graph import merge_components
from random_stories import batch_of, story

SLOTS = 5
TOLD = story("mary went to the garden", "john took the milk")


def test_divergences_are_zero_at_their_target_and_positive_elsewhere() -> None:
    target = torch.tensor([0.2, 0.5, 0.9])
    torch.testing.assert_close(strength_divergence(target, target), torch.zeros(3))
    torch.testing.assert_close(bernoulli_divergence(torch.logit(target), target), torch.zeros(3), atol=1e-6, rtol=0)
    for other in (target - 0.1, target + 0.05):
        assert (strength_divergence(other, target) > 0).all()
        assert (bernoulli_divergence(torch.logit(other), target) > 0).all()


def test_the_creation_prior_rises_with_every_sentence() -> None:
    prior = creation_prior(torch.arange(1.0, 20.0), 0.8, 0.1)
    torch.testing.assert_close(prior[0], torch.tensor(0.8**10))
    assert (prior.diff() > 0).all()
    assert prior[-1] < 1


def test_expected_strengths_have_the_papers_means_and_spreads() -> None:
    chance = uniform(torch.tensor(1), (2, 20000), stream=4)
    drawn = expected_strengths(torch.tensor([[True], [False]]).expand_as(chance), chance)
    torch.testing.assert_close(drawn.median(1).values, torch.tensor([0.75, 0.3]), atol=0.01, rtol=0)
    lower = drawn.quantile(torch.tensor([0.5, 0.5 - 0.341]), dim=1)
    torch.testing.assert_close(lower[0, 0] - lower[1, 0], torch.tensor(sqrt(0.05)), atol=0.01, rtol=0)
    torch.testing.assert_close(drawn[1].quantile(0.841) - drawn[1].median(), torch.tensor(sqrt(0.1)), atol=0.01, rtol=0)
    assert drawn.min() > 0
    assert drawn.max() < 1


def test_components_join_where_sentences_share_a_word() -> None:
    components = torch.eye(SLOTS).unsqueeze(0) > 0
    apart = merge_components(components, torch.tensor([[False, True, True, False, False]]))
    apart = merge_components(apart, torch.tensor([[False, False, False, True, True]]))
    assert apart[0, 1].tolist() == [False, True, True, False, False]
    joined = merge_components(apart, torch.tensor([[False, False, True, True, False]]))
    assert joined[0, 1].tolist() == [False, True, True, True, True]


def test_where_the_answer_is_no_story_word_the_questions_words_count_instead() -> None:
    batch = batch_of([TOLD, replace(TOLD, answers=("yes",))])
    answer, asked = answer_words(batch)
    assert answer.nonzero().flatten().tolist() == [batch.answer_slots[0, 0].item()]
    assert asked.nonzero().flatten().tolist() == sorted(batch.questions[1, 0].tolist())
