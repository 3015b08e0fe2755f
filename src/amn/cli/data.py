"""Verbs about data: generate, check and convert."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from amn.cli.output import note, print_json, print_pairs
from amn.data.check import DataReport, check_data, seen_answers
from amn.data.files import BadLines
from amn.data.rows import Columns
from amn.data.source import WRITERS, data_files, format_of, read_stories
from amn.data.story import Story
from amn.errors import AMNError, ConfigError, DataError

SHOWN_BAD_LINES = 20  # bad lines listed on a terminal
SHOWN_WORDS = 20  # unknown words listed on a terminal; --json has them all
_Knobs = dict[str, Any]


def generate(
    *,
    task: str | None = None,
    preset: str | None = None,
    questions: int = 1000,
    seed: int = 0,
    out: Path | None = None,
    format: Literal["babi", "jsonl"] | None = None,
    rename: bool = False,
    noise: Path | None = None,
    tokens: int | None = None,
    people: int | None = None,
    places: int | None = None,
    objects: int | None = None,
    sentences: int | None = None,
    questions_per_story: int | None = None,
    distractors: int | None = None,
    held_out: tuple[str, ...] = (),
    reach: int | None = None,
    together: bool = False,
    wording: Literal["released", "lua"] | None = None,
    wordings: Literal["train", "kept-out", "all"] | None = None,
    names: Literal["known", "new"] | None = None,
    unknown: float | None = None,
    irrelevant: float | None = None,
    hard: float | None = None,
    actors: float | None = None,
    json: bool = False,
) -> int | None:
    """Generate stories and questions; the same seed gives the same bytes on any machine.

    Args:
        task: a bAbI task, 1 to 20, or mixed for stories of all kinds of facts, in many wordings.
        preset: a preset instead of a task: scaled (100 entities), multi (several questions together) or short (task 3
            in 24 sentences).
        questions: how many questions to write.
        seed: the random seed.
        out: the file to write; by default standard output.
        format: bAbI text or JSON lines; by default according to the name of the file.
        rename: replace the names in the stories by names that occur in no other data.
        noise: a folder of books (.txt): the facts of each question are placed in order at random between their
            sentences, as in BABILong; needs --tokens.
        tokens: how many words a story has with the noise.
        people: how many people a story draws from.
        places: how many places.
        objects: how many objects.
        sentences: how many sentences a story has.
        questions_per_story: how many questions a story has.
        distractors: how many irrelevant sentences are added to a story.
        held_out: a name that must not occur; may be given several times.
        reach: how many of the latest facts questions are about; 0 for the whole story.
        together: ask all questions of a story after its last sentence.
        wording: as in the released data, or as in the public Lua generator.
        wordings: for mixed stories: those for training, those kept out of training, or all.
        names: for mixed stories: known names, or new ones that occur in no training story.
        unknown: for mixed stories: the share of questions that the story does not answer.
        irrelevant: for mixed stories: the share of irrelevant sentences.
        hard: for mixed stories: the share of stories about rare topics: fears, company, lists.
        actors: for mixed stories: the share of stories with actors that have no names: the doctor, the dog, the train.
        json: print a summary as JSON; needs --out.
    """
    knobs: _Knobs = {"people": people, "places": places, "objects": objects, "sentences": sentences}
    knobs |= {"questions": questions_per_story, "distractors": distractors, "held_out": held_out or None}
    knobs |= {"reach": reach, "together": together or None, "wording": wording}
    of_mixed: _Knobs = {"wordings": wordings, "names": names, "unknown": unknown, "irrelevant": irrelevant}
    of_mixed |= {"hard": hard, "actors": actors}
    knobs |= of_mixed
    given = {name: value for name, value in knobs.items() if value is not None}
    if json and out is None:
        raise ConfigError("--json needs --out: it describes the file that was written")
    number = int(task) if task is not None and task.isdecimal() else task
    if isinstance(number, int) and (wrong := sorted(of_mixed.keys() & given.keys())):
        raise ConfigError(f"--{wrong[0]} goes with --task mixed only")
    stories = _stories(number, preset, questions, seed, given)
    if rename:
        from amn.data.tasks import rename as renamed

        stories = renamed(stories, seed=seed)
    if noise is not None or tokens is not None:
        from amn.data.noise import Books, with_noise

        if noise is None or tokens is None or tokens < 0:
            raise ConfigError("--noise FOLDER and --tokens NUMBER go together")
        stories = with_noise(stories, Books(noise), tokens=tokens, seed=seed)
    chosen = format or format_of(out or "")
    written = WRITERS[chosen](stories, out or sys.stdout)
    if json:
        what = {"task": number, "preset": preset, "seed": seed, "questions": written}
        print_json(what | {"format": chosen, "out": str(out)})
    elif out is not None:
        note(f"{written} questions written to {out}")
    return None


def _stories(task: int | str | None, preset: str | None, questions: int, seed: int, knobs: _Knobs) -> Iterator[Story]:
    from amn.data import tasks

    if questions < 1:
        raise ConfigError(f"--questions must be at least 1, not {questions}")
    if (task is None) == (preset is None):
        raise ConfigError("give either --task or --preset")
    if isinstance(task, str):
        if task != tasks.MIXED:
            raise ConfigError(f"--task must be a number from 1 to {len(tasks.TASKS)} or {tasks.MIXED}, not {task}")
        if length := knobs.pop("sentences", None):
            knobs["sentences"] = (length, length)
        return tasks.generate_preset(task, questions=questions, seed=seed, **knobs)
    if task is not None:
        if knobs.get("reach") == 0:
            knobs = knobs | {"reach": None}
        return tasks.generate(task, questions=questions, seed=seed, config=tasks.GeneratorConfig(**knobs))
    if knobs:
        raise ConfigError(f"a preset has fixed settings: {', '.join(knobs)} can only go with --task")
    return tasks.generate_preset(preset or "", questions=questions, seed=seed)


def check(
    path: Path,
    /,
    *,
    vocabulary: Path | None = None,
    story_column: str | None = None,
    question_column: str | None = None,
    answer_column: str | None = None,
    skip_bad: bool = False,
    json: bool = False,
) -> int:
    """Count the contents of a data file or folder, and list its bad lines; the exit code is 1 if there are any.

    Args:
        path: a file (.jsonl, .json, .csv, .tsv, .parquet, else bAbI text), a folder of such files, or - for standard
            input.
        vocabulary: a file of words, or a data file or folder; words that it lacks are listed.
        story_column: the name of the story column, if it is not story, context, passage or text.
        question_column: the name of the question column, if it is not question or query.
        answer_column: the name of the answer column, if it is not answer, label or target.
        skip_bad: count bad lines without failing.
        json: print the report as JSON.
    """
    columns = Columns(story=story_column, question=question_column, answer=answer_column)
    report = check_data(path, vocabulary=vocabulary, columns=columns)
    if json:
        print_json(report.as_json())
    else:
        print_pairs(_summary(report))
        _note_bad_lines(report)
    return 1 if report.num_bad_lines and not skip_bad else 0


def _note_bad_lines(report: DataReport) -> None:
    """The bad lines, of those that are wrong in the same way the first only."""
    alike: dict[tuple[str, str], list[DataError]] = {}
    for bad in report.bad_lines:
        alike.setdefault((bad.expected, bad.found), []).append(bad)
    shown = list(alike.values())[:SHOWN_BAD_LINES]
    for bad, *others in shown:
        note(f"{bad} (and {len(others)} more lines like it)" if others else str(bad))
    left = report.num_bad_lines - sum(map(len, shown))
    if left:
        note(f"and {left} more bad lines; --json lists the first thousand")


def _summary(report: DataReport) -> dict[str, object]:
    summary: dict[str, object] = {
        "files": report.files,
        "stories": report.stories,
        "without a question": report.without_question,
        "sentences": report.sentences,
        "questions": report.questions,
        "longest story": f"{report.longest_story} sentences",
        "words": len(report.vocabulary),
        "answers": f"{len(report.answers)} different: {seen_answers(report)}",
        "bad lines": report.num_bad_lines,
        "lost support": report.lost_support,
    }
    if report.unknown_words is not None:
        shown = " ".join(list(report.unknown_words)[:SHOWN_WORDS])
        summary["unknown words"] = f"{len(report.unknown_words)} {shown}".strip()
    return summary


def convert(
    source: Path,
    target: Path,
    /,
    *,
    format: Literal["babi", "jsonl"] | None = None,
    story_column: str | None = None,
    question_column: str | None = None,
    answer_column: str | None = None,
    skip_bad: bool = False,
) -> None:
    """Convert data to the format of the target's name: .jsonl for JSON lines, else bAbI text.

    Args:
        source: a file (.jsonl, .json, .csv, .tsv, .parquet, else bAbI text), a folder of such files, or - for standard
            input.
        target: the file to write.
        format: the format to write, if not that of the name.
        story_column: the name of the story column, if it is not story, context, passage or text.
        question_column: the name of the question column, if it is not question or query.
        answer_column: the name of the answer column, if it is not answer, label or target.
        skip_bad: skip and count bad lines, instead of stopping at the first.
    """
    if target.exists() and source.exists() and target.samefile(source):
        raise AMNError(f"{source} and {target} are one file: choose another target")
    chosen = format or format_of(target)
    if chosen not in WRITERS:
        raise ConfigError(f"{target}: stories are written as .jsonl or as bAbI text (.txt), not as {target.suffix}")
    bad = BadLines() if skip_bad else None
    columns = Columns(story=story_column, question=question_column, answer=answer_column)
    files = data_files(source)
    stories = (story for file in files for story in read_stories(file, skip_bad=bad, columns=columns))
    questions = WRITERS[chosen](stories, target)
    left_out = "" if bad is None else f", {bad.count} bad lines left out"
    note(f"{questions} questions written to {target}{left_out}")
