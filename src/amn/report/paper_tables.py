"""The numbers of the paper (Li and Kadav, 2018), kept here and nowhere else."""

from dataclasses import dataclass

from amn.data import tasks

TASKS = tuple(tasks.TASKS)
TASK_NAMES: dict[int | str, str] = {number: task.name.replace("-", " ") for number, task in tasks.TASKS.items()}
TASK_NAMES |= {"scaled": "1, extended: 100 entities", "multi": "1, extended: several questions"}

# Table 1: test error in percent on bAbI 10k, best of 10 runs, by the name that the model has here.
ERRORS: dict[str, dict[int, float]] = {
    name: dict(zip(TASKS, column, strict=True))
    for name, column in {
        "amn": (
            *(0.0, 2.1, 4.7, 0.0, 2.7, 3.1, 0.0, 0.0, 1.3, 1.2),
            *(2.7, 2.2, 4.6, 2.1, 1.8, 4.2, 4.3, 2.0, 2.4, 0.0),
        ),
        "entnet": (
            *(0.0, 0.1, 4.1, 0.0, 0.3, 0.2, 0.0, 0.5, 0.1, 0.6),
            *(0.3, 0.0, 1.3, 0.0, 0.0, 0.0, 0.5, 0.3, 2.3, 0.0),
        ),
        "dmn-plus": (
            *(0.0, 0.3, 1.1, 0.0, 0.5, 0.0, 2.4, 0.0, 0.0, 0.0),
            *(0.0, 0.0, 0.0, 0.2, 0.0, 45.3, 4.2, 2.1, 0.0, 0.0),
        ),
        "memn2n": (
            *(0.0, 0.3, 2.1, 0.0, 0.8, 0.1, 2.0, 0.9, 0.3, 0.0),
            *(0.1, 0.0, 0.0, 0.1, 0.0, 51.8, 18.6, 5.3, 2.3, 0.0),
        ),
        "encdec": (
            *(52.0, 66.1, 71.9, 29.2, 14.3, 31.0, 21.8, 27.6, 36.4, 36.4),
            *(31.7, 35.0, 6.8, 67.2, 62.2, 54.0, 43.1, 6.6, 89.6, 2.3),
        ),
    }.items()
}
TITLES = {
    "amn": "AMN",
    "amn-paper": "AMN, equations as written",
    "entnet": "EntNet",
    "dmn-plus": "DMN+",
    "dmn-plus-one-gru": "DMN+, one GRU",
    "memn2n": "MemN2N",
    "encdec": "EncDec",
    "ggtnn": "GGT-NN",
    "amn-question-blind": "question-blind",
    "amn-story-blind": "story-blind",
}
CONTROLS = ("amn-question-blind", "amn-story-blind")


@dataclass(frozen=True, slots=True)
class PrintedBanks:
    """A row of Table 2: banks created (rounded mean), banks required, entities in them over all entities."""

    created: int
    required: int
    ratio: float


_BANKS: tuple[tuple[int | str, int, int, float], ...] = (
    *((1, 3, 1, 0.22), (2, 5, 1, 0.41), (4, 2, 1, 0.70), (7, 5, 2, 0.81), (10, 1, 1, 1.00), (11, 3, 1, 0.43)),
    *((12, 2, 1, 0.37), (14, 3, 1, 0.60), (15, 1, 1, 1.00), (16, 2, 2, 1.06), (17, 1, 1, 1.00), (18, 3, 2, 0.82)),
    *((19, 2, 2, 1.05), (20, 2, 1, 0.26), ("scaled", 6, 1, 0.13), ("multi", 3, 1, 0.38)),
)
BANKS = {task: PrintedBanks(created, required, ratio) for task, created, required, ratio in _BANKS}

# Table 3: the cost of an answer, in entities V, new nodes k for each of S sentences, and the share alpha that is read.
COMPLEXITY = {"entnet": "O(V)", "ggtnn": "O(V + kS)", "amn": "O(alpha V), 0 < alpha < 1 + epsilon"}


# The wall-clock table: seconds to answer 1 000 questions from all banks, and from those required.
SECONDS: dict[int, tuple[float, float]] = {1: (2.15, 0.6), 2: (15.8, 3.2), 7: (21.0, 6.0)}
