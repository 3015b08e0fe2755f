"""The model card that training writes beside the weights."""

from amn import __version__
from amn.data.boards import find_board
from amn.inference.trained import TrainedModel

OWN = "own"  # the task of models trained on a user's stories
_LIMITS = """
## Limits

It knows the small world of {world} and its sentence forms. It treats words it has never seen as entities without a
spelling.

## Licence and data

Weights: Apache-2.0. Training data: {data}.
"""
_BABI = {
    "world": "bAbI",
    "data": "bAbI tasks v1.2, CC BY 3.0 (Weston et al., 2015), or stories of our\ngenerator where the table says so",
}


def model_card(trained: TrainedModel) -> str:
    """The model card: what a model is, how it was trained and how well it does, from its record."""
    run, valid = trained.record["run"], trained.record["validation"]
    about = _about(run["task"])
    settings = {**run["settings"], **{k: v for k, v in run["train"].items() if v is not None}}
    rows = "\n".join(f"| {name} | {value} |" for name, value in sorted(settings.items()))
    parameters = sum(weight.size for weight in trained.weights.values())
    return f"""# {run["task"]} ({trained.architecture})

An Adaptive Memory Networks model for {about["purpose"]}: it answers questions about short stories, reading only
the memory bank that matters. Trained with `amn {__version__}`.

| | |
|---|---|
| architecture | {trained.architecture}, {parameters} parameters |
| words / answers | {len(trained.vocabulary.words)} / {len(trained.vocabulary.answers)} |
| training questions | {trained.record["training_questions"]} ({trained.record["training_data"]}) |
| validation error | {valid.get("error_percent")} % of {valid["questions"]} questions (epoch {valid["epoch"]}) |
| entities read / stored | {valid.get("entities_read")} / {valid.get("entities")} (ratio {valid.get("ratio")}) |
| banks created | {valid.get("banks")} |
| seed | {run["seed"]} |

The epoch was chosen on validation questions; no test question was seen.

## Settings

| setting | value |
|---|---|
{rows}
{"" if run["task"] == OWN else _LIMITS.format(**about)}"""


_PURPOSES = {
    OWN: "the stories of its trainer",
    "joint": "all twenty bAbI tasks",
    "mixed": "stories that mix the kinds of facts of all bAbI tasks, in many wordings",
    "all": "all twenty bAbI tasks, and stories that mix their kinds of facts in many wordings",
}


def _about(task: int | str) -> dict[str, str]:
    """What a model of a task is for, and its data."""
    board = find_board(task)
    if board is None:
        return {"purpose": _PURPOSES.get(str(task), f"bAbI task {task}"), **_BABI}
    return {"purpose": f"{board[0].title}, task {task}", "world": board[0].title, "data": board[0].source}
