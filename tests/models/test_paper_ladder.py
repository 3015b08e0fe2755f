"""What each step from profile `paper` toward the default model adds."""

from typing import Any

import torch

from models.conformance import EIGHT, batch_of, build

BATCH = batch_of(EIGHT)
SLOTS = torch.arange(BATCH.slot_words.shape[1])
NAMED = (BATCH.questions.flatten(1).unsqueeze(-1) == SLOTS).any(1) & (SLOTS > 0)


def sentences(model: Any) -> list[Any]:
    return list(model.begin(BATCH, 1.0)[1])


def same_weights(name: str, other: str) -> tuple[Any, Any]:
    """A model and the one on the next step, with the weights that both have."""
    one, next_one = build(name), build(other)
    next_one.load_state_dict(one.state_dict(), strict=False)
    return one, next_one


def test_with_the_question_the_words_that_it_names_alone_hear_it() -> None:
    plain, asked = same_weights("amn-paper", "amn-paper-with-question")
    for before, after in zip(sentences(plain), sentences(asked), strict=True):
        changed = (before.words != after.words).any(-1)
        assert torch.equal(changed, NAMED & before.spoken)
        assert torch.equal(before.edges, after.edges) and torch.equal(before.last, after.last)


def test_with_joining_each_word_is_joined_to_all_others_of_its_sentence() -> None:
    path, joined = same_weights("amn-paper-with-question", "amn-paper-with-joining")
    for before, after in zip(sentences(path), sentences(joined), strict=True):
        spoken = after.spoken.sum(-1)
        assert torch.equal(after.edges.sum((1, 2)), (spoken * (spoken - 1)).float())
        assert (after.edges >= before.edges).all() and torch.equal(before.words, after.words)
        assert (after.edges.diagonal(dim1=1, dim2=2) == 0).all()


def test_with_norm_the_scale_of_what_a_gru_hears_does_not_matter() -> None:
    plain, normed = same_weights("amn-paper-with-joining", "amn-paper-with-norm")
    heard = torch.randn(3, 16, generator=torch.Generator().manual_seed(0))
    for name in ("update", "propagate_gru"):
        layers = [getattr(model, name).input for model in (plain, normed)]
        torch.testing.assert_close(layers[1](heard), layers[1](5 * heard), rtol=1e-4, atol=1e-5)
        assert not torch.allclose(layers[0](heard), layers[0](5 * heard))
    memory = normed.ingest(BATCH).memory
    content = normed.decoder.content(memory)[memory.held]
    torch.testing.assert_close(content.square().mean(-1).sqrt(), memory.strengths[memory.held], rtol=1e-2, atol=1e-2)
