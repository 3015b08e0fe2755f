"""How `amn train` goes about stories of one's own: what it is asked for, and what it says in the end."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from amn.cli.output import print_json
from amn.data.rows import Columns
from amn.errors import ConfigError

if TYPE_CHECKING:
    from amn.store.run_directory import RunDirectory
    from amn.training.own import OwnPlan

RUNS = Path("runs")  # where a run goes whose directory is not named


def plan_for(
    data: str | None,
    validation: Path | None,
    columns: Columns,
    given: dict[str, Any],
    *,
    model: str,
    seed: int,
    out: Path | None,
    resume: bool,
) -> tuple["OwnPlan", Path]:
    """What to train and in which directory.

    A run that goes on takes the stories that its directory keeps: files may have changed, and standard input is gone.

    Args:
        data: a file, a folder or `-`; None to go on with the run in `out`.
        validation: a file or folder of stories to judge by.
        columns: what the columns are called.
        given: the settings that the user has given.
        model: the architecture.
        seed: of the run.
        out: its directory; None for one by the name of the data.
        resume: whether the run goes on.
    """
    from amn.data.source import name_of, own_stories
    from amn.store.run_directory import RunDirectory
    from amn.training.own import kept_stories, plan_own, run_name

    if data is None and not (resume and out):
        raise ConfigError("give a file of stories (amn train stories.jsonl), or --task for a generated task")
    path = out or RUNS / run_name(name_of(data or ""), model, seed)
    kept = kept_stories(RunDirectory(path)) if resume else None
    if kept is None and data is None:
        raise ConfigError(f"{path} holds no run to go on with: give the file of stories too")
    if kept is not None and data is None:
        spec = RunDirectory(path).spec()
        data, model, seed = spec.data, spec.architecture, spec.seed
    stories = kept or own_stories(data, columns=columns)
    if kept is None and validation is not None:
        stories = stories.judged_by(own_stories(validation, columns=columns))
    return plan_own(stories, given=given, model=model, seed=seed, data=data), path


def show(plan: "OwnPlan", directory: "RunDirectory", json: bool) -> None:
    """Judges the run that has ended, and says how it did, what to try, and how to use it."""
    from amn.fitting import conclude

    outcome = conclude(plan, directory)
    if json:
        print_json(outcome.to_json(directory.path))
        return
    for line in outcome.lines(directory.path):
        print(line)
