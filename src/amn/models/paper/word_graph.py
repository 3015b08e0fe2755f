"""The directed word graph A of the paper as dense matrices (section 4.2.2, item 4, and appendix A.2).

A[i, j] is 1 where word j has followed word i in some sentence. Messages go along edges, so a column of A says which
words the word of that column gets messages from.
"""

from math import ceil, log2

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def path_edges(
    sentences: Int[Tensor, "*axes word"], num_slots: int, dtype: torch.dtype
) -> Float[Tensor, "*axes slot slot"]:
    """The edges that a sentence draws: from each of its words to the next."""
    slots = torch.arange(num_slots, device=sentences.device)
    stands = ((sentences.unsqueeze(-1) == slots) & (slots > 0)).to(dtype)
    return (stands[..., :-1, :].transpose(-1, -2) @ stands[..., 1:, :]).clamp(max=1)


def close_over(
    edges: Float[Tensor, "*graphs batch slot slot"], held: Bool[Tensor, "batch slot"], longest: int
) -> Float[Tensor, "*graphs batch slot slot"]:
    """The graph inside a bank: an edge wherever a path leads on through entities that the bank lacks.

    Args:
        edges: A, or several graphs over the same words.
        held: the entities of the bank.
        longest: no path through missing entities has more edges than this.
    """
    leaving_missing = (~held).unsqueeze(-1) * edges
    onward = leaving_missing + torch.eye(edges.shape[-1], dtype=edges.dtype, device=edges.device)
    for _ in range(ceil(log2(max(longest, 2)))):
        onward = (onward @ onward).clamp(max=1)
    return (edges @ onward).clamp(max=1) * (held.unsqueeze(-1) & held.unsqueeze(-2))


def weigh(
    edges: Float[Tensor, "batch slot slot"], current: Float[Tensor, "batch slot slot"], emphasis: Float[Tensor, " 1"]
) -> Float[Tensor, "batch slot slot"]:
    """Weights of the edges, where those of the current sentence count more; the incoming ones of a word sum to 1."""
    weights = edges + emphasis * current
    return weights / weights.sum(-2, keepdim=True).clamp(min=1)


def messages(
    power: Float[Tensor, "batch slot slot"], states: Float[Tensor, "batch slot hidden"]
) -> Float[Tensor, "batch slot hidden"]:
    """Eq. (14): a = (A^r)^T [w_0 ... w_i]."""
    return power.transpose(-1, -2) @ states


def merge_components(
    components: Bool[Tensor, "batch slot slot"], spoken: Bool[Tensor, "batch slot"]
) -> Bool[Tensor, "batch slot slot"]:
    """Connected components after one more sentence, as a matrix that is true where two words share one.

    The path of a sentence joins all its words, so every component that it touches becomes one.
    """
    touched = (components & spoken.unsqueeze(1)).any(-1)
    return components | (touched.unsqueeze(-1) & touched.unsqueeze(-2))
