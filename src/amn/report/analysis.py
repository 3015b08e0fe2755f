"""What the best model of each task does with stories: the banks that it needs, their contents, and the cost."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amn.data.babi import find_task_file
from amn.data.examples import Example, examples
from amn.data.tasks import generate
from amn.data.tasks.config import GeneratorConfig
from amn.errors import AMNError, DataError
from amn.evaluation.cost import TIMED_STORIES, Cost, Work, cost_of, work_of
from amn.evaluation.metrics import guessing_error, right_answers
from amn.evaluation.score import Ask, examples_for, score_trained
from amn.inference.trained import TrainedModel
from amn.memory import LiveMemory
from amn.report.paper_tables import CONTROLS, TASKS
from amn.report.runs import RunRecord, Summaries, TaskName
from amn.store.find import find_model
from amn.store.model_directory import load_model
from amn.training.prepare import JOINT, task_stories

RENAMED = (1, 2, 3, 11, 12, 13)  # the tasks that are about people, places and things alone
STORY_SENTENCES = range(4, 11)  # how long a story may be to be drawn
GROWTH = (5, 10, 20, 40, 80)  # sentences of the stories that grow
GROWTH_TASK = 1
_GROWING_STORIES = 2  # of each length: what they cost hardly differs
_LOOKED_AT = 100  # stories among which the one to draw is chosen

Note = Callable[[str], None]


@dataclass(frozen=True)
class StoryTrace:
    """A story as it went through the banks."""

    model: str  # whose banks
    task: TaskName
    sentences: tuple[str, ...]
    question: str  # what the memory was built for
    answer: str  # what the model said
    right: str  # what it should have said
    words: tuple[str, ...]  # the entities in the order of first mention
    # For each sentence the deepest bank of each entity after it; None before its first mention.
    depths: tuple[tuple[int | None, ...], ...]
    banks: tuple[int, ...]  # how many there were after each sentence


@dataclass
class Analysis:
    """What evaluating the best models gave."""

    # By model and task, the document of `amn evaluate` with its details and where the stories come from.
    scores: dict[str, dict[TaskName, dict[str, Any]]] = field(default_factory=dict)
    # For each joint model and task the same, and for a model that points its error on renamed stories.
    joint: dict[str, dict[int, dict[str, Any]]] = field(default_factory=dict)
    # By task, the error of always giving the most frequent training answer.
    majority: dict[TaskName, float] = field(default_factory=dict)
    stories: dict[str, StoryTrace] = field(default_factory=dict)  # by model, a story to draw
    # By model and task, the operations and the time of reading and answering.
    costs: dict[str, dict[TaskName, Cost]] = field(default_factory=dict)
    # By model, the operations as stories grow, by their number of sentences.
    growth: dict[str, dict[int, Work]] = field(default_factory=dict)


@dataclass(frozen=True)
class Analyst:
    """Evaluates the best models of a set of runs."""

    data: Path | None  # a folder of released files in place of the one that the runs name; None for theirs
    questions: int  # how many questions to ask of each task; 0 to evaluate nothing
    note: Note  # called with a line of progress

    def analyse(self, found: Summaries) -> Analysis:
        """Evaluates whatever has weights."""
        analysis = Analysis()
        if self.questions <= 0:
            return analysis
        for model, tasks in found.items():
            for task, summary in tasks.items():
                if summary.finished and model not in CONTROLS:
                    self._one(analysis, model, task, summary.best)
        for task, run in _first_runs(found).items():
            self._majority(analysis, task, run)
        return analysis

    def _one(self, analysis: Analysis, model: str, task: TaskName, run: RunRecord) -> None:
        try:
            trained = load_model(find_model(run.directory.path))
        except AMNError as error:
            self.note(f"{run.spec.name} is not evaluated: {error}")
            return
        if task == JOINT:
            analysis.joint[model] = {number: self._joint(trained, run, number) for number in TASKS}
            return
        self.note(f"evaluating {run.spec.name}")
        self._cost(analysis, model, trained, self._ask(run, task))
        if trained.model.has_banks:
            analysis.scores.setdefault(model, {})[task] = self._score(trained, self._ask(run, task))
            if trained.model.in_core and model not in analysis.stories:
                trace = _trace_of(model, trained, self._ask(run, task))
                analysis.stories |= {} if trace is None else {model: trace}

    def _cost(self, analysis: Analysis, model: str, trained: TrainedModel, ask: Ask) -> None:
        few = replace(ask, questions=min(self.questions, TIMED_STORIES))
        analysis.costs.setdefault(model, {})[ask.task] = cost_of(trained, examples_for(trained, few))
        if ask.task == GROWTH_TASK:
            analysis.growth[model] = {length: work_of(trained, growing_stories(length)) for length in GROWTH}

    def _ask(self, run: RunRecord, task: TaskName, *, rename: bool = False) -> Ask:
        where = str(self.data) if self.data is not None else run.spec.data
        return Ask(task=task, data=_at_hand(where, task), rename=rename, questions=self.questions)

    def _score(self, trained: TrainedModel, ask: Ask) -> dict[str, Any]:
        tally = score_trained(trained, ask)
        source = "generated" if ask.data is None else "released"
        return tally.figures() | {"details": tally.spread(), "stories": source}

    def _joint(self, trained: TrainedModel, run: RunRecord, task: int) -> dict[str, Any]:
        self.note(f"evaluating {run.spec.name} on task {task}")
        found = self._score(trained, self._ask(run, task))
        if trained.model.points and task in RENAMED:
            renamed = self._score(trained, self._ask(run, task, rename=True))
            found["renamed_error_percent"] = renamed["error_percent"]
        return found

    def _majority(self, analysis: Analysis, task: TaskName, run: RunRecord) -> None:
        data = self._ask(run, task).data
        asked = (examples(task_stories(task, data, split)[0], window=1) for split in ("train", "valid"))
        analysis.majority[task] = round(guessing_error(*map(right_answers, asked)), 4)


def growing_stories(sentences: int) -> list[Example]:
    """Stories of task 1 of so many sentences, each with one question at its end, and names in proportion."""
    names = max(3, sentences * 3 // 5)
    config = GeneratorConfig(people=names, places=names, sentences=sentences, questions=1, reach=None)
    stories = generate(GROWTH_TASK, questions=_GROWING_STORIES, seed=0, config=config)
    return list(examples(stories, window=sentences))


def _at_hand(where: str | None, task: TaskName) -> str | None:
    """The data of a run where its validation stories are on this machine; None to generate them."""
    if where is None or isinstance(task, str) or not Path(where).exists():
        return None
    try:
        return where if Path(where).is_file() or find_task_file(where, task, "valid") else None
    except DataError:
        return None


def _first_runs(found: Summaries) -> dict[TaskName, RunRecord]:
    """A run of each task but the joint one, to know where its stories are."""
    runs: dict[TaskName, RunRecord] = {}
    for tasks in found.values():
        for task, summary in tasks.items():
            if summary.finished and task != JOINT:
                runs.setdefault(task, summary.finished[0])
    return runs


def _trace_of(model: str, trained: TrainedModel, ask: Ask) -> StoryTrace | None:
    """The story whose entities move most, among the first of fitting length that are answered well."""
    fitting = [one for one in examples_for(trained, ask)[:_LOOKED_AT] if len(one.sentences) in STORY_SENTENCES]
    traces = [_follow(model, trained, ask.task, example) for example in fitting]
    right = [trace for trace in traces if trace.answer == trace.right.lower()]
    return max(right or traces, key=_movement, default=None)


def _movement(trace: StoryTrace) -> int:
    """How many times an entity went deeper after its first mention."""
    pairs = zip(trace.depths, trace.depths[1:], strict=False)
    steps = ((old, new) for before, after in pairs for old, new in zip(before, after, strict=True))
    return sum(old is not None and new is not None and new > old for old, new in steps)


def _follow(model: str, trained: TrainedModel, task: TaskName, example: Example) -> StoryTrace:
    question = f"{' '.join(example.questions[0])}?"
    memory = LiveMemory(trained, [question])
    sentences = [f"{' '.join(sentence)}." for sentence in example.sentences]
    traces = memory.tell(sentences)
    words = tuple(dict.fromkeys(word for sentence in example.sentences for word in sentence))
    depths: list[tuple[int | None, ...]] = []
    now: dict[str, int] = {}
    for trace in traces:
        now |= trace.depth
        mentioned = {word for sentence in example.sentences[: len(depths) + 1] for word in sentence}
        depths.append(tuple(now.get(word) if word in mentioned else None for word in words))
    answer = memory.ask()[0].answer
    right = example.answers[0] or ""
    banks = tuple(trace.banks for trace in traces)
    return StoryTrace(model, task, tuple(sentences), question, answer, right, words, tuple(depths), banks)
