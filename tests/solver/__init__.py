"""An independent rule solver for the 20 bAbI tasks: the oracle of the data tests.

It reads sentences by their grammar and knows no list of names, places or objects, so that it shares neither code nor
word lists with the generator it checks.
"""

from collections.abc import Callable, Mapping, Sequence

from solver import kinds, people, relations
from solver.grammar import Unanswerable

Rule = Callable[[Sequence[str], str], str]

RULES: Mapping[int, Rule] = {
    1: people.where_is_person,
    2: people.where_is_thing,
    3: people.where_was_thing,
    4: relations.neighbour,
    5: people.giving,
    6: people.is_person_in,
    7: people.how_many_held,
    8: people.what_is_held,
    9: people.is_person_in,
    10: people.is_person_in,
    11: people.where_is_person,
    12: people.where_is_person,
    13: people.where_is_person,
    14: people.where_was_person,
    15: kinds.afraid_of,
    16: kinds.color,
    17: relations.is_beside,
    18: relations.is_bigger,
    19: relations.path,
    20: kinds.motive,
}


def solve(task: int, sentences: Sequence[str], question: str) -> str:
    """The answer to a question of a task, from the statements told before it.

    Args:
        task: the number of the task, 1 to 20.
        sentences: the statements before the question, in the order told, as written.
        question: the question as written.

    Returns:
        The label, spelled as in the released files.

    Raises:
        Unanswerable: the statements do not settle the question, or its wording is unknown.
    """
    return RULES[task](sentences, question)


__all__ = ["RULES", "Unanswerable", "solve"]
