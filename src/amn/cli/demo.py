"""The verb that shows what a shipped model can do."""

from pathlib import Path
from typing import TYPE_CHECKING

from amn.cli.output import note, print_json
from amn.cli.screen import choose_screen, progress_bar
from amn.errors import ConfigError
from amn.pretrained import DEFAULT_MODEL

if TYPE_CHECKING:
    from amn.answers import Answer
    from amn.api import QA
    from amn.inference.trained import TrainedModel

EPOCHS, TRAIN_QUESTIONS = 12, 3000  # enough for task 1, in about a minute
STORY = (
    "Mary moved to the bathroom. John went to the hallway. Sandra journeyed to the garden. John moved to the office."
)
QUESTIONS = ("Where is Mary?", "Where is John?")
SCENES = (  # for a model of all tasks; some names are in no training data
    (
        "Zoe grabbed the lamp. Mr. Smith has gone to the living room. Zoe took the red ball. Zoe went to New York.",
        ("Where's the red ball?", "What is Zoe carrying?", "Where is Mr. Smith?", "Where is Anna?"),
    ),
    (
        "Mary took the football. Mary went to the office. Mary dropped the football. Mary moved to the kitchen.",
        ("Where is the football?",),
    ),
    ("Sumit is tired. Yann is hungry. Yann went to the kitchen.", ("Where will Sumit go?",)),
    (
        "The garden is west of the kitchen. The office is north of the garden. The hallway is east of the office.",
        ("How do you go from the kitchen to the office?",),
    ),
)


REPLAYED = (
    "Priya went to the observatory. Tomasz moved to the bakery. Priya picked up the telescope. "
    "Priya travelled to the harbour. Tomasz went back to the museum.",
    ("Where is Priya?", "Where is the telescope?", "Where is Tomasz?"),
)


def demo(*questions: str, html: Path | None = None, story: Path | None = None, json: bool = False) -> None:
    """Answer sample questions with a shipped model and draw its memory banks.

    Where no model is shipped, one is trained for a minute on generated stories first.

        amn demo
        amn demo --html replay.html
        amn demo --html replay.html --story story.txt "Where is Mary?" "Where is John?"

    Args:
        questions: what the replay asks, instead of sample questions.
        html: write one file that replays a story in a browser: it needs no server and loads nothing.
        story: a text file to replay, instead of a sample story.
        json: print {"answers": [...]}.
    """
    if html is not None:
        _write_replay(html, story, questions)
        return
    if questions or story is not None:
        raise ConfigError("a story and questions of your own go with --html; amn ask answers them here")
    qa = _model()
    memory = qa.memory(QUESTIONS)
    memory.tell(STORY)
    answers = memory.ask(explain=True)
    scenes = [(told, qa(told, list(asked))) for told, asked in SCENES] if _knows_all_tasks(qa) else []
    if json:
        every = [*answers, *(answer for _, given in scenes for answer in given)]
        print_json({"answers": [answer.to_dict() for answer in every]})
        return
    _show(answers, scenes)


def _write_replay(path: Path, story: Path | None, questions: tuple[str, ...]) -> None:
    from amn.cli.replay import replay_page

    if (story is None) != (not questions):
        raise ConfigError("a replay of your own takes both a --story and questions")
    told, asked = REPLAYED if story is None else (story.read_text(encoding="utf-8", errors="replace"), questions)
    path.write_text(replay_page(_model(), told, list(asked)), encoding="utf-8")
    note(f"{path}: open it in a browser, or mail it")


def _show(answers: "list[Answer]", scenes: "list[tuple[str, list[Answer]]]") -> None:
    screen = choose_screen()
    for answer in answers:
        screen.answer(answer)
        screen.say("")
    for story, given in scenes:
        screen.say(story)
        for answer in given:
            screen.answer(answer)
        screen.say("")
    screen.say("Your own story: amn ask. The same as a page in the browser: amn serve")


def _knows_all_tasks(qa: "QA") -> bool:
    from amn.inference.trained import TrainingRecord

    return TrainingRecord.of(qa.record).task in ("joint", "all")


def _model() -> "QA":
    from amn.api import QA, load
    from amn.pretrained import shipped_models

    shipped = shipped_models()
    if shipped:
        return load(DEFAULT_MODEL if DEFAULT_MODEL in shipped else shipped[0])
    note("No model is shipped here: training one on generated stories of task 1.")
    return QA(_train())


def _train() -> "TrainedModel":
    """A small model of task 1; a bar shows how far it is."""
    from tempfile import TemporaryDirectory

    import torch

    from amn.config import RunSpec, TrainConfig
    from amn.store.model_directory import load_model
    from amn.training.loop import Trainer, make_runs

    recipe = TrainConfig(epochs=EPOCHS, train_questions=TRAIN_QUESTIONS, warmup_steps=20)
    with TemporaryDirectory() as folder, progress_bar("training", EPOCHS) as advance:
        (run,) = make_runs([RunSpec(task=1, settings={"hidden": 32}, train=recipe)], Path(folder), resume=False)
        Trainer([run], run.directory.state, torch.device("cpu"), lambda _: advance()).fit()
        return load_model(run.directory.best)
