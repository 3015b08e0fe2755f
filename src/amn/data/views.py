"""The views of all sentences of many stories as padded arrays, by compiled code where it was built, else in Python."""

from ctypes import byref

import numpy as np
from jaxtyping import Int

from amn.core import boundary
from amn.core.boundary import address
from amn.data.graph import CONTEXT, WordGraph

Slots = Int[np.ndarray, "story sentence word"]
Views = dict[str, np.ndarray]  # members, context and edges, as a `Batch` has them


def views_of(
    told: Slots,
    questions: Int[np.ndarray, "story question word_q"],
    lengths: Int[np.ndarray, " story"],
    least: int,
) -> Views:
    """The views of all sentences, from slots of words with zeros after them, and of questions with zeros between them.

    Each story has so many sentences; members get at least the room of `least`.
    """
    asked = questions.reshape(len(questions), questions.shape[1] * questions.shape[2])
    if boundary.library() is not None:
        return _by_compiled_code(told, asked, lengths, least)
    return _one_by_one(told, asked, lengths, least)


def no_views(stories: int, sentences: int, members: int) -> Views:
    """Empty arrays for views."""
    return {
        "members": np.zeros((stories, sentences, members), np.int16),
        "context": np.zeros((stories, sentences, CONTEXT), np.int16),
        "edges": np.zeros((stories, sentences, members, members + CONTEXT), np.int8),
    }


def _by_compiled_code(
    told: Slots, asked: Int[np.ndarray, "story word_q"], lengths: Int[np.ndarray, " story"], least: int
) -> Views:
    core = boundary.library()
    assert core is not None
    slots = 1 + int(max(told.max(initial=0), asked.max(initial=0)))
    told, asked, lengths = np.ascontiguousarray(told), np.ascontiguousarray(asked), lengths.astype(np.int64)
    stories = boundary.CStories(
        *(len(told), slots, *told.shape[1:], asked.shape[1]),
        *(address(told, np.int16, *told.shape), address(asked, np.int16, *asked.shape)),
        address(lengths, np.int64, len(told)),
    )
    most = core.amn_views(byref(stories), byref(boundary.CViews()))
    views = no_views(len(told), told.shape[1], max(least, most))
    where = {name: value.ctypes.data for name, value in views.items()}
    room = boundary.CViews(room=views["members"].shape[2], **where)
    if most < 0 or core.amn_views(byref(stories), byref(room)) < 0:
        raise MemoryError(f"no room to find what the sentences of {len(told)} stories touch")
    return views


def _one_by_one(
    told: Slots, asked: Int[np.ndarray, "story word_q"], lengths: Int[np.ndarray, " story"], least: int
) -> Views:
    graphs = [WordGraph(named[named > 0].tolist()) for named in asked]
    found = [
        [graph.tell(sentence[sentence > 0].tolist()) for sentence in story[:length]]
        for graph, story, length in zip(graphs, told, lengths, strict=True)
    ]
    most = max((len(view.members) for story in found for view in story), default=0)
    views = no_views(len(told), told.shape[1], max(least, most))
    room = views["members"].shape[2]
    for i, story in enumerate(found):
        for t, view in enumerate(story):
            inside, outside = len(view.members), len(view.context)
            views["members"][i, t, :inside] = view.members
            views["context"][i, t, :outside] = view.context
            views["edges"][i, t, :inside, :inside] = view.edges[:, :inside]
            views["edges"][i, t, :inside, room : room + outside] = view.edges[:, inside:]
    return views
