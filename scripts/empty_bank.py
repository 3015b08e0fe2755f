"""What an empty last bank says: how often it is empty, by answer, and the errors if an empty bank may not be read.

python scripts/empty_bank.py babi/en-valid-10k qa9 qa17 qa18
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from amn.data.examples import Example, examples
from amn.data.source import load_task
from amn.inference.torch_batches import plain_batch
from amn.inference.trained import TrainedModel
from amn.models.amn import AMN
from amn.models.variants import FilledBankAMN
from amn.store.find import find_model
from amn.store.model_directory import load_model

_AT_ONCE = 256  # questions


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedTwice:
    """One question."""

    answer: str  # the right one
    empty: bool  # whether the last bank holds nothing
    right: bool  # whether the answer read from it is right
    right_filled: bool  # whether the one read from the deepest bank that holds anything is


@dataclass(frozen=True, kw_only=True, slots=True)
class Emptiness:
    """Questions that have one answer: how many there are, and shares of them in percent."""

    answer: str
    questions: int
    empty: float
    error: float
    error_filled: float

    @classmethod
    def of(cls, answer: str, asked: Sequence[AskedTwice]) -> "Emptiness":
        """What some questions come to."""

        def percent(marks: Iterable[bool]) -> float:
            return round(100 * sum(marks) / len(asked), 2)

        return cls(
            answer=answer,
            questions=len(asked),
            empty=percent(one.empty for one in asked),
            error=percent(not one.right for one in asked),
            error_filled=percent(not one.right_filled for one in asked),
        )


def emptiness(trained: TrainedModel, examples: Sequence[Example]) -> list[Emptiness]:
    """Figures by right answer, the most frequent one first, and of all questions together at the end."""
    asked = list(_ask(trained, examples))
    by_answer: dict[str, list[AskedTwice]] = {}
    for one in asked:
        by_answer.setdefault(one.answer, []).append(one)
    often = sorted(by_answer.items(), key=lambda item: -len(item[1]))
    return [*(Emptiness.of(answer, own) for answer, own in often), Emptiness.of("all", asked)]


@torch.inference_mode()
def _ask(trained: TrainedModel, examples: Sequence[Example]) -> Iterator[AskedTwice]:
    """Answers each question twice, from the same memory. Each example has one question."""
    model = trained.model
    assert isinstance(model, AMN)
    filled = FilledBankAMN(model.config)
    filled.load_state_dict(model.state_dict())
    for start in range(0, len(examples), _AT_ONCE):
        part = examples[start : start + _AT_ONCE]
        batch = plain_batch(trained, part)
        told = model.ingest(batch)
        plain, other = (kind.finish(batch, told, 1.0) for kind in (model, filled))
        right, right_filled = ((one.logits[:, 0].argmax(-1) == batch.answers[:, 0]).tolist() for one in (plain, other))
        empty = (plain.entities_read[:, 0] == 0).tolist()
        for example, *marks in zip(part, empty, right, right_filled, strict=True):
            yield AskedTwice(answer=str(example.answers[0]), empty=marks[0], right=marks[1], right_filled=marks[2])


def main(data: str, *names: str) -> None:
    """Prints a table in Markdown."""
    print("| model | answer | questions | last bank empty, % | error, % | error without empty banks, % |")
    print("|---|---|---|---|---|---|")
    for name in names:
        trained = load_model(find_model(name))
        task = trained.training.task
        if not isinstance(task, int):
            raise SystemExit(f"{name} was not trained on one task")
        stories = load_task(data, task, "valid")
        for row in emptiness(trained, list(examples(stories, window=trained.training.train.window))):
            figures = f"{row.empty:.1f} | {row.error:.1f} | {row.error_filled:.1f}"
            print(f"| {name} | {row.answer} | {row.questions} | {figures} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
