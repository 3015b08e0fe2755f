"""What an empty last bank says: how often it is empty, by answer, and the errors if an empty bank may not be read.

python scripts/empty_bank.py babi/en-valid-10k qa9 qa17 qa18
"""

import sys

from amn.data.examples import examples
from amn.data.source import load_task
from amn.evaluation.empty_bank import emptiness
from amn.store.find import find_model
from amn.store.model_directory import load_model


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
