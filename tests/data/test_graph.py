"""What a sentence may change and read."""

from hypothesis import given
from hypothesis import strategies as st

from amn.data.graph import AFTER, BEFORE, CONTEXT, CURRENT, NO_EDGE, PAST, RECENT_NEIGHBOURS, SELF, WordGraph

MARY, WENT, HOME, JOHN, LEFT, SOON = range(1, 7)
SENTENCES = st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=12), min_size=1, max_size=12)


def test_the_members_are_the_words_in_order_and_then_what_the_question_names_and_knows() -> None:
    graph = WordGraph([MARY, SOON])
    assert graph.tell([MARY, WENT, HOME, WENT]).members == [MARY, WENT, HOME]
    view = graph.tell([JOHN, LEFT])
    assert (view.members, view.spoken) == ([JOHN, LEFT, MARY], 2)  # SOON was asked for but never told


def test_edges_follow_the_sentence() -> None:
    edges = WordGraph([]).tell([MARY, WENT, HOME]).edges
    assert edges.tolist() == [[SELF, AFTER, CURRENT], [BEFORE, SELF, AFTER], [CURRENT, BEFORE, SELF]]


def test_old_neighbours_can_be_read_by_those_who_met_them_alone() -> None:
    graph = WordGraph([])
    graph.tell([MARY, WENT])
    view = graph.tell([WENT, JOHN])
    assert view.context == [MARY]
    assert view.edges.tolist() == [[SELF, AFTER, PAST], [BEFORE, SELF, NO_EDGE]]


def test_the_most_recent_neighbours_come_first() -> None:
    graph = WordGraph([], context=2)
    for other in (10, 11, 12):
        graph.tell([MARY, other])
    assert graph.tell([MARY]).context == [12, 11]


@given(SENTENCES, st.sets(st.integers(1, 40), max_size=3))
def test_a_view_is_bounded_whatever_was_told(sentences: list[list[int]], named: set[int]) -> None:
    graph = WordGraph(sorted(named))
    for sentence in sentences:
        view = graph.tell(sentence)
        assert len(set(view.members)) == len(view.members) <= len(set(sentence)) + len(named)
        assert len(view.context) <= CONTEXT
        assert not set(view.context) & set(view.members)
        assert all(len(row) == len(view.members) + len(view.context) for row in view.edges)
        assert [row[i] for i, row in enumerate(view.edges)] == [SELF] * len(view.members)
    assert all(len(known) <= RECENT_NEIGHBOURS for known in graph._neighbours.values())
